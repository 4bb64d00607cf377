// Trait-pair scores and their agreement with human ratings, as variables of a statistics file.
#pragma once

#include <string>

#include "findings/Alignment.hpp"
#include "results/Layout.hpp"

namespace stereosweep::findings {

/// mean_pair_score [variant, prior, group, pair] (`units`: nat, 1) with its counts; with ratings: human_mean, tau,
/// precision_at_3, ... [variant, prior, (group or template)]. `layout` has these axes. Throws base::Error for files.
void write_pair_agreement(results::Layout& layout, const PairAgreement& result, const std::string& units);

}  // namespace stereosweep::findings
