#include "results/tables/StatisticsRows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/AxisReader.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Numbers of single sentences: the score table and what a probe keeps of the same shape.
bool is_single_score(const std::vector<std::string>& axes) {
  const auto has = [&](const char* axis) { return base::contains(axes, axis); };
  return has("template") && has("rephrasing") &&
         std::ranges::any_of(std::array{"item", "word", "pole", "pair", "trait"}, has);
}

/// How measures of different statistics are called, so that their rows can be joined.
std::string column_name(const std::string& axis) { return axis.ends_with("_measure") ? "measure" : axis; }

/// A column of labels: of an axis, or of a coordinate where the axis lists findings (each with its measure).
struct LabelColumn {
  std::string name;
  std::size_t axis;
  const std::vector<std::string>* labels;
};

std::vector<LabelColumn> label_columns(const std::vector<std::string>& axes,
                                       const std::map<std::string, AxisSchema>& schemas) {
  std::vector<LabelColumn> columns;
  for (std::size_t place = 0; place < axes.size(); ++place) {
    const auto& schema = schemas.at(axes[place]);
    columns.push_back({column_name(schema.name), place, &schema.labels});
    if (schema.find_coordinate("measure") != nullptr) {
      for (const auto& coordinate : schema.coordinates) {
        columns.push_back({coordinate.name == "measure" ? "measure" : schema.name + "_" + coordinate.name, place,
                           &coordinate.values});
      }
    }
  }
  return columns;
}

/// Units by label of an axis, where the array has no unit of its own.
struct Units {
  std::size_t axis = 0;
  const std::vector<std::string>* labels = nullptr;
};

Units units_of(const std::vector<std::string>& axes, const std::map<std::string, AxisSchema>& schemas) {
  for (std::size_t place = 0; place < axes.size(); ++place) {
    if (const auto* units = schemas.at(axes[place]).find_coordinate("units")) {
      return {place, units};
    }
  }
  return {};
}

void count_up(std::vector<std::size_t>& places, const hdf5::Shape& shape) {
  for (auto axis = shape.size(); axis-- > 0;) {
    if (++places[axis] < shape[axis]) {
      return;
    }
    places[axis] = 0;
  }
}

}  // namespace

StatisticsRows::StatisticsRows(const std::filesystem::path& path)
    : path_(path), file_bytes_(std::filesystem::file_size(path)), file_([&] {
        base::refuse_if(check_seal(path) != Seal::intact, "cannot read '" + path.string() + "'",
                        "it was changed or is not finished: it has no seal");
        return hdf5::File::open(path);
      }()) {
  try {
    const auto schema = file_.root().text_attribute("schema").value_or("");
    if (!schema.starts_with("stereosweep-statistics/") && schema != "stereosweep-runs") {
      throw base::Error("it is no statistics file");
    }
    find_arrays();
    find_blocks();
  } catch (const base::Error& error) {
    throw base::InputError(base::describe("cannot read '" + path.string() + "'", error.what()));
  }
}

void StatisticsRows::find_arrays() {
  const auto& root = file_.root();
  for (const auto& name : root.names()) {
    const auto dataset = root.open_dataset(name);
    if (dataset.type() == ElementType::text || dataset.shape().empty()) {
      continue;
    }
    Array array{
        name, {}, {}, dataset.text_attribute("units").value_or(""), dataset.text_attribute("long_name").value_or(name),
        "",   {}};
    const auto shape = dataset.shape();
    for (unsigned place = 0; place < shape.size(); ++place) {
      const auto axis = array.axes.emplace_back(dataset.scale_name(place));
      if (!axes_.contains(axis)) {
        axes_.emplace(axis, read_axis(root, axis, file_bytes_));
      }
      if (axes_.at(axis).labels.size() != shape[place]) {
        throw base::Error("'" + name + "' does not fit its axis '" + axis + "'");
      }
    }
    if (const auto meanings = dataset.text_attribute("flag_meanings")) {
      array.flags = base::split(*meanings, ' ');
    }
    array.role = dataset.text_attribute("role").value_or("");
    array.of = base::split(dataset.text_attribute("of").value_or(""), ' ');
    arrays_.push_back(std::move(array));
  }
}

const StatisticsRows::Array* StatisticsRows::find(const std::string& name) const {
  const auto found = std::ranges::find(arrays_, name, &Array::name);
  return found == arrays_.end() ? nullptr : &*found;
}

/// Of several with one role the first; adjusted p all, in the file's order.
StatisticsRows::Companions StatisticsRows::companions_of(const Array& main) const {
  Companions found;
  const std::map<std::string, std::string*> places = {
      {"low", &found.low}, {"high", &found.high}, {"n", &found.n}, {"p", &found.p}, {"status", &found.status}};
  for (const auto& array : arrays_) {
    if (!base::contains(array.of, main.name)) {
      continue;
    }
    if (const auto place = places.find(array.role); place != places.end()) {
      *place->second = place->second->empty() ? array.name : *place->second;
    } else if (array.role == "adjusted") {
      const auto stem = array.name.rfind("p_");
      found.adjusted.push_back({array.name, stem == std::string::npos ? array.name : array.name.substr(stem + 2)});
    }
  }
  return found;
}

