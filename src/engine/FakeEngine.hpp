// Answers from a hash of the query: lets everything but the engine be tested without a model, at 10^8 cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/Engine.hpp"

namespace stereosweep::engine {

/// Every number is a function of the seed and of what it would depend on in a real model: the text, the filled slots
/// and the target, never of other targets, queries or calls. Ids outside the vocabulary get a QueryError.
class FakeEngine : public query::Engine {
 public:
  /// `vocabulary`: number of ids that may be asked for.
  FakeEngine(std::size_t vocabulary, std::uint64_t seed) : vocabulary_(vocabulary), seed_(seed) {}
  std::vector<query::Answer> answer(std::span<const query::Query> queries) override;
  query::EngineCounts counts() const override { return counts_; }

 private:
  query::Answer fill(const query::Fill& fill);
  query::Answer follow(const query::Continue& asked) const;
  query::Answer embed(const query::Embed& asked) const;
  query::Answer generate(const query::Generate& asked) const;
  void count_distinct(std::span<const query::Query> queries);

  std::size_t vocabulary_;
  std::uint64_t seed_;
  query::EngineCounts counts_;
};

}  // namespace stereosweep::engine
