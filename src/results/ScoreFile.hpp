// A statistics file read back: its score table, one measure at a time, and what else stands over its subjects and
// items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hdf5/File.hpp"
#include "results/ScoreTable.hpp"

namespace stereosweep::results {

/// Means that people gave; `subjects` and `items` as the file spells them.
struct PeoplesMeans {
  std::vector<std::string> subjects;
  std::vector<std::string> items;
  std::vector<double> means;  ///< [subject, item]; NaN: not rated
};

class ScoreFile {
 public:
  /// Throws InputError naming the file where it has no intact seal, is no statistics file, or its score table does not
  /// fit its axes.
  explicit ScoreFile(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }
  /// A root attribute; nothing where it does not exist.
  std::optional<std::string> text(const std::string& attribute) const;
  const ScoreTableAxes& axes() const { return axes_; }
  /// [subject, template, rephrasing, replicate, item]; NaN: no score.
  std::vector<double> read(std::size_t measure) const;
  /// The variable `people_mean` of all annotators; nothing where the file has none.
  std::optional<PeoplesMeans> peoples_means() const;

 private:
  std::filesystem::path path_;
  std::uint64_t file_bytes_ = 0;
  hdf5::File file_;
  ScoreTableAxes axes_;
};

}  // namespace stereosweep::results
