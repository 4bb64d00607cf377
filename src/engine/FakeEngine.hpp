// Answers from a hash of the query: lets everything but the engine be tested without a model, at 10^8 cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override;

 private:
  const tokenizer::Tokenizer& tokenizer_;
  std::uint64_t seed_;
};

}  // namespace stereosweep::engine
