#include "probes/association/TraitPairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Error.hpp"
#include "probes/association/Association.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::association {

namespace {

constexpr auto undefined = CoveredScore{std::numeric_limits<double>::quiet_NaN(), Coverage::none};
constexpr auto nowhere = std::numeric_limits<std::size_t>::max();

const std::vector<std::string>& coordinate(const results::AxisSchema& axis, const std::string& name) {
  const auto found = std::find_if(axis.coordinates.begin(), axis.coordinates.end(),
                                  [&](const auto& candidate) { return candidate.name == name; });
  if (found == axis.coordinates.end()) {
    throw base::Error(
        base::describe("cannot derive trait-pair scores", "the axis 'word' has no coordinate '" + name + "'"));
  }
  return found->values;
}

}  // namespace

TraitPairs::TraitPairs(const results::AxisSchema& words) {
  const auto& pair_of = coordinate(words, "pair");
  const auto& pole_of = coordinate(words, "pole");
  const auto& side_of = coordinate(words, "side");
  const auto& dimension_of = coordinate(words, "dimension");
  for (std::size_t word = 0; word < words.labels.size(); ++word) {
    auto pair =
        std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& known) { return known.label == pair_of[word]; });
    if (pair == pairs_.end()) {
      pairs_.push_back({pair_of[word], dimension_of[word], nowhere, nowhere});
      pair = pairs_.end() - 1;
    }
    auto& pole = side_of[word] == "right" ? pair->right : pair->left;
    if (pole == nowhere) {
      pole = poles_.size();
      poles_.push_back({pole_of[word], static_cast<std::size_t>(pair - pairs_.begin()), side_of[word], {}});
    }
    poles_[pole].words.push_back(word);
  }
  for (const auto& pair : pairs_) {
    if (pair.left == nowhere || pair.right == nowhere) {
      throw base::Error(base::describe("cannot derive trait-pair scores",
                                       "the pair '" + pair.label + "' has words on one side only"));
    }
  }
}

CoveredScore TraitPairs::pole_score(std::size_t pole, std::span<const double> word_scores,
                                    Statistics::Aggregate aggregate) const {
  std::vector<double> defined;
  for (const auto word : poles_[pole].words) {
    if (!std::isnan(word_scores[word])) {
      defined.push_back(word_scores[word]);
    }
  }
  if (defined.empty()) {
    return undefined;
  }
  const auto value = aggregate == Statistics::Aggregate::median ? stats::median(defined) : stats::mean(defined);
  return {value.value, defined.size() == poles_[pole].words.size() ? Coverage::all : Coverage::some};
}

CoveredScore TraitPairs::pair_score(std::size_t pair, std::span<const CoveredScore> pole_scores) const {
  const auto& left = pole_scores[pairs_[pair].left];
  const auto& right = pole_scores[pairs_[pair].right];
  if (left.coverage == Coverage::none || right.coverage == Coverage::none) {
    return undefined;
  }
  return {right.value - left.value, std::max(left.coverage, right.coverage)};
}

results::AxisSchema TraitPairs::pole_axis() const {
  results::AxisSchema axis{"pole", "pole of a trait pair", {}, {}};
  results::AxisSchema::Coordinate pair{"pair", "trait pair", {}};
  results::AxisSchema::Coordinate side{"side", "left = 0, right = 100 on rating scales", {}};
  for (const auto& pole : poles_) {
    axis.labels.push_back(pole.label);
    pair.values.push_back(pairs_[pole.pair].label);
    side.values.push_back(pole.side);
  }
  axis.coordinates = {std::move(pair), std::move(side)};
  return axis;
}

results::AxisSchema TraitPairs::pair_axis() const {
  results::AxisSchema axis{"pair", "trait pair; a score above 0 leans to the right pole", {}, {}};
  results::AxisSchema::Coordinate dimension{"dimension", "dimension of the trait pair", {}};
  results::AxisSchema::Coordinate left{"left", "left pole", {}};
  results::AxisSchema::Coordinate right{"right", "right pole", {}};
  for (const auto& pair : pairs_) {
    axis.labels.push_back(pair.label);
    dimension.values.push_back(pair.dimension);
    left.values.push_back(poles_[pair.left].label);
    right.values.push_back(poles_[pair.right].label);
  }
  axis.coordinates = {std::move(dimension), std::move(left), std::move(right)};
  return axis;
}

}  // namespace stereosweep::probes::association
