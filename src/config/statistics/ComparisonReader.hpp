// The keys of `statistics` that every probe has: what is asked of its score table.
#pragma once

#include "config/axes/Pieces.hpp"
#include "config/yaml/FieldsSchema.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::config {

/// Beside them stand the probe's own. A dump has them where one is not the default.
void comparison_keys(Fields& statistics, sweep::Comparison& comparison);
void comparison_keys(FieldsDump& statistics, const sweep::Comparison& comparison);
void comparison_keys(FieldsSchema& statistics, const sweep::Comparison& comparison);

}  // namespace stereosweep::config
