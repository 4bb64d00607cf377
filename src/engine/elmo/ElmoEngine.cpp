#include "engine/elmo/ElmoEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "engine/QueryInput.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "model/elmo/ElmoModel.hpp"

namespace stereosweep::engine {

namespace {

/// WordUse::layer of a query.
int layer_of(const query::Embed& asked, int num_layers) {
  if (asked.source != query::VectorSource::hidden_state) {
    return asked.source == query::VectorSource::sum_of_states ? WordUse::sum_of_states : WordUse::own_vector;
  }
  return hidden_state_of(asked, num_layers);
}

struct ElmoPreparer {
  const tokenizer::Tokenizer& tokenizer;
  int num_layers;
  ElmoPlan& plan;

  query::Answer operator()(const query::Embed& asked) const {
    const auto layer = layer_of(asked, num_layers);
    Sentence sentence;
    for (const auto& piece : tokenizer.encode(asked.text, tokenizer::SpecialTokens::leave_out).offsets) {
      const bool is_asked = overlaps(piece, asked.span);
      if (is_asked) {
        sentence.uses.push_back(
            {static_cast<std::int32_t>(sentence.words.size()), static_cast<std::uint32_t>(plan.answers.size()), layer});
      }
      if (is_asked || layer != WordUse::own_vector) {  // words that a static vector does not need are left out
        sentence.words.push_back(std::string_view(asked.text).substr(piece.begin, piece.end - piece.begin));
      }
    }
    if (std::ssize(sentence.words) > max_sentence_words) {
      throw TooLong(base::describe("the text is too long", std::to_string(sentence.words.size()) + " words, at most " +
                                                               std::to_string(max_sentence_words) + " are taken"));
    }
    keep_pooled(sentence.uses, asked, "word");
    plan.sentences.push_back(std::move(sentence));
    return query::EmbedAnswer{};
  }

  query::Answer operator()(const auto& /*asked*/) const {
    base::refuse("this model answers 'embed' alone", "ELMo's published files hold no layer for probabilities of words");
  }
};

bool sentence_comes_before(const Sentence& left, const Sentence& right) {
  return left.words.size() != right.words.size() ? left.words.size() > right.words.size() : left.words < right.words;
}

// Input products of a pass lie in memory: 64 kB a token at the published size. More sentences at once gain nothing.
constexpr std::int64_t max_pass_tokens = 2048;

// The sentences of one forward pass, and which of its words are read.
struct Batch {
  model::Sentences sentences;
  std::vector<std::int64_t> words;                // counted over all sentences
  std::map<int, std::vector<PooledRow>> readers;  // by WordUse::layer; rows: of these words
  int last_layer = 0;
};

Batch make_batch(std::span<const Sentence> sentences, int num_layers) {
  Batch batch;
  std::int64_t first_word = 0;
  for (const auto& sentence : sentences) {
    for (const auto& use : sentence.uses) {
      const auto word = first_word + use.position;
      if (batch.words.empty() || batch.words.back() != word) {
        batch.words.push_back(word);
      }
      batch.readers[use.layer].push_back({use.query, std::ssize(batch.words) - 1});
      batch.last_layer = std::max(batch.last_layer, use.layer == WordUse::sum_of_states ? num_layers : use.layer);
    }
    batch.sentences.emplace_back(sentence.words);
    first_word += std::ssize(sentence.words);
  }
  return batch;
}

// [words, width], as WordUse::layer says.
at::Tensor vectors_of(const std::vector<at::Tensor>& states, int layer) {
  if (layer == WordUse::own_vector) {
    return states.front().narrow(1, 0, states.front().size(1) / 2);
  }
  if (layer != WordUse::sum_of_states) {
    return states[static_cast<std::size_t>(layer)];
  }
  auto sums = states.front().to(at::kDouble);
  for (const auto& state : std::span(states).subspan(1)) {
    sums.add_(state);
  }
  return sums.to(at::kFloat);
}

}  // namespace

ElmoPlan plan_elmo(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer, int num_layers) {
  ElmoPlan plan;
  plan_queries(queries, ElmoPreparer{tokenizer, num_layers, plan}, plan.answers, plan.sentences);
  merge(plan.sentences, sentence_comes_before);
  return plan;
}

std::int64_t tokens_of(const Sentence& sentence) { return std::ssize(sentence.words) + 2; }

std::size_t count_batch(std::span<const Sentence> sentences, std::int64_t budget) {
  std::int64_t tokens = 0;
  std::size_t count = 0;
  while (count < sentences.size() && (count == 0 || tokens + tokens_of(sentences[count]) <= budget)) {
    tokens += tokens_of(sentences[count]);
    ++count;
  }
  return count;
}

namespace {

class ElmoCall : public query::Call {
 public:
  ElmoCall(const model::ElmoModel& model, ElmoPlan plan, std::int64_t batch_tokens)
      : model_(model), plan_(std::move(plan)) {
    cost_.queries = plan_.answers.size();
    for (std::span<const Sentence> left = plan_.sentences; !left.empty();) {
      const auto count = count_batch(left, batch_tokens);
      batches_.push_back(make_batch(left.first(count), model_.num_layers()));
      cost_.distinct_sequences += count;
      for (const auto& sentence : left.first(count)) {
        cost_.distinct_tokens += static_cast<std::uint64_t>(tokens_of(sentence));
      }
      left = left.subspan(count);
    }
  }

  void run() override {
    const c10::InferenceMode guard;
    VectorPools pools(plan_.answers.size());
    for (const auto& batch : batches_) {
      const auto states = model_.hidden(batch.sentences, batch.last_layer, batch.words);
      for (const auto& [layer, rows] : batch.readers) {
        pool_rows(vectors_of(states, layer), rows, pools)();
      }
    }
    pools.finish(plan_.answers, query::Dtype::float32);  // bfloat16 has the same range
  }

  std::vector<query::Answer> read() override { return std::move(plan_.answers); }
  query::EngineCounts cost() const override { return cost_; }

 private:
  const model::ElmoModel& model_;
  ElmoPlan plan_;
  std::vector<Batch> batches_;  // their sentences lie in the plan
  query::EngineCounts cost_;
};

}  // namespace

ElmoEngine::ElmoEngine(std::unique_ptr<model::ElmoModel> model, const tokenizer::Tokenizer& tokenizer,
                       std::int64_t batch_tokens)
    : model_(std::move(model)), tokenizer_(tokenizer), batch_tokens_(std::min(batch_tokens, max_pass_tokens)) {}

ElmoEngine::~ElmoEngine() = default;

std::unique_ptr<query::Call> ElmoEngine::plan(std::span<const query::Query> queries) const {
  return std::make_unique<ElmoCall>(*model_, plan_elmo(queries, tokenizer_, model_->num_layers()), batch_tokens_);
}

std::optional<std::string> ElmoEngine::lacks(query::Prediction /*asked*/) const {
  return "of ELMo only vectors are read";
}

}  // namespace stereosweep::engine
