#include "findings/contrasts/Conclusions.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace stereosweep::findings {
namespace {

std::vector<Finding> conclude_all(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  std::vector<Finding> found;
  const auto add = [&](std::vector<Finding> findings) { std::ranges::move(findings, std::back_inserter(found)); };
  if (!comparison.contrasts.empty()) {
    found.push_back(finding_of(compare(scores, comparison, seed), comparison));
  }
  if (comparison.means) {
    found.push_back(finding_of(means_of(scores, comparison), comparison));
  }
  if (comparison.variance) {
    add(findings_of(variance_of(scores, comparison), comparison));
  }
  if (comparison.intersections) {
    add(findings_of(intersections_of(scores, comparison), comparison));
  }
  if (comparison.people) {
    add(findings_of(agree_with_people(scores, comparison, seed), comparison));
  }
  std::optional<Clusters> clusters;
  if (comparison.clusters) {
    clusters = clusters_of(scores, *comparison.clusters, seed);
  }
  if (!comparison.correlations.empty()) {
    add(findings_of(correlations_of(scores, comparison, clusters ? &*clusters : nullptr, seed), comparison));
  }
  if (comparison.extremes) {
    found.push_back(finding_of(extremes_of(scores, comparison), comparison));
  }
  if (clusters) {
    add(findings_of(*clusters, *comparison.clusters, seed));
  }
  if (comparison.variation) {
    add(findings_of(variation_of(scores, *comparison.variation), *comparison.variation));
  }
  return found;
}

}  // namespace

std::vector<Finding> conclude(const Scores& all, const sweep::Comparison& comparison, std::uint64_t seed) {
  const auto scores = comparison.templates.empty() ? all : with_templates(all, comparison.templates);
  if (scores.ranks.size() == 1) {
    return conclude_all(scores, comparison, seed);
  }
  // Whatever the ranks do together begins with word of each that it has come so far: whoever fails says so there.
  std::vector<Finding> found;
  try {
    found = conclude_all(scores, comparison, seed);
  } catch (const parallel::SharedError&) {
    throw;
  } catch (const std::exception&) {
    parallel::run_coordinated(scores.ranks, "", [] { throw; });
  }
  parallel::run_coordinated(scores.ranks, "", [] {});
  return found;
}

}  // namespace stereosweep::findings
