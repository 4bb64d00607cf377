// The tests of a contexts job: word sets, tests that name them, pieces of both, and tests made of groups and trait
// pairs.
#pragma once

#include "config/ProbeFormat.hpp"
#include "probes/contexts/Contexts.hpp"

namespace stereosweep::probes::contexts {

/// Reads `axes` {tests, sets}, and {subjects, omissions} of a dump; faults go to the report, and the result is then
/// incomplete.
void read_tests(const config::Node& axes, const config::ProbeReading& job, Contexts& settings);
/// Adds the same to the dump of `axes`.
void dump_tests(const Contexts& settings, config::Extent extent, config::Node& axes);

}  // namespace stereosweep::probes::contexts
