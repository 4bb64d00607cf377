// Who may write in a run directory. A lock for the common case (a second start by hand), an epoch for the rare one: a
// node that was cut off from the network, whose job was started again elsewhere, and which comes back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace stereosweep::run {

/// Holds the directory until destroyed (or until the process is gone).
class Lease {
 public:
  /// Waits for the lock up to STEREOSWEEP_LOCK_TIMEOUT_S (10; the ranks of a killed run take a moment to die; 300 in a
  /// job that Slurm has started again), then throws Error naming the holder, which a requeued job may try again
  /// (ExitCode::resume). Takes the next epoch.
  explicit Lease(const std::filesystem::path& run_directory);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Throws Error if a newer attempt has taken the directory over. Called before every commit. A file server that gives
  /// no answer (ESTALE, EIO, EACCES) is asked again for 10 s.
  void check() const;
  /// What one look says; false where it says nothing.
  bool is_overtaken() const;

 private:
  std::filesystem::path path(std::uint64_t epoch) const;
  std::filesystem::path directory_;
  std::shared_ptr<const int> lock_;
  std::uint64_t epoch_ = 0;
};

/// To be held while a result is compared with the old one and takes its name. Does nothing where there are no locks.
std::shared_ptr<const int> lock_result(const std::filesystem::path& run_directory);

/// Whether some process holds the directory, as far as locks tell on this node; nothing if they do not.
std::optional<bool> is_held(const std::filesystem::path& run_directory);

}  // namespace stereosweep::run
