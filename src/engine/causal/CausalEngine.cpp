#include "engine/causal/CausalEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <cmath>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "engine/Memory.hpp"
#include "engine/causal/Generation.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"

namespace stereosweep::engine {

namespace {

using base::profile::timed;

// The trees of one call.
class CausalCall {
 public:
  CausalCall(const model::CausalModel& model, CausalPlan& plan, query::EngineCounts& counts)
      : model_(model),
        plan_(plan),
        counts_(counts),
        queue_(model.shape(), plan.answers.size(), [this](const Queue::Rows& rows) { project(rows); }),
        reader_(model.shape().vocabulary, model.shape().kernels) {}

  void run(std::int64_t batch_tokens) {
    for (const auto& batch : cut_trees(plan_.sequences, batch_tokens)) {
      forward(std::span(plan_.sequences).subspan(batch.first, batch.last - batch.first));
    }
    queue_.finish(
        plan_.input_rows, [this](auto ids) { return model_.input_embeddings(ids); }, plan_.answers);
  }

 private:
  using Queue = ReaderQueue<CausalUse>;

  void forward(std::span<const CausalSequence> sequences) {
    auto [tree, readers] = pack_tree(sequences);
    counts_.distinct_sequences += sequences.size();
    counts_.distinct_tokens += tree.ids.size();
    std::vector<std::int64_t> rows;
    for (auto& reader : readers) {  // from rows of the tree to rows of the result
      rows.push_back(std::exchange(reader.row, std::ssize(rows)));
    }
    const auto layer = sequences.front().layer;
    queue_.add(timed("body", [&, &tree = tree] { return model_.hidden(tree, layer, rows); }), readers);
  }

  void project(const Queue::Rows& rows) {
    counts_.head_rows += static_cast<std::uint64_t>(rows.count);
    const auto logits = timed("head", [&] { return model_.logits(rows.hidden); });
    const base::profile::Span span("reading");
    std::vector<TokenAtRow> wanted;
    for (const auto& [row, use] : rows.uses) {
      wanted.push_back({row, use->token});
    }
    const auto values = reader_.log_probabilities(logits, rows.count, wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      note(*rows.uses[i].second, values[i]);
    }
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
  Queue queue_;
  LogitsReader reader_;
};

}  // namespace

CausalEngine::CausalEngine(std::unique_ptr<model::CausalModel> model, const tokenizer::Tokenizer& tokenizer,
                           CausalSettings settings)
    : model_(std::move(model)),
      tokenizer_(tokenizer),
      settings_(std::move(settings)),
      limits_(limits_of(model_->shape())) {}

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
  auto plan = timed("tokenizing and planning", [&] { return plan_causal(queries, tokenizer_, limits_); });
  counts_.queries += queries.size();
  const auto budget = std::to_string(settings_.batch_tokens);
  within_device_memory("computing batches of " + budget + " tokens",
                       [&] { CausalCall(*model_, plan, counts_).run(settings_.batch_tokens); });
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
