#include "results/tables/StatisticsTable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
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

using Texts = std::vector<std::string>;

/// Labels of rows: of an axis, or of a coordinate where the axis lists findings (each with its measure).
struct LabelColumn {
  std::string name;
  const Texts* labels = nullptr;  ///< borrowed; null: there are none
  std::size_t step = 1;           ///< rows that follow each other with one label

  std::size_t place(std::size_t row) const { return row / step % labels->size(); }
  const std::string& of(std::size_t row) const { return (*labels)[place(row)]; }
};

Texts names_of(const std::vector<LabelColumn>& columns) { return base::mapped(columns, &LabelColumn::name); }

/// An array of numbers, or of flags: where these belong to no number, their words are statuses.
struct StatisticsArray {
  std::string name;
  std::vector<LabelColumn> axes;
  Texts flags;  ///< meanings; empty: numbers
  std::string unit;
  bool is_squared = false;  ///< attribute `unit_power`: the unit is that of the axis, squared
  std::string long_name;
  std::string role;                  ///< attribute `role`; "": it is no finding, and nothing belongs to it
  Texts of;                          ///< attribute `of`: the values it belongs to
  std::vector<LabelColumn> columns;  ///< of its axes; of a list of findings its coordinates, too
  LabelColumn units;                 ///< where it has no unit of its own

  std::string unit_of(std::size_t row) const {
    if (!unit.empty() || !flags.empty() || units.labels == nullptr) {
      return unit;
    }
    const auto& label = units.of(row);
    return label + (is_squared && label != "1" && !label.empty() ? "^2" : "");
  }
};

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Numbers of single sentences: the score table and what a probe keeps of the same shape.
bool is_single_score(const StatisticsArray& array) {
  const auto axes = names_of(array.axes);
  const auto has = [&](const char* axis) { return base::contains(axes, axis); };
  return has("template") && has("rephrasing") &&
         std::ranges::any_of(std::array{"item", "word", "pole", "pair", "trait"}, has);
}

/// How measures of different statistics are called, so that their rows can be joined.
std::string column_name(const std::string& axis) { return axis.ends_with("_measure") ? "measure" : axis; }

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

using Arrays = std::vector<const StatisticsArray*>;

class StatisticsRows : public FinishedStatistics {
 public:
  /// Of one run or of several. Throws InputError also where the file's arrays do not fit their axes.
  explicit StatisticsRows(const std::filesystem::path& path) : FinishedStatistics(path, Of::run_or_runs) {
    naming([&] { find_arrays(); });
  }

  /// Arrays with rows of their own (what stands beside one is in its rows), in the file's order; without single scores
  /// (arrays over template, rephrasing and what is scored).
  Arrays blocks() const {
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
    Arrays blocks;
    for (const auto& array : arrays_) {
      if (!consumed.contains(array.name) && !is_single_score(array)) {
        blocks.push_back(&array);
      }
    }
    return blocks;
  }

  /// Calls `use(row, numbers)` for each row of a block, in row-major order of its axes, with what stands under
  /// `number_names`, "" for NaN.
  void read(const StatisticsArray& main, TableFormat format, const auto& use) const {
    const auto beside = companions_of(main);
    std::map<std::string, std::vector<double>> numbers_of_roles;
    for (const auto& [role, companions] : beside) {
      if (role != "adjusted") {
        numbers_of_roles[role] = numbers_over(main, *companions.front());
      }
    }
    const auto ways = beside.contains("adjusted") ? beside.at("adjusted") : Arrays();
    const auto adjusted = base::mapped(ways, [&](const auto* way) { return numbers_over(main, *way); });
    const auto values = numbers(main);
    const bool has_statuses = main.flags.empty() && beside.contains("status");
    const auto& flags = has_statuses ? beside.at("status").front()->flags : main.flags;
    const auto& statuses = has_statuses ? numbers_of_roles["status"] : values;
    const auto chance = is_csv(format) ? digits : rounded_p;
    for (std::size_t row = 0; row < values.size(); ++row) {
      const auto at = [&](const char* role) {
        const auto found = numbers_of_roles.find(role);
        return found == numbers_of_roles.end() ? no_number : found->second[row];
      };
      const double value = main.flags.empty() ? values[row] : no_number;
      const auto way = std::ranges::find_if_not(adjusted, [&](const auto& all) { return std::isnan(all[row]); });
      const bool is_adjusted = way != adjusted.end();
      const bool has_flag = statuses[row] >= 0 && statuses[row] < static_cast<double>(flags.size());
      const double size = std::fmax(std::abs(value), std::fmax(std::abs(at("low")), std::abs(at("high"))));
      const auto number = [&](double one) { return is_csv(format) ? digits(one) : rounded(one, size); };
      use(row, Texts{number(value), main.unit_of(row), number(at("n")), number(at("low")), number(at("high")),
                     chance(at("p")), chance(is_adjusted ? (*way)[row] : no_number),
                     is_adjusted ? adjustment_of(ways[static_cast<std::size_t>(way - adjusted.begin())]->name) : "",
                     has_flag            ? flags[static_cast<std::size_t>(statuses[row])]
                     : std::isnan(value) ? "no_value"
                                         : "ok"});
    }
  }

