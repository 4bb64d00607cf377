#include "engine/readout/RowSampling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/Random.hpp"
#include "base/VectorClones.hpp"

namespace stereosweep::engine {

namespace {

constexpr std::uint64_t sampling_stream = 1;  // of a query's seed
constexpr std::size_t usual_nucleus = 1024;   // so many of the largest logits decide nearly every nucleus
constexpr std::size_t lanes = 8;
using Floats = float __attribute__((vector_size(4 * lanes)));
using Doubles = double __attribute__((vector_size(8 * lanes)));
using Longs = std::int64_t __attribute__((vector_size(8 * lanes)));

// Sums of e^((x - largest) / temperature) over blocks of block_width entries, x <= largest: Cody-Waite reduction
// x = n ln 2 + r and the series of e^r up to r^13 (relative error under 1e-15). Terms below e^-708 are 0.
STEREOSWEEP_VECTOR_CLONES
void whole_block_masses(const float* x, std::size_t blocks, double largest, double temperature, double* masses) {
  constexpr double round_bias = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  constexpr auto bias_bits = std::bit_cast<std::int64_t>(round_bias);
  constexpr double inverse_factorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                           1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                           1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  const bool divides = temperature != 1;  // a third of the time
  for (std::size_t block = 0; block < blocks; ++block) {
    Doubles sum = {};
    for (std::size_t i = 0; i < block_width; i += lanes) {
      Floats entries;
      std::memcpy(&entries, x + block * block_width + i, sizeof(Floats));
      Doubles power = __builtin_convertvector(entries, Doubles) - largest;
      if (divides) {
        power /= temperature;
      }
      const Longs counts = power >= -708.0;
      power = counts != 0 ? power : Doubles{};
      const Doubles shifted = power * 1.4426950408889634 + round_bias;
      const Doubles n = shifted - round_bias;
      const Doubles r = (power - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
      Doubles series = Doubles{} + inverse_factorials[0];
      for (std::size_t k = 1; k < 12; ++k) {
        series = series * r + inverse_factorials[k];
      }
      series = series * r * r + r + 1.0;
      const Longs exponent = (__builtin_bit_cast(Longs, shifted) - bias_bits) << 52;
      const Longs term = (__builtin_bit_cast(Longs, series) + exponent) & counts;
      sum += __builtin_bit_cast(Doubles, term);
    }
    double total = 0;
    for (std::size_t j = 0; j < lanes; ++j) {
      total += sum[j];
    }
    masses[block] = total;
  }
}

double weight_of(float logit, float largest, double temperature) {
  return std::exp((static_cast<double>(logit) - static_cast<double>(largest)) / temperature);
}

bool more_probable(const Candidate& left, const Candidate& right) {
  return left.weight != right.weight ? left.weight > right.weight : left.id < right.id;
}

double mass_of(std::span<const Candidate> all) {
  return std::accumulate(all.begin(), all.end(), 0.0,
                         [](double sum, const Candidate& candidate) { return sum + candidate.weight; });
}

// How many of the candidates, the most probable first, reach `mass`; sorts no more of them than it must. More than
// there are: they do not.
std::size_t count_reaching(std::vector<Candidate>& all, double mass) {
  double reached = 0;
  std::size_t sorted = 0;
  for (std::size_t kept = 0; kept < all.size(); ++kept) {
    if (kept == sorted) {
      const auto next = std::min(all.size(), std::max<std::size_t>(256, 4 * sorted));
      std::partial_sort(all.begin() + static_cast<std::ptrdiff_t>(sorted),
                        all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), more_probable);
      sorted = next;
    }
    reached += all[kept].weight;
    if (reached >= mass) {
      return kept + 1;
    }
  }
  return all.size() + 1;
}

struct Place {
  std::size_t index = 0;
  double rest = 0;  // of the draw, from where this weight begins
};

// Of weights on a line the first one that ends behind `drawn`; where rounding leaves the draw at the very end, the end
// of the last one that is not 0.
template <class Numbers, class WeightOf = std::identity>
Place place_of(const Numbers& line, double drawn, const WeightOf& weight_of = {}) {
  double before = 0;
  Place last;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const double weight = std::invoke(weight_of, line[i]);
    if (drawn < before + weight) {
      return {i, drawn - before};
    }
    before += weight;
    last = weight > 0 ? Place{i, weight} : last;
  }
  return last;
}

}  // namespace

Sampling sampling_of(const query::Generate& asked, std::uint64_t step, std::size_t size) {
  Sampling sampling{asked.temperature, static_cast<std::size_t>(std::max(0, asked.top_k)), asked.top_p};
  if (asked.temperature == 0) {
    sampling = {.top_k = 1};
  } else {
    sampling.unit = base::random_unit(asked.seed, sampling_stream, step);
  }
  sampling.top_k = sampling.top_k < size ? sampling.top_k : 0;
  sampling.decisive = sampling.top_k > 0 ? sampling.top_k + 1 : sampling.top_p < 1 ? usual_nucleus : 0;
  return sampling;
}

