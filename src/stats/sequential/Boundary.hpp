// How far from zero a mean must be at each look, so that all looks together are wrong no more often than stated. The
// means of nested even parts of a crossed table have Cov(theta_j, theta_k) = V_k for j < k: the canonical joint
// distribution of group-sequential tests with the information 1 / V (Jennison and Turnbull 2000, Group Sequential
// Methods, ch. 3 and 11; Scharfstein, Tsiatis and Robins 1997, JASA 92).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// Share of the level that is spent when this share of the planned information is there (Lan and DeMets 1983,
/// Biometrika 70): .01 t + .99 t^9. Late, so that the last look has nearly the critical value of a single test.
double spent_share(double information);

/// c with P(|Z| > c, |Z_before| <= before) = spend of two standard normal variables with this correlation. As the
/// critical value of a look it spends on what was inside at the look before alone: an upper bound of the exact
/// recursion over all looks (Hunter 1976, Journal of Applied Probability 13; Worsley 1982, Biometrika 69). 0 where all
/// that was inside may be spent. 0 < spend < 1, before >= 0, 0 <= correlation < 1.
double next_boundary(double spend, double before, double correlation);

/// c with P(|Z| > c) = spend: of the first look.
double first_boundary(double spend);

/// Student's quantile that has the tail of the normal quantile `normal` >= 0, and the normal quantile with the tail of
/// a t >= 0; at most 38, where the tail is below the smallest double (Pocock 1977, Biometrika 64).
double as_student(double normal, double degrees);
double as_normal(double student, double degrees);

/// c of a confidence sequence: |Z| is beyond it at any look, declared or not, with a chance of at most `level`. A
/// normal mixture over means with the variance h (Robbins 1970, Annals of Mathematical Statistics 41; Howard, Ramdas,
/// McAuliffe and Sekhon 2021, Annals of Statistics 49; with an estimated variance asymptotically: Waudby-Smith, Arbour,
/// Sinha, Kennedy and Ramdas 2024, Annals of Statistics 52). `mixture` > 0: the mean's variance over h.
double confidence_sequence(double level, double mixture);

/// What a look at one mean is. All looks of a mean have a `mixture`, or none has.
struct Look {
  double statistic = 0;    ///< as_normal(|mean| / its error), or of what is tested in its place
  double correlation = 0;  ///< with the look before
  double spent = 0;        ///< share of the level until here; grows to 1, and is 1 with a mixture
  double mixture = 0;      ///< of a confidence sequence; 0: the look is declared
};

/// Critical values of all looks at a two-sided level. They fall where the level grows.
std::vector<double> boundaries(std::span<const Look> looks, double level);

/// Place of the first look beyond its boundary; nothing: none is. The same as by `boundaries`, mostly without them.
std::optional<std::size_t> first_beyond(std::span<const Look> looks, double level);

/// Smallest level at which a look is beyond its boundary, to a relative 0.002 from above; 1 without one. It only falls
/// when looks are added, and is a valid p at any of them.
double sequential_p(std::span<const Look> looks);

/// E-value of the differences in their order: the mean over l in -+{.25, .5, 1, 2} / scale of the product of
/// exp(l x) / cosh(l x), scale the root mean square of the first `num_first` of them. Where each difference is as
/// likely of either sign given all before and all sizes, its mean is 1 whenever one stops, so that it reaches 1 / level
/// with a probability of at most level (Ville 1939; tests under groups of symmetries: Koning, arXiv:2310.01153; Ramdas
/// and Wang 2025, Hypothesis testing with e-values). At most 2^(n - 1). Differences of 0 say nothing; 1 without any.
double flip_e_value(std::span<const double> differences, std::size_t num_first);

}  // namespace stereosweep::stats
