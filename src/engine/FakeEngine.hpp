// Answers from a hash of the query: lets everything but the engine be tested without a model, at 10^8 cells.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Every number is a function of the seed and of what it would depend on in a real model: the text, the filled slots
/// and the target; the tokens up to a continuation's; a prompt and its sampling fields. Never of other targets, queries
/// or calls. Continuations have the tokens that the border rule gives them. Generated texts
/// are simple words, one a token.
class FakeEngine : public query::Engine {
 public:
  static constexpr std::size_t vector_width = 16;  ///< of an Embed's answer

  /// `tokenizer` must outlive the engine. Ids outside its vocabulary get a QueryError.
  FakeEngine(const tokenizer::Tokenizer& tokenizer, std::uint64_t seed) : tokenizer_(tokenizer), seed_(seed) {}
  std::vector<query::Answer> answer(std::span<const query::Query> queries) override;
  query::EngineCounts counts() const override { return counts_; }

 private:
  struct Input {
    std::uint64_t hash = 0;
    std::uint64_t tokens = 0;
    auto operator<=>(const Input&) const = default;
  };

  query::Answer answer_to(const query::Fill& fill);
  query::Answer answer_to(const query::Continue& asked);
  query::Answer answer_to(const query::Embed& asked);
  query::Answer answer_to(const query::Generate& asked);
  void count_distinct();

  const tokenizer::Tokenizer& tokenizer_;
  std::uint64_t seed_;
  query::EngineCounts counts_;
  std::vector<Input> inputs_;  ///< of the present call
};

}  // namespace stereosweep::engine
