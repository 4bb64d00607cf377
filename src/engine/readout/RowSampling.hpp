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

/// What a query's fields ask of a row.
struct Sampling {
  double temperature = 1;    ///< greater than 0
  std::size_t top_k = 0;     ///< 0: no limit; less than the row has logits
  double top_p = 1;          ///< 1: no limit
  double unit = 0;           ///< in [0, 1): where on the line of the weights the token is
  std::size_t decisive = 0;  ///< so many of the largest logits decide nearly every draw; 0: the masses of all blocks do
};
/// For the new token number `step` (from 0) of a query and a row of `size` logits. Temperature 0 is the first token of
/// those that top_k 1 leaves.
Sampling sampling_of(const query::Generate& asked, std::uint64_t step, std::size_t size);

/// The row after the penalty for the ids that prompt and new text hold, rounded to float32 once; repeated ids count
/// once, ids beyond the row not at all. Finite numbers stay finite.
std::vector<float> penalized(std::span<const float> logits, std::span<const query::TokenId> prompt,
                             std::span<const query::TokenId> added, double penalty);

constexpr std::size_t block_width = 256;

/// What a row's draws begin with: its largest logit, and the sums of the weights of consecutive blocks at one
/// temperature; the last block may be shorter.
struct BlockMasses {
  std::vector<double> masses;
  float largest = 0;
  double total() const;
};
/// Of finite logits, at least one.
BlockMasses masses_at(std::span<const float> logits, double temperature);

/// A function of the finite logits and the sampling alone. `plain`: masses_at(logits, 1), null where they are not
/// known.
query::TokenId next_token(std::span<const float> logits, const Sampling& sampling, const BlockMasses* plain = nullptr);

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

/// What is left, by id, where the largest logits of a row decide it (at least one, any order; a logit that is not
/// listed is at most the smallest listed one); nothing where more of the row does.
std::optional<std::vector<Candidate>> candidates_among(std::vector<Logit> largest, const RowMass& row,
                                                       const Sampling& sampling);

/// What is left of a whole row.
std::vector<Candidate> candidates(std::span<const float> logits, const Sampling& sampling);

/// `unit` in [0, 1) as a place on the line of the weights.
query::TokenId pick(std::span<const Candidate> all, double unit);

}  // namespace stereosweep::engine
