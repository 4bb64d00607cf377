// Words -> poles -> trait pairs, as the axis of words says, and their means over sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/Alignment.hpp"
#include "probes/Probe.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/scores/ScoreReader.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::association {

/// How many of a score's parts are defined.
enum class Coverage : std::uint8_t { all = 0, some = 1, none = 2 };

/// A score with how much of what it is made of exists; NaN exactly where the coverage is `none`.
struct CoveredScore {
  double value;
  Coverage coverage;
};

class TraitPairs {
 public:
  struct Pole {
    std::string label;
    std::size_t pair = 0;
    std::string side;  ///< "left", "right"
    std::vector<std::size_t> words;
  };
  struct Pair {
    std::string label;
    std::string dimension;
    std::size_t left = 0;  ///< poles
    std::size_t right = 0;
  };
  /// From the word axis with its coordinates pair, pole, side, dimension. Throws InputError if one is missing,
  /// base::Error if a pair lacks a pole.
  explicit TraitPairs(const results::AxisSchema& words);
  const std::vector<Pole>& poles() const { return poles_; }
  const std::vector<Pair>& pairs() const { return pairs_; }

  /// Score of a pole: median or mean of its defined words. `word_scores`: [word], NaN where undefined.
  CoveredScore pole_score(std::size_t pole, std::span<const double> word_scores, Statistics::Aggregate aggregate) const;
  /// Right pole minus left pole (cao2022 §3.2); `none` unless both poles have a score.
  CoveredScore pair_score(std::size_t pair, std::span<const CoveredScore> pole_scores) const;

  /// sweep::Axes of a statistics file.
  results::AxisSchema pole_axis() const;
  results::AxisSchema pair_axis() const;

 private:
  std::vector<Pole> poles_;
  std::vector<Pair> pairs_;
};

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
