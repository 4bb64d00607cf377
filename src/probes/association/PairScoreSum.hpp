// Pole and pair scores of slabs, gathered into means over sentences.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/PairScores.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/ScoreReader.hpp"
#include "probes/association/TraitPairs.hpp"

namespace stereosweep::probes::association {

/// Pole and pair scores of one slab, and where they belong.
struct SlabScores {
  std::vector<CoveredScore> poles;  ///< [measure, prior, sentence, pole]
  std::vector<CoveredScore> pairs;  ///< [measure, prior, sentence, pair]
};

SlabScores fold_traits(const ScoreSlab& slab, std::size_t num_words, const TraitPairs& traits,
                       Statistics::Aggregate aggregate);

/// Gathers PairScores from slabs.
class PairScoreSum {
 public:
  PairScoreSum(findings::ScoreAxes axes, std::vector<std::size_t> detailed_groups, std::size_t num_cell_statuses);
  void add(const ScoreSlab& slab, const SlabScores& scores);
  findings::PairScores take() { return std::move(sums_); }

 private:
  findings::PairScores sums_;
  std::vector<std::uint8_t> is_selected_;  ///< [template]
};

}  // namespace stereosweep::probes::association
