#include "engine/readout/RowSampling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/Random.hpp"
#include "base/VectorClones.hpp"
#include "engine/readout/SoftmaxRow.hpp"

namespace stereosweep::engine {

namespace {

constexpr std::uint64_t sampling_stream = 1;  // of a query's seed
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

STEREOSWEEP_VECTOR_CLONES
float largest_of(const float* x, std::size_t size) {
  std::array<float, 2 * lanes> most;
  most.fill(x[0]);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    for (std::size_t j = 0; j < 2 * lanes; ++j) {
      most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
    }
  }
  float largest = most[0];
  for (const float one : most) {
    largest = one > largest ? one : largest;
  }
  for (; i < size; ++i) {
    largest = x[i] > largest ? x[i] : largest;
  }
  return largest;
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

BlockMasses masses_at(std::span<const float> logits, double temperature) {
  const float largest = largest_of(logits.data(), logits.size());
  return {block_masses(logits, largest, temperature), largest};
}

// A block, and what is left of the draw in it.
struct BlockDraw {
  std::size_t block = 0;
  double rest = 0;
};

BlockDraw pick_block(std::span<const double> masses, double unit) {
  const double drawn = unit * std::accumulate(masses.begin(), masses.end(), 0.0);
  double before = 0;
  std::size_t last = 0;
  for (std::size_t block = 0; block < masses.size(); ++block) {
    if (drawn < before + masses[block]) {
      return {block, drawn - before};
    }
    before += masses[block];
    last = masses[block] > 0 ? block : last;
  }
  return {last, masses[last]};
}

// Place of the token in the block.
std::size_t pick_in_block(std::span<const float> logits, double rest, float largest, double temperature) {
  double mass = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double weight = weight_of(logits[i], largest, temperature);
    mass += weight;
    if (rest < mass) {
      return i;
    }
    last = weight > 0 ? i : last;
  }
  return last;
}

// `row` at the query's temperature.
query::TokenId draw_of_row(std::span<const float> logits, const BlockMasses& row, const query::Generate& asked,
                           std::uint64_t step) {
  const auto [block, rest] = pick_block(row.masses, unit_of(asked, step));
  const auto first = block * block_width;
  const auto own = logits.subspan(first, std::min(block_width, logits.size() - first));
  return static_cast<query::TokenId>(first + pick_in_block(own, rest, row.largest, asked.temperature));
}

query::TokenId first_of(std::span<const float> logits, float largest) {
  return static_cast<query::TokenId>(std::find(logits.begin(), logits.end(), largest) - logits.begin());
}

}  // namespace

Restriction restriction_of(const query::Generate& asked, std::size_t size) {
  if (asked.temperature == 0) {
    return Restriction::largest;
  }
  if (asked.top_k > 0 && static_cast<std::size_t>(asked.top_k) < size) {
    return Restriction::top_k;
  }
  return asked.top_p < 1 ? Restriction::nucleus : Restriction::none;
}

