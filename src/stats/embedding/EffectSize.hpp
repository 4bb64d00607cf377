// Effect sizes of word embedding tests (Caliskan, Bryson and Narayanan, Science 2017; guo2021 §8.1), from cosines and
// associations. Deviations divide by n - 1, as the published CEAT code does; a package that divides by n gives a d that
// is larger by sqrt(n / (n - 1)).
#pragma once

#include <cstddef>
#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

// Sums over vectors of float32 numbers in float64 (VectorSums.cpp), with one order of additions whatever the processor:
// 32 lanes, then the lanes, then what is left over.

/// sums[i] += weight * vector[i]
void add_scaled(const float* vector, double weight, std::size_t length, double* sums);

/// Sum of vector[i] * other[i].
double dot(const float* vector, const double* other, std::size_t length);

/// A deviation of cosines, or of associations, up to this is rounding: cosines are at most 1.
inline constexpr double cosine_rounding = 0x1p-50;

/// WEAT: d = (mean_X s - mean_Y s) / sd of s over X and Y together, of the words' associations s. WEFAT of one word w:
/// the same of its cosines with the attributes A and B.
struct EffectSize {
  double value = nan;            ///< d, 1
  double mean_difference = nan;  ///< cosine
  double deviation = nan;        ///< its square is the published V, cosine^2
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// `no_values`: a side is empty; `constant`: the deviation is zero or not above rounding (2^-50 of the largest
/// magnitude), the difference is set; `not_finite`.
EffectSize effect_size(std::span<const double> x, std::span<const double> y);

/// The largest |d| that n and m numbers can have, sqrt((n + m) (n + m - 1) / (n m)): all of a side are equal, and
/// differ from those of the other. `n` and `m` at least 1.
double largest_effect_size(std::size_t n, std::size_t m);

/// Variance of d under relabelling: of all ways to cut the pool into n and m words, the variance of d is
/// (n + m) / (n m) exactly, because the pooled deviation (n - 1) does not change.
double permutation_variance(std::size_t n, std::size_t m);

/// Large-sample variance of a standardised mean difference, (n + m) / (n m) + d^2 / (2 (n + m)) (Hedges and Olkin 1985,
/// §5; Cohen's d).
double cohen_variance(double d, std::size_t n, std::size_t m);

}  // namespace stereosweep::stats
