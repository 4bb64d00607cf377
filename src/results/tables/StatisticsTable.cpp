#include "results/tables/StatisticsTable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::results {
namespace {

// Everything a statistics file has found as tidy rows: one row a number, whatever statistic it is. Nothing here knows a
// statistic: the attributes `role` and `of` of the file's arrays (elsewhere their names) say what stands beside what.

/// An array of numbers, or of flags: where these belong to no number, their words are statuses.
struct StatisticsArray {
  std::string name;
  std::vector<std::string> axes;
  std::vector<std::string> flags;  ///< meanings; empty: numbers
  std::string unit;
  bool is_squared = false;  ///< attribute `unit_power`: the unit is that of the axis, squared
  std::string long_name;
  std::string role;                  ///< attribute `role`; "": it is no finding, and nothing belongs to it
  std::vector<std::string> of;       ///< attribute `of`: the values it belongs to
  std::vector<std::string> columns;  ///< of its rows' labels: axes; of a list of findings its coordinates, too

  /// Of a row whose label on the axis has this unit.
  std::string unit_of(const std::string& label) const {
    return label + (is_squared && label != "1" && !label.empty() ? "^2" : "");
  }
};

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
        if (coordinate.name != "units") {  // those have a column
          columns.push_back({coordinate.name == "measure" ? "measure" : schema.name + "_" + coordinate.name, place,
                             &coordinate.values});
        }
      }
    }
  }
  return columns;
}

/// Units by label of an axis, where the array has no unit of its own.
std::optional<LabelColumn> column_of_units(const std::vector<std::string>& axes,
                                           const std::map<std::string, AxisSchema>& schemas) {
  for (std::size_t place = 0; place < axes.size(); ++place) {
    if (const auto* units = schemas.at(axes[place]).find_coordinate("units")) {
      return LabelColumn{"unit", place, units};
    }
  }
  return std::nullopt;
}

using Texts = std::vector<std::string>;

const Texts number_names = {"value", "unit", "n", "low", "high", "p", "p_adjusted", "adjustment", "status"};

/// Of arrays whose numbers stand in the rows of another.
constexpr std::array<std::string_view, 6> companion_roles = {"low", "high", "n", "p", "status", "adjusted"};

/// "holm" of "mean_p_holm".
std::string adjustment_of(const std::string& name) {
  const auto stem = name.rfind("p_");
  return stem == std::string::npos ? name : name.substr(stem + 2);
}

std::string digits(double value) { return std::isnan(value) ? "" : base::format_double(value); }

std::string rounded(double value, double size) {
  const bool is_whole = std::abs(value) < 1e15 && value == std::floor(value);
  return std::isnan(value) ? "" : is_whole ? base::format_double(value) : significant(value, size);
}

std::string rounded_p(double value) { return std::isnan(value) ? "" : p_value(value); }

