#include <algorithm>
#include <string>
#include <vector>

#include "findings/clusters/Clusters.hpp"

namespace stereosweep::findings {
namespace {

using Names = std::vector<std::string>;

using results::number_cube;

/// "first", "first" + 1, ... as labels.
Names numbered(std::size_t length, std::size_t first) {
  Names labels;
  for (std::size_t i = 0; i < length; ++i) {
    labels.push_back(std::to_string(first + i));
  }
  return labels;
}

/// The axis of this name where it has these labels, else one of our own.
std::string axis_with(results::Layout& layout, const std::string& name, const std::string& long_name,
                      const Names& labels) {
  if (layout.has_axis(name) && layout.axis(name).labels == labels) {
    return name;
  }
  const auto own = layout.has_axis(name) ? "cluster_" + name : name;
  layout.add_axis({own, long_name, labels, {}});
  return own;
}

/// Of one kind of source: what every number of clusters gives.
struct CurveAxes {
  std::string prefix;  ///< of the variables
  std::string source;
  std::string subject;
};

void write_curves(results::Layout& layout, const Clusters& clusters, const std::vector<ClusterSource>& sources,
                  const CurveAxes& names) {
  std::vector<stats::Clustering> clusterings;
  std::vector<std::int32_t> labels;
  for (const auto& source : sources) {
    for (const auto& clustering : source.by_number) {
      clusterings.push_back(clustering);
      const auto first = labels.size();
      labels.resize(first + clusters.subjects.size(), -1);
      for (std::size_t point = 0; point < clustering.labels.size(); ++point) {
        labels[first + source.subjects[point]] = static_cast<std::int32_t>(clustering.labels[point]);
      }
    }
  }
  const auto& [prefix, source, subject] = names;
  const Names axes = {source, "num_clusters"};
  layout.write(number_cube(prefix + "cluster_inertia", "1", "least sum of squared distances to the clusters' centres",
                           "k-means on the scores of all dimensions, unscaled"),
               axes, clusterings, &stats::Clustering::inertia);
  layout.write(
      number_cube(prefix + "cluster_restarts_at_best", "1", "restarts that reached " + prefix + "cluster_inertia",
                  "of cluster_restarts (root attribute), within 1e-9"),
      axes, clusterings, &stats::Clustering::num_best);
  layout.write(results::flag_cube(prefix + "cluster_status", "why there are no such clusters", stats::reason_names()),
               axes, clusterings, &stats::Clustering::reason);
  layout.write(number_cube(prefix + "cluster", "1", "cluster of the " + subject,
                           "numbered by the first " + subject + " in it; -1: none, a score is missing"),
               {source, "num_clusters", subject}, labels);
  layout.write(number_cube(prefix + "elbow_second_difference", "1",
                           "number of clusters with the largest second difference of " + prefix + "cluster_inertia",
                           "0: see " + prefix + "elbow_status"),
               {source}, sources, [](const auto& one) { return one.elbow.second_difference; });
  layout.write(number_cube(prefix + "elbow_kneedle", "1",
                           "number of clusters farthest below the chord of " + prefix + "cluster_inertia",
                           "0: see " + prefix + "elbow_status"),
               {source}, sources, [](const auto& one) { return one.elbow.kneedle; });
  layout.write(results::flag_cube(prefix + "elbow_status", "why there is no elbow", stats::reason_names()), {source},
               sources, [](const auto& one) { return one.elbow.reason; });
}

/// Of every source: points, limits, and the clusters of the chosen number.
void write_chosen(results::Layout& layout, const Clusters& clusters, const std::string& subject,
                  const std::string& dimension, const std::string& high_above) {
  const auto num_dimensions = clusters.dimensions.size();
  const auto most = clusters.most_clusters();
  const auto& sources = clusters.sources;
  std::vector<double> points;
  std::vector<double> limits;
  std::vector<double> spreads;
  std::vector<double> centres;
  std::vector<std::uint8_t> sides;
  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> cluster_of;
  for (const auto& source : sources) {
    points.insert(points.end(), source.points.begin(), source.points.end());
    limits.insert(limits.end(), source.limits.begin(), source.limits.end());
    spreads.insert(spreads.end(), source.spread_p.begin(), source.spread_p.end());
    cluster_of.insert(cluster_of.end(), source.cluster_of.begin(), source.cluster_of.end());
    for (std::size_t cluster = 0; cluster < most; ++cluster) {
      sizes.push_back(
          static_cast<std::int32_t>(std::ranges::count(source.cluster_of, static_cast<std::int32_t>(cluster))));
    }
    for (std::size_t place = 0; place < most * num_dimensions; ++place) {
      const bool is_there = place < source.number * num_dimensions;
      centres.push_back(is_there ? source.chosen().centres[place] : stats::nan);
      sides.push_back(static_cast<std::uint8_t>(is_there ? source.sides[place] : ClusterSide::none));
    }
  }
  const Names by_cluster = {"cluster_source", "cluster_place", dimension};
  const auto limit = std::string("high: above ") + (high_above == "mean" || high_above == "median"
                                                        ? "the " + high_above + " of the " + subject + "s' scores"
                                                        : high_above);
  layout.write(number_cube("cluster_point", "", "mean score of the " + subject + " on the dimension"),
               {"cluster_source", subject, dimension}, points);
  layout.write(number_cube("cluster_limit", "", "above it a score is high, below it low", limit),
               {"cluster_source", dimension}, limits);
  layout.write(number_cube("cluster_spread_p", "1",
                           "p that subjects are alike on the dimension, by F over subjects x templates"),
               {"cluster_source", dimension}, spreads);
  layout.write(number_cube("cluster_number", "1", "number of clusters that are described", "0: none, see elbow_status"),
               {"cluster_source"}, sources, &ClusterSource::number);
  layout.write(
      number_cube("cluster_of_" + subject, "1", "cluster of the " + subject + " among cluster_number", "-1: none"),
      {"cluster_source", subject}, cluster_of);
  if (most == 0) {
    return;
  }
  layout.write(number_cube("cluster_centre", "", "mean score of the cluster's members"), by_cluster, centres);
  layout.write(results::flag_cube("cluster_side", "where the cluster's centre stands; " + limit, side_names()),
               by_cluster, sides);
  layout.write(number_cube("cluster_size", "1", "members of the cluster"), {"cluster_source", "cluster_place"}, sizes);
}

void write_agreement(results::Layout& layout, const Clusters& clusters, const std::string& subject) {
  const Names pairs = {"cluster_source", "cluster_other"};
  layout.write(number_cube("cluster_rand", "1", "adjusted Rand index of two sources' clusters",
                           "over the " + subject + "s that both cluster"),
               pairs, clusters.rand, &stats::Value::value);
  layout.write(results::flag_cube("cluster_rand_status", "why there is no index", stats::reason_names()), pairs,
               clusters.rand, &stats::Value::reason);
  layout.write(results::flag_cube("cluster_agreement",
                                  "whether the " + subject + "'s cluster has the same sides as its cluster by " +
                                      clusters.sources[clusters.reference()].name,
                                  {"none", "differs", "agrees"}),
               {"cluster_source", subject}, clusters.agreements, [](auto agreement) { return agreement; });
}

void write_tests(results::Layout& layout, const Clusters& clusters) {
  if (clusters.pairs.empty() || clusters.most_clusters() == 0) {
    return;
  }
  Names labels;
  for (const auto& [first, second] : clusters.pairs) {
    labels.push_back(clusters.dimensions[first] + " - " + clusters.dimensions[second]);
  }
  layout.root().write_attribute("cluster_warnings", cluster_test_warning);
  layout.add_axis({"dimension_pair", "two dimensions, the first minus the second", labels, {}});
  const Names axes = {"cluster_source", "cluster_place", "dimension_pair"};
  const std::string warning = "clusters were fitted on the same scores: too small where they part the dimensions";
  const auto& tests = clusters.tests;
  layout.write(number_cube("cluster_t_difference", "", "mean difference of the dimensions over the cluster's members"),
               axes, tests, [](const auto& test) { return test.test.difference; });
  layout.write(number_cube("cluster_t", "1", "paired t of the two dimensions over the cluster's members",
                           "cluster_size - 1 degrees of freedom"),
               axes, tests, [](const auto& test) { return test.test.t; });
  layout.write(number_cube("cluster_t_p", "1", "two-sided p of cluster_t", warning), axes, tests,
               [](const auto& test) { return test.test.p; });
  layout.write(number_cube("cluster_t_p_holm", "1", "cluster_t_p after Holm among the tests of one source", warning),
               axes, tests, &ClusterTest::p_holm);
  layout.write(results::flag_cube("cluster_t_status", "why there is no t", stats::reason_names()), axes, tests,
               [](const auto& test) { return test.test.reason; });
}

void write_rows(results::Layout& layout, const Clusters& clusters) {
  if (clusters.rows.empty()) {
    return;
  }
  Names labels;
  for (const auto& row : clusters.rows) {
    labels.push_back(row.label);
  }
  layout.add_axis({"cluster_row", "what the subjects side by side have in common", labels, {}});
  std::vector<std::uint8_t> differs;
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    for (const auto& row : clusters.rows) {
      differs.push_back(static_cast<std::uint8_t>(agreement_of(clusters, source, row)));
    }
  }
  layout.write(
      results::flag_cube("cluster_row_agreement", "whether the clusters of all subjects of the row have the same sides",
                         {"none", "differs", "agrees"}),
      {"cluster_source", "cluster_row"}, differs);
}

}  // namespace

