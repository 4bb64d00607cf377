// The glossary of measures, axes and statuses (analysis/stereosweep_analysis/glossary.tsv), compiled in: what the
// program prints and what the report says come from one file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stereosweep::results {

struct Term {
  std::string_view title;
  std::string_view definition;
};

/// `kind`: "measure", "axis", "status", "number" or "term". Nothing where the glossary has no such name.
std::optional<Term> find_term(std::string_view kind, std::string_view name);

/// One wrapped line "name: definition" for each word of the measures' labels (an association's have two, variant and
/// prior), every word once; words that are not in the glossary have none. Units that these name follow, and the
/// technical terms of what is `said`.
std::string definitions_text(std::span<const std::string> measures, const std::string& said = "");

/// The file's lines of kind, name, title and definition, separated by tabs; the first names them. CMakeLists.txt makes
/// its definition.
std::string_view glossary_rows();

}  // namespace stereosweep::results
