// What `stats` is asked of the score table of any probe. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sweep/ClusterRequest.hpp"
#include "sweep/Contrast.hpp"
#include "sweep/CorrelationRequest.hpp"
#include "sweep/IntersectionQuestions.hpp"
#include "sweep/People.hpp"
#include "sweep/VariationRequest.hpp"

namespace stereosweep::sweep {

/// Which measures a statistic is asked of. `Statistic` tells those with nothing else to say from one another.
template <class Statistic>
struct MeasuresRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL]} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.labels("measures", self.measures);
  }
  bool operator==(const MeasuresRequest&) const = default;
};
/// Means of every subject and item, with intervals.
using MeansRequest = MeasuresRequest<struct MeansOfRows>;
/// Shares of the variance by subject, item, template, ..., and its components.
using VarianceRequest = MeasuresRequest<struct SourcesOfVariance>;

/// What a statistic is, beside what is asked of it.
struct Statistic {
  const char* key;      ///< under `statistics`
  const char* about;    ///< for people who write jobs
  const char* heading;  ///< of the report's section
};

/// The table of statistics: what is listed in `each_statistic` is read, kept, described, computed and printed, in that
/// order.
struct Comparison {
  /// Tests that are adjusted together: rows of one contrast and measure, of one measure, or all.
  enum class Family : std::uint8_t { contrast, measure, all };
  inline static const std::vector<std::string> family_names = {"contrast", "measure", "all"};
  std::vector<Contrast> contrasts = {};
  Family family = Family::measure;
  double confidence = 0.95;        ///< of intervals
  std::int64_t replicates = 2000;  ///< of the bootstrap
  std::int64_t draws = 100'000;    ///< of tests that are too large to count, and of max-T
  /// Labels of those whose scores count, empty: all. The key is a probe's.
  std::vector<std::string> templates = {};
  std::optional<MeansRequest> means = {};
  std::optional<VarianceRequest> variance = {};
  std::optional<IntersectionQuestions> intersections = {};
  std::optional<ClusterRequest> clusters = {};
  std::optional<VariationRequest> variation = {};
  std::optional<People> people = {};
  std::vector<CorrelationRequest> correlations = {};
  std::optional<ExtremesRequest> extremes = {};

  /// Shows `visit` every statistic, what was asked first, and what is asked of it (an optional, or a list).
  template <class Self, class Visit>
  static void each_statistic(Self& self, Visit visit) {
    visit(Statistic{"contrasts", "differences that are tested", "Contrasts"}, self.contrasts);
    visit(Statistic{"means", "of every subject and item, with intervals", "Scores"}, self.means);
    visit(Statistic{"variance_shares", "by subject, item, template, ...", "Where scores vary"}, self.variance);
    visit(Statistic{"intersections", "what an intersection has of its groups", "Intersections"}, self.intersections);
    visit(Statistic{"people", "agreement with people's answers", "Agreement with people"}, self.people);
    visit(Statistic{"correlations", "of items over subjects", "Correlations"}, self.correlations);
    visit(Statistic{"extremes", "the subjects with the highest and the lowest means", "Highest and lowest means"},
          self.extremes);
    visit(Statistic{"clusters", "k-means of the subjects", "Clusters"}, self.clusters);
    visit(Statistic{"variation", "coefficients of variation", "Where scores vary"}, self.variation);
  }
  template <class Self, class Keys>
  static void inference_keys(Self& self, Keys& keys) {
    keys.choice("family", self.family, family_names);
    keys.number("confidence", self.confidence, 0.5, 0.9999);
    keys.integer("replicates", self.replicates, 100, 1'000'000);
    keys.integer("draws", self.draws, 100, 100'000'000);
  }
  bool asks() const {
    bool found = false;
    each_statistic(*this, [&](const Statistic& /*statistic*/, const auto& asked) {
      found = found || asked != std::remove_cvref_t<decltype(asked)>();
    });
    return found;
  }
  bool operator==(const Comparison&) const = default;
};

}  // namespace stereosweep::sweep
