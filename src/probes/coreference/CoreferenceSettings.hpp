// The settings of a job of this probe, from YAML and back.
#pragma once

#include "config/ProbeFormat.hpp"
#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {

/// Reads every key of the probe; faults go to the report, and the result is then incomplete.
Coreference read_settings(const config::ProbeReading& job);
/// Adds to a dump, in fixed order, what can change a raw number.
void dump_settings(const Coreference& settings, config::Node& job);
/// The value of the key `statistics`.
config::Node dump_statistics(const Coreference& settings);

}  // namespace stereosweep::probes::coreference
