// The file that `stats` writes; same conventions as an exported result.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "probes/association/scores/Statistics.hpp"
#include "results/ScoreTable.hpp"
#include "results/StatisticsFile.hpp"

namespace stereosweep::probes::association {

/// Status of a pair's score in the table of scores, from the statuses of its words.
class PairStatus {
 public:
  /// `traits` is borrowed. `cell_status_names`: of the file's status cube.
  PairStatus(const TraitPairs& traits, const std::vector<std::string>& cell_status_names);
  /// ok, partial; without a score the first that fits of unscored (the run did not come to a pole's words), missing (no
  /// raw number of a pole's words) and undefined. `words`, `cells`: [word] of the group in the sentence.
  results::ScoreStatus of(std::size_t pair, Coverage coverage, std::span<const stats::ScoreStatus> words,
                          std::span<const std::uint8_t> cells) const;

 private:
  const TraitPairs& traits_;
  std::size_t not_scored_;
};

class AssociationFile {
 public:
  /// All arguments but `target` are borrowed.
  AssociationFile(const results::ResultFile& source, const StatisticsOptions& options, const TraitPairs& traits,
                  const ScoreReader& reader, const std::filesystem::path& target);
  /// Slabs in canonical order.
  void add(const ScoreSlab& slab, const SlabScores& scores);
  /// Writes averages and agreement, then makes the file appear under its name.
  void finish(const StatisticsResult& result);

 private:
  struct Arrays {
    hdf5::DataSet word_score;
    hdf5::DataSet word_status;
    hdf5::DataSet pole_score;
    hdf5::DataSet pole_coverage;
    hdf5::DataSet pair_score;
    hdf5::DataSet pair_coverage;
    results::ScoreTableWriter table;
  };
  void add_axes(const results::ResultFile& source, const TraitPairs& traits);
  void add_to_table(const ScoreSlab& slab, const SlabScores& scores);

  results::StatisticsFile file_;
  std::unique_ptr<Arrays> arrays_;
  PairStatus pair_status_;
  const ScoreReader& reader_;
};

}  // namespace stereosweep::probes::association
