// Scores of every cell of an association result, a slab at a time, and of its trait pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "findings/agreement/Alignment.hpp"
#include "probes/Probe.hpp"
#include "probes/association/Association.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "stats/IncreasedLogProbability.hpp"

namespace stereosweep::probes::association {

/// Scores of one group in consecutive sentences (a sentence: one [template, rephrasing]).
struct ScoreSlab {
  std::uint64_t group = 0;  ///< among the file's groups, priors not counted
  std::uint64_t first_sentence = 0;
  std::uint64_t num_sentences = 0;
  std::vector<double> values;                ///< [measure, prior, sentence, word], nat; NaN where undefined
  std::vector<stats::ScoreStatus> statuses;  ///< parallel to values
  std::vector<std::uint8_t> cell_statuses;   ///< [sentence, word]: the file's own status of the group's cell
};

/// Reads with bounded memory: a slab of the group, and the same sentences of the priors.
class ScoreReader {
 public:
  /// `file` is borrowed. Throws InputError if it is no association result or has no priors.
  explicit ScoreReader(const results::ResultFile& file);
  /// Those whose raw numbers the file has.
  const std::vector<stats::Measure>& measures() const { return measures_; }
  const std::vector<std::string>& priors() const { return priors_; }
  /// Of the file's status cube, in the order of its numbers.
  const std::vector<std::string>& cell_status_names() const {
    return file_.schema().cubes[status_column_].flag_meanings;
  }
  std::uint64_t num_groups() const { return num_groups_; }
  std::uint64_t num_sentences() const { return num_sentences_; }
  std::uint64_t num_words() const { return num_words_; }
  /// All slabs, in canonical order.
  void for_each(const std::function<void(const ScoreSlab&)>& use) const { for_each(0, 1, use); }
  /// Of `num_shares` shares of the slabs, which are dealt in turn, share `share`.
  void for_each(std::uint64_t share, std::uint64_t num_shares, const std::function<void(const ScoreSlab&)>& use) const;
  std::uint64_t num_slabs() const;

 private:
  /// Folded numbers of one side: [measure, sentence, word].
  using Side = std::vector<stats::Score>;
  Side fold(const results::RawBlock& block, std::uint64_t num_sentences) const;
  std::optional<std::size_t> column(const std::string& name) const;
  std::uint64_t sentences_of_slab() const;

  const results::ResultFile& file_;
  std::vector<stats::Measure> measures_;
  std::vector<std::string> priors_;
  std::uint64_t num_groups_ = 0;
  std::uint64_t num_sentences_ = 0;
  std::uint64_t num_words_ = 0;
  std::uint64_t num_subwords_ = 0;
  std::size_t num_subwords_column_ = 0;
  std::size_t status_column_ = 0;
  std::optional<std::size_t> logprob_;
  std::optional<std::size_t> initial_;
  std::optional<std::size_t> continuation_;
  std::optional<std::size_t> distance_bias_;
  std::optional<std::size_t> distance_plain_;
};

// Words -> poles -> trait pairs, as the axis of words says, and their means over sentences.

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
