// The tests of a contexts job: word sets, tests that name them, pieces of both, and tests made of groups and trait
// pairs.
#pragma once

#include "config/ProbeFormat.hpp"
#include "domain/Contexts.hpp"

namespace stereosweep::config {

/// Reads `axes` {tests, sets}; faults go to the report, and the result is then incomplete.
std::vector<domain::EmbeddingTest> read_tests(const Node& axes, const ProbeReading& job);

}  // namespace stereosweep::config