void write_clusters(results::Layout& layout, const Clusters& clusters, const sweep::ClusterRequest& request,
                    std::uint64_t seed) {
  auto& root = layout.root();
  const bool is_random = request.start == sweep::ClusterRequest::Start::random;
  root.write_attribute("cluster_start", std::string(is_random ? "random" : "k-means++"));
  root.write_attribute("cluster_restarts", request.restarts);
  root.write_attribute("cluster_seed", std::to_string(seed));
  root.write_attribute("cluster_human_ratings", clusters.has_people ? clusters.human_source : std::string("none"));
  const auto num_measures = static_cast<std::ptrdiff_t>(clusters.num_measures());
  const std::vector<ClusterSource> measures(clusters.sources.begin(), clusters.sources.begin() + num_measures);
  Names names;
  for (const auto& source : clusters.sources) {
    names.push_back(source.name);
  }
  const Names measure_names(names.begin(), names.begin() + num_measures);
  const auto own_axis = [&](const std::string& name, const Names& labels) {
    return !name.empty() && layout.has_axis(name) && layout.axis(name).labels == labels;
  };
  const std::string subject = own_axis(request.subject_axis, clusters.subjects)
                                  ? request.subject_axis
                                  : results::score_axis_names[subject_axis];
  const std::string measure = own_axis(request.measure_axis, measure_names)
                                  ? request.measure_axis
                                  : measure_axis_of(layout, clusters.measures, "cluster_measure");
  layout.add_axis({"num_clusters", "number of clusters", numbered(clusters.num_curve, 1), {}});
  layout.add_axis({"cluster_source", "whose scores are clustered", names, {}});
  layout.add_axis({"cluster_other", "whose scores are clustered", names, {}});
  if (clusters.most_clusters() > 0) {
    layout.add_axis({"cluster_place", "number of a cluster", numbered(clusters.most_clusters(), 0), {}});
  }
  const auto dimension = axis_with(layout, "dimension", "dimension of the items", clusters.dimensions);
  write_curves(layout, clusters, measures, {"", measure, subject});
  if (clusters.has_people) {
    layout.add_axis({"human_table", "table of people's means", {clusters.human_source}, {}});
    write_curves(layout, clusters, {clusters.sources.back()}, {"human_", "human_table", subject});
  }
  write_chosen(layout, clusters, subject, dimension, request.high_above);
  write_agreement(layout, clusters, subject);
  write_tests(layout, clusters);
  write_rows(layout, clusters);
}

}  // namespace stereosweep::findings
