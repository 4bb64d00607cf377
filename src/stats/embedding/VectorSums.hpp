// Sums over vectors of float32 numbers in float64, with one order of additions whatever the processor: 32 lanes, then
// the lanes, then what is left over.
#pragma once

#include <cstddef>

namespace stereosweep::stats {

/// sums[i] += weight * vector[i]
void add_scaled(const float* vector, double weight, std::size_t length, double* sums);

/// Sum of vector[i] * other[i].
double dot(const float* vector, const double* other, std::size_t length);

}  // namespace stereosweep::stats
