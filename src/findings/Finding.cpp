#include "findings/Finding.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

const std::vector<std::string> role_names = {"value", "low", "high", "n", "p", "adjusted", "status"};

constexpr const char* squared_note = "unit: measure_units, squared";

/// Axes of chosen measures have names of their own, and are shown as the measure.
bool is_called(const std::string& axis, const std::string& name) {
  return axis == name || (name == "measure" && axis.ends_with("_measure"));
}

std::string state_of(const Column& column, std::size_t row) {
  return column.states.at(static_cast<std::size_t>(column.values[row]));
}

/// Why a value does not exist, where the finding says so; else a dash.
std::string reason_of(const Finding& finding, const Column& value, std::size_t row) {
  for (const auto& column : finding.columns) {
    const bool is_of_it = column.role == Role::status && (column.of.empty() || column.of == value.name);
    if (is_of_it && column.values[row] != 0) {
      return base::replace_all(state_of(column, row), "_", " ");
    }
  }
  return "-";
}

/// The value columns that a column belongs to, as variables.
std::string owners_of(const Finding& finding, const Column& column) {
  if (!column.of.empty()) {
    return finding.variable(column.of);
  }
  std::vector<std::string> owners;
  for (const auto& other : finding.columns) {
    if (other.role == Role::value) {
      owners.push_back(finding.variable(other.name));
      if (column.role != Role::n && column.role != Role::status) {
        break;
      }
    }
  }
  return base::join(owners, " ");
}

/// The largest of the column's value and its ends.
double size_of(const Finding& finding, const Column& column, std::size_t row) {
  const auto owner = [&](const Column& one) {
    return one.role == Role::value ? finding.variable(one.name) : owners_of(finding, one);
  };
  double size = 0;
  for (const auto& other : finding.columns) {
    if (other.role <= Role::high && owner(other) == owner(column)) {
      size = std::fmax(size, std::abs(other.values[row]));
    }
  }
  return size;
}

std::string cell_of(const Finding& finding, const Column& column, std::size_t row) {
  const double value = column.values[row];
  if (!column.states.empty()) {
    return state_of(column, row);
  }
  if (column.type == results::ElementType::int32) {
    return results::fixed(value, 0);
  }
  if (column.role == Role::p || column.role == Role::adjusted) {
    return results::p_value(value);
  }
  if (std::isnan(value) && column.role == Role::value) {
    return reason_of(finding, column, row);
  }
  return results::significant(value, column.role <= Role::high ? size_of(finding, column, row) : 0);
}

std::string table_of(const Finding& finding, const View& view, std::vector<std::size_t> rows, std::size_t top) {
  if (!view.only.empty()) {
    const auto* column = finding.find_column(view.only);
    STEREOSWEEP_ASSERT(column != nullptr, "a view is narrowed by a column of its finding");
    std::erase_if(rows, [&](std::size_t row) { return std::isnan(column->values[row]); });
  }
  if (rows.empty()) {
    return view.none + '\n';
  }
  finding.sort(view.by, rows);
  results::TerminalTable table(base::mapped(view.columns, [](const auto& column) { return column.second; }));
  const auto shown = std::min(top, rows.size());
  std::vector<std::vector<std::string>> cells(shown);
  for (const auto& shown_column : view.columns) {
    const auto* column = finding.find_column(shown_column.first);
    const RowLabels labels(finding, shown_column.first);
    STEREOSWEEP_ASSERT(column != nullptr || labels.exist(), "a view shows columns, axes and coordinates");
    for (std::size_t place = 0; place < shown; ++place) {
      cells[place].push_back(column != nullptr ? cell_of(finding, *column, rows[place]) : labels.of(rows[place]));
    }
  }
  std::ranges::for_each(cells, [&](auto& row) { table.add(std::move(row)); });
  return table.text() + results::rest_text(shown, rows.size(), "rows");
}

bool is_shown(const Finding& finding, const std::string& measure, const results::ShownMeasures& shown) {
  return shown.holds(measure) || base::contains(finding.named, measure);
}

