#include "stats/permutation/SignFlip.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "base/VectorClones.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

constexpr double tolerance = 1e-12;

/// Differences as integers whose sums are exact, whatever their signs.
struct FixedDifferences {
  std::vector<std::int64_t> values;
  std::int64_t sum = 0;
  std::int64_t slack = 0;  ///< what rounding can move a sum by
};

FixedDifferences fix_differences(std::span<const double> differences, double magnitude) {
  constexpr int bits = 58;
  const int exponent = magnitude > 0 ? bits - std::ilogb(magnitude) : 0;
  FixedDifferences fixed;
  for (const double value : differences) {
    fixed.values.push_back(std::llround(std::ldexp(value, exponent)));
    fixed.sum += fixed.values.back();
  }
  fixed.slack = std::max(static_cast<std::int64_t>(differences.size()),
                         static_cast<std::int64_t>(std::ldexp(tolerance * magnitude, exponent)));
  return fixed;
}

/// Sums of the values under all signs, each plus the sum of all magnitudes.
SortedSums signed_sums(std::span<const std::int64_t> values) {
  SortedSums sums(1);
  *sums.begin() = 0;
  for (const auto value : values) {
    sums = merge_shifted(sums, sums, 2 * std::abs(value));
  }
  return sums;
}

constexpr std::size_t flips_per_draw = 64;

/// Calls `use(signs)` for the draws [first, last); one bit a value.
template <class Use>
void draw_signs(std::size_t num_values, std::uint64_t seed, std::uint64_t first, std::uint64_t last, const Use& use) {
  std::vector<std::uint64_t> signs((num_values + flips_per_draw - 1) / flips_per_draw);
  for (auto draw = first; draw < last; ++draw) {
    for (std::size_t word = 0; word < signs.size(); ++word) {
      signs[word] = base::philox_bits({.seed = seed,
                                       .purpose = base::Purpose::sign_flip,
                                       .sample = static_cast<std::uint32_t>(draw),
                                       .word = static_cast<std::uint32_t>(word)});
    }
    use(signs);
  }
}

bool is_kept(std::span<const std::uint64_t> signs, std::size_t place) {
  return (signs[place / flips_per_draw] >> (place % flips_per_draw) & 1U) != 0;
}

/// Sum of the values whose bit is set, minus the others.
std::int64_t signed_sum(std::span<const std::int64_t> values, std::span<const std::uint64_t> signs) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += is_kept(signs, i) ? values[i] : -values[i];
  }
  return sum;
}

constexpr std::size_t draws_together = 512;  // their signs and sums stay in the caches while all tests are added up

/// Sums of one test under some draws; raises `maxima` to their magnitudes and counts those that reach `threshold`.
/// `signs` [block, draws_together]: 1 or -1, so that products are exact and all clones give the same bits.
STEREOSWEEP_VECTOR_CLONES std::uint64_t raise_maxima(std::span<const double> row, const double* signs,
                                                     std::size_t num_draws, double threshold, double* maxima) {
  double sums[draws_together] = {};
  for (const double value : row) {
    for (std::size_t draw = 0; draw < num_draws; ++draw) {
      sums[draw] += value * signs[draw];
    }
    signs += draws_together;
  }
  std::uint64_t count = 0;
  for (std::size_t draw = 0; draw < num_draws; ++draw) {
    const double size = std::abs(sums[draw]);
    maxima[draw] = maxima[draw] < size ? size : maxima[draw];
    count += maxima[draw] >= threshold ? 1 : 0;
  }
  return count;
}

SignFlipResult count_all(const FixedDifferences& fixed) {
  const std::span values(fixed.values);
  const auto half = values.size() / 2;
  std::int64_t magnitudes = 0;
  std::ranges::for_each(values, [&](auto value) { magnitudes += std::abs(value); });
  const double all = std::ldexp(1.0, static_cast<int>(values.size()));
  const auto far = std::abs(fixed.sum) - fixed.slack;
  double p = 1;
  if (far > 0) {  // sums lie symmetrically about zero
    const auto reached =
        count_pairs(signed_sums(values.first(half)), signed_sums(values.subspan(half)), far + magnitudes);
    p = std::min(1.0, 2 * (static_cast<double>(reached) / all));
  }
  return {p, true, {p, p}, Reason::ok};
}

