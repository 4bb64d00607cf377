// The settings of a job of this probe, from YAML and back.
#pragma once

#include "config/ProbeFormat.hpp"
#include "probes/contexts/Contexts.hpp"

namespace stereosweep::probes::contexts {

/// Reads every key of the probe; faults go to the report, and the result is then incomplete.
Contexts read_settings(const config::ProbeReading& job);
/// Adds to a dump, in fixed order, what can change a raw number.
void dump_settings(const Contexts& settings, config::Extent extent, config::Node& job);
/// The value of the key `statistics`.
config::Node dump_statistics(const Contexts& settings);

// Parts of it.

/// An entry of a list that is selected by its label, and where it stands.
template <class Entry>
struct Placed : Entry {
  const config::Node* node = nullptr;
  std::string key = {};
};

/// Reads `axes` {tests, sets}, and {subjects, omissions} of a dump; faults go to the report, and the result is then
/// incomplete.
void read_tests(const config::Node& axes, const config::ProbeReading& job, Contexts& settings);
/// Adds the same to the dump of `axes`.
void dump_tests(const Contexts& settings, config::Extent extent, config::Node& axes);

}  // namespace stereosweep::probes::contexts
