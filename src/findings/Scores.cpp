#include "findings/Scores.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/text/Text.hpp"

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

constexpr const char* pole_dataset = "pole_score";

/// Place on the axis `name` of what the measure's coordinate of the same name says.
std::size_t place_of(results::StatisticsFile& file, const std::string& name, std::size_t measure) {
  const auto* values = file.layout().axis(results::score_axis_names[measure_axis]).find_coordinate(name);
  STEREOSWEEP_ASSERT(values != nullptr, "an axis that tells measures apart is a coordinate of theirs");
  const auto found = results::place_of(file.layout().axis(name).labels, (*values)[measure]);
  STEREOSWEEP_ASSERT(found.has_value(), "the measure's coordinate is a label of its axis");
  return *found;
}

/// The axes between the sentences and the poles tell measures apart.
std::vector<double> read_poles(results::StatisticsFile& file, std::size_t measure) {
  constexpr std::size_t num_outer_axes = 3;  // subject, template, rephrasing
  const auto dataset = file.root().open_dataset(pole_dataset);
  auto where = dataset.all();
  for (auto axis = num_outer_axes; axis + 1 < where.start.size(); ++axis) {
    where.start[axis] = place_of(file, dataset.scale_name(static_cast<unsigned>(axis)), measure);
    where.count[axis] = 1;
  }
  std::vector<double> values(hdf5::product(where.count));
  dataset.read(where, std::span<double>(values));
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
  if (file.root().contains(pole_dataset)) {
    scores.poles = &file.layout().axis("pole");
    scores.read_poles = [&file](std::size_t measure) { return read_poles(file, measure); };
  }
  return scores;
}

Scores scores_of(const results::ScoreFile& file) {
  Scores scores;
  for (std::size_t axis = 0; axis < scores.axes.size(); ++axis) {
    scores.axes[axis] = &file.axes()[axis];
  }
  scores.read = [&file](std::size_t measure) { return file.read(measure); };
  return scores;
}

std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key, std::vector<std::string>& faults) {
  const auto& known = scores.axes[measure_axis]->labels;
  for (const auto& label : labels) {
    if (std::ranges::find(known, label) == known.end()) {
      faults.push_back(base::describe(key + ": no measure '" + label + "'", "the score table has none",
                                      base::did_you_mean(label, known)));
    }
  }
  std::vector<std::size_t> measures;
  for (std::size_t measure = 0; measure < known.size(); ++measure) {
    if (labels.empty() || std::ranges::find(labels, known[measure]) != labels.end()) {
      measures.push_back(measure);
    }
  }
  return measures;
}

std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key) {
  std::vector<std::string> faults;
  auto measures = chosen_measures(scores, labels, key, faults);
  if (!faults.empty()) {
    throw base::InputError(base::join(faults, "\n"));
  }
  return measures;
}

void require_no_faults(const std::vector<std::string>& faults) {
  std::vector<std::string> once;
  for (const auto& fault : faults) {
    if (std::ranges::find(once, fault) == once.end()) {
      once.push_back(fault);
    }
  }
  if (!once.empty()) {
    throw base::InputError(base::join(once, "\n"));
  }
}

std::optional<stats::ScaleEnds> ends_of(const results::AxisSchema& measures, std::size_t measure) {
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto* values = measures.find_coordinate(name);
    return values == nullptr ? std::nullopt : base::parse_double((*values)[measure]);
  };
  const auto lowest = number("lowest");
  const auto highest = number("highest");
  return lowest && highest && *lowest < *highest ? std::optional(stats::ScaleEnds{*lowest, *highest}) : std::nullopt;
}

results::AxisSchema part_of(const results::AxisSchema& axis, const std::vector<std::size_t>& places) {
  const auto chosen = [&](const std::vector<std::string>& values) {
    std::vector<std::string> some;
    std::ranges::transform(places, std::back_inserter(some), [&](std::size_t place) { return values[place]; });
    return some;
  };
  results::AxisSchema part = axis;
  part.labels = chosen(axis.labels);
  for (auto& coordinate : part.coordinates) {
    coordinate.values = chosen(coordinate.values);
  }
  return part;
}

std::string measure_axis_of(results::Layout& layout, const std::vector<std::size_t>& measures,
                            const std::string& name) {
  const auto& all = layout.axis(results::score_axis_names[measure_axis]);
  if (measures.size() == all.labels.size()) {
    return all.name;
  }
  auto axis = part_of(all, measures);
  axis.name = name;
  layout.add_axis(axis);
  return name;
}

}  // namespace stereosweep::findings
