#include "engine/FakeEngine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "engine/QueryInput.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;

using base::mix_bits;

std::uint64_t mix(std::uint64_t state, std::uint64_t value) { return mix_bits(state ^ mix_bits(value)); }

std::uint64_t hash_text(std::uint64_t state, std::string_view text) {
  state = mix(state, text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const auto length = std::min<std::size_t>(8, text.size());
    std::memcpy(&word, text.data(), length);
    state = mix_bits(state ^ word);
    text.remove_prefix(length);
  }
  return state;
}

// In (0, 1), never an end of it.
double uniform(std::uint64_t hash) { return (static_cast<double>(hash >> 12U) + 0.5) * 0x1p-52; }

// Uniform in [lowest, highest], `draw` tells the draws of one hash apart.
double between(std::uint64_t hash, std::uint64_t draw, double lowest, double highest) {
  return lowest + (highest - lowest) * uniform(mix(hash, draw));
}

// The forward input: text and what stands in its masks.
std::uint64_t hash_input(std::uint64_t seed, const query::Fill& fill) {
  auto state = hash_text(mix_bits(seed), fill.text);
  for (const auto& slot : fill.slots) {
    state = mix(state, slot.filled ? static_cast<std::uint64_t>(*slot.filled) + 1 : 0);
  }
  return state;
}

query::SetDistance fake_set(std::uint64_t hash) {
  query::SetDistance set;
  set.distance_bias = between(hash, 2, 0.02, 0.98);
  set.distance_plain = between(hash, 3, 0.02, 0.98);
  set.active_bias = 1 + static_cast<std::int32_t>(mix(hash, 4) % 24);
  set.active_plain = 1 + static_cast<std::int32_t>(mix(hash, 5) % 24);
  set.threshold_bias = between(hash, 6, 1, 9);
  set.threshold_plain = between(hash, 7, 1, 9);
  return set;
}

query::EmbedAnswer fake_vector(std::uint64_t hash) {
  query::EmbedAnswer answer;
  for (std::size_t i = 0; i < FakeEngine::vector_width; ++i) {
    answer.vector.push_back(static_cast<float>(between(hash, i, -1, 1)));
  }
  return answer;
}

struct Input {
  std::uint64_t hash = 0;
  std::uint64_t tokens = 0;
  auto operator<=>(const Input&) const = default;
};

class FakeCall : public query::Call {
 public:
  FakeCall(const tokenizer::Tokenizer& tokenizer, std::uint64_t seed, std::span<const query::Query> queries)
      : tokenizer_(tokenizer), seed_(seed), queries_(queries) {}

  void run() override {
    answers_.reserve(queries_.size());
    for (const auto& asked : queries_) {
      try {
        answers_.push_back(std::visit([this](const auto& kind) { return answer_to(kind); }, asked));
      } catch (const base::InputError& error) {
        answers_.emplace_back(to_query_error(error));
      }
    }
    std::sort(inputs_.begin(), inputs_.end());
    inputs_.erase(std::unique(inputs_.begin(), inputs_.end()), inputs_.end());
    cost_.distinct_sequences = inputs_.size();
    for (const auto& input : inputs_) {
      cost_.distinct_tokens += input.tokens;
    }
    cost_.queries = queries_.size();
  }
  std::vector<query::Answer> read() override { return std::move(answers_); }
  query::EngineCounts cost() const override { return cost_; }

