// What lies in the folder of one run, and whose it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/JobLoader.hpp"
#include "results/Journal.hpp"
#include "run/Settings.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::run {

// Of a run that asks in rounds: its record, and what it holds while it decides one.
inline constexpr const char* rounds_name = "rounds.json";
inline constexpr const char* round_file = "round.raw";
inline constexpr const char* round_table_file = "round.scores";

class RunDirectory {
 public:
  explicit RunDirectory(std::filesystem::path root) : root_(std::move(root)) {}
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path resolved_job() const { return root_ / config::resolved_name; }
  std::filesystem::path status() const { return root_ / "status.json"; }
  std::filesystem::path log() const { return root_ / "log"; }
  std::filesystem::path export_file(const sweep::Job& job) const { return root_ / (job.probe_name() + ".h5"); }

  /// Throws InputError naming what lies here, unless there is nothing or a run: its job, or the lock of its journal.
  void require_no_foreign_files() const;
  /// Throws InputError where the journal is a link: nothing is removed behind it.
  void require_removable() const;
  /// Creates the folder. Throws Error with the system's cause.
  void create() const;
  /// The job that lies here. Throws InputError where there is none, or it cannot be read.
  sweep::Job job() const;
  /// Nothing where there is none.
  std::optional<sweep::Job> old_job() const;
  /// Every field of `job` that differs from the job that lies here, as "seed: 1, now 2".
  std::vector<std::string> differences(const sweep::Job& job) const;
  /// The same for the settings of a journal of this directory; files of another model are told as its path.
  std::vector<std::string> differences(const sweep::Job& job, const std::string& old_settings,
                                       const RunSettings& settings) const;
  /// Throws InputError naming them, unless there are none or nothing was scored here: no journal holds a block, and
  /// there is no result.
  void require_same_job(const sweep::Job& job) const;
  /// The same for the settings of the journals. Where they hold all blocks (`what_is_left` nothing), other libraries or
  /// another build are only warned of: nothing would be mixed.
  enum class Left { nothing, blocks };
  void require_same_settings(const results::JournalStore& store, const sweep::Job& job, const RunSettings& settings,
                             Left what_is_left) const;
  /// The HDF5 files that the run and its statistics have left here, in the order of their names.
  std::vector<std::filesystem::path> result_files() const;
  /// Removes what a run leaves here by its exact names, and nothing else; follows no link. The lock stays.
  void remove_run_files() const;

 private:
  std::vector<std::filesystem::path> run_files() const;
  std::filesystem::path root_;
};

/// Throws Error where the journal's blocks are not those of the plan: another version of the program cut it otherwise.
void require_blocks(const results::JournalStore& store, const sweep::BlockPlan& blocks);

/// At most three of the lines, "a; b; c; and 5 more".
std::string first_few(std::vector<std::string> lines);

/// Hash of what in a job can change a raw number.
base::Digest raw_job_hash(const sweep::Job& job);

/// Throws InputError if a directory that --reuse names holds no journal.
void require_reusable(const std::filesystem::path& old_directory);

/// What a stage has still to write. Bytes; texts are not counted.
struct OutputSize {
  std::uint64_t journal = 0;   ///< of the blocks that are left
  std::uint64_t exported = 0;  ///< the whole HDF5 file before compression
  std::uint64_t of_round = 0;  ///< files that a round has for a moment
};

/// What this user may still write below `folder`, in bytes; the largest number where that is unknown. Quotas are not
/// seen.
std::uint64_t free_space(const std::filesystem::path& folder);

/// Empty, or a warning: the journal fits, the file beside it may not. Throws Error with the numbers where the journal
/// itself does not fit.
std::string check_space(const std::filesystem::path& folder, const OutputSize& size, std::uint64_t free);

}  // namespace stereosweep::run
