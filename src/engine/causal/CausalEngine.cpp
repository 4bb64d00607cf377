#include "engine/causal/CausalEngine.hpp"

#include <mutex>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "engine/causal/Generation.hpp"
#include "engine/readout/ReaderCall.hpp"

namespace stereosweep::engine {

struct CausalParts : ReaderParts<model::CausalModel> {
  std::vector<query::TokenId> end_tokens;
  base::Json generation;
  mutable std::once_flag warned = {};  ///< of keys that texts do not follow
};

namespace {

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

class CausalCall : public ReaderCall<model::CausalModel, model::TokenTree> {
 public:
  /// `kept`: null, or what the calls before have left.
  CausalCall(const CausalParts& parts, std::span<const query::Query> queries, KeptTexts* kept)
      : ReaderCall(parts, queries, {plan_causal, cut_trees, pack_tree}), parts_(parts), kept_(kept) {}

  void run() override {
    ReaderCall::run();
    if (plan_.openings.empty()) {
      return;
    }
    const c10::InferenceMode guard;
    const base::profile::Span span("batching");
    std::call_once(parts_.warned, warn_of_generation, parts_.generation, queries_);
    const GenerationParts parts{*parts_.model, parts_.tokenizer, parts_.end_tokens,
                                batches_per_wave * parts_.batch_tokens};
    within_device_memory("generating waves of " + std::to_string(batches_per_wave) + " times " +
                             std::to_string(parts_.batch_tokens) + " tokens",
                         [&] { generate(parts, queries_, plan_.openings, plan_.answers, cost_, kept_); });
  }

 private:
  const CausalParts& parts_;
  KeptTexts* kept_;
};

class CausalSession : public query::Session {
 public:
  explicit CausalSession(const CausalParts& parts) : parts_(parts) {}

  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) override {
    return std::make_unique<CausalCall>(parts_, queries, &kept_);
  }

 private:
  const CausalParts& parts_;
  KeptTexts kept_;
};

}  // namespace

CausalEngine::CausalEngine(std::unique_ptr<model::CausalModel> model, const tokenizer::Tokenizer& tokenizer,
                           CausalSettings settings) {
  const auto& shape = model->shape();
  LogitsReader reader({{}, static_cast<std::size_t>(shape.vocabulary)}, shape.kernels);
  parts_.reset(new CausalParts{{std::move(model), tokenizer, settings.batch_tokens, std::move(reader)},
                               std::move(settings.end_tokens),
                               std::move(settings.generation)});
}

std::unique_ptr<query::Call> CausalEngine::plan(std::span<const query::Query> queries) const {
  return std::make_unique<CausalCall>(*parts_, queries, nullptr);
}

std::unique_ptr<query::Session> CausalEngine::begin_session() const { return std::make_unique<CausalSession>(*parts_); }

std::optional<std::string> CausalEngine::lacks(query::Prediction asked) const {
  if (asked == query::Prediction::masked) {
    return "it is a causal model";
  }
  return parts_->model->shape().has_head ? std::nullopt
                                         : std::optional<std::string>("its checkpoint has no language-model head");
}

}  // namespace stereosweep::engine
