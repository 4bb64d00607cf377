#include "probes/association/scores/TraitPairs.hpp"

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

}  // namespace

TraitPairs::TraitPairs(const results::AxisSchema& words) {
  const auto& pair_of = coordinate_of(words, "pair");
  const auto& pole_of = coordinate_of(words, "pole");
  const auto& side_of = coordinate_of(words, "side");
  const auto& dimension_of = coordinate_of(words, "dimension");
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
  return axis_of("pole", "pole of a trait pair", poles_, &Pole::label,
                 {{"pair", "trait pair", [&](const auto& pole) { return pairs_[pole.pair].label; }},
                  {"side", "left = 0, right = 100 on rating scales", &Pole::side}});
}

results::AxisSchema TraitPairs::pair_axis() const {
  return axis_of("pair", "trait pair; a score above 0 leans to the right pole", pairs_, &Pair::label,
                 {{"dimension", "dimension of the trait pair", &Pair::dimension},
                  {"left", "left pole", [&](const auto& pair) { return poles_[pair.left].label; }},
                  {"right", "right pole", [&](const auto& pair) { return poles_[pair.right].label; }}});
}

SlabScores fold_traits(const ScoreSlab& slab, std::size_t num_words, const TraitPairs& traits,
                       Statistics::Aggregate aggregate) {
  SlabScores scores;
  const auto rows = slab.values.size() / num_words;
  scores.poles.reserve(rows * traits.poles().size());
  scores.pairs.reserve(rows * traits.pairs().size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto words = std::span(slab.values).subspan(row * num_words, num_words);
    const auto first_pole = scores.poles.size();
    for (std::size_t pole = 0; pole < traits.poles().size(); ++pole) {
      scores.poles.push_back(traits.pole_score(pole, words, aggregate));
    }
    const auto poles = std::span(std::as_const(scores.poles)).subspan(first_pole);
    for (std::size_t pair = 0; pair < traits.pairs().size(); ++pair) {
      scores.pairs.push_back(traits.pair_score(pair, poles));
    }
  }
  return scores;
}

PairScoreSum::PairScoreSum(findings::ScoreAxes axes, std::vector<std::size_t> detailed_groups,
                           std::size_t num_cell_statuses) {
  is_selected_.assign(axes.templates.size(), 0);
  for (const auto index : axes.selected_templates) {
    is_selected_[index] = 1;
  }
  const auto tables = axes.measures.size() * axes.priors.size();
  sums_.axes = std::move(axes);
  sums_.detailed_groups = std::move(detailed_groups);
  const auto num_pairs = sums_.axes.pairs.size();
  sums_.overall.resize(tables * sums_.axes.groups.size() * num_pairs);
  sums_.by_template.resize(tables * sums_.axes.templates.size() * sums_.detailed_groups.size() * num_pairs);
  sums_.cells_by_status.resize(num_cell_statuses);
  sums_.scores_by_status.resize(tables);
}

void PairScoreSum::add(const ScoreSlab& slab, const SlabScores& scores) {
  const auto& axes = sums_.axes;
  for (const auto status : slab.cell_statuses) {
    ++sums_.cells_by_status.at(status);
  }
  const auto& detailed = sums_.detailed_groups;
  const auto found = std::lower_bound(detailed.begin(), detailed.end(), slab.group);
  const bool is_detailed = found != detailed.end() && *found == slab.group;
  const auto place = static_cast<std::size_t>(found - detailed.begin());
  const auto num_tables = axes.measures.size() * axes.priors.size();
  const auto scores_per_table = slab.statuses.size() / num_tables;
  const auto pairs_per_table = slab.num_sentences * axes.pairs.size();
  for (std::size_t table = 0; table < num_tables; ++table) {
    for (std::size_t index = 0; index < scores_per_table; ++index) {
      ++sums_.scores_by_status[table][static_cast<std::size_t>(slab.statuses[table * scores_per_table + index])];
    }
    const auto measure = table / axes.priors.size();
    const auto prior = table % axes.priors.size();
    for (std::size_t index = 0; index < pairs_per_table; ++index) {
      const auto& score = scores.pairs[table * pairs_per_table + index];
      if (score.coverage == Coverage::none) {
        continue;
      }
      const auto pair = index % axes.pairs.size();
      const auto sentence = (slab.first_sentence + index / axes.pairs.size()) / axes.rephrasings.size();
      if (is_detailed) {
        sums_.by_template[sums_.template_index(measure, prior, sentence, place, pair)].add(score.value);
      }
      if (is_selected_[sentence] != 0) {
        sums_.overall[sums_.overall_index(measure, prior, slab.group, pair)].add(score.value);
      }
    }
  }
}

}  // namespace stereosweep::probes::association
