// Scores of every cell of an association result, a slab at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/Reader.hpp"
#include "stats/Association.hpp"

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
  /// In canonical order.
  void for_each(const std::function<void(const ScoreSlab&)>& use) const;

 private:
  /// Folded numbers of one side: [measure, sentence, word].
  using Side = std::vector<stats::Score>;
  Side fold(const results::RawBlock& block, std::uint64_t num_sentences) const;
  stats::WordNumbers numbers(const results::RawBlock& block, std::uint64_t cell) const;
  std::optional<std::size_t> column(const std::string& name) const;

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

}  // namespace stereosweep::probes::association
