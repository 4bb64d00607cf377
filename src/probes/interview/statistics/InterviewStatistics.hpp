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
#include "stats/Summary.hpp"
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

/// Of the subjects' coefficients of variation (standard deviation, n - 1, over mean) of their mean rating on a
/// dimension, as absolute values; of the subjects that have one.
struct SubjectVariation {
  double mean = stats::nan;
  double largest = stats::nan;
  std::int32_t n = 0;  ///< subjects
};

/// Texts that were asked for ratings. One that rates several items counts once.
struct RefusalCounts {
  std::uint64_t texts = 0;
  std::uint64_t refused = 0;  ///< declines some item and rates none
  std::uint64_t unrated = 0;  ///< rates none, for whatever reason
};

struct Consistency {
  std::vector<std::string> dimensions;
  std::vector<SubjectVariation> over_rounds;    ///< [template, dimension]; a subject's values: the means of its rounds
  std::vector<SubjectVariation> to_first_form;  ///< [template, dimension]; two values: the means of both forms
  std::vector<RefusalCounts> of_subjects;
  std::vector<RefusalCounts> of_forms;
};

/// `turns`: by item of the table, as `rating_turns`. Of the measures `rating`, `usable` and `refused`.
Consistency consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns);

/// A share of texts and, where they were drawn, its interval of this level: Clopper and Pearson. The prompts are fixed
/// and their shares may differ, which makes the interval too wide, if anything (Hoeffding 1956). NaN without texts.
struct TextShare {
  double share = stats::nan;
  double low = stats::nan;
  double high = stats::nan;
};
TextShare text_share(std::uint64_t count, std::uint64_t texts, std::optional<double> confidence);

/// `template_refused_share`, `subject_refused_share`, `rating_variation` where something is rated, `texts_over_...`.
/// `scores`: of the same run. `confidence`: of intervals; nothing: greedy answers, which are no draws.
std::vector<findings::Finding> findings_of(const InterviewTexts& texts, const findings::Scores& scores,
                                           std::optional<double> confidence);

}  // namespace stereosweep::probes::interview
