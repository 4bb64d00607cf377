#include "app/Commands.hpp"

#include "app/ExportCommand.hpp"
#include "app/PlanCommand.hpp"
#include "app/QueryCommand.hpp"
#include "app/RunCommand.hpp"
#include "app/ShowCommand.hpp"
#include "app/StatsCommand.hpp"
#include "app/StatusCommand.hpp"
#include "app/TokenizeCommand.hpp"
#include "app/ValidateCommand.hpp"

namespace stereosweep::app {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"run", "start a job, or continue it", run_command},
      {"plan", "what a job will cost; how its words are tokenized", plan_command},
      {"status", "what a run does, from another shell", status_command},
      {"query", "JSON queries -> log-probabilities, vectors", query_command},
      {"export", "write the HDF5 file of a run, finished or not", export_command},
      {"show", "what a result holds, its digest, its strongest associations", show_command},
      {"stats", "scores, averages and agreement with human ratings", stats_command},
      {"tokenize", "lines of text -> ids and byte offsets", tokenize_command},
      {"validate", "check a job and print its size", validate_command},
  };
  return all;
}

}  // namespace stereosweep::app