 private:
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
      auto step = hdf5::product(shape);
      for (unsigned place = 0; place < shape.size(); ++place) {
        const auto of = dataset.scale_name(place);
        if (!axes_.contains(of)) {
          axes_.emplace(of, axis(of));
        }
        const auto& known = axes_.at(of);
        base::fail_if(known.labels.size() != shape[place], "'" + name + "' does not fit its axis '" + of + "'");
        step /= std::max<std::uint64_t>(shape[place], 1);
        array.axes.push_back({of, &known.labels, step});
        add_columns(known, step, array);
      }
      if (const auto meanings = dataset.text_attribute("flag_meanings")) {
        array.flags = base::split(*meanings, ' ');
      }
      array.role = dataset.text_attribute("role").value_or("");
      array.of = base::split(dataset.text_attribute("of").value_or(""), ' ');
      arrays_.push_back(std::move(array));
    }
  }

  static void add_columns(const AxisSchema& axis, std::size_t step, StatisticsArray& array) {
    array.columns.push_back({column_name(axis.name), &axis.labels, step});
    const bool lists_findings = axis.find_coordinate("measure") != nullptr;
    for (const auto& [name, long_name, values] : axis.coordinates) {
      if (name == "units") {
        array.units = array.units.labels == nullptr ? LabelColumn{"unit", &values, step} : array.units;
      } else if (lists_findings) {
        array.columns.push_back({name == "measure" ? name : axis.name + "_" + name, &values, step});
      }
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

  std::vector<double> numbers(const StatisticsArray& array) const {
    const auto dataset = open_checked(file_.root(), array.name, file_bytes_);
    std::vector<double> values(hdf5::product(dataset.shape()));
    dataset.read(0, std::span<double>(values));  // HDF5 makes doubles of all numbers
    return values;
  }

  /// Those of another array, repeated over the axes of `main` that it lacks.
  std::vector<double> numbers_over(const StatisticsArray& main, const StatisticsArray& array) const {
    auto values = numbers(array);
    if (names_of(array.axes) == names_of(main.axes)) {
      return values;
    }
    std::vector<const LabelColumn*> axes_in_main;
    for (const auto& axis : array.axes) {
      const auto found = std::ranges::find(main.axes, axis.name, &LabelColumn::name);
      base::refuse_if(found == main.axes.end(), "cannot read '" + path_.string() + "'",
                      "'" + array.name + "' has the axis '" + axis.name + "', which '" + main.name + "' lacks");
      axes_in_main.push_back(&*found);
    }
    const auto& outermost = main.axes.front();
    std::vector<double> result(outermost.step * outermost.labels->size());
    for (std::size_t row = 0; row < result.size(); ++row) {
      std::size_t place = 0;
      for (const auto* axis : axes_in_main) {
        place = place * axis->labels->size() + axis->place(row);
      }
      result[row] = values[place];
    }
    return result;
  }

  std::vector<StatisticsArray> arrays_;
  std::map<std::string, AxisSchema> axes_;
};

Arrays chosen(Arrays blocks, std::span<const std::string> only) {
  const auto names = base::mapped(blocks, &StatisticsArray::name);
  const auto is_other = [&](const auto* block) {
    return std::ranges::none_of(only, [&](const auto& begin) { return block->name.starts_with(begin); });
  };
  if (!only.empty()) {
    std::erase_if(blocks, is_other);
    base::refuse_if(blocks.empty(), "no statistic begins with '" + base::join(only, "' or '") + "'",
                    "the file has " + base::join(names, ", "));
  }
  return blocks;
}

/// One table of some statistics; columns of labels stand in the order in which these bring them.
void write_table(const StatisticsRows& rows, std::span<const StatisticsArray* const> blocks, TableFormat format,
                 TableWriter& writer) {
  Texts head = {"statistic"};
  for (const auto* block : blocks) {
    std::ranges::for_each(names_of(block->columns), [&](const auto& column) { base::add_once(head, column); });
  }
  const auto labels = head;
  head.insert(head.end(), number_names.begin(), number_names.end());
  const auto title = base::mapped(blocks, [](const auto* block) { return block->name + ": " + block->long_name; });
  writer.begin(base::join(title, "; "), head, labels.size());
  for (const auto* block : blocks) {
    const auto places =
        base::mapped(block->columns, [&](const auto& column) { return *place_of(labels, column.name); });
    rows.read(*block, format, [&](std::size_t row, const Texts& numbers) {
      Texts cells(labels.size());
      cells.front() = block->name;
      for (std::size_t column = 0; column < places.size(); ++column) {
        cells[places[column]] = block->columns[column].of(row);
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
  const auto blocks = chosen(rows.blocks(), only);
  TableWriter writer(format, out);
  if (is_csv(format)) {
    write_table(rows, blocks, format, writer);
  }
  for (std::size_t first = 0; !is_csv(format) && first < blocks.size();) {
    auto last = first + 1;
    while (last < blocks.size() && names_of(blocks[last]->columns) == names_of(blocks[first]->columns)) {
      ++last;
    }
    write_table(rows, std::span(blocks).subspan(first, last - first), format, writer);
    first = last;
  }
  out.flush();
  base::fail_if(!out, "the table cannot be written (disk full, or the reader has gone)");
}

}  // namespace stereosweep::results