void StatisticsRows::find_blocks() {
  std::set<std::string> consumed;
  const auto consume = [&](const Array& array) {
    const auto beside_it = companions_of(array);
    consumed.insert({beside_it.low, beside_it.high, beside_it.n, beside_it.p, beside_it.status});
    if (!beside_it.adjusted.empty()) {
      consumed.insert(beside_it.adjusted.front().name);  // the others have rows of their own
    }
  };
  for (const auto& array : arrays_) {
    if (array.role.empty() || array.role == "value") {
      consume(array);
    }
  }
  for (const auto& array : arrays_) {
    if (array.role == "p" && !consumed.contains(array.name)) {  // a second p has rows of its own
      consume(array);
    }
  }
  for (std::size_t place = 0; place < arrays_.size(); ++place) {
    const auto& array = arrays_[place];
    if (consumed.contains(array.name) || is_single_score(array.axes)) {
      continue;
    }
    blocks_.push_back(
        {array.name, array.long_name, base::mapped(label_columns(array.axes, axes_), &LabelColumn::name)});
    array_of_block_.push_back(place);
  }
}

std::vector<double> StatisticsRows::numbers(const Array& array) const {
  const auto dataset = open_checked(file_.root(), array.name, file_bytes_);
  std::vector<double> values(hdf5::product(dataset.shape()));
  const auto read = [&]<class Value>(std::vector<Value> stored) {
    dataset.read(dataset.all(), std::span<Value>(stored));
    std::ranges::copy(stored, values.begin());
  };
  switch (dataset.type()) {
    case ElementType::int32:
      read(std::vector<std::int32_t>(values.size()));
      break;
    case ElementType::uint8:
      read(std::vector<std::uint8_t>(values.size()));
      break;
    case ElementType::float32:
      read(std::vector<float>(values.size()));
      break;
    default:
      dataset.read(dataset.all(), std::span<double>(values));
  }
  return values;
}

hdf5::Shape StatisticsRows::shape_of(const Array& array) const {
  return base::mapped(array.axes, [&](const auto& axis) -> std::uint64_t { return axes_.at(axis).labels.size(); });
}

/// Those of another array, repeated over the axes of `main` that it lacks; empty where `companion` is "".
std::vector<double> StatisticsRows::numbers_over(const Array& main, const std::string& companion) const {
  if (companion.empty()) {
    return {};
  }
  const auto& array = *find(companion);
  const auto values = numbers(array);
  const auto shape = shape_of(main);
  std::vector<std::size_t> steps(main.axes.size(), 0);
  std::size_t step = 1;
  for (auto place = array.axes.size(); place-- > 0;) {
    const auto in_main = std::ranges::find(main.axes, array.axes[place]) - main.axes.begin();
    steps[static_cast<std::size_t>(in_main)] = step;
    step *= axes_.at(array.axes[place]).labels.size();
  }
  std::vector<double> result(hdf5::product(shape));
  std::vector<std::size_t> places(shape.size(), 0);
  for (auto& value : result) {
    std::size_t from = 0;
    for (std::size_t place = 0; place < places.size(); ++place) {
      from += places[place] * steps[place];
    }
    value = values[from];
    count_up(places, shape);
  }
  return result;
}

void StatisticsRows::read(std::size_t block, const std::function<void(const StatisticsRow&)>& use) const {
  const auto& main = arrays_.at(array_of_block_.at(block));
  const auto names = companions_of(main);
  const auto values = numbers(main);
  const auto low = numbers_over(main, names.low);
  const auto high = numbers_over(main, names.high);
  const auto n = numbers_over(main, names.n);
  const auto p = numbers_over(main, names.p);
  const auto adjusted =
      base::mapped(names.adjusted, [&](const Adjusted& companion) { return numbers_over(main, companion.name); });
  const auto statuses = main.flags.empty() ? numbers_over(main, names.status) : values;
  const auto& flags = main.flags.empty() && !names.status.empty() ? find(names.status)->flags : main.flags;
  const auto columns = label_columns(main.axes, axes_);
  const auto units = units_of(main.axes, axes_);
  const auto shape = shape_of(main);
  std::vector<std::size_t> places(shape.size(), 0);
  for (std::size_t index = 0; index < values.size(); ++index, count_up(places, shape)) {
    const auto number = [&](const std::vector<double>& all) { return all.empty() ? no_number : all[index]; };
    StatisticsRow row;
    row.statistic = main.name;
    row.labels = base::mapped(columns, [&](const auto& column) { return (*column.labels)[places[column.axis]]; });
    row.value = main.flags.empty() ? values[index] : no_number;
    row.unit = main.unit.empty() && units.labels != nullptr ? (*units.labels)[places[units.axis]] : main.unit;
    row.n = number(n);
    row.low = number(low);
    row.high = number(high);
    row.p = number(p);
    row.p_adjusted = no_number;
    for (std::size_t way = 0; way < adjusted.size() && std::isnan(row.p_adjusted); ++way) {
      row.p_adjusted = adjusted[way][index];
      row.adjustment = std::isnan(row.p_adjusted) ? "" : names.adjusted[way].adjustment;
    }
    const auto flag = statuses.empty() ? flags.size() : static_cast<std::size_t>(statuses[index]);
    row.status = flag < flags.size() ? flags[flag] : std::isnan(row.value) ? "no_value" : "ok";
    use(row);
  }
}

}  // namespace stereosweep::results
