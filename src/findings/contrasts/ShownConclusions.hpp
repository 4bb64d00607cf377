// What of the conclusions is printed: they are computed and written for every measure.
#pragma once

#include "findings/contrasts/Conclusions.hpp"
#include "results/measures/ShownMeasures.hpp"

namespace stereosweep::findings {

/// The part of `all` in the measures that are `shown`. Where the job itself names the measures of a statistic
/// (`asked`), all of that statistic; contrasts (correlations) share what any of them names.
Conclusions shown_part(Conclusions all, const sweep::Comparison& asked, const results::ShownMeasures& shown);

}  // namespace stereosweep::findings
