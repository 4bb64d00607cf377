// The program without its list of probes: picks the sub-command and turns what it throws into a message and a status.
#pragma once

namespace stereosweep::app {

/// Gets `main`'s arguments and ends the process. The kinds of probes are registered before.
[[noreturn]] void run_program(int argc, char** argv);

}  // namespace stereosweep::app
