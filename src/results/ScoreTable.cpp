#include "results/ScoreTable.hpp"

#include <limits>

#include "base/Check.hpp"
#include "hdf5/File.hpp"
#include "results/CubeKinds.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"

namespace stereosweep::results {

const std::vector<std::string> score_status_names = {"ok",        "partial",    "missing",
                                                     "undefined", "not_scored", "not_applicable"};

AxisSchema ScoreTable::no_axis(std::size_t place) {
  return {score_axis_names.at(place), "the probe has no such axis", {"none"}, {}};
}

void ScoreTable::resize() {
  std::size_t size = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(axes[axis].name == score_axis_names[axis], "axes in their order");
    STEREOSWEEP_ASSERT(!axes[axis].labels.empty(), "an axis is at least one long");
    size *= axes[axis].labels.size();
  }
  values.assign(size, std::numeric_limits<double>::quiet_NaN());
  statuses.assign(size, ScoreStatus::unscored);
}

std::size_t ScoreTable::index(const std::array<std::size_t, 6>& place) const {
  std::size_t result = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    STEREOSWEEP_ASSERT(place[axis] < length(axis), "a place inside the table");
    result = result * length(axis) + place[axis];
  }
  return result;
}

namespace {

std::vector<std::string> add_axes(Layout& layout, const ScoreTableAxes& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes) {
    if (!layout.has_axis(axis.name)) {
      layout.add_axis(axis);
    }
    STEREOSWEEP_ASSERT(layout.length(axis.name) == axis.labels.size(), "an axis of the same name is the same");
    names.push_back(axis.name);
  }
  return names;
}

}  // namespace

ScoreTableWriter::ScoreTableWriter(Layout& layout, const ScoreTableAxes& axes)
    : scores_(layout.add_cube(number_cube("score", "", "score of the item for the subject", "unit: measure_units"),
                              add_axes(layout, axes))),
      statuses_(layout.add_cube(flag_cube("score_status", "whether the score exists, and why not", score_status_names),
                                {score_axis_names.begin(), score_axis_names.end()})) {}

void ScoreTableWriter::write(const hdf5::Rectangle& where, std::span<const double> values,
                             std::span<const ScoreStatus> statuses) {
  std::vector<std::uint8_t> flags;
  flags.reserve(statuses.size());
  for (const auto status : statuses) {
    flags.push_back(static_cast<std::uint8_t>(status));
  }
  scores_.write(where, values);
  statuses_.write(where, std::span<const std::uint8_t>(flags));
}

void write_score_table(Layout& layout, const ScoreTable& table) {
  ScoreTableWriter writer(layout, table.axes);
  hdf5::Rectangle all;
  for (const auto& axis : table.axes) {
    all.start.push_back(0);
    all.count.push_back(axis.labels.size());
  }
  writer.write(all, table.values, table.statuses);
}

void write_score_file(const ResultFile& source, const std::string& probe, const ScoreTable& table,
                      const std::filesystem::path& target) {
  base::PendingFile pending(target);
  {
    auto file = hdf5::File::create(pending.path());
    auto& root = file.root();
    write_statistics_attributes(root, source, probe);
    Layout layout(root);
    write_score_table(layout, table);
  }
  commit_sealed(pending);
}

}  // namespace stereosweep::results
