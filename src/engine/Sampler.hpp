// One token from one row of logits, in the order and with the conventions of transformers' generate.
//   temperature   logits are divided by it; 0: the token with the largest logit, the lowest id among equals
//   top_k         then tokens with a smaller logit than the k-th largest are out (all of several equals stay)
//   top_p         then, from the most probable down, tokens before which a mass of at least top_p stands are out: the
//                 one that crosses it stays (equals: the lower id first)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::engine {

/// A token that may be drawn.
struct Candidate {
  query::TokenId id = 0;
  double weight = 0;  ///< probability, up to a factor that all share
};

/// What is left to draw from, by id; exact in float64. Finite logits, asked.temperature > 0.
std::vector<Candidate> candidates(std::span<const float> logits, const query::Generate& asked);

/// The new token number `step` (from 0) of a query: a function of the logits, the query's sampling fields, its seed and
/// the step alone. Finite logits.
query::TokenId next_token(std::span<const float> logits, const query::Generate& asked, std::uint64_t step);

}  // namespace stereosweep::engine
