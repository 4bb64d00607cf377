// The program without its list of probes: picks the sub-command and turns what it throws into a message and a status.
#pragma once

namespace stereosweep::app {

/// `main`'s arguments and result. The kinds of probes are registered before.
int run_program(int argc, char** argv);

}  // namespace stereosweep::app
