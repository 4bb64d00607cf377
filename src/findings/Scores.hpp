// A score table as the statistics of this room read it: one measure at a time. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "findings/sharing/KeptPieces.hpp"
#include "results/Layout.hpp"
#include "results/RawBlock.hpp"
#include "results/ScoreTable.hpp"
#include "stats/RateInterval.hpp"

namespace stereosweep::findings {

constexpr std::size_t measure_axis = 0;
constexpr std::size_t subject_axis = 1;
constexpr std::size_t template_axis = 2;
constexpr std::size_t rephrasing_axis = 3;
constexpr std::size_t replicate_axis = 4;
constexpr std::size_t item_axis = 5;

/// Borrowed from a file or a table in memory. Where several ranks have the table, every call that reads is collective,
/// and so is every statistic of this room.
struct Scores {
  std::array<const results::AxisSchema*, 6> axes;  ///< in the order of results::score_axis_names
  /// [subject, template, rephrasing, replicate, item]; NaN: no score.
  std::function<std::vector<double>(std::size_t measure)> read;
  /// Parallel to what `read` gives, as results::ScoreStatus; absent: all combinations are applicable.
  std::function<std::vector<std::uint8_t>(std::size_t measure)> read_statuses = {};
  /// The same table of the poles of the items, where they are scored by themselves; null: they are not.
  std::shared_ptr<const Scores> poles = nullptr;
  /// Those that share the work on the table.
  Workers ranks = {};
  /// Of a run that may stop: rounds of which all blocks were scored; nothing: the run knows no rounds.
  std::optional<std::size_t> num_rounds = {};

  std::size_t length(std::size_t axis) const { return axes[axis]->labels.size(); }
  /// Adds the table of the poles.
  void add_poles(const results::AxisSchema& axis, std::function<std::vector<double>(std::size_t measure)> read_poles) {
    Scores table{.axes = axes, .read = std::move(read_poles)};
    table.axes[item_axis] = &axis;
    poles = std::make_shared<const Scores>(std::move(table));
  }
};

/// Whether a job asks an item nothing in a template, by their places and that of the measure: the score is
/// `not_applicable`, known before the run as well. Empty: all are asked.
using LeftOut = std::function<bool(std::size_t measure, std::size_t of_template, std::size_t item)>;

/// Axes alone: what reads a number throws NoNumbers.
struct NoNumbers {};
Scores scores_of(const results::ScoreTableAxes& axes);

/// The table of a statistics file that is being written; its variables must be closed. Poles are read where the file
/// has `pole_score`.
Scores scores_of(results::StatisticsFile& file);

/// The same scores in these templates alone, on an axis `chosen_template`. Throws InputError for a label that the table
/// does not have.
Scores with_templates(const Scores& scores, const std::vector<std::string>& labels);

/// The table of a statistics file that is read.
Scores scores_of(const results::ScoreFile& file);

/// What is wrong with a name that is none of those `known` in the table, and what to write in its place.
std::string no_such_name(const std::string& problem, const std::string& name, const std::vector<std::string>& known);

/// The measures of these labels, in the table's order; none: all. Labels that the table does not have are added to
/// `faults`, or thrown as one InputError; `key` is the job's ("statistics.means").
std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key, std::vector<std::string>& faults);
std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key);

/// Throws one InputError with all of them, each once.
void require_no_faults(const std::vector<std::string>& faults);

/// Ends between which all scores of a measure lie, by its coordinates `lowest` and `highest`; nothing where they do not
/// say both.
std::optional<stats::ScaleEnds> ends_of(const results::AxisSchema& measures, std::size_t measure);

/// The measures' coordinate of how many sampled answers are averaged in a replicate's score: 0 (none), 1 or 2.
inline constexpr const char* answers_name = "answers";
inline constexpr const char* answers_long_name =
    "sampled answers that a replicate's score is the mean of, if all are read";
/// -1: no measure is of any.
std::int32_t answers_in_score(const results::AxisSchema& measures, std::size_t measure);

}  // namespace stereosweep::findings
