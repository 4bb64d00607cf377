// How long a job takes, measured: a few of its blocks are scored on this machine.
#pragma once

#include <iosfwd>

#include "probes/ProbeKind.hpp"

namespace stereosweep::app {

/// The line "time" of a plan: loads the model, scores blocks spread over the product for some seconds and carries the
/// seconds per context to the whole. Throws InputError where the model cannot be read or does not fit this machine.
void print_time(std::ostream& out, const probes::PlanRequest& request, const probes::Probe& probe);
/// The same line without a measurement: how to ask for one.
void print_no_time(std::ostream& out);

}  // namespace stereosweep::app
