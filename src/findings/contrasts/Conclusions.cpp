#include "findings/contrasts/Conclusions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stereosweep::findings {
namespace {

Conclusions conclude_all(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  Conclusions conclusions;
  conclusions.seed = seed;
  if (!comparison.contrasts.empty()) {
    conclusions.findings.push_back(finding_of(compare(scores, comparison, seed), comparison));
  }
  if (comparison.means) {
    conclusions.findings.push_back(finding_of(means_of(scores, comparison), comparison));
  }
  if (comparison.variance) {
    std::ranges::move(findings_of(variance_of(scores, comparison), comparison),
                      std::back_inserter(conclusions.findings));
  }
  if (comparison.intersections) {
    std::ranges::move(findings_of(intersections_of(scores, comparison, seed), comparison),
                      std::back_inserter(conclusions.findings));
  }
  if (comparison.variation) {
    conclusions.variation = variation_of(scores, *comparison.variation);
  }
  if (comparison.clusters) {
    conclusions.clusters = clusters_of(scores, *comparison.clusters, seed);
  }
  if (comparison.people) {
    conclusions.people = agree_with_people(scores, comparison, seed);
  }
  if (!comparison.correlations.empty()) {
    const auto* clusters = conclusions.clusters ? &*conclusions.clusters : nullptr;
    conclusions.correlations = correlations_of(scores, comparison, clusters, seed);
  }
  if (comparison.extremes) {
    conclusions.extremes = extremes_of(scores, *comparison.extremes);
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
  if (conclusions.variation) {
    write_variation(layout, *conclusions.variation);
  }
  if (conclusions.clusters) {
    write_clusters(layout, *conclusions.clusters, *comparison.clusters, conclusions.seed);
  }
  if (conclusions.people) {
    write_people(layout, *conclusions.people, comparison);
  }
  if (conclusions.correlations) {
    write_correlations(layout, *conclusions.correlations, comparison);
  }
  if (conclusions.extremes) {
    write_extremes(layout, *conclusions.extremes);
  }
}

std::string conclusions_text(const Conclusions& conclusions, const sweep::Comparison& comparison, std::size_t top,
                             const results::ShownMeasures& shown) {
  // what was asked first, what it rests on last
  std::string text;
  for (const auto& finding : conclusions.findings) {
    text += text_of(finding, top, shown);
  }
  return text + (conclusions.people ? people_text(*conclusions.people, comparison, top) : "") +
         (conclusions.correlations ? correlations_text(*conclusions.correlations, comparison, top) : "") +
         (conclusions.extremes ? extremes_text(*conclusions.extremes, comparison.extremes->most) : "") +
         (conclusions.clusters ? clusters_text(*conclusions.clusters, *comparison.clusters, top) : "") +
         (conclusions.variation ? variation_text(*conclusions.variation) : "");
}

}  // namespace stereosweep::findings
