// Statistics files, and the one table in them that every probe derives from its raw cubes: score[measure, subject,
// template, rephrasing, replicate, item] with a status beside each number. What follows (means, contrasts, agreement,
// pictures) needs nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/files/PendingFile.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"

namespace stereosweep::results {

class StatisticsFile;

/// Where `stats` writes what it finds in a result: "association.h5" -> "association.stats.h5", in the same directory.
std::filesystem::path statistics_beside(const std::filesystem::path& file);

/// Where a statistics file goes, and what is added to it before it is sealed.
struct StatisticsTarget {
  StatisticsTarget(std::filesystem::path where) : path(std::move(where)) {}  // NOLINT: a path is a target
  std::filesystem::path path;
  std::function<void(StatisticsFile&)> finish;
  std::vector<bool> left_out;  ///< [template x rephrasings + rephrasing]: that the job does not ask; empty: it asks all
};

/// The file that `stats` writes for any probe; same conventions as an exported result.
class StatisticsFile {
 public:
  /// Says what the file is and of which result it was made: conventions, schema "stereosweep-statistics/PROBE",
  /// software, and title, model, hashes, digest and completeness of `source`. Throws base::Error for files.
  StatisticsFile(const ResultFile& source, const std::string& probe, const StatisticsTarget& target)
      : StatisticsFile("stereosweep-statistics/" + probe, target, &source) {}
  /// The same with any schema; null: of no single result.
  StatisticsFile(const std::string& schema, const StatisticsTarget& target, const ResultFile* source = nullptr);
  hdf5::Group& root() { return file_.root(); }
  Layout& layout() { return *layout_; }
  const std::vector<bool>& left_out() const { return left_out_; }
  /// Seals the file and makes it appear under its name. Every variable must be closed.
  void commit();

 private:
  base::PendingFile pending_;
  hdf5::File file_;
  std::unique_ptr<Layout> layout_;
  std::function<void(StatisticsFile&)> finish_;
  std::vector<bool> left_out_;
};

/// Why a score is what it is. A number is finite exactly where its status is `ok` or `partial`.
enum class ScoreStatus : std::uint8_t {
  ok = 0,
  partial = 1,         ///< some of the raw numbers that it is made of are missing
  missing = 2,         ///< none of them exists: see the raw status
  undefined = 3,       ///< they exist, but the formula has no value (a logarithm of 0, no variance)
  unscored = 4,        ///< the run did not come to it
  not_applicable = 5,  ///< this combination of labels is not part of the job, or its design leaves it out
  infinite = 6,        ///< the number is infinite: the logarithm of a probability of 0
};
extern const std::vector<std::string> score_status_names;

/// Names of the table's axes, in order; the same in every file.
inline constexpr std::array<const char*, 6> score_axis_names = {"measure",    "subject",   "template",
                                                                "rephrasing", "replicate", "item"};

using ScoreTableAxes = std::array<AxisSchema, 6>;

struct ScoreTable {
  /// In the order of `score_axis_names`, each at least one long. Coordinates:
  /// measure: units, description, lowest, highest (least and greatest score possible, as numbers; empty or absent: none
  /// or not known). subject: kind (group, intersection, baseline, ...), domain (joined by " x "), first,
  /// second (labels of its groups in order), and what a probe knows besides (attribute, privilege). item: dimension,
  /// left, right (poles; a higher score is nearer to right), and what a probe knows besides.
  ScoreTableAxes axes;
  std::vector<double> values;  ///< [measure, subject, template, rephrasing, replicate, item]; NaN: see the status
  std::vector<ScoreStatus> statuses;  ///< parallel to `values`

