#include "app/ResultPath.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::app {

void refuse_job_file(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".yaml" || extension == ".yml") {
    const bool is_beside = path.filename() == "job.resolved.yaml" && path.has_parent_path();
    throw base::InputError(
        base::describe("'" + path.string() + "' is a job", "what its run left is read here",
                       "Give its run directory: " +
                           (is_beside ? path.parent_path().string() : "results/NAME, unless run had --output") + "."));
  }
}

std::vector<std::filesystem::path> runs_in(const std::filesystem::path& path) {
  std::error_code error;
  const auto is_run = [&](const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / "status.json", error) ||
           std::filesystem::exists(folder / "job.resolved.yaml", error);
  };
  std::vector<std::filesystem::path> runs;
  if (is_run(path)) {
    return runs;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (is_run(entry.path())) {
      runs.push_back(entry.path());
    }
  }
  std::ranges::sort(runs);
  return runs;
}

void refuse_folder_of_runs(const std::filesystem::path& path) {
  const auto runs = base::mapped(runs_in(path), [](const auto& run) { return run.string(); });
  base::refuse_if(!runs.empty(), "'" + path.string() + "' is no run directory",
                  "it holds " + base::counted(runs.size(), "run") + ": " + base::join(runs, ", "), "name one of them");
}

std::filesystem::path find_result(const std::filesystem::path& path) {
  refuse_job_file(path);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    return path;
  }
  base::refuse_if(!std::filesystem::is_directory(path, error),
                  "'" + path.string() + "' is no run directory and no result file",
                  "it does not exist or cannot be read");
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const auto name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with(".h5") && !name.ends_with(".stats.h5") &&
        !name.ends_with(".vectors.h5")) {
      found.push_back(entry.path());
    }
  }
  if (found.empty()) {
    refuse_folder_of_runs(path);
    throw base::InputError(base::describe(
        "'" + path.string() + "' holds no result file", "the run is not finished",
        "continue it with 'stereosweep run', or 'stereosweep export " + path.string() + "' what is there"));
  }
  if (found.size() > 1) {
    throw base::InputError(base::describe("'" + path.string() + "' holds more than one result file",
                                          "'" + found[0].string() + "' and '" + found[1].string() + "'", "name one"));
  }
  return found.front();
}

std::filesystem::path statistics_beside(const std::filesystem::path& file) {
  return file.parent_path() / (file.stem().string() + ".stats.h5");
}

std::string probe_of(const results::ResultFile& file) {
  constexpr std::string_view prefix = "stereosweep/";
  const auto schema = file.text("schema").value_or("");
  return schema.starts_with(prefix) ? schema.substr(prefix.size()) : "";
}

bool is_stage_file(const results::ResultFile& file) { return probe_of(file).find('.') != std::string::npos; }

}  // namespace stereosweep::app
