// What a statistic found: named columns over labelled axes, once. The variables of the statistics file, the tables on
// the terminal, tidy rows and the report are made of it and of nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/Lists.hpp"
#include "findings/Scores.hpp"
#include "results/Layout.hpp"
#include "results/measures/Glossary.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

/// What a column is to the value that it belongs to: attribute `role` in the file.
enum class Role : std::uint8_t { value, low, high, n, p, adjusted, status };

/// Whose means stand beside those of measures, as if they were one.
constexpr const char* people_label = "people";

/// Of a column: the measure's unit, squared.
constexpr const char* squared_unit = "^2";

struct Column {
  Role role = Role::value;
  std::string name;  ///< behind the finding's name and "_"; "": the finding's name itself
  std::string unit;  ///< "": that of the measure; or `squared_unit`
  std::string what;  ///< one line: what the number is
  std::string note = {};
  /// Name of the value column it belongs to; "": the first one; of a count or a status: all of the finding.
  std::string of = {};
  std::vector<double> values = {};       ///< over the finding's axes, row-major; of states their places in `states`
  std::vector<std::string> states = {};  ///< empty: it has numbers
  results::ElementType type = results::ElementType::float64;  ///< in the file; of counts int32, of states uint8
  /// Zero says that two sides are alike, so that pictures draw it.
  bool is_difference = false;
};

/// Columns of a view, "HEAD: NAME, HEAD: NAME, ...": NAME of a column, an axis or a coordinate, alone where it is the
/// head, too; the column that has the finding's own name is "HEAD:".
std::vector<std::pair<std::string, std::string>> table_columns(const std::string& list);

/// A table that shows a finding on the terminal and in the report.
struct View {
  std::string title;                                         ///< the label of `each` follows it
  std::vector<std::pair<std::string, std::string>> columns;  ///< name of a column, an axis or a coordinate; its head
  /// Name of the column of the order, the smallest first; "-" before it: the largest absolute value first; "": as the
  /// rows are. Rows without the number come last.
  std::string by = {};
  /// Axes and coordinates with a table for each combination of their labels.
  std::vector<std::string> each = {"measure"};
  /// Name of a column: only rows that have this number are shown; "": all rows.
  std::string only = {};
  std::string none = "no scores";  ///< where a table has no row to show
};

/// What a table says, in words.
struct Sentence {
  std::string measure;  ///< "": of all
  std::string text;
};

/// What the sides are called where one is compared with the other: the labels that only one of them selects.
struct SideWords {
  std::string left;
  std::string right;        ///< "": the contrast is with zero, or an interaction
  std::string both;         ///< what both select
  bool are_groups = false;  ///< left and right are labels of the subjects
};

/// What the sign of a difference in this item says: "nurses lean further to warm than students", or where the item has
/// no poles "share of referent is higher for nurses than for students".
std::string claim_of(const SideWords& words, const std::string& measure, const results::AxisSchema& items,
                     std::size_t item, bool is_higher);

/// What a finding's rows are asked: of each a claim, in words with its direction. Beside it stand the value and what
/// belongs to it by its role: interval, p, adjusted p, n (the first column of each role).
struct Question {
  std::vector<std::string> claims;  ///< [row] "nurses lean further to warm than students"; "": the row answers nothing
  std::string value;                ///< name of a column
  std::string counted;              ///< what n counts, in the singular: "template"
  std::string name = "";            ///< of the value where it is no score: "tau-b"
  std::string least = "";           ///< column of the smallest p that the design can give; "": there is none
  std::string nothing = "difference";  ///< what there is none of where all p are large
};

/// What a path of members (or functions) leads to, each of what the one before it gives.
template <class Value>
auto read_path(const Value& value) {
  return value;
}
template <class Value, class First, class... Rest>
auto read_path(const Value& value, const First& first, const Rest&... rest) {
  return read_path(std::invoke(first, value), rest...);
}

struct Finding {
  std::string name;                            ///< "contrast"
  std::string heading = {};                    ///< of the report's section that shows it; "": its name
  std::vector<results::AxisSchema> axes = {};  ///< those that the file has already are taken by their names
  std::vector<Column> columns = {};
  std::vector<View> views = {};
  std::optional<Question> question = {};   ///< what `answer` makes `answers` of
  std::vector<Sentence> answers = {};      ///< at the head of all that is told: what was found, with its numbers
  std::vector<Sentence> sentences = {};    ///< above the tables
  std::string notes = {};                  ///< below the tables: how the numbers were computed and what they assume
  std::vector<std::string> warnings = {};  ///< sentences: what keeps a reader from taking the numbers as they stand
  std::vector<std::string> named = {};     ///< measures that the job names for this statistic: shown in any case

  std::size_t num_rows() const;
  /// Null: there is none.
  const Column* find_column(std::string_view wanted) const;
  /// Orders places of rows as View::by says.
  void sort(const std::string& by, std::vector<std::size_t>& rows) const;
  /// Of a column of this finding in the file: "contrast_low".
  std::string variable(const std::string& column) const { return column.empty() ? name : name + "_" + column; }

