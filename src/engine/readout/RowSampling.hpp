// One token from one row of logits, in the order and with the conventions of transformers' generate.
//   repetition_penalty  see query::Generate; the caller applies it first (`penalized`)
//   temperature   logits are divided by it; 0: the token with the largest logit, the lowest id among equals
//   top_k         then tokens with a smaller logit than the k-th largest are out (all of several equals stay)
//   top_p         then, from the most probable down, tokens before which a mass of at least top_p stands are out: the
//                 one that crosses it stays (equals: the lower id first)
// A weight is e^((logit - largest) / temperature), in float64. A draw needs the largest logits of a row, or the masses
// of its blocks and one block: the rest of a row need not be at hand, so it may stay on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/readout/SetDistance.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// How a query's fields restrict a row of `size` logits.
enum class Restriction { largest, none, top_k, nucleus };
Restriction restriction_of(const query::Generate& asked, std::size_t size);

/// In [0, 1): what decides the new token number `step` (from 0) of a query.
double unit_of(const query::Generate& asked, std::uint64_t step);

/// The row after the penalty for the ids that prompt and new text hold, rounded to float32 once; repeated ids count
/// once, ids beyond the row not at all. Finite numbers stay finite.
std::vector<float> penalized(std::span<const float> logits, std::span<const query::TokenId> prompt,
                             std::span<const query::TokenId> added, double penalty);

/// What a row's draws begin with: its largest logit, and the sums of the weights of its blocks at one temperature.
struct BlockMasses {
  std::vector<double> masses;
  float largest = 0;
};
/// At temperature 1; nothing where a logit is not finite.
std::optional<BlockMasses> plain_masses(std::span<const float> logits);
/// log sum e^logit, from the masses at temperature 1.
double log_total(const BlockMasses& plain);

/// The new token number `step` of a query: a function of the logits, the query's sampling fields, its seed and the
/// step alone. `plain`: plain_masses(logits).
query::TokenId next_token(std::span<const float> logits, const BlockMasses& plain, const query::Generate& asked,
                          std::uint64_t step);
/// The same for finite logits of which nothing is known.
query::TokenId next_token(std::span<const float> logits, const query::Generate& asked, std::uint64_t step);

// Restricted rows: what is left to draw from.

/// A token that may be drawn.
struct Candidate {
  query::TokenId id = 0;
  double weight = 0;
};

/// What the largest logits alone do not tell of a row.
struct RowMass {
  std::size_t size = 0;  ///< logits
  double total = 0;      ///< sum of all weights; needed where the nucleus is one of the whole row
};

/// So many of the largest logits decide nearly every nucleus.
constexpr std::size_t usual_nucleus = 1024;

/// What is left, by id, where the largest logits of a row decide it (at least one, any order; a logit that is not
/// listed is at most the smallest listed one); nothing where more of the row does. asked.temperature > 0.
std::optional<std::vector<Candidate>> candidates_among(std::vector<Logit> largest, const RowMass& row,
                                                       const query::Generate& asked);

/// What is left of a whole row.
std::vector<Candidate> candidates(std::span<const float> logits, const query::Generate& asked);

/// `unit` in [0, 1) as a place on the line of the weights.
query::TokenId pick(std::span<const Candidate> all, double unit);

// Rows without a restriction.

constexpr std::size_t block_width = 256;

/// Sums of the weights of consecutive blocks; the last block may be shorter.
std::vector<double> block_masses(std::span<const float> logits, float largest, double temperature);

}  // namespace stereosweep::engine