double unit_of(const query::Generate& asked, std::uint64_t step) {
  return base::random_unit(asked.seed, sampling_stream, step);
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

std::optional<BlockMasses> plain_masses(std::span<const float> logits) {
  return all_finite(logits) ? std::optional(masses_at(logits, 1)) : std::nullopt;
}

double log_total(const BlockMasses& plain) {
  return plain.largest + std::log(std::accumulate(plain.masses.begin(), plain.masses.end(), 0.0));
}

query::TokenId next_token(std::span<const float> logits, const BlockMasses& plain, const query::Generate& asked,
                          std::uint64_t step) {
  const auto restriction = restriction_of(asked, logits.size());
  if (restriction == Restriction::largest) {
    return first_of(logits, plain.largest);
  }
  return restriction == Restriction::none && asked.temperature == 1 ? draw_of_row(logits, plain, asked, step)
                                                                    : next_token(logits, asked, step);
}

query::TokenId next_token(std::span<const float> logits, const query::Generate& asked, std::uint64_t step) {
  switch (restriction_of(asked, logits.size())) {
    case Restriction::largest:
      return first_of(logits, largest_of(logits.data(), logits.size()));
    case Restriction::none:
      return draw_of_row(logits, masses_at(logits, asked.temperature), asked, step);
    default:
      return pick(candidates(logits, asked), unit_of(asked, step));
  }
}

std::optional<std::vector<Candidate>> candidates_among(std::vector<Logit> largest, const RowMass& row,
                                                       const query::Generate& asked) {
  const bool is_whole = largest.size() == row.size;
  const bool is_cut = asked.top_k > 0 && static_cast<std::size_t>(asked.top_k) < row.size;
  const auto smaller = [](const Logit& left, const Logit& right) { return left.value < right.value; };
  const auto [least, most] = std::minmax_element(largest.begin(), largest.end(), smaller);
  const float least_value = least->value;
  const float most_value = most->value;
  if (is_cut) {
    const auto k = static_cast<std::size_t>(asked.top_k);
    if (largest.size() < k) {
      return std::nullopt;
    }
    const auto place = largest.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(largest.begin(), place, largest.end(),
                     [&](const Logit& left, const Logit& right) { return smaller(right, left); });
    const float smallest = place->value;
    if (!is_whole && smallest <= least_value) {
      return std::nullopt;  // an equal one may not be listed
    }
    std::erase_if(largest, [&](const Logit& one) { return one.value < smallest; });
  }
  std::vector<Candidate> all;
  all.reserve(largest.size());
  for (const auto& [id, value] : largest) {
    all.push_back({id, weight_of(value, most_value, asked.temperature)});
  }
  const auto by_id = [](const Candidate& left, const Candidate& right) { return left.id < right.id; };
  std::sort(all.begin(), all.end(), by_id);  // so that sums do not depend on the order of the list
  if (asked.top_p < 1) {
    const auto mass = asked.top_p * (is_cut || is_whole ? mass_of(all) : row.total);
    const auto kept = count_reaching(all, mass);
    const bool decided =
        is_cut || is_whole ||
        (kept <= all.size() && all[kept - 1].weight > weight_of(least_value, most_value, asked.temperature));
    if (!decided) {
      return std::nullopt;  // an equal one, or one more, may not be listed
    }
    all.resize(std::min(kept, all.size()));
    std::sort(all.begin(), all.end(), by_id);
  } else if (!is_cut && !is_whole) {
    return std::nullopt;
  }
  return all;
}

std::vector<Candidate> candidates(std::span<const float> logits, const query::Generate& asked) {
  RowMass row{logits.size(), 0};
  const auto restriction = restriction_of(asked, logits.size());
  if (restriction == Restriction::nucleus) {
    const auto masses = masses_at(logits, asked.temperature).masses;
    row.total = std::accumulate(masses.begin(), masses.end(), 0.0);
  }
  const auto wanted = restriction == Restriction::top_k     ? static_cast<std::size_t>(asked.top_k) + 1
                      : restriction == Restriction::nucleus ? usual_nucleus
                                                            : logits.size();
  if (auto found = candidates_among(find_largest(logits, wanted), row, asked)) {
    return *std::move(found);
  }
  return *candidates_among(find_largest(logits, logits.size()), row, asked);
}

query::TokenId pick(std::span<const Candidate> all, double unit) {
  const double drawn = unit * mass_of(all);
  double mass = 0;
  for (const auto& candidate : all) {
    mass += candidate.weight;
    if (drawn < mass) {
      return candidate.id;
    }
  }
  // Rounding may leave the draw at the very end: the last token with a weight.
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const auto& candidate) { return candidate.weight > 0; });
  return last == all.rend() ? all.front().id : last->id;
}

std::vector<double> block_masses(std::span<const float> logits, float largest, double temperature) {
  const auto whole = logits.size() / block_width;
  const auto left = logits.size() % block_width;
  std::vector<double> masses(whole + (left > 0 ? 1 : 0));
  whole_block_masses(logits.data(), whole, largest, temperature, masses.data());
  if (left > 0) {
    for (const float logit : logits.last(left)) {
      masses.back() += weight_of(logit, largest, temperature);
    }
  }
  return masses;
}

}  // namespace stereosweep::engine
