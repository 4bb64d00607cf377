// The file that `stats` writes; same conventions as an exported result.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/PendingFile.hpp"
#include "hdf5/File.hpp"
#include "probes/association/Statistics.hpp"
#include "results/Layout.hpp"

namespace stereosweep::probes::association {

class StatisticsFile {
 public:
  /// All arguments but `target` are borrowed.
  StatisticsFile(const results::ResultFile& source, const StatisticsOptions& options, const TraitPairs& traits,
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
  };
  void write_attributes(const results::ResultFile& source, const StatisticsOptions& options);
  void add_axes(const results::ResultFile& source, const TraitPairs& traits);

  base::PendingFile pending_;
  hdf5::File file_;
  std::unique_ptr<results::Layout> layout_;
  std::unique_ptr<Arrays> arrays_;
  const ScoreReader& reader_;
};

}  // namespace stereosweep::probes::association
