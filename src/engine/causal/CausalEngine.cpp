#include "engine/causal/CausalEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "engine/OutOfMemory.hpp"
#include "engine/causal/Generation.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"

namespace stereosweep::engine {

struct CausalParts {
  std::unique_ptr<model::CausalModel> model;
  const tokenizer::Tokenizer& tokenizer;
  CausalSettings settings;
  InputLimits limits = limits_of(model->shape());
  mutable std::once_flag warned = {};  ///< of keys that texts do not follow
};

namespace {

using base::profile::timed;

/// At the first text that is asked for.
void warn_of_generation(const base::Json& settings, std::span<const query::Query> queries) {
  const auto is_text = [](const query::Query& query) { return std::holds_alternative<query::Generate>(query); };
  const auto keys = keys_not_followed(settings, std::get<query::Generate>(*std::ranges::find_if(queries, is_text)));
  if (!keys.empty()) {
    base::log_once(
        base::LogLevel::warning,
        base::describe("generation_config.json sets " + base::join(keys, ", ") + ", which are not obeyed",
                       "a text follows the job's 'sampling' and the end tokens alone; transformers' generate would "
                       "choose other tokens"));
  }
}

class CausalCall : public query::Call {
 public:
  /// `kept`: null, or what the calls before have left.
  CausalCall(const CausalParts& parts, std::span<const query::Query> queries, KeptTexts* kept)
      : parts_(parts),
        queries_(queries),
        kept_(kept),
        plan_(plan_causal(queries, parts.tokenizer, parts.limits)),
        queue_(parts.model->shape(), queries.size(),
               [this](ReaderQueue::Rows rows) { return project(std::move(rows)); }),
        reader_(parts.model->shape().vocabulary, parts.model->shape().kernels) {
    cost_.queries = queries.size();
    const std::span<const Sequence> all = plan_.sequences;
    for (const auto& range : cut_trees(all, parts.settings.batch_tokens)) {
      batches_.push_back(pack_tree(all.subspan(range.first, range.last - range.first)));
      cost_.distinct_sequences += range.last - range.first;
      cost_.distinct_tokens += batches_.back().tree.ids.size();
    }
  }

  void run() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("batching");
    const auto budget = std::to_string(parts_.settings.batch_tokens);
    within_device_memory("computing batches of " + budget + " tokens", [&] { run_batches(); });
    if (plan_.openings.empty()) {
      return;
    }
    std::call_once(parts_.warned, warn_of_generation, parts_.settings.generation, queries_);
    const GenerationParts parts{*parts_.model, parts_.tokenizer, parts_.settings.end_tokens,
                                batches_per_wave * parts_.settings.batch_tokens};
    within_device_memory("generating waves of " + std::to_string(batches_per_wave) + " times " + budget + " tokens",
                         [&] { generate(parts, queries_, plan_.openings, plan_.answers, cost_, kept_); });
  }

  std::vector<query::Answer> read() override {
    const c10::InferenceMode guard;
    const base::profile::Span span("reading");
    queue_.read(plan_.answers);
    return std::move(plan_.answers);
  }
  query::EngineCounts cost() const override { return cost_; }

 private:
  void run_batches() {
    for (const auto& [tree, layer, rows, readers] : batches_) {
      queue_.add(timed("body", [&] { return parts_.model->hidden(tree, layer, rows); }), readers);
    }
    queue_.close(plan_.input_rows, [this](auto ids) { return parts_.model->input_embeddings(ids); });
  }

  Later<void> project(ReaderQueue::Rows rows) {
    cost_.head_rows += static_cast<std::uint64_t>(rows.count);
    const auto logits = timed("head", [&] { return parts_.model->logits(rows.hidden); });
    const base::profile::Span span("reading");
    auto values = reader_.log_probabilities(logits, rows.count, rows.uses);
    return [this, uses = std::move(rows.uses), values = std::move(values)] {
      const auto numbers = values();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        note(*uses[i].second, numbers[i]);
      }
    };
  }

  void note(const Use& use, double value) {
    auto* answer = std::get_if<query::ContinueAnswer>(&plan_.answers[use.query]);
    if (answer == nullptr) {
      return;  // another token of this query already failed
    }
    if (!std::isfinite(value)) {
      plan_.answers[use.query] = not_finite_error(parts_.model->shape().dtype);
      return;
    }
    answer->logprob[use.part][use.place] = value;
  }

  const CausalParts& parts_;
  std::span<const query::Query> queries_;
  KeptTexts* kept_;
  InputPlan plan_;
  std::vector<PackedTree> batches_;  // their readers lie in the plan
  query::EngineCounts cost_;
  ReaderQueue queue_;
  LogitsReader reader_;
};

class CausalSession : public query::Session {
 public:
  explicit CausalSession(const CausalParts& parts) : parts_(parts) {}

  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) override {
    const base::profile::Span span("tokenizing and planning");
    return std::make_unique<CausalCall>(parts_, queries, &kept_);
  }

 private:
  const CausalParts& parts_;
  KeptTexts kept_;
};

}  // namespace

CausalEngine::CausalEngine(std::unique_ptr<model::CausalModel> model, const tokenizer::Tokenizer& tokenizer,
                           CausalSettings settings)
    : parts_(new CausalParts{std::move(model), tokenizer, std::move(settings)}) {}

std::unique_ptr<query::Call> CausalEngine::plan(std::span<const query::Query> queries) const {
  const base::profile::Span span("tokenizing and planning");
  return std::make_unique<CausalCall>(*parts_, queries, nullptr);
}

std::unique_ptr<query::Session> CausalEngine::begin_session() const { return std::make_unique<CausalSession>(*parts_); }

std::optional<std::string> CausalEngine::lacks(query::Prediction asked) const {
  if (asked == query::Prediction::masked) {
    return "it is a causal model";
  }
  return parts_->limits.has_head ? std::nullopt
                                 : std::optional<std::string>("its checkpoint has no language-model head");
}

}  // namespace stereosweep::engine
