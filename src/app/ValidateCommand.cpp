#include "app/ValidateCommand.hpp"

#include <filesystem>
#include <iostream>
#include <utility>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ProbeCommands.hpp"
#include "base/Error.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

/// What a run will read, by kind: "model" -> path.
std::vector<std::pair<std::string, std::string>> sources_of(const domain::Job& job) {
  std::vector<std::pair<std::string, std::string>> sources;
  if (!job.model.path.empty()) {
    sources.emplace_back("model", job.model.path);
  }
  if (const auto* contexts = std::get_if<domain::Contexts>(&job.probe)) {
    if (!contexts->is_static()) {
      for (const auto& file : contexts->contextual().corpus.files) {
        sources.emplace_back("corpus", file);
      }
    } else if (!contexts->needs_model()) {
      sources.emplace_back("file of vectors", contexts->from_table().file);
    }
  }
  return sources;
}

std::string job_summary(const domain::Job& job) {
  std::string text = job.name + ": " + commands_of(job.probe_name()).summary(job);
  for (const auto& [kind, path] : sources_of(job)) {
    std::error_code error;
    const bool is_there =
        kind == "model" ? std::filesystem::is_directory(path, error) : std::filesystem::exists(path, error);
    if (!is_there) {
      text += "\n  note: the " + kind + " '" + path + "' is not on this machine; run will need it";
    }
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
    std::cout << job_summary(job) << '\n';
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
