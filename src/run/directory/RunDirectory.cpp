#include "run/directory/RunDirectory.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/files/PendingFile.hpp"
#include "base/text/Text.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::run {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& root, const std::vector<std::string>& fields) {
  const bool same_job = std::ranges::all_of(fields, is_software);
  base::refuse(
      root.string() + (same_job ? " was scored by another build or with other libraries" : " belongs to another job"),
      first_few(fields),
      same_job
          ? "Last bits may differ, so blocks of both are not mixed: go on with the old ones, give another --output, "
            "or start anew with --overwrite."
          : "Give another --output, or start anew with --overwrite; --reuse takes over what both share.");
}

std::string path_difference(const sweep::Job& before, const sweep::Job& after) {
  const auto was = before.model.location();
  const auto is = after.model.location();
  const auto named = [](const std::string& adapter) { return adapter.empty() ? "none" : adapter; };
  return was != is ? "model.path: " + was + ", now " + is
         : before.model.adapter == after.model.adapter
             ? ""
             : "model.adapter: " + named(before.model.adapter) + ", now " + named(after.model.adapter);
}

/// Whether a block was scored, or there is a result whose journals are gone.
bool was_scored(const std::filesystem::path& root) {
  std::error_code ignored;
  const std::filesystem::directory_iterator files(root, ignored);
  return results::JournalStore::holds_blocks(root) ||
         std::any_of(begin(files), end(files), [](const auto& entry) { return entry.path().extension() == ".h5"; });
}

/// Other files, other .h5 files among them, are the user's.
bool is_run_file(const std::filesystem::path& path) {
  const auto name = base::final_name(path.filename().string());
  for (const auto* format : config::probe_formats()) {
    const auto& kind = probes::kind_of(format->name());
    const auto probe = std::string(kind.name());
    const auto files = kind.run_files();
    if (name == probe + ".h5" || name == probe + ".stats.h5" || name == probe + ".stats.h5.kept" ||
        base::contains(files, name)) {
      return true;
    }
  }
  constexpr std::array<std::string_view, 5> own = {"status.json", "log", rounds_name, round_file, round_table_file};
  return name == config::resolved_name || base::contains(own, name);
}

/// And no link to one.
bool is_plain_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::regular;
}

}  // namespace

base::Digest raw_job_hash(const sweep::Job& job) { return base::sha256(config::canonical_raw_dump(job)); }

void require_blocks(const results::JournalStore& store, const sweep::BlockPlan& blocks) {
  for (const auto& record : store.records()) {
    const auto index = record.block_index;
    if (index >= blocks.num_blocks() || record.num_contexts != blocks.block(index).num_contexts) {
      base::fail("the journal holds a block that this job does not have",
                 "block " + std::to_string(index) + " of " + base::counted(record.num_contexts, "context") +
                     ": another version of the program cut the job otherwise",
                 "go on with the version that wrote it, or start anew with --overwrite");
    }
  }
}

void require_reusable(const std::filesystem::path& old_directory) {
  base::refuse_if(!base::is_folder(old_directory / "journal"), "nothing to reuse in " + old_directory.string(),
                  "it holds no journal");
}

void RunDirectory::create() const {
  std::error_code status;
  std::filesystem::create_directories(root_, status);
  base::refuse_if(status || !std::filesystem::is_directory(root_), "cannot create the run directory " + root_.string(),
                  status.message());
}

void RunDirectory::require_no_foreign_files() const {
  std::error_code status;
  auto names = base::mapped(base::entries_of(root_, status),
                            [](const std::filesystem::path& path) { return path.filename().string(); });
  const auto journal = root_ / "journal";
  const bool has_journal =
      std::filesystem::symlink_status(journal, status).type() == std::filesystem::file_type::directory;
  const bool began = has_journal && names.size() == 1 && std::filesystem::is_empty(journal, status);  // and was killed
  if (names.empty() || is_plain_file(resolved_job()) || began || (has_journal && is_plain_file(journal / "lock"))) {
    return;
  }
  std::ranges::sort(names);
  base::refuse("'" + root_.string() + "' holds files, but no run of this program", first_few(names),
               "Give another --output. Nothing was written or removed.");
}

void RunDirectory::require_removable() const {
  std::error_code ignored;
  base::refuse_if(std::filesystem::is_symlink(root_ / "journal", ignored),
                  "'" + (root_ / "journal").string() + "' is a link",
                  "the run that lies here is to be replaced, and nothing is removed behind a link",
                  "give another --output, or put the directory itself there");
}

