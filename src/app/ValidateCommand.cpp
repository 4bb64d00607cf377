#include "app/ValidateCommand.hpp"

#include <filesystem>
#include <iostream>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/JobLoader.hpp"
#include "prompt/Subjects.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

std::string summary(const domain::Job& job) {
  const auto list = prompt::list_subjects(job);
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : job.axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  const std::uint64_t num_groups = job.axes.groups.size();
  const std::uint64_t num_contexts = list.subjects.size() * job.axes.templates.size() * job.axes.rephrasings.size();
  std::string text = job.name + ": " + base::with_thousands(num_groups) + " groups + " +
                     base::with_thousands(list.subjects.size() - list.num_priors - num_groups) + " intersections + " +
                     base::with_thousands(list.num_priors) + " priors, " +
                     base::with_thousands(job.axes.templates.size()) + " templates x " +
                     base::with_thousands(job.axes.rephrasings.size()) + " rephrasings, " +
                     base::with_thousands(job.axes.traits.size()) + " trait pairs (" + base::with_thousands(num_words) +
                     " words): " + base::with_thousands(num_contexts) + " contexts, " +
                     base::with_thousands(num_contexts * num_words) + " cells";
  if (!list.omissions.empty()) {
    text += "; " + base::with_thousands(list.omissions.size()) + " pairs left out (see plan)";
  }
  std::error_code error;
  if (!std::filesystem::is_directory(job.model.path, error)) {
    text += "\n  note: the model '" + job.model.path + "' is not on this machine; run will need it";
  }
  return text;
}

}  // namespace

int validate_command(const Arguments& arguments) {
  options::options_description visible("stereosweep validate JOB [key=value ...]: check a job; no model is read");
  const auto line = read_command_line(arguments, "validate", visible, Places::one_and_overrides, "job");
  if (!line) {
    return static_cast<int>(base::ExitCode::done);
  }
  for (const auto& job : config::load_jobs(line->place, line->overrides)) {
    std::cout << summary(job) << '\n';
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
