// The keys of `statistics` that every probe has: what is asked of its score table.
#pragma once

#include "config/axes/Pieces.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Contrast.hpp"

namespace stereosweep::config {

/// Takes `contrasts`, `means`, `variance_shares`, `intersections`, `clusters`, `variation`, `people` and `inference`
/// out of the value of the key `statistics`; what is left is the probe's own. Paths of tables are looked up as the
/// job's `pieces` say.
sweep::Comparison take_comparison(Node& statistics, Pieces& pieces, base::Problems& problems);

/// Adds them to a dump, where they are not the defaults.
void dump_comparison(const sweep::Comparison& comparison, Node& statistics);

}  // namespace stereosweep::config
