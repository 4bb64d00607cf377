// How long a job takes, measured: a few of its blocks are scored on this machine.
#pragma once

#include <iosfwd>

#include "app/ProbeCommands.hpp"
#include "probe/Probe.hpp"

namespace stereosweep::app {

/// The line "time" of a plan. Where `request` asks for a measurement: loads the model, scores blocks spread over the
/// product for some seconds and carries the seconds per context to the whole. Otherwise: how to ask for one.
/// Throws InputError where the model cannot be read or does not fit this machine.
void print_time(std::ostream& out, const PlanRequest& request, const probe::Probe& probe);

}  // namespace stereosweep::app