/// Rows of one table after another, by the labels of the view's `each`, in the order in which these first come.
std::vector<std::pair<std::string, std::vector<std::size_t>>> tables_of(const Finding& finding, const View& view,
                                                                        const results::ShownMeasures& shown) {
  const RowLabels measures(finding, "measure");
  auto each = base::mapped(view.each, [&](const auto& name) { return RowLabels(finding, name); });
  std::erase_if(each, [](const RowLabels& labels) { return !labels.exist(); });
  std::vector<std::pair<std::string, std::vector<std::size_t>>> tables;
  std::map<std::string, std::size_t> places;
  for (std::size_t row = 0; row < finding.num_rows(); ++row) {
    if (measures.exist() && !is_shown(finding, measures.of(row), shown)) {
      continue;
    }
    const auto title = base::join(base::mapped(each, [&](const RowLabels& labels) { return labels.of(row); }), ", ");
    const auto place = places.try_emplace(title, tables.size()).first->second;
    if (place == tables.size()) {
      tables.emplace_back(title, std::vector<std::size_t>());
    }
    tables[place].second.push_back(row);
  }
  return tables;
}

std::string views_json(const Finding& finding) {
  auto views = base::Json::array();
  for (const auto& view : finding.views) {
    auto columns = base::Json::array();
    for (const auto& [name, head] : view.columns) {
      columns.push_back({finding.find_column(name) == nullptr ? name : finding.variable(name), head});
    }
    const bool falls = view.by.starts_with('-');
    const auto by = view.by.empty() ? "" : (falls ? "-" : "") + finding.variable(view.by.substr(falls ? 1 : 0));
    base::Json one = {{"title", view.title}, {"columns", columns}, {"by", by}, {"each", view.each}};
    if (!view.only.empty()) {
      one["only"] = finding.variable(view.only);
      one["none"] = view.none;
    }
    views.push_back(std::move(one));
  }
  return views.dump();
}

