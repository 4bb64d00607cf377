// What effect sizes of word embedding tests are made of (Caliskan, Bryson and Narayanan, Science 2017; guo2021 §8.1),
// how large they can be and how they vary. WEAT: d = (mean_X s - mean_Y s) / sd of s over X and Y together, of the
// words' associations s; WEFAT of one word: the same of its cosines with the attributes A and B. Deviations divide by
// n - 1, as the published CEAT code does; a package that divides by n gives a d that is larger by sqrt(n / (n - 1)).
#pragma once

#include <cmath>
#include <cstddef>

namespace stereosweep::stats {

// Sums over vectors of float32 numbers in float64 (VectorSums.cpp), with one order of additions whatever the processor:
// 32 lanes, then the lanes, then what is left over.

/// sums[i] += weight * vector[i]
void add_scaled(const float* vector, double weight, std::size_t length, double* sums);

/// Sum of vector[i] * other[i].
double dot(const float* vector, const double* other, std::size_t length);

/// A deviation of cosines, or of associations, up to this is rounding: cosines are at most 1.
inline constexpr double cosine_rounding = 0x1p-50;

/// Variance of d under relabelling: of all ways to cut the pool into n and m words, the variance of d is
/// (n + m) / (n m) exactly, because the pooled deviation (n - 1) does not change.
inline double permutation_variance(std::size_t n, std::size_t m) {
  return (static_cast<double>(n) + static_cast<double>(m)) / (static_cast<double>(n) * static_cast<double>(m));
}

/// Large-sample variance of a standardised mean difference, (n + m) / (n m) + d^2 / (2 (n + m)) (Hedges and Olkin 1985,
/// §5; Cohen's d).
inline double cohen_variance(double d, std::size_t n, std::size_t m) {
  return permutation_variance(n, m) + d * d / (2 * (static_cast<double>(n) + static_cast<double>(m)));
}

/// The largest |d| that n and m numbers can have, sqrt((n + m) (n + m - 1) / (n m)), and what rounding adds: all of a
/// side are equal, and differ from those of the other. `n` and `m` at least 1.
inline double largest_effect_size(std::size_t n, std::size_t m) {
  return std::sqrt(permutation_variance(n, m) * static_cast<double>(n + m - 1)) * (1 + cosine_rounding);
}

}  // namespace stereosweep::stats
