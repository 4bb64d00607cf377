#include "app/ResultPath.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {

void refuse_job_file(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".yaml" || extension == ".yml") {
    const bool is_beside = path.filename() == "job.resolved.yaml" && path.has_parent_path();
    base::refuse("'" + path.string() + "' is a job", "what its run left is read here",
                 "Give its run directory: " +
                     (is_beside ? path.parent_path().string() : "results/NAME, unless run had --output") + ".");
  }
}

std::vector<std::filesystem::path> runs_in(const std::filesystem::path& path) {
  std::error_code error;
  const auto is_run = [&](const std::filesystem::path& folder) {
    return base::is_there(folder / "status.json") || base::is_there(folder / "job.resolved.yaml");
  };
  std::vector<std::filesystem::path> runs;
  if (is_run(path)) {
    return runs;
  }
  const bool is_folder = base::is_folder(path);
  const auto trimmed = path.has_filename() ? path : path.parent_path();
  const auto above = trimmed.has_parent_path() ? trimmed.parent_path() : std::filesystem::path(".");
  const auto prefix = is_folder ? "" : trimmed.filename().string() + ".";
  for (const auto& entry : base::entries_of(is_folder ? path : above, error)) {
    if (entry.filename().string().starts_with(prefix) && is_run(entry)) {
      runs.push_back(is_folder || trimmed.has_parent_path() ? entry : entry.filename());
    }
  }
  std::ranges::sort(runs);
  return runs;
}

std::vector<std::filesystem::path> runs_of(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> all;
  for (const auto& place : places) {
    const auto runs = runs_in(place);
    all.insert(all.end(), runs.begin(), runs.end());
    all.insert(all.end(), runs.empty() ? 1 : 0, place);
  }
  return all;
}

std::filesystem::path beside_runs(const std::vector<std::string>& places, const std::string& ending) {
  constexpr std::size_t most_names = 3;
  const auto path_of = [](std::filesystem::path path) { return path.has_filename() ? path : path.parent_path(); };
  const auto first = path_of(places.front());
  if (places.size() == 1 && base::is_folder(first)) {
    return first / ending;
  }
  auto names = base::mapped(places, [&](const auto& place) { return path_of(place).filename().string(); });
  const auto more = names.size() - std::min(most_names, names.size());
  names.resize(names.size() - more);
  const auto name = places.size() == 1 ? first.filename().string() : base::join(names, "+");
  return first.parent_path() / (name + (more > 0 ? "+" + std::to_string(more) : "") + "." + ending);
}

namespace {

void refuse_folder_of_runs(const std::filesystem::path& path) {
  const auto runs = base::mapped(runs_in(path), [](const auto& run) { return run.string(); });
  base::refuse_if(!runs.empty(), "'" + path.string() + "' is no run directory",
                  "it means " + base::counted(runs.size(), "run") + ": " + base::join(runs, ", "), "name one of them");
}

}  // namespace

void require_run(const std::filesystem::path& path) {
  refuse_job_file(path);
  refuse_folder_of_runs(path);
  base::refuse_if(!base::is_there(path / config::resolved_name), "no run in '" + path.string() + "'",
                  "it holds no " + std::string(config::resolved_name), folder_advice);
}

std::filesystem::path find_result(const std::filesystem::path& path) {
  refuse_job_file(path);
  if (base::is_file(path)) {
    return path;
  }
  if (!base::is_folder(path)) {
    refuse_folder_of_runs(path);
    base::refuse("'" + path.string() + "' is no run directory and no result file",
                 "it does not exist or cannot be read", folder_advice);
  }
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
    const bool is_run = base::is_there(path / "status.json");
    base::refuse(
        "'" + path.string() + "' holds no result file", is_run ? "the run is not finished" : "it is no run directory",
        is_run ? "Continue it with 'stereosweep run', or 'stereosweep export " + path.string() + "' what is there."
               : folder_advice);
  }
  if (found.size() > 1) {
    base::refuse("'" + path.string() + "' holds more than one result file",
                 "'" + found[0].string() + "' and '" + found[1].string() + "'", "name one");
  }
  return found.front();
}

std::string probe_of(const results::ResultFile& file) {
  constexpr std::string_view prefix = "stereosweep/";
  const auto schema = file.text("schema").value_or("");
  return schema.starts_with(prefix) ? schema.substr(prefix.size()) : "";
}

bool is_stage_file(const results::ResultFile& file) { return probe_of(file).find('.') != std::string::npos; }

}  // namespace stereosweep::app
