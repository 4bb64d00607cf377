// status.json: what a run does, or the true cause of its end (srun reports 137 for peers that were killed with it).
// Replaced by rename, so that a reader in another shell always sees a whole one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "query/Engine.hpp"

namespace stereosweep::run {

struct RunStatus {
  std::string name;
  std::string state = "starting";  ///< starting, running, stopping, exporting; at the end: done, stopped, lost, failed
  std::string cause;               ///< of the end; empty while all is well
  std::string attempt;
  std::string stage;  ///< which of the job's stages the blocks are of; empty: the job has one
  std::uint64_t blocks_done = 0;
  std::uint64_t blocks_total = 0;
  std::uint64_t blocks_resumed = 0;   ///< found in the journal of earlier attempts
  std::uint64_t blocks_reused = 0;    ///< taken over from another run (--reuse)
  std::uint64_t blocks_exported = 0;  ///< read for the file that is being written
  std::uint64_t cells_done = 0;
  std::uint64_t cells_total = 0;
  query::EngineCounts cost;  ///< of all blocks that are done, in whatever attempt
  double cells_per_second = 0;
  double tokens_per_second = 0;
  double seconds_left = 0;  ///< estimate; 0: unknown
  std::string slowest;      ///< "rank 3 on node7 (0.52 s per block)"
  int num_ranks = 1;
  std::string started;  ///< UTC
  // who has written it, and when: known once it is in the file
  std::string host = {};
  std::int64_t process = 0;
  std::string updated = {};    ///< UTC
  std::string slurm_job = {};  ///< its number; empty: none

  /// done, stopped, lost, failed.
  bool has_ended() const;
  /// Unless the run has ended: a signal may write the end at any moment of the main thread.
  void enter(const std::string& next);
};

/// Rank zero's file. Safe from several threads. A file that cannot be written is a warning: it must not end a run.
class StatusFile {
 public:
  StatusFile(const std::filesystem::path& run_directory, RunStatus first);
  /// Changes the status through `change(RunStatus&)` and writes it.
  void update(auto&& change) {
    this->change(change);
    replace([this] { return text_of_now(); });
  }
  /// The same without writing: the next update shows it. Never waits for the disk.
  void change(auto&& change) {
    const std::lock_guard lock(mutex_);
    change(status_);
  }
  /// Writes what an earlier attempt had left.
  void put_back(const std::string& text);
  RunStatus current() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  std::string text_of_now() const;
  /// Readers see the text at once; then waits for the disk.
  void replace(const std::function<std::string()>& text_of);
  std::filesystem::path path_;
  std::mutex write_mutex_;
  mutable std::mutex mutex_;
  RunStatus status_;
  bool warned_ = false;
};

/// Nothing where DIR has no status.json. Throws InputError if it is no status file.
std::optional<RunStatus> read_status(const std::filesystem::path& run_directory);

/// "process 4711 on node7, started 2026-..." from status.json; for messages.
std::string holder_of(const std::filesystem::path& run_directory);

}  // namespace stereosweep::run
