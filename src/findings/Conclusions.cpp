#include "findings/Conclusions.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/Means.hpp"
#include "findings/Variation.hpp"
#include "findings/clusters/Clusters.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/correlations/Correlations.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/people/People.hpp"
#include "findings/variance/Variance.hpp"

namespace stereosweep::findings {
namespace {

/// What a statistic is computed of.
struct Asked {
  const Scores& scores;
  const sweep::Comparison& comparison;
  std::uint64_t seed;
  std::optional<Clusters> clusters = {};  ///< once they are computed

  const Clusters* find_clusters() {
    if (comparison.clusters && !clusters) {
      clusters = clusters_of(scores, *comparison.clusters, seed);
    }
    return clusters ? &*clusters : nullptr;
  }
};

// One for each statistic of sweep::Comparison::each_statistic.

std::vector<Finding> found(const std::vector<sweep::Contrast>& /*contrasts*/, Asked& asked) {
  return {finding_of(compare(asked.scores, asked.comparison, asked.seed), asked.comparison)};
}
std::vector<Finding> found(const sweep::DecideRequest& /*request*/, Asked& asked) {
  return findings_of(decide(asked.scores, asked.comparison, asked.seed), asked.comparison);
}
std::vector<Finding> found(const sweep::MeansRequest& /*means*/, Asked& asked) {
  return {means_of(asked.scores, asked.comparison)};
}
std::vector<Finding> found(const sweep::VarianceRequest& /*variance*/, Asked& asked) {
  return findings_of(variance_of(asked.scores, asked.comparison), asked.comparison);
}
std::vector<Finding> found(const sweep::IntersectionQuestions& /*questions*/, Asked& asked) {
  return findings_of(intersections_of(asked.scores, asked.comparison), asked.comparison);
}
std::vector<Finding> found(const sweep::People& /*people*/, Asked& asked) {
  return agree_with_people(asked.scores, asked.comparison, asked.seed);
}
std::vector<Finding> found(const std::vector<sweep::CorrelationRequest>& /*requests*/, Asked& asked) {
  const auto find = [&] { return asked.find_clusters(); };
  return correlations_of(asked.scores, asked.comparison, find, asked.seed);
}
std::vector<Finding> found(const sweep::ExtremesRequest& /*extremes*/, Asked& asked) {
  return {extremes_of(asked.scores, asked.comparison)};
}
std::vector<Finding> found(const sweep::ClusterRequest& clusters, Asked& asked) {
  return findings_of(*asked.find_clusters(), clusters, asked.seed);
}
std::vector<Finding> found(const sweep::VariationRequest& variation, Asked& asked) {
  return variation_of(asked.scores, variation);
}

/// `use(statistic, request)` of every statistic that is asked for.
void each_asked(const sweep::Comparison& comparison, const auto& use) {
  sweep::Comparison::each_statistic(comparison, [&](const auto& statistic, const auto& wanted) {
    if constexpr (requires { wanted.has_value(); }) {
      if (wanted) {
        use(statistic, *wanted);
      }
    } else if (!wanted.empty()) {
      use(statistic, wanted);
    }
  });
}

std::vector<Finding> conclude_all(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed,
                                  std::string_view only) {
  std::vector<Finding> all;
  Asked asked{scores, comparison, seed};
  each_asked(comparison, [&](const sweep::Statistic& statistic, const auto& wanted) {
    if (!only.empty() && statistic.key != only) {
      return;
    }
    for (auto& finding : found(wanted, asked)) {
      finding.heading = statistic.heading;
      if constexpr (requires { wanted.measures; }) {
        finding.named = finding.named.empty() ? wanted.measures : finding.named;
      }
      if (finding.question) {
        answer(finding, *scores.axes[measure_axis], comparison.confidence);
      }
      all.push_back(std::move(finding));
    }
  });
  return all;
}

}  // namespace

std::vector<sweep::KeyFault> faults_of_names(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison) {
  std::vector<sweep::KeyFault> faults;
  const auto add = [&](const char* key, const std::function<void()>& look_up) {
    try {
      look_up();
    } catch (const NoNumbers&) {  // all its names were looked up before, and nothing is wrong
    } catch (const base::InputError& error) {
      for (const auto& line : base::split(error.what(), '\n')) {
        const std::string problem(base::trim(line));
        const bool is_headline = line.ends_with(':');
        if (!is_headline && std::ranges::find(faults, problem, &sweep::KeyFault::problem) == faults.end()) {
          faults.push_back({.key = key, .problem = problem});
        }
      }
    }
  };
  if (axes[measure_axis].labels.empty() || axes[subject_axis].labels.empty() || axes[item_axis].labels.empty()) {
    return faults;
  }
  auto scores = scores_of(axes);
  if (!comparison.templates.empty()) {
    add("templates", [&] { scores = with_templates(scores, comparison.templates); });
  }
  each_asked(comparison, [&](const sweep::Statistic& statistic, const auto& wanted) {
    Asked asked{scores, comparison, 0};
    add(statistic.key, [&] { found(wanted, asked); });
  });
  return faults;
}

std::vector<Finding> conclude(const Scores& all, const sweep::Comparison& comparison, std::uint64_t seed,
                              std::string_view only) {
  const auto scores = comparison.templates.empty() ? all : with_templates(all, comparison.templates);
  if (scores.ranks.size() == 1) {
    return conclude_all(scores, comparison, seed, only);
  }
  // Whatever the ranks do together begins with word of each that it has come so far: whoever fails says so there.
  std::vector<Finding> found;
  try {
    found = conclude_all(scores, comparison, seed, only);
  } catch (const parallel::SharedError&) {
    throw;
  } catch (const std::exception&) {
    parallel::run_coordinated(scores.ranks, "", [] { throw; });
  }
  parallel::run_coordinated(scores.ranks, "", [] {});
  return found;
}

}  // namespace stereosweep::findings
