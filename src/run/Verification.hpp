// `stereosweep verify`: blocks of a run, scored again by this program on this machine and compared with its journal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace stereosweep::run {

struct VerificationRequest {
  std::filesystem::path directory;
  double share = 0.001;    ///< of each stage's scored blocks; at least one block is taken
  std::uint64_t seed = 1;  ///< which ones: the same for the same journal
};

/// What `stereosweep verify` prints, and whether it is good: the numbers agree at some level of the numerical contract,
/// and no file of the run is damaged.
struct Verification {
  std::string text;
  bool is_good = false;
};

/// Throws InputError where the directory holds no journal, or the job, model or tokenizer that lie there are not those
/// of the run: their numbers say nothing about it. Throws Error where a block cannot be scored.
Verification verify_run(const VerificationRequest& request);

}  // namespace stereosweep::run
