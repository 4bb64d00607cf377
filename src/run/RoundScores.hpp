// The score table of a run that asks in rounds, as its journal grows: a round's contexts alone are scored, not the
// whole table again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "findings/Scores.hpp"
#include "probes/Probe.hpp"
#include "results/Journal.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

class RoundScores {
 public:
  /// All is borrowed. `probe`: dealt. Files that a round needs for a moment are made in `root`.
  RoundScores(const std::filesystem::path& root, const sweep::Job& job, const probes::Probe& probe);
  RoundScores(const RoundScores&) = delete;
  RoundScores& operator=(const RoundScores&) = delete;
  /// Takes over what the journal has more than before. The probe's scores say of every subject, template and item what
  /// is not applicable before a block was asked: rounds are counted by it.
  void add(const results::JournalStore& journal);
  /// Of the measures that are decided, once `add` was called; borrows this.
  findings::Scores scores() const;

 private:
  struct Part;
  std::size_t num_sentences() const { return rounds_.size(); }
  std::size_t num_rephrasings() const { return axes_[findings::rephrasing_axis].labels.size(); }
  /// Numbers of a subject's sentence.
  std::size_t sentence_length() const {
    return axes_[findings::replicate_axis].labels.size() * axes_[findings::item_axis].labels.size();
  }
  /// Takes axes and what is not applicable from a table that nobody scored, of each template in one rephrasing.
  void begin(const results::ScoreFile& file);
  void add_part(const Part& part, const results::JournalStore* journal);
  void take(const Part& part, const results::ScoreFile& file);

  const std::filesystem::path& root_;
  const sweep::Job& job_;
  const probes::Probe& probe_;
  std::vector<std::uint64_t> sentences_;  ///< of the contexts of an outermost value
  std::vector<std::uint8_t> rounds_;      ///< of the sentences
  std::vector<std::uint64_t> num_taken_;  ///< [round]: blocks that were there
  results::ScoreTableAxes axes_;          ///< the job's, then the file's with all sentences
  std::vector<std::vector<double>>
      values_;  ///< [measure]: as Scores::read gives them; empty: not decided, or not begun
  std::vector<std::vector<std::uint8_t>> statuses_;
};

}  // namespace stereosweep::run
