#include "engine/causal/CausalEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <cmath>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Profile.hpp"
#include "base/Text.hpp"
#include "engine/Memory.hpp"
#include "engine/causal/Generation.hpp"
#include "engine/readout/ProjectionQueue.hpp"
#include "engine/readout/Readout.hpp"
#include "engine/readout/VectorPools.hpp"

namespace stereosweep::engine {

namespace {

CausalLimits limits_of(const model::CausalShape& shape) {
  return {{shape.num_layers, shape.ids, shape.max_tokens}, shape.vocabulary, shape.has_head};
}

// The trees of one call.
class Call {
 public:
  Call(const model::CausalModel& model, CausalPlan& plan, query::EngineCounts& counts)
      : model_(model),
        plan_(plan),
        counts_(counts),
        projection_(model.shape().vocabulary, model.shape().kernels),
        reader_(model.shape().vocabulary, model.shape().kernels) {}

  void run(std::int64_t batch_tokens) {
    for (const auto& batch : cut_trees(plan_.sequences, batch_tokens)) {
      forward(std::span(plan_.sequences).subspan(batch.first, batch.last - batch.first));
    }
    while (!waiting_.empty()) {
      project();
    }
    add_input_vectors(
        plan_.input_rows, plan_.answers.size(), [this](auto ids) { return model_.input_embeddings(ids); }, pools_);
    pools_.finish(plan_.answers, model_.shape().dtype);
  }

 private:
  void forward(std::span<const CausalSequence> sequences) {
    const auto packed = pack_tree(sequences);
    counts_.distinct_sequences += sequences.size();
    counts_.distinct_tokens += packed.tree.ids.size();
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> projected;  // among `rows`
    bool any_vector = false;
    for (const auto& [row, uses] : packed.readers) {
      if (uses.back().token != CausalUse::whole_vector) {  // vectors sort before tokens
        projected.push_back(std::ssize(rows));
        waiting_.push_back(uses);
      }
      any_vector = any_vector || uses.front().token == CausalUse::whole_vector;
      rows.push_back(row);
    }
    const auto hidden = run_body(packed.tree, sequences.front().layer, rows);
    if (any_vector) {
      add_vectors(on_host(hidden), packed.readers);
    }
    projection_.add(hidden, projected);
    while (projection_.is_full()) {
      project();
    }
  }

  at::Tensor run_body(const model::TokenTree& tree, int layer, std::span<const std::int64_t> rows) const {
    const base::profile::Span span("body");
    return model_.hidden(tree, layer, rows);
  }

  at::Tensor run_head(const at::Tensor& hidden) const {
    const base::profile::Span span("head");
    return model_.logits(hidden);
  }

  void add_vectors(const at::Tensor& hidden, std::span<const RowReaders> readers) {
    for (std::size_t row = 0; row < readers.size(); ++row) {
      for (const auto& use : readers[row].uses) {
        if (use.token == CausalUse::whole_vector) {
          pools_.add(use.query, plan_.answers.size(), row_of(hidden, static_cast<std::int64_t>(row)));
        }
      }
    }
  }

  // Projects the oldest waiting rows and reads their tokens.
  void project() {
    const auto [hidden, count] = projection_.take();
    counts_.head_rows += static_cast<std::uint64_t>(count);
    std::vector<TokenAtRow> wanted;
    std::vector<const CausalUse*> uses;
    for (std::int64_t row = 0; row < count; ++row) {
      for (const auto& use : waiting_[static_cast<std::size_t>(row)]) {
        if (use.token != CausalUse::whole_vector) {
          wanted.push_back({row, use.token});
          uses.push_back(&use);
        }
      }
    }
    const auto logits = run_head(hidden);
    const base::profile::Span span("reading");
    const auto values = reader_.log_probabilities(logits, count, wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      note(*uses[i], values[i]);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  }

  void note(const CausalUse& use, double value) {
    auto* answer = std::get_if<query::ContinueAnswer>(&plan_.answers[use.query]);
    if (answer == nullptr) {
      return;  // another token of this query already failed
    }
    if (!std::isfinite(value)) {
      plan_.answers[use.query] = not_finite_error(model_.shape().dtype);
      return;
    }
    answer->logprob[use.continuation][use.place] = value;
  }

  const model::CausalModel& model_;
  CausalPlan& plan_;
  query::EngineCounts& counts_;
  ProjectionQueue projection_;
  LogitsReader reader_;
  std::vector<std::span<const CausalUse>> waiting_;  ///< readers of each row of `projection_`
  VectorPools pools_;
};

}  // namespace

CausalEngine::CausalEngine(std::unique_ptr<model::CausalModel> model, const tokenizer::Tokenizer& tokenizer,
                           CausalSettings settings)
    : model_(std::move(model)),
      tokenizer_(tokenizer),
      settings_(std::move(settings)),
      limits_(limits_of(model_->shape())) {}

CausalPlan CausalEngine::planned(std::span<const query::Query> queries) const {
  const base::profile::Span span("tokenizing and planning");
  return plan_causal(queries, tokenizer_, limits_);
}

void CausalEngine::warn_of_ignored_keys() {
  if (!settings_.ignored_keys.empty()) {
    base::log_once(
        base::LogLevel::warning,
        base::describe(
            "generation_config.json sets " + base::join(settings_.ignored_keys, ", ") + ", which are not obeyed",
            "a text follows its query's fields and the end tokens alone; transformers' generate would "
            "choose other tokens"));
    settings_.ignored_keys.clear();
  }
}

std::vector<query::Answer> CausalEngine::answer(std::span<const query::Query> queries) {
  const c10::InferenceMode guard;
  const base::profile::Span span("batching");
  auto plan = planned(queries);
  counts_.queries += queries.size();
  const auto budget = std::to_string(settings_.batch_tokens);
  within_device_memory("computing batches of " + budget + " tokens",
                       [&] { Call(*model_, plan, counts_).run(settings_.batch_tokens); });
  if (!plan.openings.empty()) {
    warn_of_ignored_keys();
  }
  const GenerationParts parts{*model_, tokenizer_, settings_.end_tokens, batches_per_wave * settings_.batch_tokens};
  within_device_memory("generating waves of " + std::to_string(batches_per_wave) + " times " + budget + " tokens",
                       [&] { generate(parts, queries, plan.openings, plan.answers, counts_); });
  return std::move(plan.answers);
}

std::optional<std::string> CausalEngine::lacks(query::Prediction asked) const {
  if (asked == query::Prediction::masked) {
    return "it is a causal model";
  }
  return limits_.has_head ? std::nullopt : std::optional<std::string>("its checkpoint has no language-model head");
}

}  // namespace stereosweep::engine
