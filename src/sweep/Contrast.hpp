// What `stats` is asked of the score table of any probe. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweep/ClusterRequest.hpp"
#include "sweep/CorrelationRequest.hpp"
#include "sweep/IntersectionQuestions.hpp"
#include "sweep/People.hpp"
#include "sweep/Selection.hpp"
#include "sweep/VariationRequest.hpp"

namespace stereosweep::sweep {

/// Left minus right. What no selection names is there on both sides.
struct Contrast {
  /// selected: `right` says what; zero: the left side's mean against 0; rest: all subjects that are not on the left.
  enum class Against : std::uint8_t { selected, zero, rest };
  /// Which scores are compared where subjects lack cells (findings/README.md).
  enum class Cells : std::uint8_t { adjusted, common, all };
  inline static const std::vector<std::string> cells_names = {"adjusted", "common", "all"};
  std::string name = {};
  std::vector<Selection> left = {};  ///< all must hold
  std::vector<Selection> right = {};
  Against against = Against::selected;
  std::string each = {};                   ///< one contrast for every label of this axis or coordinate; "": one
  std::string paired = {};                 ///< "template.pair": templates with one value are a pair; "": each by itself
  std::vector<std::string> measures = {};  ///< empty: all
  Cells cells = Cells::adjusted;
  /// A second difference that is taken from the first (an interaction). `each` narrows it too, but not a side of it
  /// that selects on the axis of `each` itself.
  struct Minus {
    std::vector<Selection> left = {};
    std::vector<Selection> right = {};
    Against against = Against::zero;  ///< selected or zero
    bool operator==(const Minus&) const = default;
  };
  std::optional<Minus> minus = {};
  bool operator==(const Contrast&) const = default;
};

struct Comparison {
  /// Tests that are adjusted together: rows of one contrast and measure, of one measure, or all.
  enum class Family : std::uint8_t { contrast, measure, all };
  std::vector<Contrast> contrasts = {};
  Family family = Family::measure;
  double confidence = 0.95;        ///< of intervals
  std::int64_t replicates = 2000;  ///< of the bootstrap
  std::int64_t draws = 100'000;    ///< of tests that are too large to count, and of max-T
  /// Labels of measures, empty: all; nothing: not asked for.
  using Measures = std::optional<std::vector<std::string>>;
  Measures means = {};     ///< of every subject and item, with intervals
  Measures variance = {};  ///< its shares by subject, item, template, ...
  std::optional<IntersectionQuestions> intersections = {};
  std::optional<ClusterRequest> clusters = {};
  std::optional<VariationRequest> variation = {};
  std::optional<People> people = {};
  std::vector<CorrelationRequest> correlations = {};
  std::optional<ExtremesRequest> extremes = {};
  bool asks() const {
    return !contrasts.empty() || means || variance || intersections || clusters || variation || people ||
           !correlations.empty() || extremes;
  }
  bool operator==(const Comparison&) const = default;
};

}  // namespace stereosweep::sweep