class StatisticsRows : public FinishedStatistics {
 public:
  /// Of one run or of several. Throws InputError also where the file's arrays do not fit their axes.
  explicit StatisticsRows(const std::filesystem::path& path) : FinishedStatistics(path, Of::run_or_runs) {
    naming([&] {
      find_arrays();
      find_blocks();
    });
  }
  /// Arrays with rows of their own (what stands beside one is in its rows), in the file's order; without single scores
  /// (arrays over template, rephrasing and what is scored).
  const std::vector<StatisticsArray>& blocks() const { return blocks_; }
  /// Calls `use(labels, numbers)` for each row of a block, in row-major order of its axes: the labels of its columns,
  /// and what stands under `number_names`, "" for NaN.
  void read(std::size_t block, TableFormat format, const std::function<void(const Texts&, const Texts&)>& use) const {
    const auto& main = blocks_.at(block);
    const auto beside = companions_of(main);
    const auto numbers_of = [&](const char* role) {
      const auto found = beside.find(role);
      return found == beside.end() ? std::vector<double>() : numbers_over(main, *found->second.front());
    };
    const auto values = numbers(main);
    const auto low = numbers_of("low");
    const auto high = numbers_of("high");
    const auto n = numbers_of("n");
    const auto p = numbers_of("p");
    const auto ways = beside.contains("adjusted") ? beside.at("adjusted") : Arrays();
    const auto adjusted = base::mapped(ways, [&](const auto* way) { return numbers_over(main, *way); });
    const bool has_statuses = main.flags.empty() && beside.contains("status");
    const auto statuses = main.flags.empty() ? numbers_of("status") : values;
    const auto& flags = has_statuses ? beside.at("status").front()->flags : main.flags;
    const auto columns = label_columns(main.axes, axes_);
    const auto units = main.unit.empty() && main.flags.empty() ? column_of_units(main.axes, axes_) : std::nullopt;
    const auto shape = shape_of(main);
    const auto chance = is_csv(format) ? digits : rounded_p;
    for (std::size_t index = 0; index < values.size(); ++index) {
      const auto places = hdf5::coordinates_of(index, shape);
      const auto label = [&](const LabelColumn& column) { return (*column.labels)[places[column.axis]]; };
      const auto at = [&](const std::vector<double>& all) { return all.empty() ? no_number : all[index]; };
      const double value = main.flags.empty() ? values[index] : no_number;
      const auto way = std::ranges::find_if_not(adjusted, [&](const auto& all) { return std::isnan(all[index]); });
      const bool is_adjusted = way != adjusted.end();
      const bool has_flag =
          !statuses.empty() && statuses[index] >= 0 && statuses[index] < static_cast<double>(flags.size());
      const double size = std::fmax(std::abs(value), std::fmax(std::abs(at(low)), std::abs(at(high))));
      const auto number = [&](double one) { return is_csv(format) ? digits(one) : rounded(one, size); };
      use(base::mapped(columns, label),
          {number(value), units ? main.unit_of(label(*units)) : main.unit, number(at(n)), number(at(low)),
           number(at(high)), chance(at(p)), chance(is_adjusted ? (*way)[index] : no_number),
           is_adjusted ? adjustment_of(ways[static_cast<std::size_t>(way - adjusted.begin())]->name) : "",
           has_flag            ? flags[static_cast<std::size_t>(statuses[index])]
           : std::isnan(value) ? "no_value"
                               : "ok"});
    }
  }

 private:
  using Arrays = std::vector<const StatisticsArray*>;

  void find_arrays() {
    const auto& root = file_.root();
    for (const auto& name : root.names()) {
      const auto dataset = root.open_dataset(name);
      if (dataset.type() == ElementType::text || dataset.shape().empty()) {
        continue;
      }
      StatisticsArray array;
      array.name = name;
      array.unit = dataset.text_attribute("units").value_or("");
      array.is_squared = dataset.number_attribute("unit_power") == 2;
      array.long_name = dataset.text_attribute("long_name").value_or(name);
      const auto shape = dataset.shape();
      for (unsigned place = 0; place < shape.size(); ++place) {
        const auto of = array.axes.emplace_back(dataset.scale_name(place));
        if (!axes_.contains(of)) {
          axes_.emplace(of, axis(of));
        }
        base::fail_if(axes_.at(of).labels.size() != shape[place], "'" + name + "' does not fit its axis '" + of + "'");
      }
      if (const auto meanings = dataset.text_attribute("flag_meanings")) {
        array.flags = base::split(*meanings, ' ');
      }
      array.role = dataset.text_attribute("role").value_or("");
      array.of = base::split(dataset.text_attribute("of").value_or(""), ' ');
      arrays_.push_back(std::move(array));
    }
  }

  /// By their roles, in the file's order: of several with one role the first counts, of adjusted p the first that is a
  /// number.
  std::map<std::string, Arrays> companions_of(const StatisticsArray& main) const {
    std::map<std::string, Arrays> found;
    for (const auto& array : arrays_) {
      if (base::contains(array.of, main.name) && base::contains(companion_roles, array.role)) {
        found[array.role].push_back(&array);
      }
    }
    return found;
  }

