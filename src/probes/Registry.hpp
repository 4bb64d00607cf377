// The kinds of probes that come with the program: the one place that names them all.
#pragma once

namespace stereosweep::probes {

/// Adds every kind (config::add_probe_format). To be called once, before a job is read.
void register_probes();

}  // namespace stereosweep::probes
