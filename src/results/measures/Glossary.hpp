// The glossary of measures, axes and statuses (analysis/stereosweep_analysis/glossary.tsv), compiled in: what the
// program prints and what the report says come from one file.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stereosweep::results {

struct Term {
  std::string title;
  std::string definition;
};

/// `kind`: "measure", "axis", "status", "number" or "term". Null: the glossary has no such name.
const Term* find_term(const std::string& kind, const std::string& name);

/// What a sentence calls a label: a measure's title, that of its prior in brackets; of others the words between their
/// underscores.
std::string in_words(const std::string& label);

/// One wrapped line "name: definition" for each word of the measures' labels (an association's have two, variant and
/// prior), every word once; words that are not in the glossary have none. Units that these name follow, and the
/// technical terms of what is `said`.
std::string definitions_text(std::span<const std::string> measures, const std::string& said = "");

/// The file's lines of kind, name, title and definition, separated by tabs; the first names them. CMakeLists.txt makes
/// its definition.
std::string_view glossary_rows();

/// Which measures a text prints.
class ShownMeasures {
 public:
  /// All.
  ShownMeasures() = default;
  /// Those of these labels.
  explicit ShownMeasures(std::vector<std::string> labels) : labels_(std::move(labels)) {}

  bool holds(std::string_view label) const { return !labels_ || std::ranges::find(*labels_, label) != labels_->end(); }
  /// These, or all where none of them is among `labels`.
  ShownMeasures or_all_of(std::span<const std::string> labels) const {
    return std::ranges::any_of(labels, [&](const auto& label) { return holds(label); }) ? *this : ShownMeasures();
  }

 private:
  std::optional<std::vector<std::string>> labels_;
};

}  // namespace stereosweep::results
