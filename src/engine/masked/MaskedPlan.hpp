// From queries to distinct forward inputs of a masked model: no tensor here.
//   fill, embed -> token ids and the rows that are read -> distinct sequences, sorted -> batches of a token budget
// What comes out is a function of the set of queries: neither their order nor their repeats show in the sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/QueryInput.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Why the model predicts nothing behind masks; nothing where it does.
std::optional<std::string> lacks_masks(const tokenizer::Tokenizer& tokenizer, const model::ModelShape& shape);

/// Sequences by layer, length, ids.
InputPlan plan_masked(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                      const model::ModelShape& shape);

/// Greedy cut: one layer, at most `budget` tokens; a longer sequence is a batch of its own.
std::vector<BatchRange> cut_batches(std::span<const Sequence> sequences, std::int64_t budget);

}  // namespace stereosweep::engine
