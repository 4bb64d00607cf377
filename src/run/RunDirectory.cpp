#include "run/RunDirectory.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Text.hpp"
#include "config/JobDump.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::run {
namespace {

constexpr std::size_t max_job_bytes = std::size_t{256} << 20;

[[noreturn]] void refuse(const std::filesystem::path& root, const std::vector<std::string>& fields) {
  throw base::InputError(
      base::describe(root.string() + " belongs to another job", base::join(fields, "; "),
                     "Give another --output, or start anew with --overwrite; --reuse takes over what both share."));
}

/// Other .h5 files are the user's.
bool is_result(const std::string& name) {
  constexpr std::array<std::string_view, 5> probes = {"association", "contexts", "coreference", "interview", "rating"};
  return std::ranges::any_of(probes, [&](std::string_view probe) {
    return name == std::string(probe) + ".h5" || name == std::string(probe) + ".stats.h5";
  });
}

/// Whether a journal was written, or there is a result whose journals are gone.
bool was_begun(const std::filesystem::path& root) {
  std::error_code ignored;
  std::filesystem::recursive_directory_iterator at(root, ignored);
  for (; !ignored && at != std::filesystem::recursive_directory_iterator(); at.increment(ignored)) {
    if (at->path().extension() == ".log" || at->path().extension() == ".h5") {
      return true;
    }
  }
  return false;
}

bool is_run_file(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  constexpr std::array<std::string_view, 4> of_contexts = {"contexts.sample", "contexts.words", "vectors.bin",
                                                           "contexts.vectors.h5"};
  return name == "job.resolved.yaml" || std::ranges::find(of_contexts, name) != of_contexts.end() ||
         name == "status.json" || name == "log" || is_result(name) || name.find(".partial.") != std::string::npos;
}

}  // namespace

base::Digest raw_job_hash(const domain::Job& job) { return base::sha256(config::canonical_raw_dump(job)); }

void require_reusable(const std::filesystem::path& old_directory) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(old_directory / "journal", ignored)) {
    throw base::InputError(base::describe("nothing to reuse in " + old_directory.string(), "it holds no journal"));
  }
}

void RunDirectory::create() const {
  std::error_code status;
  std::filesystem::create_directories(root_, status);
  if (status || !std::filesystem::is_directory(root_)) {
    throw base::InputError(base::describe("cannot create the run directory " + root_.string(), status.message()));
  }
}

std::vector<std::string> RunDirectory::differences(const domain::Job& job) const {
  std::error_code ignored;
  if (!std::filesystem::exists(resolved_job(), ignored)) {
    return {};
  }
  const auto text = base::read_file(resolved_job(), max_job_bytes);
  const auto old_job = config::load_resolved(text, resolved_job().string());
  return config::differences(config::canonical_raw_dump(old_job), config::canonical_raw_dump(job));
}

void RunDirectory::require_same_job(const domain::Job& job) const {
  const auto fields = differences(job);
  if (!fields.empty() && was_begun(root_)) {
    refuse(root_, fields);
  }
}

void RunDirectory::require_same_settings(const results::JournalStore& store, const base::Digest& job_hash,
                                         const RunSettings& settings) const {
  for (const auto& attempt : store.attempts()) {
    const auto fields = settings_differences(attempt.settings, settings.text);
    if (!fields.empty()) {
      refuse(root_, fields);
    }
    if (attempt.job_hash != job_hash) {
      refuse(root_, {"the journal " + attempt.attempt + " was written for another job.resolved.yaml"});
    }
  }
}

void RunDirectory::remove_run_files() const {
  std::vector<std::filesystem::path> doomed;
  for (const auto& entry : std::filesystem::directory_iterator(root_)) {
    if (entry.is_regular_file() && is_run_file(entry.path())) {
      doomed.push_back(entry.path());
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / "journal")) {
    if (entry.path().extension() == ".log") {
      doomed.push_back(entry.path());
    }
  }
  for (const auto& path : doomed) {
    std::filesystem::remove(path);
  }
}

}  // namespace stereosweep::run