SignFlipResult draw_some(const FixedDifferences& fixed, const SignFlipSettings& settings) {
  const auto far = std::abs(fixed.sum) - fixed.slack;
  std::uint64_t reached = 0;
  draw_signs(fixed.values.size(), settings.seed, 0, settings.draws, [&](std::span<const std::uint64_t> signs) {
    reached += std::abs(signed_sum(fixed.values, signs)) >= far ? 1 : 0;
  });
  return {(static_cast<double>(reached) + 1) / (static_cast<double>(settings.draws) + 1), false,
          fixed_draws_interval(reached, settings.draws, settings.confidence), Reason::ok};
}

}  // namespace

SignFlipResult sign_flip_test(std::span<const double> differences, const SignFlipSettings& settings) {
  const double magnitude = std::accumulate(differences.begin(), differences.end(), 0.0,
                                           [](double sum, double value) { return sum + std::abs(value); });
  if (differences.empty() || !std::isfinite(magnitude)) {
    return {nan, false, {}, differences.empty() ? Reason::no_values : Reason::not_finite};
  }
  const auto fixed = fix_differences(differences, magnitude);
  return differences.size() <= max_exact_flips ? count_all(fixed) : draw_some(fixed, settings);
}

SignFlipMaxT::SignFlipMaxT(std::span<const double> differences, std::size_t num_blocks,
                           const SignFlipSettings& settings)
    : num_blocks_(num_blocks), settings_(settings), scaled_(differences.begin(), differences.end()) {
  STEREOSWEEP_ASSERT(num_blocks > 0 && differences.size() % num_blocks == 0, "one row of blocks per test");
  observed_.assign(differences.size() / num_blocks, nan);
  for (std::size_t test = 0; test < observed_.size(); ++test) {
    const auto row = std::span(scaled_).subspan(test * num_blocks, num_blocks);
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    if (length > 0) {
      std::ranges::transform(row, row.begin(), [&](double value) { return value / length; });
      observed_[test] = std::abs(std::accumulate(row.begin(), row.end(), 0.0));
      order_.push_back(test);
    }
  }
  std::ranges::stable_sort(order_, [&](auto left, auto right) { return observed_[left] > observed_[right]; });
}

std::vector<std::uint64_t> SignFlipMaxT::reached(std::size_t share, std::size_t num_shares) const {
  std::vector<std::uint64_t> reached(order_.size(), 0);
  std::vector<double> signs(num_blocks_ * draws_together);
  for (auto first = share * draws_together; first < settings_.draws; first += num_shares * draws_together) {
    const auto last = std::min<std::uint64_t>(first + draws_together, settings_.draws);
    std::size_t num_draws = 0;
    draw_signs(num_blocks_, settings_.seed, first, last, [&](std::span<const std::uint64_t> bits) {
      for (std::size_t block = 0; block < num_blocks_; ++block) {
        signs[block * draws_together + num_draws] = is_kept(bits, block) ? 1 : -1;
      }
      ++num_draws;
    });
    std::vector<double> maxima(draws_together, 0);
    for (auto place = order_.size(); place-- > 0;) {
      const auto row = std::span<const double>(scaled_).subspan(order_[place] * num_blocks_, num_blocks_);
      reached[place] += raise_maxima(row, signs.data(), num_draws, observed_[order_[place]] - tolerance, maxima.data());
    }
  }
  return reached;
}

std::vector<double> SignFlipMaxT::adjusted(std::span<const std::uint64_t> reached) const {
  std::vector<double> adjusted(observed_.size(), nan);
  double before = 0;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    before = std::max(before, (static_cast<double>(reached[place]) + 1) / (static_cast<double>(settings_.draws) + 1));
    adjusted[order_[place]] = before;
  }
  return adjusted;
}

}  // namespace stereosweep::stats
