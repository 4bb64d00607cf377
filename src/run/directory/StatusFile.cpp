#include "run/directory/StatusFile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/files/PendingFile.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Json.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::run {
namespace {

/// Where no new file can be made: over the bytes of the old one, which need no new room. Not atomic.
bool overwrite(const std::filesystem::path& path, std::string text) {
  const auto file = base::open_descriptor(path, O_WRONLY | O_NOFOLLOW);
  struct stat info {};
  if (::fstat(*file, &info) == 0) {
    text.resize(std::max(text.size(), static_cast<std::size_t>(info.st_size)), ' ');
  }
  return ::pwrite(*file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

constexpr const char* known_schema = "stereosweep-status/1";

std::filesystem::path path_in(const std::filesystem::path& directory) { return directory / "status.json"; }

/// Every field of the file and its place there, in order.
void for_each_field(std::string& schema, RunStatus& status, auto&& visit) {
  visit("schema", schema);
  visit("name", status.name);
  visit("state", status.state);
  visit("cause", status.cause);
  visit("stage", status.stage);
  visit("blocks/done", status.blocks_done);
  visit("blocks/total", status.blocks_total);
  visit("blocks/resumed", status.blocks_resumed);
  visit("blocks/reused", status.blocks_reused);
  visit("blocks/exported", status.blocks_exported);
  visit("cells/done", status.cells_done);
  visit("cells/total", status.cells_total);
  visit("work/queries", status.cost.queries);
  visit("work/distinct_sequences", status.cost.distinct_sequences);
  visit("work/distinct_tokens", status.cost.distinct_tokens);
  visit("work/head_rows", status.cost.head_rows);
  visit("cells_per_second", status.cells_per_second);
  visit("tokens_per_second", status.tokens_per_second);
  visit("seconds_left", status.seconds_left);
  visit("slowest", status.slowest);
  visit("attempt", status.attempt);
  visit("num_ranks", status.num_ranks);
  visit("host", status.host);
  visit("pid", status.process);
  visit("slurm_job_id", status.slurm_job);
  visit("started", status.started);
  visit("updated", status.updated);
}

base::Json::json_pointer pointer_to(const std::string& place) { return base::Json::json_pointer("/" + place); }

/// Files of older programs have none of these.
bool may_be_missing(std::string_view place) {
  return place == "stage" || place == "slurm_job_id" || place == "blocks/exported" || place.starts_with("work/");
}

}  // namespace

bool RunStatus::has_ended() const {
  return state == "done" || state == "stopped" || state == "lost" || state == "failed";
}

void RunStatus::enter(const std::string& next) {
  if (!has_ended()) {
    state = next;
    blocks_exported = next == "exporting" ? 0 : blocks_exported;
  }
}

StatusFile::StatusFile(const std::filesystem::path& run_directory, RunStatus first)
    : path_(path_in(run_directory)), status_(std::move(first)) {
  update([](RunStatus&) {});
}

void StatusFile::put_back(const std::string& text) {
  replace([&] { return text; });
}

std::string StatusFile::text_of_now() const {
  auto now = current();
  now.host = parallel::host_name();
  now.process = ::getpid();
  now.updated = base::utc_now();
  now.slurm_job = base::text_from_environment("SLURM_JOB_ID");
  std::string schema = known_schema;
  base::Json json;
  for_each_field(schema, now, [&](const char* place, const auto& value) { json[pointer_to(place)] = value; });
  return json.dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n";
}

void StatusFile::replace(const std::function<std::string()>& text_of) {
  std::optional<base::PendingFile> shown;
  std::unique_lock lock(write_mutex_);
  const auto text = text_of();
  try {
    shown.emplace(path_);
    shown->write(text);
    shown->show();
    lock.unlock();  // a launcher gives the end of a run about a second: it must not wait for another thread's fsync
    shown->sync();
  } catch (const base::Error& error) {
    const bool is_shown = !lock.owns_lock();  // and may be gone after a power failure
    if (is_shown) {
      lock.lock();
    }
    if ((is_shown || !overwrite(path_, text)) && !std::exchange(warned_, true)) {
      base::log(base::LogLevel::warning, error.what());
    }
  }
}

std::optional<RunStatus> read_status(const std::filesystem::path& run_directory) {
  const auto path = path_in(run_directory);
  if (!base::is_there(path)) {
    return std::nullopt;
  }
  const auto json = base::parse_json(base::read_file(path, 1 << 20), path.string());
  try {
    std::string schema;
    RunStatus read;
    for_each_field(schema, read, [&](const char* place, auto& value) {
      const auto pointer = pointer_to(place);
      if (json.contains(pointer) || !may_be_missing(place)) {
        value = json.at(pointer).get<std::remove_reference_t<decltype(value)>>();
      }
    });
    base::refuse_if(schema != known_schema, path.string() + " is no status file of this program", "its schema differs");
    return read;
  } catch (const base::Json::exception& error) {
    base::refuse(path.string() + " is no status file of this program", error.what());
  }
}

std::string holder_of(const std::filesystem::path& run_directory) {
  try {
    if (const auto read = read_status(run_directory)) {
      return "process " + std::to_string(read->process) + " on " + read->host + ", started " + read->started;
    }
  } catch (const base::Error&) {
    // only a hint for a message
  }
  return "its journal is locked";
}

}  // namespace stereosweep::run
