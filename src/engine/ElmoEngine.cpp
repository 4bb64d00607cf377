#include "engine/ElmoEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/VectorPools.hpp"

namespace stereosweep::engine {
namespace {

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
    const std::span<const WordUse> uses = sentence.uses;
    for (std::size_t first = 0; first < uses.size();) {
      auto last = first;
      while (last < uses.size() && uses[last].word == uses[first].word) {
        const auto layer = uses[last].layer == WordUse::sum_of_states ? num_layers : uses[last].layer;
        batch.last_layer = std::max(batch.last_layer, layer);
        ++last;
      }
      batch.tokens.push_back(std::ssize(batch.input.numbers) + uses[first].word);
      batch.readers.push_back(uses.subspan(first, last - first));
      first = last;
    }
    for (const auto word : sentence.words) {
      batch.input.numbers.push_back(numbers.at(word));
    }
    batch.input.lengths.push_back(static_cast<std::int32_t>(sentence.words.size()));
  }
  return batch;
}

std::span<const float> row_of(const at::Tensor& tensor, std::size_t row) {
  const auto width = static_cast<std::size_t>(tensor.size(1));
  return {tensor.const_data_ptr<float>() + row * width, width};
}

std::vector<float> vector_of(const std::vector<at::Tensor>& states, std::size_t row, int layer) {
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

ElmoEngine::ElmoEngine(std::unique_ptr<model::ElmoModel> model, const tokenizer::Tokenizer& tokenizer,
                       std::int64_t batch_tokens)
    : model_(std::move(model)), tokenizer_(tokenizer), batch_tokens_(std::min(batch_tokens, max_pass_tokens)) {}

std::vector<query::Answer> ElmoEngine::answer(std::span<const query::Query> queries) {
  const c10::InferenceMode guard;
  auto plan = plan_elmo(queries, tokenizer_, model_->num_layers(), max_sentence_words);
  counts_.queries += queries.size();
  VectorPools pools;
  for (std::span<const Sentence> left = plan.sentences; !left.empty();) {
    const auto count = count_batch(left, batch_tokens_);
    const auto batch = make_batch(left.first(count), model_->num_layers());
    const auto states = model_->hidden(batch.input, batch.last_layer, batch.tokens);
    for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
      for (const auto& use : batch.readers[i]) {
        pools.add(use.query, queries.size(), vector_of(states, i, use.layer));
      }
    }
    counts_.distinct_sequences += count;
    counts_.distinct_tokens += batch.input.numbers.size() + 2 * count;
    left = left.subspan(count);
  }
  pools.finish(plan.answers, query::Dtype::float32);  // bfloat16 has the same range
  return std::move(plan.answers);
}

std::optional<std::string> ElmoEngine::lacks(query::Prediction /*asked*/) const {
  return "of ELMo only vectors are read";
}

}  // namespace stereosweep::engine
