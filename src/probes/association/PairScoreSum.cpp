#include "probes/association/PairScoreSum.hpp"

#include <algorithm>

namespace stereosweep::probes::association {

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
