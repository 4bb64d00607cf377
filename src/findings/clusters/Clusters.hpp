// Subjects of a score table in clusters: each subject is a point, its coordinates are its mean scores on the items'
// dimensions (stereotype content model: warmth and competence). k-means, the elbow, high and low, agreement of measures
// with each other and with people. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/KMeans.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Where a score stands on a dimension; `middle`: exactly at the limit.
enum class ClusterSide : std::uint8_t { none = 0, low = 1, middle = 2, high = 3 };
inline const std::vector<std::string> side_names = {"none", "low", "middle", "high"};

/// One measure, or the people.
struct ClusterSource {
  std::string name = {};
  std::string unit = {};                   ///< of the scores; "": not known, as of people
  std::vector<double> points = {};         ///< [subject, dimension], mean scores; NaN: none
  std::vector<std::int32_t> answers = {};  ///< [subject, dimension]: sampled answers that were read in them
  /// [dimension]: p that subjects are alike on it, by F of subjects over what templates and rephrasings do to single
  /// subjects; NaN: not known, as of people.
  std::vector<double> spread_p = {};
  std::vector<std::size_t> subjects = {};         ///< those with a score on every dimension, which are clustered
  std::vector<stats::Clustering> by_number = {};  ///< [k - 1]
  stats::Elbow elbow = {};
  std::size_t number = 0;               ///< of clusters that all below is about; 0: none, no elbow or too few subjects
  std::vector<double> limits = {};      ///< [dimension]: above it is high
  std::vector<ClusterSide> sides = {};  ///< [cluster, dimension], of the centres
  std::vector<std::int32_t> cluster_of = {};  ///< [subject]; -1: none
  /// The spread of the subjects on this dimension is within its error: sides and tests say nothing.
  bool is_within_error(std::size_t dimension) const { return spread_p[dimension] > largest_spread_p; }
  static constexpr double largest_spread_p = 0.05;
  /// Subjects in one of the `number` clusters.
  std::vector<std::size_t> members(std::size_t cluster) const;
  /// The clustering into `number` clusters.
  const stats::Clustering& chosen() const { return by_number.at(number - 1); }
};

/// Paired t of two dimensions over the members of a cluster (stereomap, Table 2; Fiske et al. 2002). The clusters were
/// fitted on the same scores, which makes p too small where they part the two dimensions.
struct ClusterTest {
  stats::PairedTest test;
  /// Among the tests of one source; NaN where the spread on one of the two dimensions is within its error, too.
  double p_holm = stats::nan;
};

struct Clusters {
  std::vector<std::size_t> measures;              ///< places on the table's axis
  results::AxisSchema subjects;                   ///< of the table
  results::AxisSchema dimensions;                 ///< `cluster_dimension`
  std::vector<std::array<std::size_t, 2>> pairs;  ///< of dimensions, the earlier first
  std::vector<ClusterSource> sources;             ///< the measures, and behind them the people where there is a table
  bool has_people = false;
  std::string human_source;            ///< file and SHA-256 of the people's table
  std::vector<std::string> unmatched;  ///< its names that the score table does not have
  std::vector<stats::Value> rand;      ///< [source, source], adjusted, over the subjects that both cluster
  std::vector<ClusterTest> tests;      ///< [source, cluster, pair]; as many clusters as the largest `number`
  /// [source, subject]: whether the subject's cluster has the sides of its cluster by the reference.
  enum class Agreement : std::uint8_t { none = 0, differs = 1, agrees = 2 };
  std::vector<Agreement> agreements;
  /// Intersections of one group with each of `columns`.
  struct Row {
    std::string label;
    std::map<std::string, std::size_t> subjects;  ///< by their columns
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;

  /// With whom subjects are compared: the people, else the first measure.
  std::size_t reference() const { return has_people ? sources.size() - 1 : 0; }
  std::size_t most_clusters() const;
  /// "high-low": sides of the subject's cluster in the order of the dimensions; "": in none.
  std::string type_of(std::size_t source, std::size_t subject) const;
  std::string type_of_cluster(std::size_t source, std::size_t cluster) const;
};

/// Replicates are averaged within a cell first, or the one that is their mean is taken; a point is the mean over cells.
/// Throws InputError where the table has no dimensions, not those that are asked for, or not the measures, and for
/// faults of the people's table.
Clusters clusters_of(const Scores& scores, const sweep::ClusterRequest& request, std::uint64_t seed);

/// Whether all subjects of a row are in clusters with the same sides; `none`: one of them is in no cluster, or missing.
Clusters::Agreement agreement_of(const Clusters& clusters, std::size_t source, const Clusters::Row& row);

/// Variables `cluster...` and `elbow...`; without tables where nobody asked for clusters.
std::vector<Finding> findings_of(const Clusters& clusters, const sweep::ClusterRequest& request, std::uint64_t seed);

}  // namespace stereosweep::findings
