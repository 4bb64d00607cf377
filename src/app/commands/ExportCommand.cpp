#include <iostream>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "run/JobStages.hpp"

namespace stereosweep::app {
namespace {

base::ExitCode execute_export(const CommandLine& line) {
  require_run(line.place);
  for (const auto& text : run::export_stages(line.place)) {
    std::cout << text << '\n';
  }
  return base::ExitCode::done;
}

}  // namespace

const Command export_command{"export",
                             "write the HDF5 file of a run, finished or not",
                             "stereosweep export DIR: write PROBE.h5 from the journal, also while the run goes on.\n"
                             "Cells that are not scored yet have the status not_scored",
                             execute_export,
                             Places::one,
                             "run directory"};

}  // namespace stereosweep::app