  /// Label of a replicate that is the mean of the others. What is computed of replicates leaves one or the other out.
  static constexpr const char* mean_replicate = "mean";
  /// An axis that the probe lacks: one label, "none".
  static AxisSchema no_axis(std::size_t place);
  std::size_t length(std::size_t axis) const { return axes[axis].labels.size(); }
  /// Sets `values` and `statuses` to the axes' size: NaN, unscored.
  void resize();
  std::size_t index(const std::array<std::size_t, 6>& place) const;
};

/// The same of the poles of items, where these are scored by themselves: `pole` stands in the place of `item`.
inline constexpr const char* pole_score_name = "pole_score";

/// Adds the axes and the variables `score` and `score_status` (or those of another name) to a statistics file, which
/// has no axis of the same names yet, unless with the same labels. Scores that do not exist since the design leaves
/// their sentences out get the status `not_applicable`. Throws base::Error for files.
class ScoreTableWriter {
 public:
  /// `layout` is borrowed for this call. `left_out`: as StatisticsFile has them.
  ScoreTableWriter(Layout& layout, const ScoreTableAxes& axes, const std::string& name = "score",
                   std::vector<bool> left_out = {});
  /// Consecutive sentences (a sentence: one [template, rephrasing]) of one subject.
  struct Part {
    std::uint64_t subject = 0;
    std::uint64_t first_sentence = 0;
    std::uint64_t num_sentences = 0;
    std::vector<double> values;         ///< [measure, sentence, replicate, item]
    std::vector<ScoreStatus> statuses;  ///< parallel to `values`
  };
  /// Parts of a large table as they are computed, in the order of subjects and sentences. Measures stand outermost in
  /// the file, so parts are kept until they fill the file's chunks: each is compressed once, and a quarter of a MiB a
  /// measure is held.
  void add(const Part& part);
  /// Writes what is kept.
  void flush();
  /// Any numbers that follow each other in the table, at once.
  void write(std::uint64_t first, std::span<const double> values, std::span<const ScoreStatus> statuses);

 private:
  std::vector<bool> left_out_;
  hdf5::DataSet scores_;
  hdf5::DataSet statuses_;
  hdf5::Shape shape_;
  std::uint64_t subjects_together_ = 1;
  std::uint64_t first_kept_ = 0;  ///< place in a measure of what is kept of each
  std::vector<std::vector<double>> kept_values_;
  std::vector<std::vector<ScoreStatus>> kept_statuses_;
};

void write_score_table(Layout& layout, const ScoreTable& table, std::vector<bool> left_out = {});

// A statistics file read back: its score table, one measure at a time, and what else stands over its subjects and
// items.

class FinishedStatistics : public OpenFile {
 protected:
  enum class Of { run, run_or_runs };
  /// Throws InputError naming the file where it has no intact seal or is no statistics file.
  FinishedStatistics(const std::filesystem::path& path, Of of);
};

/// What an array holds at a place of its first axis.
template <class Value>
std::vector<Value> read_part(const hdf5::Group& group, const std::string& name, std::size_t place) {
  const auto dataset = group.open_dataset(name);
  const auto shape = dataset.shape();
  std::vector<Value> values(hdf5::product(std::span(shape).subspan(1)));
  dataset.read(place * values.size(), std::span<Value>(values));
  return values;
}

/// Means that people gave; `subjects` and `items` as the file spells them.
struct PeoplesMeans {
  std::vector<std::string> subjects;
  std::vector<std::string> items;
  std::vector<double> means;  ///< [subject, item]; NaN: not rated
};

class ScoreFile : public FinishedStatistics {
 public:
  /// Throws InputError as above, and where its score table does not fit its axes.
  explicit ScoreFile(const std::filesystem::path& path);
  const ScoreTableAxes& axes() const { return axes_; }
  /// [subject, template, rephrasing, replicate, item]; NaN: no score.
  std::vector<double> read(std::size_t measure) const;
  /// Parallel to it, as ScoreStatus.
  std::vector<std::uint8_t> read_statuses(std::size_t measure) const;
  /// The variable `people_mean` of all annotators; nothing where the file has none.
  std::optional<PeoplesMeans> peoples_means() const;

 private:
  ScoreTableAxes axes_;
};

}  // namespace stereosweep::results
