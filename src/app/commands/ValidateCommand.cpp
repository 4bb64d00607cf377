#include <iostream>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/files/Listing.hpp"
#include "config/JobLoader.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/people/RatingsFile.hpp"
#include "probes/ProbeKind.hpp"
#include "results/tables/TerminalTable.hpp"
#include "run/checks/ModelCheck.hpp"

namespace stereosweep::app {
namespace {

std::string job_summary(const sweep::Job& job, const run::ModelReport& model) {
  std::string text = job.name + ": " + probes::kind_of(job).summary(job);
  auto warnings = probes::kind_of(job).warnings(job);
  const auto comparison = probes::kind_of(job).asked(job);
  const auto decisions = findings::doubts_of_decisions(probes::kind_of(job).score_axes(job), comparison);
  warnings.insert(warnings.end(), decisions.begin(), decisions.end());
  const auto& people = comparison.people;
  if (const auto doubt = people ? findings::doubt_of_scale(*people) : ""; !doubt.empty()) {
    warnings.push_back(people->ratings + ": " + doubt);
  }
  warnings.insert(warnings.end(), model.warnings.begin(), model.warnings.end());
  for (const auto& warning : warnings) {
    text += "\n" + results::wrapped("WARNING " + warning, 2);
  }
  for (const auto& note : model.notes) {
    text += "\n  note: " + note;
  }
  for (const auto& [kind, path] : probes::kind_of(job).inputs(job)) {
    if (!base::is_there(path)) {
      text += "\n  note: the " + kind + " '" + path + "' is not on this machine; run will need it";
    }
  }
  return text;
}

base::ExitCode execute_validate(const CommandLine& line) {
  run::ModelCheck models;
  const auto check = [&](const sweep::Job& job) { return models.examine(job).faults; };
  for (const auto& job : config::load_jobs(config::read_job_file(line.place), line.overrides, check)) {
    std::cout << job_summary(job, models.examine(job)) << '\n';
  }
  return base::ExitCode::done;
}

}  // namespace

const Command validate_command{"validate",
                               "check a job and print its size",
                               "stereosweep validate JOB [key=value ...]: check a job and the kind of its model;\n"
                               "weights are not read. JOB is a file, or - for standard input",
                               execute_validate,
                               Places::one_and_overrides,
                               "job"};

}  // namespace stereosweep::app
