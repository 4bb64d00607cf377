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
  bool operator==(const CorrelationRequest&) const = default;
};

/// The subjects with the highest and the lowest means.
struct ExtremesRequest {
  std::vector<Selection> of = {};  ///< as rows of a correlation; empty: every dimension, or every item without any
  std::int64_t most = 10;          ///< shown at each end
  std::vector<std::string> measures = {};
  bool operator==(const ExtremesRequest&) const = default;
};

}  // namespace stereosweep::sweep
