// What only interviews have besides the score table: diversity of their texts, consistency of their ratings, refusals
// (definitions: README.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "results/RawBlock.hpp"
#include "stats/TextDiversity.hpp"

namespace stereosweep::probes::interview {

/// Words of the n-grams, and of the longest n-grams of Self-BLEU.
inline constexpr std::array<std::size_t, 2> ngram_orders = {2, 3};

/// The lower-case words, numbers and punctuation marks of a text (room answers: without markup and line ends), each
/// word with a number of its own.
class WordNumbering {
 public:
  stats::WordNumbers operator()(std::string_view text);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The words of all texts of a file, whose contexts it takes one after the other, from the first: 4 bytes a word.
class InterviewTexts {
 public:
  /// `schema` is borrowed.
  explicit InterviewTexts(const results::RawSchema& schema);
  /// `place`: of the context in the block. Texts whose answer_status is not ok are left out.
  void add(const results::RawBlock& block, std::uint64_t place);
  /// [kept axes of the contexts, turn, order]: the texts of all rounds and of all that stands on the other axes are
  /// compared with one another.
  std::vector<stats::TextDiversity> diversities(const std::vector<std::size_t>& kept_axes) const;
  const results::RawSchema& schema() const { return schema_; }

 private:
  const results::RawSchema& schema_;
  WordNumbering number_;
  std::vector<std::vector<stats::WordNumbers>> texts_;  ///< [context, turn], each of all rounds
};

/// `subject_refused_share`, `template_refused_share`, `rating_variation` of the measures `rating`, `usable` and
/// `refused`. `turns`: by item of the table, as `rating_turns`. `confidence`: of intervals; nothing: greedy answers,
/// which are no draws.
std::vector<findings::Finding> consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns,
                                              std::optional<double> confidence);

/// The same where something is rated, and `texts_over_...`. `scores`: of the same run.
std::vector<findings::Finding> findings_of(const InterviewTexts& texts, const findings::Scores& scores,
                                           std::optional<double> confidence);

}  // namespace stereosweep::probes::interview
