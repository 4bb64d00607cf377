// What `stats` is asked about correlations of items over subjects, and about the subjects at their ends. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweep/Selection.hpp"

namespace stereosweep::sweep {

/// Each of `rows` with each of `columns`; without columns, the rows with one another. Both name items: "item" by their
/// labels, "item.dimension" all items of which a coordinate says so; a subject's score is then their mean.
struct CorrelationRequest {
  static constexpr const char* key_form =
      "{name: ..., rows: {item.dimension: [LABEL, LABEL]}, columns: {item: [LABEL]}}";
  static constexpr const char* listed_as = "list of correlations";
  enum class Method : std::uint8_t { spearman, pearson, kendall };
  inline static const std::vector<std::string> method_names = {"spearman", "pearson", "kendall"};
  /// clusters: also over the members of each cluster of `statistics.clusters`.
  enum class Within : std::uint8_t { none, clusters };
  inline static const std::vector<std::string> within_names = {"none", "clusters"};
  std::string name = {};
  std::vector<Selection> rows = {};
  std::vector<Selection> columns = {};
  std::vector<Method> methods = {Method::spearman};
  Within within = Within::none;
  std::vector<std::string> measures = {};  ///< empty: all
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.required_line("name", self.name);
    keys.needed().selections("rows", self.rows, "items, or item.dimension");
    keys.unless_default().selections("columns", self.columns, "none: the rows with one another");
    keys.one_or_more("method", self.methods, method_names);
    keys.choice("within", self.within, within_names);
    keys.labels("measures", self.measures);
  }
  bool operator==(const CorrelationRequest&) const = default;
};

/// The subjects with the highest and the lowest means.
struct ExtremesRequest {
  static constexpr const char* key_form = "{most: 10, of: {item.dimension: [LABEL, LABEL]}} or all";
  std::vector<Selection> of = {};  ///< as rows of a correlation; empty: every dimension, or every item without any
  std::int64_t most = 10;          ///< shown at each end
  std::vector<std::string> measures = {};
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.unless_default().selections("of", self.of);
    keys.integer("most", self.most, 1, 10'000, "shown at each end");
    keys.labels("measures", self.measures);
  }
  bool operator==(const ExtremesRequest&) const = default;
};

}  // namespace stereosweep::sweep