  /// A column of what a path reads of each row, member after member: a double, a count, or a stats::Reason (a status).
  template <class Row, class... Path>
  Column& add(Role role, const std::vector<Row>& rows, std::string column, std::string unit, std::string what,
              const Path&... path) {
    const auto read = [&](const Row& row) { return read_path(row, path...); };
    using Value = std::invoke_result_t<decltype(read), const Row&>;
    if constexpr (std::is_same_v<Value, stats::Reason>) {
      return add_flags(role, rows, std::move(column), std::move(what), stats::reason_names(), read);
    } else {
      const auto number_of = [&](const Row& row) { return static_cast<double>(read(row)); };
      return columns.emplace_back(
          Column{.role = role,
                 .name = std::move(column),
                 .unit = std::move(unit),
                 .what = std::move(what),
                 .values = base::mapped(rows, number_of),
                 .type = std::is_integral_v<Value> ? results::ElementType::int32 : results::ElementType::float64});
    }
  }
  /// A column of states: `read` gives an enumeration whose numbers are places in `states`.
  template <class Row, class Read>
  Column& add_flags(Role role, const std::vector<Row>& rows, std::string column, std::string what,
                    std::vector<std::string> states, Read read) {
    const auto place_of = [&](const Row& row) { return static_cast<std::uint8_t>(std::invoke(read, row)); };
    auto& added = add(role, rows, std::move(column), "", std::move(what), place_of);
    added.states = std::move(states);
    added.type = results::ElementType::uint8;
    return added;
  }
};

/// Adds columns of what the same rows hold: `const RowColumns add{finding, rows};`.
template <class Row>
struct RowColumns {
  Finding& finding;
  const std::vector<Row>& rows;

  /// As Finding::add.
  template <class... Path>
  Column& operator()(Role role, std::string name, std::string unit, std::string what, const Path&... path) const {
    return finding.add(role, rows, std::move(name), std::move(unit), std::move(what), path...);
  }

  /// What both ends of an interval say of it.
  struct Ends {
    std::string what;  ///< "95 % interval over other templates"
    std::string unit = "";
    std::string prefix = "";  ///< of their names, `low` and `high`
    std::string of = "";      ///< Column::of
    std::string note = "";
  };
  /// The path leads to an interval: something with the members `low` and `high`.
  template <class... Path>
  void interval(const Ends& ends, const Path&... path) const {
    const auto add = [&](Role role, const char* name, const char* which, auto read) {
      auto& column = (*this)(role, ends.prefix + name, ends.unit, which + (" end of the " + ends.what), path..., read);
      column.of = ends.of;
      column.note = ends.note;
    };
    add(Role::low, "low", "lower", [](const auto& interval) { return interval.low; });
    add(Role::high, "high", "upper", [](const auto& interval) { return interval.high; });
  }
};

/// Labels of every row of a finding by the name of an axis or a coordinate; borrowed.
class RowLabels {
 public:
  RowLabels(const Finding& finding, const std::string& name);
  bool exist() const { return labels_ != nullptr; }
  const std::string& of(std::size_t row) const { return (*labels_)[row / step_ % labels_->size()]; }

 private:
  const std::vector<std::string>* labels_ = nullptr;
  std::size_t step_ = 1;
};

/// An axis that lists findings: its labels are the coordinates joined by " | ".
template <class Row>
results::AxisSchema list_axis(
    std::string name, std::string long_name, const std::vector<Row>& rows,
    const std::vector<std::tuple<const char*, const char*, std::function<std::string(const Row&)>>>& coordinates) {
  results::AxisSchema axis{std::move(name), std::move(long_name), std::vector<std::string>(rows.size()), {}};
  for (const auto& [coordinate, what, read] : coordinates) {
    axis.coordinates.push_back({coordinate, what, base::mapped(rows, read)});
    for (std::size_t row = 0; row < rows.size(); ++row) {
      axis.labels[row] += (axis.labels[row].empty() ? "" : " | ") + axis.coordinates.back().values[row];
    }
  }
  return axis;
}

/// The table's axis of measures where they are all chosen, else one of this name with the chosen ones.
results::AxisSchema measure_axis_of(const Scores& scores, const std::vector<std::size_t>& measures,
                                    const std::string& name);

/// Of measures that the job names (`named`) those stay which are shown beside the `recommended` ones: where what is
/// asked (the axis's coordinate `name`, else all) has rows in none of these.
void show_measures(Finding& finding, const std::vector<std::string>& recommended);

/// Variables with attributes `role`, `of` (names of the values it belongs to) and, of differences, `zero` ("drawn");
/// `heading`, `views` (JSON), `answers`, `sentences` and `warnings` (one a line; an answer's and a sentence's measure
/// and a tab before it), and `notes` stand on the first. Nothing where there are no rows.
void write(results::Layout& layout, const Finding& finding);

/// What was found, as text.
struct Told {
  struct Table {
    std::string heading;  ///< of the finding
    std::string text;     ///< with its title in the first line, and with what is said of it
  };
  std::vector<std::string> answers = {};   ///< sentences
  std::vector<std::string> warnings = {};  ///< sentences
  std::vector<Table> tables = {};
  void add(Told other);
  /// All but the answers.
  std::string text() const;
};

/// Of measures that are shown or named; of each table the first `top` rows. Nothing where no table has a row of them.
Told told_by(const Finding& finding, std::size_t top, const results::ShownMeasures& shown = {});

// What the rows of a finding answer to its question, in words with their numbers.

/// Says in words what the rows answer to the finding's question, for each measure: those with the best evidence of a p
/// at most 1 - `confidence`, and how many more there are; or that there are none, or that the design cannot show any.
/// `measures`: an axis with the units of the measures.
void answer(Finding& finding, const results::AxisSchema& measures, double confidence);

}  // namespace stereosweep::findings
