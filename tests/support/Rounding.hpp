// Bounds of what 16 bits may differ by: the rounding of the type, times the size of the value, times their number.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace stereosweep::testing {

/// Every case draws from a seed of its own: its numbers depend on no other case. (at::manual_seed would ask for CUDA.)
inline void draw_from(std::uint64_t seed) {
  auto generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(seed);
}

/// Largest relative error of one rounding to the type.
inline double rounding_of(at::ScalarType type) {
  return type == at::kHalf ? 0x1p-11 : type == at::kBFloat16 ? 0x1p-8 : 0x1p-24;
}

/// Standard deviation, relative to the numbers', of what went through `layers` layers of a model: the roundings are
/// independent, each uniform up to rounding_of(type), and there are about ten in a layer and ten around them.
inline double deviation_in_layers(at::ScalarType type, int layers) {
  return rounding_of(type) * std::sqrt(10 * (layers + 1) / 3.0);
}

/// Five deviations, since many numbers are compared, and twice that, since wide weights enlarge what comes in: a bound
/// of the differences of numbers whose standard deviation is `spread`.
inline double most_error(at::ScalarType type, int layers, double spread) {
  return 10 * deviation_in_layers(type, layers) * spread;
}

/// What is computed in float32 (within `in_float32` of the largest size) and rounded `count` times to `type`.
struct Roundings {
  at::ScalarType type;
  int count;
  double in_float32;
};

/// Each number is off by at most its roundings; `sizes`: the largest absolute value that each was rounded at.
inline ::testing::AssertionResult agree(const at::Tensor& found, const at::Tensor& expected, const Roundings& roundings,
                                        const at::Tensor& sizes) {
  const double relative =
      roundings.type == at::kFloat ? 0 : std::pow(1 + rounding_of(roundings.type), roundings.count) - 1;
  const auto size = sizes.to(at::kDouble).abs();
  const auto most = size.mul(relative).add(size.max().mul(roundings.in_float32)).expand_as(expected);
  const auto error = found.to(at::kCPU).to(at::kDouble).sub(expected.to(at::kDouble)).abs();
  const auto within = error.le(most);
  if (within.all().item<bool>()) {
    return ::testing::AssertionSuccess();
  }
  const auto worst = error.sub(most).nan_to_num(1e300).flatten().argmax();
  return ::testing::AssertionFailure() << at::toString(roundings.type) << ": " << error.flatten()[worst].item<double>()
                                       << " off, " << most.flatten()[worst].item<double>() << " allowed for "
                                       << roundings.count << " roundings of a number up to "
                                       << size.expand_as(expected).flatten()[worst].item<double>();
}

inline ::testing::AssertionResult agree(const at::Tensor& found, const at::Tensor& expected,
                                        const Roundings& roundings) {
  return agree(found, expected, roundings, expected);
}

}  // namespace stereosweep::testing
