// From queries to distinct forward inputs of a masked model: no tensor here.
//   fill, embed -> token ids and the rows that are read -> distinct sequences, sorted -> batches of a token budget
// What comes out is a function of the set of queries: neither their order nor their repeats show in the sequences.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/QueryInput.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// One reason to read one row of a sequence.
struct Use {
  std::int32_t position = 0;  ///< token of the sequence
  std::uint32_t query = 0;
  std::int32_t slot = 0;  ///< of a fill; `whole_vector` for embed

  static constexpr std::int32_t whole_vector = -1;
  static Use vector_at(std::int32_t position) { return {position, 0, whole_vector}; }
  bool is_vector() const { return slot == whole_vector; }
  auto operator<=>(const Use&) const = default;
};

/// One distinct forward input.
struct Sequence {
  std::vector<query::TokenId> ids;
  int layer = 0;          ///< hidden state that is read, from 0
  std::vector<Use> uses;  ///< sorted; never empty
};

struct MaskedPlan {
  std::vector<query::Answer> answers;  ///< errors, and answers with room for their numbers
  std::vector<Sequence> sequences;     ///< by layer, length, ids
  std::vector<InputRows> input_rows;   ///< in the order of the queries
};

/// Why the model predicts nothing behind masks; nothing where it does.
std::optional<std::string> lacks_masks(const tokenizer::Tokenizer& tokenizer, const InputLimits& limits);

MaskedPlan plan_masked(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                       const InputLimits& limits);

/// Greedy cut: one layer, at most `budget` tokens; a longer sequence is a batch of its own.
std::vector<BatchRange> cut_batches(std::span<const Sequence> sequences, std::int64_t budget);

}  // namespace stereosweep::engine
