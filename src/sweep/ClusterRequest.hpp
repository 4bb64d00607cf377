// What `stats` is asked about clusters of subjects. Plain values.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "sweep/KeyFault.hpp"

namespace stereosweep::sweep {

/// k-means of a score table's subjects, whose items have dimensions: each subject is a point, its coordinates are its
/// mean scores on the dimensions.
struct ClusterRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL], number: 4} or all";
  enum class Start : std::uint8_t { plus_plus, random };
  inline static const std::vector<std::string> start_names = {"plus_plus", "random"};
  /// Which of the two groups of an intersection stand side by side.
  enum class Across : std::uint8_t { none, first, second };
  inline static const std::vector<std::string> across_names = {"none", "first", "second"};
  static constexpr std::int64_t most_clusters = 100;
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
  /// No keys of a job, the probe says so: the measures where `measures` is empty; whether tables show what is found.
  std::vector<std::string> default_measures = {};
  bool is_asked = true;

  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.labels("measures", self.measures);
    keys.labels("dimensions", self.dimensions);
    keys.line("number", self.number, "of clusters, or elbow");
    keys.choice("start", self.start, start_names);
    keys.integer("restarts", self.restarts, 1000, 10'000'000);
    keys.integer("max_clusters", self.max_clusters, 1, most_clusters);
    keys.path("human_ratings", self.human_ratings, "a table of people's means");
    keys.line("high_above", self.high_above, "mean, median or a number");
    keys.choice("across", self.across, across_names);
  }
  std::vector<KeyFault> faults() const {
    std::vector<KeyFault> faults;
    const auto count = base::parse_double(number);
    if (number != "elbow" && !(count && *count >= 1 && *count <= most_clusters && *count == std::floor(*count))) {
      faults.push_back({"number", "'" + number.substr(0, 40) + "' is no number of clusters",
                        "elbow or a whole number from 1 to " + std::to_string(most_clusters) + " is expected", ""});
    }
    if (high_above != "mean" && high_above != "median" && !base::parse_double(high_above)) {
      faults.push_back({"high_above", "'" + high_above.substr(0, 40) + "' parts nothing into high and low",
                        "mean, median or a number is expected", ""});
    }
    return faults;
  }
  bool operator==(const ClusterRequest&) const = default;
};

}  // namespace stereosweep::sweep
