// From embed queries to distinct sentences of words: no tensor here.
// What comes out is a function of the set of queries: neither their order nor their repeats show in the sentences.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "query/Engine.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::model {
class ElmoModel;
}

namespace stereosweep::engine {

/// One reason to read one word of a sentence.
struct WordUse {
  std::int32_t position = 0;  ///< of the word
  std::uint32_t query = 0;
  int layer = 0;  ///< a hidden state from 0, or one of:
  static constexpr int sum_of_states = -1;
  static constexpr int own_vector = -2;  ///< of the word alone: half of hidden state 0
  auto operator<=>(const WordUse&) const = default;
};

/// One distinct sentence. Its words lie in the texts of the queries.
struct Sentence {
  std::vector<std::string_view> words;
  std::vector<WordUse> uses;  ///< sorted; never empty
};

struct ElmoPlan {
  std::vector<query::Answer> answers;  ///< errors, and empty vectors
  std::vector<Sentence> sentences;     ///< longest first, then by words
};

/// Words of the longest sentence that is taken.
inline constexpr std::int64_t max_sentence_words = 4096;

/// `num_layers`: of LSTMs.
ElmoPlan plan_elmo(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer, int num_layers);

/// The first `count` sentences that make one forward pass: at most `budget` words and marks, at least one sentence.
std::size_t count_batch(std::span<const Sentence> sentences, std::int64_t budget);

/// Words of a sentence and its two marks.
std::int64_t tokens_of(const Sentence& sentence);

// Answers embed queries with an ELMo model.

/// One call is one deduplicated, sorted piece of work, as in MaskedEngine. Every sentence starts from zeros, so that no
/// answer depends on what was asked before.
class ElmoEngine : public query::Engine {
 public:
  /// `tokenizer` splits words; it must outlive the engine.
  ElmoEngine(std::unique_ptr<model::ElmoModel> model, const tokenizer::Tokenizer& tokenizer, std::int64_t batch_tokens);
  ~ElmoEngine() override;
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override;
  std::optional<std::string> lacks(query::Prediction asked) const override;

 private:
  std::unique_ptr<model::ElmoModel> model_;
  const tokenizer::Tokenizer& tokenizer_;
  std::int64_t batch_tokens_;
};

}  // namespace stereosweep::engine
