#include "engine/ElmoPlan.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/Error.hpp"
#include "engine/QueryInput.hpp"

namespace stereosweep::engine {
namespace {

/// WordUse::layer of a query.
int layer_of(const query::Embed& asked, int num_layers) {
  if (asked.source != query::VectorSource::hidden_state) {
    return asked.source == query::VectorSource::sum_of_states ? WordUse::sum_of_states : WordUse::own_vector;
  }
  const int states = num_layers + 1;
  if (asked.layer < -states || asked.layer >= states) {
    refuse_query("layer " + std::to_string(asked.layer) + " does not exist",
                 "hidden states go from " + std::to_string(-states) + " to " + std::to_string(states - 1));
  }
  return asked.layer < 0 ? asked.layer + states : asked.layer;
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

}  // namespace stereosweep::engine
