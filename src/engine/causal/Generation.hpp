// Answers generate queries: all prompts of a wave grow together as one tree, a token per text and step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/File.hpp"
#include "engine/causal/CausalPlan.hpp"
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

// What a generate query has got so far, and whether that is all.

/// Ids after which a text ends: "eos_token_id" (an id or a list) of generation_config.json, else of config.json or its
/// text_config; without the first file and the key, what transformers takes for the family; none otherwise. Throws
/// InputError naming file and field for anything else in its place.
std::vector<query::TokenId> read_end_tokens(const base::FileSet& files);

/// Keys of generation_config.json that are set to something which would make transformers' `generate` choose other
/// tokens and that nobody obeys here, by name: a text follows its query's fields and the end tokens. What a query says
/// itself (temperature, top_k, top_p, lengths) is not among them. Throws InputError where the file is no JSON.
std::vector<std::string> ignored_generation_keys(const base::FileSet& files);

/// Grows by a token at a time. Everything is borrowed.
class NewText {
 public:
  NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
          std::span<const query::TokenId> end_tokens);

  /// Takes the next token; not after the end.
  void add(query::TokenId id);
  /// After an end token, a stop string or max_new_tokens.
  bool is_finished() const { return is_finished_; }
  std::size_t size() const { return answer_.ids.size(); }
  /// `ids`: all new tokens but the end token; with a stop string up to the token that completes it. `text`: what they
  /// decode to, special tokens left out, up to the first stop string. A character that is not complete reads as the
  /// tokenizer's decoder writes it.
  query::GenerateAnswer take();

 private:
  const query::Generate* asked_;
  const tokenizer::Tokenizer* tokenizer_;
  std::span<const query::TokenId> end_tokens_;
  query::GenerateAnswer answer_;
  bool has_text_ = false;
  bool is_finished_ = false;
};

// One token from one row of logits, in the order and with the conventions of transformers' generate.
//   temperature   logits are divided by it; 0: the token with the largest logit, the lowest id among equals
//   top_k         then tokens with a smaller logit than the k-th largest are out (all of several equals stay)
//   top_p         then, from the most probable down, tokens before which a mass of at least top_p stands are out: the
//                 one that crosses it stays (equals: the lower id first)

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