sweep::Job RunDirectory::job() const {
  return config::load_resolved(base::read_file(resolved_job(), config::resolved_limits.max_bytes),
                               resolved_job().string());
}

std::optional<sweep::Job> RunDirectory::old_job() const {
  return base::is_there(resolved_job()) ? std::optional(job()) : std::nullopt;
}

std::vector<std::string> RunDirectory::differences(const sweep::Job& job) const {
  const auto before = old_job();
  if (!before) {
    return {};
  }
  auto fields = config::differences(config::canonical_raw_dump(*before), config::canonical_raw_dump(job));
  if (const auto path = path_difference(*before, job); !fields.empty() && !path.empty()) {
    fields.insert(fields.begin(), path);
  }
  return fields;
}

std::vector<std::string> RunDirectory::differences(const sweep::Job& job, const std::string& old_settings,
                                                   const RunSettings& settings) const {
  auto fields = settings_differences(old_settings, settings.text);
  const auto before = old_job();
  const auto path = before ? path_difference(*before, job) : "";
  if (!path.empty() && std::erase_if(fields, is_of_file) > 0) {
    fields.insert(fields.begin(), path);
  }
  return fields;
}

void RunDirectory::require_same_job(const sweep::Job& job) const {
  const auto fields = differences(job);
  if (!fields.empty() && was_scored(root_)) {
    refuse(root_, fields);
  }
}

void RunDirectory::require_same_settings(const results::JournalStore& store, const sweep::Job& job,
                                         const RunSettings& settings, Left what_is_left) const {
  const auto job_hash = raw_job_hash(job);
  for (const auto& attempt : store.attempts()) {
    const auto fields = differences(job, attempt.settings, settings);
    if (!fields.empty() && what_is_left == Left::nothing && std::ranges::all_of(fields, is_software)) {
      base::log(base::LogLevel::warning, root_.string() + " was scored by another build or with other libraries (" +
                                             first_few(fields) + "); it is complete, so nothing is mixed");
    } else if (!fields.empty()) {
      refuse(root_, fields);
    }
    if (attempt.job_hash != job_hash) {
      refuse(root_, {"the journal " + attempt.attempt + " was written for another job.resolved.yaml"});
    }
  }
}

std::vector<std::filesystem::path> RunDirectory::run_files() const {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(root_)) {
    if (is_plain_file(entry) && is_run_file(entry)) {
      found.push_back(entry);
    }
  }
  return found;
}

std::vector<std::filesystem::path> RunDirectory::result_files() const {
  auto files = run_files();
  std::erase_if(files, [](const std::filesystem::path& path) { return path.extension() != ".h5"; });
  std::ranges::sort(files);
  return files;
}

void RunDirectory::remove_run_files() const {
  require_removable();
  auto doomed = run_files();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / "journal")) {
    if (is_plain_file(entry) && results::is_attempt_file(base::final_name(entry.path().filename().string()))) {
      doomed.push_back(entry);
    }
  }
  for (const auto& path : doomed) {
    std::filesystem::remove(path);
  }
}

std::uint64_t free_space(const std::filesystem::path& folder) {
  std::error_code unknown;
  return std::filesystem::space(folder, unknown).available;
}

std::string check_space(const std::filesystem::path& folder, const OutputSize& size, std::uint64_t free) {
  using probes::megabytes;
  const auto there = megabytes(double(free)) + " are free at " + folder.string();
  const auto journal =
      "the blocks that are left need " + megabytes(double(size.journal)) + " in the journal" +
      (size.of_round > 0 ? ", " + megabytes(double(size.of_round)) + " in files that are removed behind a round" : "");
  const auto needed = size.journal + size.of_round;
  const auto advice = "free some space, or give an --output on another disk";
  base::fail_if(free < needed, "the results do not fit the disk: " + there, journal, advice);
  if (free - needed < size.exported) {
    return base::describe("the disk may become full: " + there,
                          journal + " and up to " + megabytes(double(size.exported)) + " in the HDF5 file", advice);
  }
  return {};
}

std::string first_few(std::vector<std::string> lines) {
  constexpr std::size_t most = 3;
  if (lines.size() > most) {
    const auto more = std::to_string(lines.size() - most);
    lines.resize(most);
    lines.push_back("and " + more + " more");
  }
  return base::join(lines, "; ");
}

}  // namespace stereosweep::run
