#include <boost/program_options/value_semantic.hpp>

#include <iostream>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "run/Verification.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

void add_verify_options(options::options_description_easy_init add) {
  add("sample", options::value<double>()->default_value(0.001, "0.001"),
      "share of the scored blocks that are scored again, at least one; 1: all");
  add("seed", options::value<std::int64_t>()->default_value(1), "which blocks: the same for the same seed");
}

base::ExitCode execute_verify(const CommandLine& line) {
  const std::filesystem::path directory = line.place;
  const auto share = line.get<double>("sample");
  base::refuse_if(!(share > 0 && share <= 1), "--sample " + base::format_double(share) + " is no share",
                  "it must be above 0 and at most 1");
  require_run(directory);
  const run::VerificationRequest request{.directory = directory, .share = share, .seed = line.number("seed", 0)};
  const auto verification = run::verify_run(request);
  std::cout << verification.text;
  return verification.is_good ? base::ExitCode::done : base::ExitCode::error;
}

}  // namespace

const Command verify_command{
    "verify",
    "score some blocks of a run again, and compare",
    "stereosweep verify DIR: score a sample of a run's blocks again, by this program on this machine, and say at\n"
    "which level of the numerical contract they agree with the run's journal, and whether its HDF5 files are as they\n"
    "were written. Exit status 1: at no level, or a file is damaged. Options",
    execute_verify,
    Places::one,
    "run directory",
    add_verify_options};

}  // namespace stereosweep::app
