// The score table of a contexts result: effect sizes of every sample, of pairs of word sets (WEAT) and of words
// (WEFAT).
#pragma once

#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/ContextsNumbers.hpp"
#include "results/ScoreTable.hpp"

namespace stereosweep::probes::contexts {

/// Adds the table to a statistics file, some samples at a time. Measures (README.md): effect_size, association,
/// deviation. Subjects: the pair of target sets of each WEAT test, each target word of the WEFAT tests; replicates: the
/// samples; items: the tests, of which A is the right pole. `job` adds what the result does not say: which words are
/// groups, and which have no vector; null: nothing.
void write_contexts_scores(results::Layout& layout, const ContextsReader& reader, const Contexts* job);

}  // namespace stereosweep::probes::contexts
