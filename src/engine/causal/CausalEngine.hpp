// Answers continue, embed and generate queries with a causal model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/causal/GenerationConfig.hpp"
#include "engine/causal/TokenTreePlan.hpp"
#include "model/causal/CausalModel.hpp"
#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

struct CausalSettings {
  std::int64_t batch_tokens = 1024;        ///< distinct tokens of one tree
  std::vector<query::TokenId> end_tokens;  ///< a generated text ends with any of them
  /// generation_config.json: a warning names once, at a text, what that does not follow.
  base::Json generation = base::Json::object();
};

struct CausalParts;  ///< what an engine lends to its calls

/// One call is one deduplicated, sorted piece of work, packed into trees: its bits depend on the set of its queries and
/// on the settings. A caller who wants answers that do not depend on neighbours asks one query a call.
class CausalEngine : public query::Engine {
 public:
  /// `tokenizer` must outlive the engine.
  CausalEngine(std::unique_ptr<model::CausalModel> model, const tokenizer::Tokenizer& tokenizer,
               CausalSettings settings);
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override;
  /// Keys and values of its texts are kept for the next call.
  std::unique_ptr<query::Session> begin_session() const override;
  std::optional<std::string> lacks(query::Prediction asked) const override;

 private:
  std::shared_ptr<const CausalParts> parts_;
};

}  // namespace stereosweep::engine
