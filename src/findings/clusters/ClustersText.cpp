#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/Text.hpp"
#include "findings/clusters/Clusters.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using results::fixed;

std::vector<std::string> members_of(const Clusters& clusters, const ClusterSource& source, std::size_t cluster) {
  std::vector<std::string> members;
  for (std::size_t subject = 0; subject < clusters.subjects.size(); ++subject) {
    if (source.cluster_of[subject] == static_cast<std::int32_t>(cluster)) {
      members.push_back(clusters.subjects[subject]);
    }
  }
  return members;
}

/// Inertia, elbows, and the first `top` members of each cluster.
std::string source_text(const Clusters& clusters, const ClusterSource& source, std::size_t top) {
  std::string text = "Clusters by " + source.name + ", inertia by number:";
  for (const auto& clustering : source.by_number) {
    text += " " + (clustering.defined() ? fixed(clustering.inertia) : std::string(stats::name_of(clustering.reason)));
  }
  text = results::wrapped(text, 2) + '\n';
  const bool has_elbow = source.elbow.reason == stats::Reason::ok;
  if (!has_elbow) {
    text += "  no elbow: " + std::string(stats::name_of(source.elbow.reason)) + '\n';
  }
  if (source.number == 0) {
    return text;
  }
  const auto& chosen = source.chosen();
  std::string line = "  ";
  if (has_elbow) {
    line += "elbow: " + std::to_string(source.elbow.second_difference) + " (largest second difference), " +
            std::to_string(source.elbow.kneedle) + " (Kneedle); ";
  }
  text += results::wrapped(line + "best inertia of " + base::counted(chosen.num_clusters, "cluster") + " in " +
                               std::to_string(chosen.num_best) + " of " +
                               base::counted(chosen.num_restarts, "restart") + "\n",
                           2);
  const auto num_dimensions = clusters.dimensions.size();
  for (std::size_t cluster = 0; cluster < chosen.num_clusters; ++cluster) {
    std::string centre;
    for (std::size_t dimension = 0; dimension < num_dimensions; ++dimension) {
      const auto place = cluster * num_dimensions + dimension;
      centre += (dimension == 0 ? "" : ", ") + clusters.dimensions[dimension] + " " + fixed(chosen.centres[place]) +
                " " +
                (source.is_within_error(dimension) ? "(within error)"
                                                   : side_names()[static_cast<std::size_t>(source.sides[place])]);
    }
    text += results::wrapped(
        "  " + centre + ": " + results::first_names(members_of(clusters, source, cluster), top) + '\n', 2);
  }
  return text;
}

/// Which sources agree on each subject, by the sides of the reference's clusters (winoidentity, Table 5).
std::string agreement_text(const Clusters& clusters, std::size_t top) {
  if (clusters.sources.size() < 2) {
    return "";
  }
  const auto reference = clusters.reference();
  results::TextTable rand({"adjusted Rand index", "subjects", "clusters", "with " + clusters.sources[reference].name});
  std::vector<std::pair<std::string, std::vector<std::string>>> types;
  for (std::size_t subject = 0; subject < clusters.subjects.size(); ++subject) {
    const auto type = clusters.type_of(reference, subject);
    if (type.empty()) {
      continue;
    }
    std::size_t agreeing = 0;
    for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
      agreeing += source != reference && clusters.agreements[source * clusters.subjects.size() + subject] ==
                                             Clusters::Agreement::agrees
                      ? 1
                      : 0;
    }
    const auto found = std::ranges::find(types, type, &std::pair<std::string, std::vector<std::string>>::first);
    auto& members = found == types.end() ? types.emplace_back(type, std::vector<std::string>()).second : found->second;
    members.push_back(clusters.subjects[subject] + " " + std::to_string(agreeing));
  }
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    const auto& one = clusters.sources[source];
    const auto& index = clusters.rand[source * clusters.sources.size() + reference];
    rand.add({one.name, std::to_string(one.subjects.size()), std::to_string(one.number),
              index.defined() ? fixed(index.value) : std::string(stats::name_of(index.reason))});
  }
  std::string text = '\n' + rand.text();
  if (types.empty()) {
    return text;
  }
  text += results::wrapped("\nSides (" + base::join(clusters.dimensions, ", ") + ") of the clusters by " +
                           clusters.sources[reference].name + ", and by how many of the " +
                           std::to_string(clusters.sources.size() - 1) + " others:\n");
  for (auto& [type, members] : types) {
    text += results::wrapped("  " + type + ": " + results::first_names(std::move(members), top) + '\n', 2);
  }
  return text;
}

