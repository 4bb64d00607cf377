// Answers generate queries: all prompts of a wave grow together as one tree, a token per text and step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/CausalPlan.hpp"
#include "model/CausalModel.hpp"
#include "model/CausalSize.hpp"
#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Everything is borrowed.
struct GenerationParts {
  const model::CausalModel& model;
  const tokenizer::Tokenizer& tokenizer;
  std::span<const query::TokenId> end_tokens;
  std::int64_t wave_rows = 0;  ///< rows of one tree, whose keys and values are remembered; one text may take more
};

/// A batch's rows are forgotten layer by layer, a wave's are remembered in all layers until it ends.
constexpr std::int64_t batches_per_wave = 16;

/// What the largest wave of these queries remembers at most: every different beginning once, and each text as long as
/// it may become. Known without a model.
model::KeptRows most_kept_rows(std::span<const query::Query> queries, std::span<const Opening> openings,
                               std::int64_t wave_rows);

/// Writes the answers of the queries that have an opening. Equal queries are one text; texts that begin alike run
/// their common tokens once; a finished text takes no more rows. The waves depend on the set of queries alone.
void generate(const GenerationParts& parts, std::span<const query::Query> queries, std::span<const Opening> openings,
              std::span<query::Answer> answers, query::EngineCounts& counts);

}  // namespace stereosweep::engine
