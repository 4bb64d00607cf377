// `stats`: raw numbers -> the table of scores, and why scores are missing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parallel/Communicator.hpp"
#include "probes/Probe.hpp"
#include "probes/association/Association.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/Glossary.hpp"
#include "stats/IncreasedLogProbability.hpp"

namespace stereosweep::probes::association {

// Scores of an association result, a slab of sentences at a time: words -> poles -> trait pairs.

/// A measure of the score table: a variant of the score and a prior.
struct Variant {
  stats::Measure measure;
  std::string prior;
  /// "ilps_star prior_word"
  std::string label() const { return std::string(stats::name_of(measure)) + " " + prior; }
};

/// Each measure whose raw numbers the result has with each of its priors.
std::vector<Variant> variants_of(const results::RawSchema& schema);

/// Cells of groups by the file's status; scores of words by stats::ScoreStatus.
struct StatusCounts {
  std::vector<std::uint64_t> cells;
  std::vector<std::array<std::uint64_t, stats::score_status_names.size()>> scores;  ///< [variant]
  void add(const StatusCounts& other);
};

/// Scores of one group in consecutive sentences.
struct ScoreSlab {
  results::ScoreTableWriter::Part poles;  ///< items: poles
  results::ScoreTableWriter::Part pairs;  ///< items: trait pairs
  StatusCounts counts;
};

/// Poles and trait pairs, as the axis of words says.
struct TraitPairs {
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
  results::AxisSchema pole_axis() const;
  /// Of the score table: items.
  results::AxisSchema item_axis() const;
  std::vector<Pole> poles;
  std::vector<Pair> pairs;
};

/// Reads with bounded memory: a slab of the group, and the same sentences of the priors.
class ScoreReader {
 public:
  /// `file` is borrowed. Throws InputError if it has no priors.
  ScoreReader(const results::ResultFile& file, Statistics::Aggregate aggregate);
  const TraitPairs& traits() const { return traits_; }
  const std::vector<Variant>& variants() const { return variants_; }
  /// Of the file's status cube, in the order of its numbers.
  const std::vector<std::string>& cell_status_names() const { return meanings_of(file_.schema(), "status"); }
  StatusCounts no_counts() const;
  /// All slabs, in canonical order; of `num_shares` shares of them, which are dealt in turn, share `share`.
  void for_each(const std::function<void(const ScoreSlab&)>& use, std::uint64_t share = 0,
                std::uint64_t num_shares = 1) const;
  std::uint64_t num_slabs() const;

 private:
  /// Folded numbers of one side: [measure, sentence, word].
  using Side = std::vector<stats::Score>;
  Side fold(const results::RawBlock& block, std::uint64_t num_sentences) const;
  ScoreSlab score(const results::RawBlock& block, std::uint64_t num_sentences,
                  const std::vector<Side>& prior_sides) const;
  std::uint64_t sentences_of_slab() const;

  const results::ResultFile& file_;
  Statistics::Aggregate aggregate_;
  TraitPairs traits_;
  std::vector<stats::Measure> measures_;
  std::vector<Variant> variants_ = variants_of(file_.schema());
  std::uint64_t num_priors_ = file_.schema().num_priors;
  std::uint64_t num_groups_ = file_.schema().outer_axes.front().labels.size() - num_priors_;
  std::uint64_t num_sentences_ = file_.contexts_per_subject();
  std::uint64_t num_words_ = file_.schema().inner_axis("word").labels.size();
  std::uint64_t num_subwords_ = file_.schema().inner_axis("subword").labels.size();
  /// Number of that status; their number where there is none.
  std::size_t not_scored_ =
      results::place_of(cell_status_names(), results::not_scored).value_or(cell_status_names().size());
};

/// Of the table of scores, by the axes and cubes of the result.
results::ScoreTableAxes score_axes(const results::RawSchema& schema);

/// Streams through `file` and writes `target` (as export_run does): the table of scores (results/ScoreTable.hpp), and
/// pole_score and pole_score_status over the same axes, with poles in the place of items. Throws base::Error for files.
/// Where there are more ranks, they read and fold the file, and rank zero writes. The text says why scores are missing.
std::string write_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                             const results::StatisticsTarget& target, const results::ShownMeasures& shown = {},
                             const parallel::Communicator& world = {});
/// What the other ranks do meanwhile.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world);

/// Cells by status, and scores of words that do not exist by measure and reason.
std::string status_text(const results::ResultFile& file);

}  // namespace stereosweep::probes::association
