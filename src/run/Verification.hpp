// `stereosweep verify`: blocks of a run, scored again by this program on this machine and compared with its journal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stereosweep::run {

struct VerificationRequest {
  std::filesystem::path directory;
  double share = 0.001;    ///< of each stage's scored blocks; at least one block is taken
  std::uint64_t seed = 1;  ///< which ones: the same for the same journal
};

struct Tally {
  std::uint64_t compared = 0;
  std::uint64_t different = 0;  ///< in any bit
  std::string place;            ///< of the first that differs: cube, labels and both values
};

/// What the blocks of one stage came to.
struct StageAgreement {
  std::string stage;           ///< "" where the job has one
  std::uint64_t scored = 0;    ///< blocks in the journal
  std::uint64_t compared = 0;  ///< blocks
  Tally numbers;               ///< floating-point; NaN equals NaN; `place`: of the largest difference
  double largest = 0;          ///< difference relative to max(1, |stored|); infinite where one of two is not finite
  Tally counts;                ///< whole numbers: what SeT took to converge, token ids
  Tally words;                 ///< statuses and texts
};

/// The levels of the numerical contract, and none of them. kept_answers: a server's, of which all else is computed
/// again.
enum class Level { same_bits, kept_answers, other_settings, other_machine, no_bound, none };

/// An HDF5 file of the run, by its seal (results/Seal.hpp); `text`: a line that says it.
struct FileCheck {
  enum class Bytes { intact, unknown, damaged };
  std::string text;
  Bytes bytes;
};

struct Verification {
  std::vector<std::string> differences;  ///< of the settings that decide bits: the run's, now this program's
  std::vector<StageAgreement> stages;    ///< those that ask a model; a job has at least one
  std::vector<FileCheck> files;
  std::string conversations;  ///< a line on those that the model's own chat template has rendered again; may be empty
  Level level = Level::none;
};

/// Throws InputError where the directory holds no journal, or the job, model or tokenizer that lie there are not those
/// of the run: their numbers say nothing about it. Throws Error where a block cannot be scored.
Verification verify_run(const VerificationRequest& request);

/// What `stereosweep verify` prints.
std::string describe(const Verification& verification, const VerificationRequest& request);

/// Its numbers agree at some level, and none of its files is damaged.
bool is_verified(const Verification& verification);

}  // namespace stereosweep::run