std::vector<float> penalized(std::span<const float> logits, std::span<const query::TokenId> prompt,
                             std::span<const query::TokenId> added, double penalty) {
  std::vector<float> changed(logits.begin(), logits.end());
  const auto factor = static_cast<float>(penalty);
  for (const auto ids : {prompt, added}) {
    for (const auto id : ids) {
      const auto place = static_cast<std::size_t>(id);
      if (place < logits.size()) {
        const float moved = logits[place] < 0 ? logits[place] * factor : logits[place] / factor;
        changed[place] = std::clamp(moved, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
      }
    }
  }
  return changed;
}

double BlockMasses::total() const { return std::accumulate(masses.begin(), masses.end(), 0.0); }

BlockMasses masses_at(std::span<const float> logits, double temperature) {
  const auto largest = std::ranges::max(find_largest(logits, 1), {}, &Logit::value).value;
  const auto whole = logits.size() / block_width;
  const auto left = logits.size() % block_width;
  std::vector<double> masses(whole + (left > 0 ? 1 : 0));
  whole_block_masses(logits.data(), whole, largest, temperature, masses.data());
  for (const float logit : logits.last(left)) {
    masses.back() += weight_of(logit, largest, temperature);
  }
  return {std::move(masses), largest};
}

query::TokenId next_token(std::span<const float> logits, const Sampling& sampling, const BlockMasses* plain) {
  if (sampling.decisive > 0) {
    return pick(candidates(logits, sampling), sampling.unit);
  }
  const bool is_known = plain != nullptr && sampling.temperature == 1;
  const auto row = is_known ? *plain : masses_at(logits, sampling.temperature);
  const auto [block, rest] = place_of(row.masses, sampling.unit * row.total());
  const auto first = block * block_width;
  const auto own = logits.subspan(first, std::min(block_width, logits.size() - first));
  const auto weight = [&](float logit) { return weight_of(logit, row.largest, sampling.temperature); };
  return static_cast<query::TokenId>(first + place_of(own, rest, weight).index);
}

std::optional<std::vector<Candidate>> candidates_among(std::vector<Logit> largest, const RowMass& row,
                                                       const Sampling& sampling) {
  const auto k = sampling.top_k;
  const bool is_whole = largest.size() == row.size;
  const bool is_closed = is_whole || k > 0;  // nothing that is not listed can be drawn
  const auto [least, most] = std::ranges::minmax(largest, {}, &Logit::value);
  if (largest.size() < k) {
    return std::nullopt;
  }
  if (k > 0) {
    const auto place = largest.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::ranges::nth_element(largest, place, std::ranges::greater(), &Logit::value);
    const float smallest = place->value;
    if (!is_whole && smallest <= least.value) {
      return std::nullopt;  // an equal one may not be listed
    }
    std::erase_if(largest, [smallest](const Logit& one) { return one.value < smallest; });
  }
  std::vector<Candidate> all;
  all.reserve(largest.size());
  for (const auto& [id, value] : largest) {
    all.push_back({id, weight_of(value, most.value, sampling.temperature)});
  }
  std::ranges::sort(all, {}, &Candidate::id);  // so that sums do not depend on the order of the list
  if (sampling.top_p < 1) {
    const auto kept = count_reaching(all, sampling.top_p * (is_closed ? mass_of(all) : row.total));
    const auto unlisted = weight_of(least.value, most.value, sampling.temperature);  // at most
    if (!is_closed && (kept > all.size() || all[kept - 1].weight <= unlisted)) {
      return std::nullopt;  // an equal one, or one more, may not be listed
    }
    all.resize(std::min(kept, all.size()));
    std::ranges::sort(all, {}, &Candidate::id);
  } else if (!is_closed) {
    return std::nullopt;
  }
  return all;
}

std::vector<Candidate> candidates(std::span<const float> logits, const Sampling& sampling) {
  RowMass row{logits.size()};
  if (sampling.top_k == 0 && sampling.top_p < 1) {
    row.total = masses_at(logits, sampling.temperature).total();
  }
  for (auto wanted = sampling.decisive > 0 ? sampling.decisive : logits.size();; wanted = logits.size()) {
    if (auto found = candidates_among(find_largest(logits, wanted), row, sampling)) {
      return *std::move(found);
    }
  }
}

query::TokenId pick(std::span<const Candidate> all, double unit) {
  return all[place_of(all, unit * mass_of(all), &Candidate::weight).index].id;
}

}  // namespace stereosweep::engine
