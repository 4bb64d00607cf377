#include "run/StatusFile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/Environment.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Json.hpp"
#include "base/Log.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::run {
namespace {

/// Where no new file can be made: over the bytes of the old one, which need no new room. Not atomic.
bool overwrite(const std::filesystem::path& path, std::string text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    return false;
  }
  struct stat info {};
  if (::fstat(file, &info) == 0) {
    text.resize(std::max(text.size(), static_cast<std::size_t>(info.st_size)), ' ');
  }
  const bool written = ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

constexpr const char* schema = "stereosweep-status/1";

std::filesystem::path path_in(const std::filesystem::path& directory) { return directory / "status.json"; }

base::Json to_json(const RunStatus& status) {
  return {{"schema", schema},
          {"name", status.name},
          {"state", status.state},
          {"cause", status.cause},
          {"stage", status.stage},
          {"blocks",
           {{"done", status.blocks_done},
            {"total", status.blocks_total},
            {"resumed", status.blocks_resumed},
            {"reused", status.blocks_reused}}},
          {"cells", {{"done", status.cells_done}, {"total", status.cells_total}}},
          {"work",
           {{"queries", status.cost.queries},
            {"distinct_sequences", status.cost.distinct_sequences},
            {"distinct_tokens", status.cost.distinct_tokens},
            {"head_rows", status.cost.head_rows}}},
          {"cells_per_second", status.cells_per_second},
          {"tokens_per_second", status.tokens_per_second},
          {"seconds_left", status.seconds_left},
          {"slowest", status.slowest},
          {"attempt", status.attempt},
          {"num_ranks", status.num_ranks},
          {"host", parallel::host_name()},
          {"pid", ::getpid()},
          {"slurm_job_id", base::text_from_environment("SLURM_JOB_ID")},
          {"started", status.started},
          {"updated", base::utc_now()}};
}

}  // namespace

StatusFile::StatusFile(const std::filesystem::path& run_directory, RunStatus first)
    : path_(path_in(run_directory)), status_(std::move(first)) {
  write();
}

void StatusFile::put_back(const std::string& text) {
  const std::lock_guard lock(write_mutex_);
  write_text(text);
}

void StatusFile::write() {
  const std::lock_guard lock(write_mutex_);
  write_text(to_json(current()).dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n");
}

void StatusFile::write_text(const std::string& text) {
  try {
    base::write_file_atomically(path_, text);
  } catch (const base::Error& error) {
    if (!overwrite(path_, text) && !warned_) {
      base::log(base::LogLevel::warning, error.what());
    }
    warned_ = true;
  }
}

std::optional<ReadStatus> read_status(const std::filesystem::path& run_directory) {
  const auto path = path_in(run_directory);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return std::nullopt;
  }
  const auto json = base::parse_json(base::read_file(path, 1 << 20), path.string());
  try {
    ReadStatus read;
    auto& status = read.status;
    if (json.at("schema") != schema) {
      throw base::InputError(
          base::describe(path.string() + " is no status file of this program", "its schema differs"));
    }
    status.name = json.at("name").get<std::string>();
    status.state = json.at("state").get<std::string>();
    status.cause = json.at("cause").get<std::string>();
    status.stage = json.value("stage", "");  // not in older files
    status.blocks_done = json.at("blocks").at("done").get<std::uint64_t>();
    status.blocks_total = json.at("blocks").at("total").get<std::uint64_t>();
    status.blocks_resumed = json.at("blocks").at("resumed").get<std::uint64_t>();
    status.blocks_reused = json.at("blocks").at("reused").get<std::uint64_t>();
    status.cells_done = json.at("cells").at("done").get<std::uint64_t>();
    status.cells_total = json.at("cells").at("total").get<std::uint64_t>();
    if (json.contains("work")) {  // not in older files
      const auto& work = json.at("work");
      status.cost = {work.at("queries").get<std::uint64_t>(), work.at("distinct_sequences").get<std::uint64_t>(),
                     work.at("distinct_tokens").get<std::uint64_t>(), work.at("head_rows").get<std::uint64_t>()};
    }
    status.cells_per_second = json.at("cells_per_second").get<double>();
    status.tokens_per_second = json.at("tokens_per_second").get<double>();
    status.seconds_left = json.at("seconds_left").get<double>();
    status.slowest = json.at("slowest").get<std::string>();
    status.attempt = json.at("attempt").get<std::string>();
    status.num_ranks = json.at("num_ranks").get<int>();
    status.started = json.at("started").get<std::string>();
    read.host = json.at("host").get<std::string>();
    read.process = json.at("pid").get<std::int64_t>();
    read.updated = json.at("updated").get<std::string>();
    read.slurm_job = json.value("slurm_job_id", "");
    return read;
  } catch (const base::Json::exception& error) {
    throw base::InputError(base::describe(path.string() + " is no status file of this program", error.what()));
  }
}

std::string holder_of(const std::filesystem::path& run_directory) {
  try {
    if (const auto read = read_status(run_directory)) {
      return "process " + std::to_string(read->process) + " on " + read->host + ", started " + read->status.started;
    }
  } catch (const base::Error&) {
    // only a hint for a message
  }
  return "its journal is locked";
}

}  // namespace stereosweep::run
