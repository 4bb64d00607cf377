#include "findings/contrasts/Conclusions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stereosweep::findings {
namespace {

Conclusions conclude_all(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  Conclusions conclusions;
  const auto add = [&](std::vector<Finding> findings) {
    std::ranges::move(findings, std::back_inserter(conclusions.findings));
  };
  if (!comparison.contrasts.empty()) {
    conclusions.findings.push_back(finding_of(compare(scores, comparison, seed), comparison));
  }
  if (comparison.means) {
    conclusions.findings.push_back(finding_of(means_of(scores, comparison), comparison));
  }
  if (comparison.variance) {
    add(findings_of(variance_of(scores, comparison), comparison));
  }
  if (comparison.intersections) {
    add(findings_of(intersections_of(scores, comparison, seed), comparison));
  }
  if (comparison.people) {
    conclusions.people = agree_with_people(scores, comparison, seed);
  }
  std::optional<Clusters> clusters;
  if (comparison.clusters) {
    clusters = clusters_of(scores, *comparison.clusters, seed);
  }
  if (!comparison.correlations.empty()) {
    add(findings_of(correlations_of(scores, comparison, clusters ? &*clusters : nullptr, seed), comparison));
  }
  if (comparison.extremes) {
    conclusions.findings.push_back(finding_of(extremes_of(scores, comparison), comparison));
  }
  if (clusters) {
    add(findings_of(*clusters, *comparison.clusters, seed));
  }
  if (comparison.variation) {
    add(findings_of(variation_of(scores, *comparison.variation), *comparison.variation));
  }
  return conclusions;
}

}  // namespace

Conclusions conclude(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  if (scores.ranks.size() == 1) {
    return conclude_all(scores, comparison, seed);
  }
  // Whatever the ranks do together begins with word of each that it has come so far: whoever fails says so there.
  std::optional<Conclusions> conclusions;
  try {
    conclusions = conclude_all(scores, comparison, seed);
  } catch (const parallel::SharedError&) {
    throw;
  } catch (const std::exception&) {
    parallel::run_coordinated(scores.ranks, "", [] { throw; });
  }
  parallel::run_coordinated(scores.ranks, "", [] {});
  return std::move(*conclusions);
}

void write_conclusions(results::Layout& layout, const Conclusions& conclusions, const sweep::Comparison& comparison) {
  for (const auto& finding : conclusions.findings) {
    write(layout, finding);
  }
  if (conclusions.people) {
    write_people(layout, *conclusions.people, comparison);
  }
}

std::string conclusions_text(const Conclusions& conclusions, const sweep::Comparison& comparison, std::size_t top,
                             const results::ShownMeasures& shown) {
  // what was asked first, what it rests on last
  std::string text;
  for (const auto& finding : conclusions.findings) {
    text += text_of(finding, top, shown);
  }
  return text + (conclusions.people ? people_text(*conclusions.people, comparison, top) : "");
}

}  // namespace stereosweep::findings
