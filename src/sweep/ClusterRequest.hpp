// What `stats` is asked about clusters of subjects. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stereosweep::sweep {

/// k-means of a score table's subjects, whose items have dimensions: each subject is a point, its coordinates are its
/// mean scores on the dimensions.
struct ClusterRequest {
  enum class Start : std::uint8_t { plus_plus, random };
  /// Which of the two groups of an intersection stand side by side.
  enum class Across : std::uint8_t { none, first, second };
  std::vector<std::string> measures = {};    ///< each clustered by itself; empty: all
  std::vector<std::string> dimensions = {};  ///< the coordinates, in this order; empty: all of the score table
  std::string number = "elbow";              ///< of clusters, or "elbow": where the inertia bends most
  Start start = Start::plus_plus;
  std::int64_t restarts = 1000;
  std::int64_t max_clusters = 10;  ///< the curve of the elbow ends there
  std::string human_ratings = {};  ///< path of a table of people's means, clustered in the same way; empty: none
  /// Above what a score or a centre is high on a dimension: "mean" or "median" of the subjects' scores, or a number.
  std::string high_above = "mean";
  Across across = Across::none;
  /// Axes of the statistics file that also hold the measures and the subjects; the probe says so, no key of a job.
  std::string measure_axis = {};
  std::string subject_axis = {};
  bool operator==(const ClusterRequest&) const = default;
};

}  // namespace stereosweep::sweep
