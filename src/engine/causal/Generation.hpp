// Answers generate queries: the texts of a call grow as one tree, a token per text and step; where a text ends, the
// next one enters, and where room runs out the last one waits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/causal/TokenTreePlan.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/causal/CausalSize.hpp"
#include "query/Engine.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Everything is borrowed.
struct GenerationParts {
  const model::CausalModel& model;
  const tokenizer::Tokenizer& tokenizer;
  std::span<const query::TokenId> end_tokens;
  std::int64_t wave_rows = 0;  ///< rows whose keys and values are remembered at once; one text may take more
};

/// A batch's rows are forgotten layer by layer, those of a text are remembered in all layers until it ends.
constexpr std::int64_t batches_per_wave = 16;

/// What is remembered of these queries at once, at most: every different beginning once, and each text as long as it
/// may become, up to `wave_rows` or what one text takes. Known without a model; `kernels`: who will compute.
model::KeptRows most_kept_rows(std::span<const query::Query> queries, std::span<const QueryTokens> openings,
                               std::int64_t wave_rows, model::Kernels kernels);

/// Texts of earlier calls whose keys and values are remembered.
struct KeptTexts {
  std::unique_ptr<model::CausalModel::Memory> memory;  ///< null: of none
  model::TokenTree tree;                               ///< its rows are those of the memory
};

/// Writes the answers of the queries that have an opening. Equal queries are one text; texts that begin alike run
/// their common tokens once while one of them grows (the last token of a prompt runs with every text that enters
/// later); the room of a finished text is used again. Who grows with whom depends on the set of queries alone.
/// `kept`: what it holds of the prompts does not run again, and afterwards it holds texts of this call, as many as have
/// room, if all can enter at once; null: nothing is kept.
void generate(const GenerationParts& parts, std::span<const query::Query> queries,
              std::span<const QueryTokens> openings, std::span<query::Answer> answers, query::EngineCounts& counts,
              KeptTexts* kept = nullptr);

}  // namespace stereosweep::engine
