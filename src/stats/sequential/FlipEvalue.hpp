// Evidence of a sum of differences against symmetry, which may be looked at after each of them.
#pragma once

#include <cstddef>
#include <span>

namespace stereosweep::stats {

/// E-value of the differences in their order: the mean over l in -+{.25, .5, 1, 2} / scale of the product of
/// exp(l x) / cosh(l x), scale the root mean square of the first `num_first` of them. Where each difference is as
/// likely of either sign given all before and all sizes, its mean is 1 whenever one stops, so that it reaches 1 / level
/// with a probability of at most level (Ville 1939; tests under groups of symmetries: Koning, arXiv:2310.01153; Ramdas
/// and Wang 2025, Hypothesis testing with e-values). At most 2^(n - 1). Differences of 0 say nothing; 1 without any.
double flip_e_value(std::span<const double> differences, std::size_t num_first);

}  // namespace stereosweep::stats
