// Rounds of a run that asks no more of a contrast once it is known (statistics.decide): which blocks are wanted next,
// and the record of what each round decided. What is decided is in findings/decisions; what a round has scored later
// rounds never change, so any number of ranks, kills and starts decides alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "findings/decisions/Decisions.hpp"
#include "parallel/Communicator.hpp"
#include "probes/Probe.hpp"
#include "results/Journal.hpp"
#include "run/RoundScores.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

/// Whether a run of the job asks in rounds.
bool decides(const sweep::Job& job);

/// Everything in the job that a decision depends on, as a hash: a run that has begun keeps it, in this field of the
/// heads of its journals.
inline constexpr const char* decisions_field = "statistics.decide";
std::string decision_settings(const sweep::Job& job);

/// Throws InputError with what keeps a run of the job from deciding, and with names that its contrasts lack.
void require_decidable(const sweep::Job& job);

/// What the rounds of a run have decided, as its directory keeps it.
struct RoundsRecord {
  std::vector<std::string> rounds;  ///< digests
  std::uint64_t num_blocks = 0;     ///< that were wanted in all, of a run that is finished
  bool is_finished = false;

  /// Nothing decided where there is no record. Throws InputError where the file is none.
  static RoundsRecord read(const std::filesystem::path& root);
  void write(const std::filesystem::path& root) const;
  /// No row is open, and as many blocks as that took are in the journal.
  bool is_finished_with(std::uint64_t num_blocks_in_journal) const {
    return is_finished && num_blocks_in_journal >= num_blocks;
  }
};

class DecidedRounds {
 public:
  /// All is borrowed.
  DecidedRounds(const std::filesystem::path& root, const sweep::Job& job, const probes::Probe& probe,
                const parallel::Communicator& world);

  RoundsRecord record;  ///< rank zero's

  /// Collective: decides every round whose blocks are in the journal (rank zero's, null elsewhere), each anew from the
  /// first, and writes it down before it says which blocks the next one needs; none: no row is open. Throws Error where
  /// a round is another one than an earlier start has written down.
  std::vector<std::uint64_t> wanted(const results::JournalStore* journal);

 private:
  /// [prior]: whether the score of a decided measure is made of its numbers; such a one is asked wherever a subject is.
  std::vector<bool> priors_to_ask(const findings::Scores& scores) const;
  std::vector<std::uint64_t> blocks_of(const std::vector<bool>& needed, const findings::Scores& scores) const;
  std::vector<std::uint64_t> advance(const findings::Deciding& deciding, const findings::Scores& scores,
                                     const results::JournalStore& journal);

  std::filesystem::path root_;
  const sweep::Job& job_;
  const probes::Probe& probe_;
  const parallel::Communicator& world_;
  std::unique_ptr<RoundScores> table_;  ///< rank zero's
};

}  // namespace stereosweep::run
