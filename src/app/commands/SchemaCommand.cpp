#include <iostream>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

base::ExitCode execute_schema(const CommandLine& /*line*/) {
  std::cout << config::job_schema().dump(2) << '\n';
  return base::ExitCode::done;
}

}  // namespace

const Command schema_command{
    "schema", "JSON Schema of a job, for editors",
    "stereosweep schema > job.schema.json: what a job file may hold, with defaults, ranges and a sentence on each "
    "key,\n"
    "as JSON Schema (draft 2020-12). An editor that reads it completes and checks keys; what follows from files "
    "and\n"
    "from other keys is checked by 'stereosweep validate' alone",
    execute_schema};

}  // namespace stereosweep::app