  void find_blocks() {
    std::set<std::string> consumed;
    const auto consume = [&](const StatisticsArray& array) {
      for (const auto& [role, companions] : companions_of(array)) {
        consumed.insert(companions.front()->name);  // the others have rows of their own
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
    for (const auto& array : arrays_) {
      if (!consumed.contains(array.name) && !is_single_score(array.axes)) {
        blocks_.push_back(array);
        blocks_.back().columns = base::mapped(label_columns(array.axes, axes_), &LabelColumn::name);
      }
    }
  }

  std::vector<double> numbers(const StatisticsArray& array) const {
    const auto dataset = open_checked(file_.root(), array.name, file_bytes_);
    std::vector<double> values(hdf5::product(dataset.shape()));
    dataset.read(0, std::span<double>(values));  // HDF5 makes doubles of all numbers
    return values;
  }

  hdf5::Shape shape_of(const StatisticsArray& array) const {
    return base::mapped(array.axes, [&](const auto& axis) -> std::uint64_t { return axes_.at(axis).labels.size(); });
  }

  /// Those of another array, repeated over the axes of `main` that it lacks.
  std::vector<double> numbers_over(const StatisticsArray& main, const StatisticsArray& array) const {
    const auto values = numbers(array);
    if (array.axes == main.axes) {
      return values;
    }
    const auto shape = shape_of(main);
    std::vector<std::size_t> steps(main.axes.size(), 0);
    std::size_t step = 1;
    for (auto place = array.axes.size(); place-- > 0;) {
      const auto in_main = place_of(main.axes, array.axes[place]);
      base::refuse_if(!in_main, "cannot read '" + path_.string() + "'",
                      "'" + array.name + "' has the axis '" + array.axes[place] + "', which '" + main.name + "' lacks");
      steps[*in_main] = step;
      step *= axes_.at(array.axes[place]).labels.size();
    }
    std::vector<double> result(hdf5::product(shape));
    for (std::size_t index = 0; index < result.size(); ++index) {
      const auto places = hdf5::coordinates_of(index, shape);
      result[index] = values[std::inner_product(places.begin(), places.end(), steps.begin(), std::size_t{0})];
    }
    return result;
  }

  std::vector<StatisticsArray> arrays_;
  std::map<std::string, AxisSchema> axes_;
  std::vector<StatisticsArray> blocks_;
};

std::vector<std::size_t> chosen(const std::vector<StatisticsArray>& blocks, std::span<const std::string> only) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < blocks.size(); ++place) {
    if (only.empty() ||
        std::ranges::any_of(only, [&](const auto& begin) { return blocks[place].name.starts_with(begin); })) {
      places.push_back(place);
    }
  }
  if (places.empty() && !only.empty()) {
    const auto names = base::mapped(blocks, &StatisticsArray::name);
    base::refuse("no statistic begins with '" + base::join(only, "' or '") + "'",
                 "the file has " + base::join(names, ", "));
  }
  return places;
}

/// Columns of labels in the order in which statistics bring them.
Texts columns_of(const std::vector<StatisticsArray>& blocks, std::span<const std::size_t> places) {
  Texts columns;
  for (const auto place : places) {
    for (const auto& column : blocks[place].columns) {
      base::add_once(columns, column);
    }
  }
  return columns;
}

/// One table of the statistics at `places`.
void write_table(const StatisticsRows& rows, std::span<const std::size_t> places, TableFormat format,
                 TableWriter& writer) {
  const auto& blocks = rows.blocks();
  const auto columns = columns_of(blocks, places);
  Texts head = {"statistic"};
  head.insert(head.end(), columns.begin(), columns.end());
  head.insert(head.end(), number_names.begin(), number_names.end());
  const auto title =
      base::mapped(places, [&](auto place) { return blocks[place].name + ": " + blocks[place].long_name; });
  writer.begin(base::join(title, "; "), head, 1 + columns.size());
  for (const auto place : places) {
    const auto own =
        base::mapped(blocks[place].columns, [&](const auto& column) { return *place_of(columns, column); });
    rows.read(place, format, [&](const Texts& labels, const Texts& numbers) {
      Texts cells(1 + columns.size());
      cells.front() = blocks[place].name;
      for (std::size_t label = 0; label < own.size(); ++label) {
        cells[1 + own[label]] = labels[label];
      }
      cells.insert(cells.end(), numbers.begin(), numbers.end());
      writer.add(cells);
    });
  }
  writer.end();
}

}  // namespace

void write_statistics_table(const std::filesystem::path& file, TableFormat format, std::span<const std::string> only,
                            std::ostream& out) {
  const StatisticsRows rows(file);
  const auto places = chosen(rows.blocks(), only);
  TableWriter writer(format, out);
  if (is_csv(format)) {
    write_table(rows, places, format, writer);
  }
  for (std::size_t first = 0; !is_csv(format) && first < places.size();) {
    auto last = first + 1;
    while (last < places.size() && rows.blocks()[places[last]].columns == rows.blocks()[places[first]].columns) {
      ++last;
    }
    write_table(rows, std::span(places).subspan(first, last - first), format, writer);
    first = last;
  }
  out.flush();
  base::fail_if(!out, "the table cannot be written (disk full, or the reader has gone)");
}

}  // namespace stereosweep::results
