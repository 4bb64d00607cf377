#include <cstring>

#include "base/VectorClones.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::stats {
namespace {

constexpr std::size_t width = 8;
constexpr std::size_t chains = 4;  // sums that do not wait for each other
using Doubles = double __attribute__((vector_size(width * sizeof(double))));
using Floats = float __attribute__((vector_size(width * sizeof(float))));

}  // namespace

// Compiled with -ffp-contract=off (CMakeLists.txt): the clone for AVX-512 would fuse what the others do not.
STEREOSWEEP_VECTOR_CLONES
void add_scaled(const float* vector, double weight, std::size_t length, double* sums) {
  for (std::size_t i = 0; i < length; ++i) {
    sums[i] += static_cast<double>(vector[i]) * weight;
  }
}

STEREOSWEEP_VECTOR_CLONES
double dot(const float* vector, const double* other, std::size_t length) {
  Doubles sums[chains] = {};
  std::size_t i = 0;
  for (; i + chains * width <= length; i += chains * width) {
    for (std::size_t chain = 0; chain < chains; ++chain) {
      Floats values;
      Doubles factors;
      std::memcpy(&values, vector + i + chain * width, sizeof values);
      std::memcpy(&factors, other + i + chain * width, sizeof factors);
      sums[chain] += __builtin_convertvector(values, Doubles) * factors;
    }
  }
  const Doubles lanes = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0;
  for (std::size_t lane = 0; lane < width; ++lane) {
    total += lanes[lane];
  }
  for (; i < length; ++i) {
    total += static_cast<double>(vector[i]) * other[i];
  }
  return total;
}

}  // namespace stereosweep::stats
