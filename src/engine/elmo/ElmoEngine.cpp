#include "engine/elmo/ElmoEngine.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "base/Error.hpp"
#include "engine/QueryInput.hpp"
#include "engine/readout/ProjectionQueue.hpp"
#include "engine/readout/VectorPools.hpp"
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

// Words that a static vector does not need are left out.
Sentence find_words(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, int layer) {
  Sentence sentence;
  for (const auto& [begin, end] : tokenizer.encode(asked.text, tokenizer::SpecialTokens::leave_out).offsets) {
    const bool overlaps = std::max(begin, asked.span.begin) < std::min(end, asked.span.end);
    if (overlaps) {
      sentence.uses.push_back({static_cast<std::int32_t>(sentence.words.size()), 0, layer});
    }
    if (overlaps || layer != WordUse::own_vector) {
      sentence.words.push_back(std::string_view(asked.text).substr(begin, end - begin));
    }
  }
  return sentence;
}

Sentence prepare(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, int num_layers,
                 std::int64_t max_words) {
  auto sentence = find_words(asked, tokenizer, layer_of(asked, num_layers));
  if (std::ssize(sentence.words) > max_words) {
    throw TooLong(base::describe("the text is too long", std::to_string(sentence.words.size()) + " words, at most " +
                                                             std::to_string(max_words) + " are taken"));
  }
  if (sentence.uses.empty()) {
    refuse_query("no word overlaps the span", "bytes " + std::to_string(asked.span.begin) + " to " +
                                                  std::to_string(asked.span.end) + " of a text of " +
                                                  std::to_string(asked.text.size()));
  }
  if (asked.pool == query::Pool::first) {
    sentence.uses.resize(1);
  } else if (asked.pool == query::Pool::last) {
    sentence.uses = {sentence.uses.back()};
  }
  return sentence;
}

Sentence prepare_any(const query::Query& query, const tokenizer::Tokenizer& tokenizer, int num_layers,
                     std::int64_t max_words) {
  const auto* asked = std::get_if<query::Embed>(&query);
  if (asked == nullptr) {
    refuse_query("this model answers 'embed' alone", "ELMo's published files hold no layer for probabilities of words");
  }
  return prepare(*asked, tokenizer, num_layers, max_words);
}

bool sentence_comes_before(const Sentence& left, const Sentence& right) {
  return left.words.size() != right.words.size() ? left.words.size() > right.words.size() : left.words < right.words;
}

}  // namespace

ElmoPlan plan_elmo(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer, int num_layers,
                   std::int64_t max_words) {
  ElmoPlan plan;
  std::vector<Sentence> all;
  for (const auto& asked : queries) {
    try {
      auto sentence = prepare_any(asked, tokenizer, num_layers, max_words);
      for (auto& use : sentence.uses) {
        use.query = static_cast<std::uint32_t>(plan.answers.size());
      }
      all.push_back(std::move(sentence));
      plan.answers.emplace_back(query::EmbedAnswer{});
    } catch (const base::InputError& error) {
      plan.answers.emplace_back(to_query_error(error));
    }
  }
  std::stable_sort(all.begin(), all.end(), sentence_comes_before);
  for (auto& sentence : all) {
    if (plan.sentences.empty() || plan.sentences.back().words != sentence.words) {
      plan.sentences.push_back(std::move(sentence));
    } else {
      auto& uses = plan.sentences.back().uses;
      uses.insert(uses.end(), sentence.uses.begin(), sentence.uses.end());
    }
  }
  for (auto& sentence : plan.sentences) {
    std::sort(sentence.uses.begin(), sentence.uses.end());
  }
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

ElmoEngine::ElmoEngine(std::unique_ptr<model::ElmoModel> model, const tokenizer::Tokenizer& tokenizer,
                       std::int64_t batch_tokens)
    : model_(std::move(model)), tokenizer_(tokenizer), batch_tokens_(std::min(batch_tokens, max_pass_tokens)) {}

ElmoEngine::~ElmoEngine() = default;

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
        pools.add(use.query, queries.size(), vector_of(states, static_cast<std::int64_t>(i), use.layer));
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