 private:
  query::Answer answer_to(const query::Fill& fill) {
    const auto input = hash_input(seed_, fill);
    const auto words = 3 + static_cast<std::uint64_t>(std::count(fill.text.begin(), fill.text.end(), ' '));
    inputs_.push_back({input, words});  // "tokens": words and two special ones
    const auto vocabulary = static_cast<std::int64_t>(tokenizer_.size());
    query::FillAnswer answer;
    answer.slots.reserve(fill.slots.size());
    for (std::size_t place = 0; place < fill.slots.size(); ++place) {
      const auto& targets = fill.slots[place].targets;
      const auto row = mix(input, place);
      auto& slot = answer.slots.emplace_back();
      slot.logprob.reserve(targets.size());
      for (const auto target : targets) {
        check_id(target, vocabulary);
        slot.logprob.push_back(between(mix(row, static_cast<std::uint64_t>(target)), 1, -16, -0.05));
        if (fill.set_distances) {
          slot.set.push_back(fake_set(mix(row, static_cast<std::uint64_t>(target))));
        }
      }
      if (fill.class_masses) {
        const auto initial = between(row, 8, 0.5, 0.999);
        slot.log_mass_initial = std::log(initial);
        slot.log_mass_continuation = std::log1p(-initial);
      }
      cost_.head_rows += targets.empty() ? 0 : 1;
    }
    return answer;
  }

  query::Answer answer_to(const query::Continue& asked) {
    query::ContinueAnswer answer;
    const ContinuationBorder border(asked.prompt, tokenizer_, asked.framing);
    for (const auto& continuation : asked.continuations) {
      const auto joint = border.join(continuation);
      auto& tokens = answer.logprob.emplace_back();
      auto path = mix_bits(seed_);
      for (std::size_t place = 0; place < joint.ids.size(); ++place) {
        const auto with_token = mix(path, static_cast<std::uint64_t>(joint.ids[place]));
        if (place >= joint.begin) {
          tokens.push_back(between(with_token, 1, -12, -0.05));
        }
        path = place + 1 < joint.ids.size() ? with_token : path;  // the last token does not run
      }
      inputs_.push_back({path, joint.ids.size() - 1});
      cost_.head_rows += tokens.size();
    }
    return answer;
  }

  query::Answer answer_to(const query::Embed& asked) {
    if (asked.source == query::VectorSource::input_embedding) {  // of the span's own bytes alone, and no forward input
      const auto begin = std::min(asked.span.begin, asked.text.size());
      const auto bytes = std::string_view(asked.text).substr(begin, asked.span.end - asked.span.begin);
      return fake_vector(mix(hash_text(mix_bits(seed_), bytes), static_cast<std::uint64_t>(asked.pool)));
    }
    auto hash = hash_text(mix_bits(seed_), asked.text);
    inputs_.push_back({hash, 1 + static_cast<std::uint64_t>(std::count(asked.text.begin(), asked.text.end(), ' '))});
    for (const auto value : {asked.span.begin, asked.span.end, static_cast<std::size_t>(asked.layer + 1024),
                             static_cast<std::size_t>(asked.pool)}) {
      hash = mix(hash, value);
    }
    return fake_vector(asked.source == query::VectorSource::sum_of_states ? mix(hash, 1) : hash);
  }

  query::Answer answer_to(const query::Generate& asked) {
    query::check_sampling(asked);
    constexpr std::array<std::string_view, 8> words = {"yes", "no", "often", "never", "some", "many", "warm", "able"};
    auto hash = hash_text(mix(seed_, asked.seed), asked.prompt);
    inputs_.push_back(
        {hash, 1 + static_cast<std::uint64_t>(std::count(asked.prompt.begin(), asked.prompt.end(), ' '))});
    query::GenerateAnswer answer;
    for (std::int32_t i = 0; i < asked.max_new_tokens; ++i) {
      hash = mix_bits(hash);
      answer.ids.push_back(static_cast<TokenId>(hash % tokenizer_.size()));
      answer.text += (i > 0 ? " " : "") + std::string(words[hash >> 61U]);
    }
    if (asked.max_new_tokens > 0) {
      answer.mean_logprob = between(hash, 9, -12, -0.05);
    }
    return answer;
  }

  const tokenizer::Tokenizer& tokenizer_;
  std::uint64_t seed_;
  std::span<const query::Query> queries_;
  std::vector<query::Answer> answers_;
  query::EngineCounts cost_;
  std::vector<Input> inputs_;
};

}  // namespace

std::unique_ptr<query::Call> FakeEngine::plan(std::span<const query::Query> queries) const {
  return std::make_unique<FakeCall>(tokenizer_, seed_, queries);
}

}  // namespace stereosweep::engine
