#include "engine/elmo/ElmoEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <functional>
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

class ElmoPreparer {
 public:
  ElmoPreparer(const tokenizer::Tokenizer& tokenizer, int num_layers)
      : tokenizer_(tokenizer), num_layers_(num_layers) {}

  Task<Sentence> operator()(const query::Embed& asked) const {
    const auto layer = layer_of(asked, num_layers_);
    Sentence sentence;
    for (const auto& piece : tokenizer_.encode(asked.text, tokenizer::SpecialTokens::leave_out).offsets) {
      const bool is_asked = overlaps(piece, asked.span);
      if (is_asked) {
        sentence.uses.push_back({static_cast<std::int32_t>(sentence.words.size()), 0, layer});
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
    return {{std::move(sentence)}, {}, {}, query::EmbedAnswer{}};
  }

  Task<Sentence> operator()(const auto& /*asked*/) const {
    refuse_query("this model answers 'embed' alone", "ELMo's published files hold no layer for probabilities of words");
  }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  int num_layers_;
};

bool sentence_comes_before(const Sentence& left, const Sentence& right) {
  return left.words.size() != right.words.size() ? left.words.size() > right.words.size() : left.words < right.words;
}

// Input products of a pass lie in memory: 64 kB a token at the published size. More sentences at once gain nothing.
constexpr std::int64_t max_pass_tokens = 2048;

// The sentences of one forward pass, and which of its words are read.
struct Batch {
  model::WordBatch input;
  std::vector<std::int64_t> tokens;
  std::vector<std::span<const WordUse>> readers;  // of each of these tokens
  int last_layer = 0;
};

Batch make_batch(std::span<const Sentence> sentences, int num_layers) {
  Batch batch;
  std::map<std::string_view, std::int32_t> numbers;
  for (const auto& sentence : sentences) {
    for (const auto word : sentence.words) {
      numbers.emplace(word, 0);
    }
  }
  for (auto& [word, number] : numbers) {
    number = static_cast<std::int32_t>(batch.input.words.size());
    batch.input.words.push_back(word);
  }
  for (const auto& sentence : sentences) {
    for (const auto& [word, uses] : readers_of<WordUse>(sentence.uses, &WordUse::word)) {
      for (const auto& use : uses) {
        const auto layer = use.layer == WordUse::sum_of_states ? num_layers : use.layer;
        batch.last_layer = std::max(batch.last_layer, layer);
      }
      batch.tokens.push_back(std::ssize(batch.input.numbers) + word);
      batch.readers.push_back(uses);
    }
    for (const auto word : sentence.words) {
      batch.input.numbers.push_back(numbers.at(word));
    }
    batch.input.lengths.push_back(static_cast<std::int32_t>(sentence.words.size()));
  }
  return batch;
}

std::vector<float> vector_of(const std::vector<at::Tensor>& states, std::int64_t row, int layer) {
  if (layer == WordUse::sum_of_states) {
    std::vector<double> sums(row_of(states.front(), row).size());
    for (const auto& state : states) {
      const auto numbers = row_of(state, row);
      std::transform(numbers.begin(), numbers.end(), sums.begin(), sums.begin(), std::plus<>());
    }
    return {sums.begin(), sums.end()};
  }
  const auto numbers = row_of(states[static_cast<std::size_t>(std::max(layer, 0))], row);
  return {numbers.begin(), layer == WordUse::own_vector ? numbers.begin() + std::ssize(numbers) / 2 : numbers.end()};
}

}  // namespace

ElmoPlan plan_elmo(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer, int num_layers) {
  ElmoPlan plan;
  auto all = plan_queries<Sentence>(queries, ElmoPreparer(tokenizer, num_layers), plan);
  plan.sentences = merged(std::move(all), sentence_comes_before);
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
      cost_.distinct_tokens += batches_.back().input.numbers.size() + 2 * count;
      left = left.subspan(count);
    }
  }

  void run() override {
    const c10::InferenceMode guard;
    VectorPools pools(plan_.answers.size());
    for (const auto& batch : batches_) {
      const auto states = model_.hidden(batch.input, batch.last_layer, batch.tokens);
      for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
        for (const auto& use : batch.readers[i]) {
          pools.add<float>(use.query, vector_of(states, static_cast<std::int64_t>(i), use.layer));
        }
      }
    }
    pools.finish(plan_.answers, query::Dtype::float32);  // bfloat16 has the same range
  }

  std::vector<query::Answer> read() override { return std::move(plan_.answers); }
  query::EngineCounts cost() const override { return cost_; }

 private:
  const model::ElmoModel& model_;
  ElmoPlan plan_;
  std::vector<Batch> batches_;  // their readers lie in the plan
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
