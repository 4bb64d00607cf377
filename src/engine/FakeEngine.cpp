#include "engine/FakeEngine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/Error.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;

// Finaliser of splitmix64 (Steele, Lea, Flood 2014, OOPSLA): every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t mix(std::uint64_t state, std::uint64_t value) { return mix(state ^ mix(value)); }

std::uint64_t hash_text(std::uint64_t state, std::string_view text) {
  state = mix(state, text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const auto length = std::min<std::size_t>(8, text.size());
    std::memcpy(&word, text.data(), length);
    state = mix(state ^ word);
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
  auto state = hash_text(mix(seed), fill.text);
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

query::QueryError outside(TokenId id, std::size_t vocabulary) {
  return {base::describe("id " + std::to_string(id) + " is outside the vocabulary",
                         "ids range from 0 to " + std::to_string(vocabulary - 1)),
          query::QueryFault::other};
}

}  // namespace

std::vector<query::Answer> FakeEngine::answer(std::span<const query::Query> queries) {
  std::vector<query::Answer> answers;
  answers.reserve(queries.size());
  for (const auto& asked : queries) {
    answers.push_back(std::visit(
        [this](const auto& kind) -> query::Answer {
          using Kind = std::decay_t<decltype(kind)>;
          if constexpr (std::is_same_v<Kind, query::Fill>) {
            return fill(kind);
          } else if constexpr (std::is_same_v<Kind, query::Continue>) {
            return follow(kind);
          } else if constexpr (std::is_same_v<Kind, query::Embed>) {
            return embed(kind);
          } else {
            return generate(kind);
          }
        },
        asked));
  }
  count_distinct(queries);
  return answers;
}

query::Answer FakeEngine::fill(const query::Fill& fill) {
  const auto input = hash_input(seed_, fill);
  query::FillAnswer answer;
  answer.slots.reserve(fill.slots.size());
  for (std::size_t place = 0; place < fill.slots.size(); ++place) {
    const auto& targets = fill.slots[place].targets;
    const auto row = mix(input, place);
    auto& slot = answer.slots.emplace_back();
    slot.logprob.reserve(targets.size());
    for (const auto target : targets) {
      if (target < 0 || static_cast<std::size_t>(target) >= vocabulary_) {
        return outside(target, vocabulary_);
      }
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
    counts_.head_rows += targets.empty() ? 0 : 1;
  }
  return answer;
}

query::Answer FakeEngine::follow(const query::Continue& asked) const {
  query::ContinueAnswer answer;
  for (const auto& continuation : asked.continuations) {
    const auto hash = hash_text(hash_text(mix(seed_), asked.prompt), continuation);
    auto& tokens = answer.logprob.emplace_back();
    for (std::uint64_t token = 0; token < 1 + continuation.size() / 6; ++token) {
      tokens.push_back(between(hash, token, -12, -0.05));
    }
  }
  return answer;
}

query::Answer FakeEngine::embed(const query::Embed& asked) const {
  constexpr std::size_t width = 16;
  auto hash = hash_text(mix(seed_), asked.text);
  for (const auto value : {asked.span.begin, asked.span.end, static_cast<std::size_t>(asked.layer + 1024),
                           static_cast<std::size_t>(asked.pool)}) {
    hash = mix(hash, value);
  }
  query::EmbedAnswer answer;
  for (std::size_t i = 0; i < width; ++i) {
    answer.vector.push_back(static_cast<float>(between(hash, i, -1, 1)));
  }
  return answer;
}

query::Answer FakeEngine::generate(const query::Generate& asked) const {
  constexpr std::array<std::string_view, 8> words = {"yes", "no", "often", "never", "some", "many", "warm", "able"};
  auto hash = hash_text(mix(seed_, asked.seed), asked.prompt);
  query::GenerateAnswer answer;
  for (std::int32_t i = 0; i < asked.max_new_tokens; ++i) {
    hash = mix(hash);
    answer.ids.push_back(static_cast<TokenId>(hash % vocabulary_));
    answer.text += (i > 0 ? " " : "") + std::string(words[hash >> 61U]);
  }
  return answer;
}

void FakeEngine::count_distinct(std::span<const query::Query> queries) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> inputs;  // hash, "tokens": words and two special ones
  inputs.reserve(queries.size());
  for (const auto& asked : queries) {
    if (const auto* fill = std::get_if<query::Fill>(&asked)) {
      const auto words = 3 + static_cast<std::uint64_t>(std::count(fill->text.begin(), fill->text.end(), ' '));
      inputs.emplace_back(hash_input(seed_, *fill), words);
    }
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  counts_.queries += queries.size();
  counts_.distinct_sequences += inputs.size();
  for (const auto& [hash, tokens] : inputs) {
    counts_.distinct_tokens += tokens;
  }
}

}  // namespace stereosweep::engine
