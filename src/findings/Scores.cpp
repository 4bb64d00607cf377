#include "findings/Scores.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::findings {
namespace {

template <class Value>
std::vector<Value> read_measure(results::StatisticsFile& file, const char* name, std::size_t measure) {
  const auto dataset = file.root().open_dataset(name);
  auto where = dataset.all();
  where.start[measure_axis] = measure;
  where.count[measure_axis] = 1;
  std::vector<Value> values(hdf5::product(where.count));
  dataset.read(where, std::span<Value>(values));
  return values;
}

}  // namespace

Scores scores_of(results::StatisticsFile& file) {
  Scores scores;
  for (std::size_t axis = 0; axis < scores.axes.size(); ++axis) {
    scores.axes[axis] = &file.layout().axis(results::score_axis_names[axis]);
  }
  scores.read = [&file](std::size_t measure) { return read_measure<double>(file, "score", measure); };
  scores.read_statuses = [&file](std::size_t measure) {
    return read_measure<std::uint8_t>(file, "score_status", measure);
  };
  return scores;
}

std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key) {
  const auto& known = scores.axes[measure_axis]->labels;
  std::vector<std::string> faults;
  for (const auto& label : labels) {
    if (std::ranges::find(known, label) == known.end()) {
      faults.push_back(base::describe(key + ": no measure '" + label + "'", "the score table has none",
                                      base::did_you_mean(label, known)));
    }
  }
  if (!faults.empty()) {
    throw base::InputError(base::join(faults, "\n"));
  }
  std::vector<std::size_t> measures;
  for (std::size_t measure = 0; measure < known.size(); ++measure) {
    if (labels.empty() || std::ranges::find(labels, known[measure]) != labels.end()) {
      measures.push_back(measure);
    }
  }
  return measures;
}

std::string measure_axis_of(results::Layout& layout, const std::vector<std::size_t>& measures,
                            const std::string& name) {
  const auto& all = layout.axis(results::score_axis_names[measure_axis]);
  if (measures.size() == all.labels.size()) {
    return all.name;
  }
  const auto chosen = [&](const std::vector<std::string>& values) {
    std::vector<std::string> some;
    std::ranges::transform(measures, std::back_inserter(some), [&](std::size_t measure) { return values[measure]; });
    return some;
  };
  results::AxisSchema axis = all;
  axis.name = name;
  axis.labels = chosen(all.labels);
  for (auto& coordinate : axis.coordinates) {
    coordinate.values = chosen(coordinate.values);
  }
  layout.add_axis(axis);
  return name;
}

}  // namespace stereosweep::findings
