#include "engine/Sampler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/Random.hpp"

namespace stereosweep::engine {
namespace {

constexpr std::uint64_t sampling_stream = 1;  // of a query's seed

// The k-th largest logit.
float kth_largest(std::span<const float> logits, std::size_t k) {
  std::vector<float> values(logits.begin(), logits.end());
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), place, values.end(), std::greater<>());
  return *place;
}

bool more_probable(const Candidate& left, const Candidate& right) {
  return left.weight != right.weight ? left.weight > right.weight : left.id < right.id;
}

// Keeps the most probable ones until their mass reaches `top_p` of all. Sorts no more than it must.
void keep_nucleus(std::vector<Candidate>& all, double top_p) {
  double total = 0;
  for (const auto& candidate : all) {
    total += candidate.weight;
  }
  double mass = 0;
  std::size_t kept = 0;
  for (std::size_t sorted = 0; mass < top_p * total && kept < all.size(); ++kept) {
    if (kept == sorted) {
      const auto next = std::min(all.size(), std::max<std::size_t>(256, 4 * sorted));
      std::partial_sort(all.begin() + static_cast<std::ptrdiff_t>(sorted),
                        all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), more_probable);
      sorted = next;
    }
    mass += all[kept].weight;
  }
  all.resize(kept);
  std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) { return left.id < right.id; });
}

}  // namespace

std::vector<Candidate> candidates(std::span<const float> logits, const query::Generate& asked) {
  const auto k = static_cast<std::size_t>(asked.top_k);
  const bool is_cut = k > 0 && k < logits.size();
  const float largest = *std::max_element(logits.begin(), logits.end());
  const float smallest = is_cut ? kth_largest(logits, k) : *std::min_element(logits.begin(), logits.end());
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= smallest) {
      const double distance = static_cast<double>(logits[i]) - static_cast<double>(largest);
      all.push_back({static_cast<query::TokenId>(i), std::exp(distance / asked.temperature)});
    }
  }
  if (asked.top_p < 1) {
    keep_nucleus(all, asked.top_p);
  }
  return all;
}

query::TokenId next_token(std::span<const float> logits, const query::Generate& asked, std::uint64_t step) {
  if (asked.temperature == 0) {
    return static_cast<query::TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  const auto all = candidates(logits, asked);
  double total = 0;
  for (const auto& candidate : all) {
    total += candidate.weight;
  }
  const double drawn = base::random_unit(asked.seed, sampling_stream, step) * total;
  double mass = 0;
  for (const auto& candidate : all) {
    mass += candidate.weight;
    if (drawn < mass) {
      return candidate.id;
    }
  }
  // Rounding may leave the draw at the very end: the last token with a weight.
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const auto& candidate) { return candidate.weight > 0; });
  return last->id;
}

}  // namespace stereosweep::engine
