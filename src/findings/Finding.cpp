#include "findings/Finding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/Check.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

const std::vector<std::string> role_names = {"value", "low", "high", "n", "p", "adjusted", "status"};

/// Axes of chosen measures have names of their own, and are shown as the measure.
bool is_called(const std::string& axis, const std::string& name) {
  return axis == name || (name == "measure" && axis.ends_with("_measure"));
}

const Column* column_of(const Finding& finding, std::string_view name) {
  const auto found = std::ranges::find(finding.columns, name, &Column::name);
  return found == finding.columns.end() ? nullptr : &*found;
}

/// Labels of every row by the name of an axis or a coordinate, found once.
class RowLabels {
 public:
  RowLabels(const Finding& finding, const std::string& name) {
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
  bool exist() const { return labels_ != nullptr; }
  const std::string& of(std::size_t row) const { return (*labels_)[row / step_ % labels_->size()]; }

 private:
  const std::vector<std::string>* labels_ = nullptr;
  std::size_t step_ = 1;
};

double number_of(const Column& column, std::size_t row) {
  if (const auto* flags = std::get_if<Flags>(&column.values)) {
    return flags->places[row];
  }
  const auto* counts = std::get_if<std::vector<std::int32_t>>(&column.values);
  return counts != nullptr ? (*counts)[row] : std::get<std::vector<double>>(column.values)[row];
}

/// Why a value does not exist, where the finding says so; else a dash.
std::string reason_of(const Finding& finding, const Column& value, std::size_t row) {
  for (const auto& column : finding.columns) {
    const auto* flags = std::get_if<Flags>(&column.values);
    const bool is_of_it = column.role == Role::status && (column.of.empty() || column.of == value.name);
    if (flags != nullptr && is_of_it && flags->places[row] != 0) {
      return base::replace_all(flags->meanings.at(flags->places[row]), "_", " ");
    }
  }
  return "-";
}

std::string cell_of(const Finding& finding, const Column& column, std::size_t row) {
  if (const auto* flags = std::get_if<Flags>(&column.values)) {
    return flags->meanings.at(flags->places[row]);
  }
  const double value = number_of(column, row);
  if (std::holds_alternative<std::vector<std::int32_t>>(column.values)) {
    return std::to_string(std::get<std::vector<std::int32_t>>(column.values)[row]);
  }
  if (column.role == Role::p || column.role == Role::adjusted) {
    return results::p_value(value);
  }
  if (std::isnan(value) && column.role == Role::value) {
    return reason_of(finding, column, row);
  }
  return results::significant(value);
}

void sort_by(const Finding& finding, const std::string& by, std::vector<std::size_t>& rows) {
  if (by.empty()) {
    return;
  }
  const bool falls = by.starts_with('-');
  const auto* column = column_of(finding, by.substr(falls ? 1 : 0));
  STEREOSWEEP_ASSERT(column != nullptr, "a view is ordered by a column of its finding");
  std::ranges::stable_sort(rows, [&](std::size_t left, std::size_t right) {
    const double first = number_of(*column, left);
    const double second = number_of(*column, right);
    if (std::isnan(first) || std::isnan(second)) {
      return std::isnan(second) && !std::isnan(first);
    }
    return falls ? std::abs(first) > std::abs(second) : first < second;
  });
}

std::string table_of(const Finding& finding, const View& view, std::vector<std::size_t> rows, std::size_t top) {
  if (!view.only.empty()) {
    const auto* column = column_of(finding, view.only);
    STEREOSWEEP_ASSERT(column != nullptr, "a view is narrowed by a column of its finding");
    std::erase_if(rows, [&](std::size_t row) { return std::isnan(number_of(*column, row)); });
  }
  if (rows.empty()) {
    return view.none + '\n';
  }
  sort_by(finding, view.by, rows);
  results::TextTable table(base::mapped(view.columns, [](const auto& column) { return column.second; }));
  const auto shown = std::min(top, rows.size());
  std::vector<std::vector<std::string>> cells(shown);
  for (const auto& shown_column : view.columns) {
    const auto* column = column_of(finding, shown_column.first);
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
  std::vector<RowLabels> each;
  for (const auto& name : view.each) {
    if (RowLabels labels(finding, name); labels.exist()) {
      each.push_back(labels);
    }
  }
  std::vector<std::pair<std::string, std::vector<std::size_t>>> tables;
  std::map<std::string, std::size_t> places;
  for (std::size_t row = 0; row < finding.num_rows(); ++row) {
    if (measures.exist() && !is_shown(finding, measures.of(row), shown)) {
      continue;
    }
    std::string title;
    for (const auto& labels : each) {
      title += (title.empty() ? "" : ", ") + labels.of(row);
    }
    const auto place = places.try_emplace(title, tables.size()).first->second;
    if (place == tables.size()) {
      tables.emplace_back(title, std::vector<std::size_t>());
    }
    tables[place].second.push_back(row);
  }
  return tables;
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

std::string views_json(const Finding& finding) {
  auto views = base::Json::array();
  for (const auto& view : finding.views) {
    auto columns = base::Json::array();
    for (const auto& [name, head] : view.columns) {
      columns.push_back({column_of(finding, name) == nullptr ? name : finding.variable(name), head});
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
  if (&column != &finding.columns.front()) {
    return;
  }
  if (!finding.heading.empty()) {
    dataset.write_attribute("heading", finding.heading);
  }
  if (!finding.views.empty()) {
    dataset.write_attribute("views", views_json(finding));
  }
  if (!finding.named.empty()) {
    dataset.write_attribute("named_measures", base::join(finding.named, "\n"));
  }
  const auto sentences =
      base::mapped(finding.sentences, [](const Sentence& sentence) { return sentence.measure + '\t' + sentence.text; });
  if (!sentences.empty()) {
    dataset.write_attribute("sentences", base::join(sentences, "\n"));
  }
  if (!finding.notes.empty()) {
    dataset.write_attribute("notes", finding.notes);
  }
  if (!finding.warnings.empty()) {
    dataset.write_attribute("warnings", base::join(finding.warnings, "\n"));
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
    const auto name = finding.variable(column.name);
    const auto* flags = std::get_if<Flags>(&column.values);
    const auto numbers = results::number_cube(name, column.unit, column.what, column.note);
    const auto* counts = std::get_if<std::vector<std::int32_t>>(&column.values);
    auto dataset = flags != nullptr
                       ? layout.write(results::flag_cube(name, column.what, flags->meanings), axes, flags->places)
                   : counts != nullptr ? layout.write(numbers, axes, *counts)
                                       : layout.write(numbers, axes, std::get<std::vector<double>>(column.values));
    write_attributes(dataset, finding, column);
  }
}

std::string text_of(const Finding& finding, std::size_t top, const results::ShownMeasures& shown) {
  std::string tables;
  for (const auto& view : finding.views) {
    for (auto& [title, rows] : tables_of(finding, view, shown)) {
      tables += '\n' + view.title + title + '\n' + table_of(finding, view, std::move(rows), top);
    }
  }
  if (tables.empty()) {
    return "";
  }
  std::string text;
  const auto add = [&](const std::string& sentences) {
    text += sentences.empty() ? "" : results::wrapped(sentences) + '\n';
  };
  for (const auto& sentence : finding.sentences) {
    if (sentence.measure.empty() || is_shown(finding, sentence.measure, shown)) {
      text += text.empty() ? "\n" : "";
      add(sentence.text);
    }
  }
  text += tables;
  add(finding.notes);
  for (const auto& warning : finding.warnings) {
    add("WARNING: " + warning);
  }
  return text;
}

}  // namespace stereosweep::findings
