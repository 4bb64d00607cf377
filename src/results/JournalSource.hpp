// A journal as the source of an export.
#pragma once

#include "probes/Probe.hpp"
#include "results/Export.hpp"
#include "results/Journal.hpp"

namespace stereosweep::results {

/// Looks blocks up by their key, so that a journal of another job or model gives nothing. Borrows both arguments.
BlockSource journal_source(const probes::Probe& probe, const JournalStore& store, const base::Digest& fingerprint);

}  // namespace stereosweep::results
