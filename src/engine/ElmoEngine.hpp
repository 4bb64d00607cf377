// Answers embed queries with an ELMo model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/ElmoPlan.hpp"
#include "model/ElmoModel.hpp"
#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// One call is one deduplicated, sorted piece of work, as in TorchEngine. Every sentence starts from zeros, so that no
/// answer depends on what was asked before.
class ElmoEngine : public query::Engine {
 public:
  /// `tokenizer` splits words; it must outlive the engine.
  ElmoEngine(std::unique_ptr<model::ElmoModel> model, const tokenizer::Tokenizer& tokenizer, std::int64_t batch_tokens);
  std::vector<query::Answer> answer(std::span<const query::Query> queries) override;
  query::EngineCounts counts() const override { return counts_; }
  std::optional<std::string> lacks(query::Prediction asked) const override;

 private:
  std::unique_ptr<model::ElmoModel> model_;
  const tokenizer::Tokenizer& tokenizer_;
  std::int64_t batch_tokens_;
  query::EngineCounts counts_;
};

}  // namespace stereosweep::engine
