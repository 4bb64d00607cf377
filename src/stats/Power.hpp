// Power of the sign-flip test, before there are data.
#pragma once

#include <cstddef>
#include <optional>

namespace stereosweep::stats {

/// Chance that the two-sided sign-flip test of `n` independent normal differences has a p of at most `level` (0 to 1),
/// where their mean is `effect` standard deviations. That of Student's t (noncentral t with n - 1 degrees; Cohen 1988,
/// Statistical Power Analysis, ch. 2), which sign flips nearly reach (Hoeffding 1952, Annals of Mathematical Statistics
/// 23), at the largest level that 2^n signs attain. Exact where that is 2 / 2^n: then all differences must be of one
/// sign. 0 where no p can be as small: at 0.05 with fewer than six. Measured: too large by up to 0.03 with one or two
/// differences more than that, by 0.01 beyond. NaN for an effect of NaN.
double sign_flip_power(double effect, std::size_t n, double level);

/// Smallest n up to `most` with at least this power; nothing where there is none.
std::optional<std::size_t> enough_differences(double effect, double power, double level, std::size_t most);

/// What a sample variance with these degrees of freedom (above 0) is multiplied by, to give the upper limit that the
/// true one stays below with this probability (normal values).
double upper_variance_factor(double degrees, double probability);

}  // namespace stereosweep::stats