void write_attributes(hdf5::DataSet& dataset, const Finding& finding, const Column& column) {
  dataset.write_attribute("role", role_names.at(static_cast<std::size_t>(column.role)));
  if (const auto owners = owners_of(finding, column); column.role != Role::value && !owners.empty()) {
    dataset.write_attribute("of", owners);
  }
  if (column.is_difference) {
    dataset.write_attribute("zero", "drawn");
  }
  if (column.unit == squared_unit) {
    dataset.write_attribute("unit_power", std::int64_t{2});
  }
  if (&column != &finding.columns.front()) {
    return;
  }
  const auto lines = [](const std::vector<Sentence>& sentences) {
    return base::join(base::mapped(sentences, [](const Sentence& one) { return one.measure + '\t' + one.text; }), "\n");
  };
  const std::vector<std::pair<const char*, std::string>> texts = {
      {"heading", finding.heading},
      {"views", finding.views.empty() ? "" : views_json(finding)},
      {"named_measures", base::join(finding.named, "\n")},
      {"answers", lines(finding.answers)},
      {"sentences", lines(finding.sentences)},
      {"notes", finding.notes},
      {"warnings", base::join(finding.warnings, "\n")}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) {
      dataset.write_attribute(name, text);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> table_columns(const std::string& list) {
  std::vector<std::pair<std::string, std::string>> columns;
  for (const auto& entry : base::split(list, ',')) {
    const auto column = base::trim(entry);
    const auto colon = column.find(':');
    columns.emplace_back(colon == std::string::npos ? column : base::trim(column.substr(colon + 1)),
                         column.substr(0, colon));
  }
  return columns;
}

RowLabels::RowLabels(const Finding& finding, const std::string& name) {
  std::size_t step = 1;
  for (auto axis = finding.axes.rbegin(); axis != finding.axes.rend(); ++axis) {
    labels_ = is_called(axis->name, name) ? &axis->labels : axis->find_coordinate(name);
    if (labels_ != nullptr) {
      step_ = step;
      return;
    }
    step *= axis->labels.size();
  }
}

const Column* Finding::find_column(std::string_view wanted) const {
  const auto found = std::ranges::find(columns, wanted, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

void Finding::sort(const std::string& by, std::vector<std::size_t>& rows) const {
  if (by.empty()) {
    return;
  }
  const bool falls = by.starts_with('-');
  const auto* column = find_column(std::string_view(by).substr(falls ? 1 : 0));
  STEREOSWEEP_ASSERT(column != nullptr, "rows are ordered by a column of their finding");
  std::ranges::stable_sort(rows, [&](std::size_t left, std::size_t right) {
    const double first = column->values[left];
    const double second = column->values[right];
    if (std::isnan(first) || std::isnan(second)) {
      return std::isnan(second) && !std::isnan(first);
    }
    return falls ? std::abs(first) > std::abs(second) : first < second;
  });
}

std::size_t Finding::num_rows() const {
  return std::accumulate(axes.begin(), axes.end(), std::size_t{1},
                         [](auto product, const auto& axis) { return product * axis.labels.size(); });
}

results::AxisSchema measure_axis_of(const Scores& scores, const std::vector<std::size_t>& measures,
                                    const std::string& name) {
  const auto& all = *scores.axes[measure_axis];
  if (measures.size() == all.labels.size()) {
    return all;
  }
  auto axis = all.part(measures);
  axis.name = name;
  return axis;
}

void write(results::Layout& layout, const Finding& finding) {
  if (finding.num_rows() == 0) {
    return;
  }
  std::vector<std::string> axes;
  for (const auto& axis : finding.axes) {
    axes.push_back(axis.name);
    if (!layout.has_axis(axis.name)) {
      layout.add_axis(axis);
    }
  }
  for (const auto& column : finding.columns) {
    const bool is_squared = column.unit == squared_unit;
    auto dataset = layout.write({.name = finding.variable(column.name),
                                 .type = column.type,
                                 .units = is_squared ? "" : column.unit,
                                 .long_name = column.what,
                                 .description = is_squared ? squared_note : column.note,
                                 .flag_meanings = column.states},
                                axes, column.values);
    write_attributes(dataset, finding, column);
  }
}

void show_measures(Finding& finding, const std::vector<std::string>& recommended) {
  const RowLabels measures(finding, "measure");
  const RowLabels names(finding, "name");
  std::map<std::string, std::set<std::string>> asked;
  for (std::size_t row = 0; measures.exist() && row < finding.num_rows(); ++row) {
    asked[names.exist() ? names.of(row) : ""].insert(measures.of(row));
  }
  std::set<std::string> needed = {people_label};
  for (const auto& [name, labels] : asked) {
    const auto has_rows = [&](const auto& label) { return labels.contains(label); };
    const auto first = std::ranges::find_if(finding.named, has_rows);
    if (first != finding.named.end() && std::ranges::none_of(recommended, has_rows)) {
      needed.insert(*first);
    }
  }
  std::erase_if(finding.named, [&](const auto& label) { return !needed.contains(label); });
}

void Told::add(Told other) {
  std::ranges::move(other.answers, std::back_inserter(answers));
  std::ranges::move(other.warnings, std::back_inserter(warnings));
  std::ranges::move(other.tables, std::back_inserter(tables));
}

std::string Told::text() const {
  std::string text;
  for (const auto& warning : warnings) {
    text += results::wrapped("WARNING: " + warning) + '\n';
  }
  for (const auto& table : tables) {
    text += (text.empty() ? "" : "\n") + table.text;
  }
  return text;
}

Told told_by(const Finding& finding, std::size_t top, const results::ShownMeasures& shown) {
  Told told;
  for (const auto& view : finding.views) {
    for (auto& [title, rows] : tables_of(finding, view, shown)) {
      told.tables.push_back(
          {finding.heading, view.title + title + '\n' + table_of(finding, view, std::move(rows), top)});
    }
  }
  if (told.tables.empty()) {
    return told;
  }
  const auto shown_of = [&](const std::vector<Sentence>& sentences) {
    std::vector<std::string> texts;
    for (const auto& sentence : sentences) {
      if (sentence.measure.empty() || is_shown(finding, sentence.measure, shown)) {
        texts.push_back(sentence.text);
      }
    }
    return texts;
  };
  told.answers = shown_of(finding.answers);
  told.warnings = finding.warnings;
  const auto said = shown_of(finding.sentences);
  if (!said.empty()) {
    auto& first = told.tables.front().text;
    const auto end = first.find('\n') + 1;
    first.insert(end, results::wrapped(base::join(said, "\n")) + '\n');
  }
  told.tables.back().text += finding.notes.empty() ? "" : results::wrapped(finding.notes) + '\n';
  return told;
}

}  // namespace stereosweep::findings
