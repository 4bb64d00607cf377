// Answers fill and embed queries with a masked model.
//   fill, embed -> token ids and the rows that are read -> distinct sequences, sorted -> batches of a token budget
// What runs is a function of the set of queries: neither their order nor their repeats show in the sequences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/QueryInput.hpp"
#include "model/masked/MaskedModel.hpp"
#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Sequences by layer, length, ids. No tensor is made.
InputPlan plan_masked(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                      const model::ModelShape& shape);

struct MaskedParts;  ///< what an engine lends to its calls

/// One call is one deduplicated, sorted, packed piece of work: its bits depend on the set of its queries and on the
/// settings. A caller who wants answers that do not depend on neighbours asks one query a call.
class MaskedEngine : public query::Engine {
 public:
  /// `tokenizer` must outlive the engine.
  MaskedEngine(std::unique_ptr<model::MaskedModel> model, const tokenizer::Tokenizer& tokenizer,
               std::int64_t batch_tokens);
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override;
  std::optional<std::string> lacks(query::Prediction asked) const override;

 private:
  std::shared_ptr<const MaskedParts> parts_;
};

}  // namespace stereosweep::engine
