// What the rows of a finding answer to its question, in words with their numbers.
#pragma once

#include "findings/Finding.hpp"
#include "results/Layout.hpp"

namespace stereosweep::findings {

/// Says in words what the rows answer to the finding's question, for each measure: those with the best evidence of a p
/// at most 1 - `confidence`, and how many more there are; or that there are none, or that the design cannot show any.
/// `measures`: an axis with the units of the measures.
void answer(Finding& finding, const results::AxisSchema& measures, double confidence);

}  // namespace stereosweep::findings