/// Subjects side by side (winoidentity, Table 6).
std::string rows_text(const Clusters& clusters, std::size_t top) {
  if (clusters.rows.empty()) {
    return "";
  }
  std::string text;
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    if (clusters.sources[source].number == 0) {
      continue;
    }
    auto head = clusters.columns;
    head.insert(head.begin(), "by " + clusters.sources[source].name);
    head.emplace_back("differ");
    results::TextTable table(head);
    const auto shown = std::min(top, clusters.rows.size());
    for (std::size_t row = 0; row < shown; ++row) {
      std::vector<std::string> cells = {clusters.rows[row].label};
      for (const auto subject : clusters.rows[row].subjects) {
        const auto type = subject < 0 ? "" : clusters.type_of(source, static_cast<std::size_t>(subject));
        cells.push_back(type.empty() ? "-" : type);
      }
      const auto agreement = agreement_of(clusters, source, clusters.rows[row]);
      cells.emplace_back(agreement == Clusters::Agreement::none      ? "-"
                         : agreement == Clusters::Agreement::differs ? "yes"
                                                                     : "no");
      table.add(std::move(cells));
    }
    text += '\n' + table.text() + results::rest_text(shown, clusters.rows.size(), "rows");
  }
  return text;
}

std::string tests_text(const Clusters& clusters) {
  results::TextTable table({"clusters of", "sides", "first - second", "members", "difference", "t", "p", "p Holm"});
  std::size_t num_rows = 0;
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    for (std::size_t cluster = 0; cluster < clusters.sources[source].number; ++cluster) {
      for (std::size_t pair = 0; pair < clusters.pairs.size(); ++pair) {
        const auto& [first, second] = clusters.pairs[pair];
        if (clusters.sources[source].is_within_error(first) || clusters.sources[source].is_within_error(second)) {
          continue;
        }
        ++num_rows;
        const auto place = (source * clusters.most_clusters() + cluster) * clusters.pairs.size() + pair;
        const auto& [test, p_holm] = clusters.tests[place];
        table.add({clusters.sources[source].name, clusters.type_of_cluster(source, cluster),
                   clusters.dimensions[first] + " - " + clusters.dimensions[second], std::to_string(test.n),
                   fixed(test.difference), test.defined() ? fixed(test.t, 2) : std::string(stats::name_of(test.reason)),
                   results::p_value(test.p), results::p_value(p_holm)});
      }
    }
  }
  if (num_rows == 0) {
    return "";
  }
  return "\nPaired t of two dimensions over the members of a cluster\n" + table.text() +
         results::wrapped(std::string("WARNING: ") + cluster_test_warning) + '\n';
}

std::string limits_text(const Clusters& clusters, const std::string& high_above) {
  const bool is_own = high_above == "mean" || high_above == "median";
  std::string text = "high: above " + (is_own ? "the " + high_above + " of the subjects' scores" : high_above) +
                     " on the dimension, low: below it";
  for (const auto& source : clusters.sources) {
    text += is_own ? "; " + source.name : "";
    for (std::size_t dimension = 0; is_own && dimension < clusters.dimensions.size(); ++dimension) {
      text += (dimension == 0 ? " " : ", ") + clusters.dimensions[dimension] + " " + fixed(source.limits[dimension]);
    }
  }
  const bool is_any_within = std::ranges::any_of(clusters.sources, [&](const ClusterSource& source) {
    return std::ranges::any_of(source.spread_p, [](double p) { return p > ClusterSource::largest_spread_p; });
  });
  text += is_any_within ? ". (within error): the subjects' spread on the dimension is no larger than other templates "
                          "would make it (F test, p above 0.05), so that neither sides nor tests are given"
                        : "";
  return results::wrapped(text + ".") + '\n';
}

}  // namespace

std::string clusters_text(const Clusters& clusters, const sweep::ClusterRequest& request, std::size_t top) {
  std::string text = "\n";
  for (const auto& source : clusters.sources) {
    text += source_text(clusters, source, top);
  }
  text += limits_text(clusters, request.high_above);
  if (!clusters.unmatched.empty()) {
    text += results::wrapped("ratings: not in this run: " + base::join(clusters.unmatched, ", ")) + '\n';
  }
  return text + agreement_text(clusters, top) + rows_text(clusters, top) + tests_text(clusters);
}

}  // namespace stereosweep::findings
