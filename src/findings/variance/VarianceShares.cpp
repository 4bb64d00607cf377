#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "findings/variance/Variance.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr double no_share = 1e-12;  // what rounding leaves of a share that is 0

std::vector<std::int32_t> degrees_in(const CellTable& table, RunsCompared runs) {
  const auto degrees = [&](CellAxis axis) { return static_cast<std::int32_t>(table.length(axis)) - 1; };
  const auto subjects = degrees(CellAxis::subject);
  const auto items = degrees(CellAxis::item);
  std::vector<std::int32_t> list = {subjects,
                                    items,
                                    subjects * items,
                                    degrees(CellAxis::template_),
                                    degrees(CellAxis::rephrasing),
                                    degrees(CellAxis::replicate)};
  if (runs == RunsCompared::several) {
    list.push_back(degrees(CellAxis::run));
    list.push_back(degrees(CellAxis::run) * ((subjects + 1) * (items + 1) - 1));
  }
  list.push_back(static_cast<std::int32_t>(table.values.size()) - 1 - std::accumulate(list.begin(), list.end(), 0));
  return list;
}

/// [run, template, rephrasing, subject and item], replicates averaged.
MeanSquares squares_of_runs(const CellTable& table) {
  return {
      {table.length(CellAxis::run), table.length(CellAxis::template_), table.length(CellAxis::rephrasing),
       table.length(CellAxis::subject) * table.length(CellAxis::item)},
      means_over(table, {CellAxis::run, CellAxis::template_, CellAxis::rephrasing, CellAxis::subject, CellAxis::item})};
}
constexpr AxisSet run_effect = 1;
constexpr AxisSet pair_effect = 8;

/// Sum of squares of the means over one axis alone.
double main_square(const CellTable& table, CellAxis axis) {
  const auto means = means_over(table, {axis});
  return std::inner_product(means.begin(), means.end(), means.begin(), 0.0) *
         static_cast<double>(table.values.size() / means.size());
}

/// `row` has its degrees of freedom.
void take_apart(VarianceShares& row, const CellTable& table, RunsCompared runs, double confidence) {
  const auto squares = squares_of(table);
  const auto repeats = static_cast<double>(table.length(CellAxis::run) * table.length(CellAxis::replicate));
  std::vector<double> sums;
  row.components.clear();
  const bool has_error = (squares.present() & (effect::template_ | effect::rephrasing)) != 0;
  for (const auto source :
       {effect::subject, effect::item, effect::subject | effect::item, effect::template_, effect::rephrasing}) {
    sums.push_back(squares.square(source) * repeats);
    row.components.push_back(has_error ? squares.component(source, confidence) : stats::VarianceComponent());
  }
  sums.push_back(main_square(table, CellAxis::replicate));
  row.components.emplace_back();
  if (runs == RunsCompared::several) {
    const auto by_run = squares_of_runs(table);
    const auto replicates = static_cast<double>(table.length(CellAxis::replicate));
    for (const auto source : {run_effect, run_effect | pair_effect}) {
      sums.push_back(by_run.square(source) * replicates);
      row.components.push_back(has_error ? by_run.component(source, confidence) : stats::VarianceComponent());
    }
  }
  const double total = std::inner_product(table.values.begin(), table.values.end(), table.values.begin(), 0.0);
  const double rest = total - std::accumulate(sums.begin(), sums.end(), 0.0);
  sums.push_back(rest);
  const auto degrees = static_cast<double>(row.degrees.back());
  row.components.push_back(degrees > 0
                               ? stats::variance_component({{{1, std::max(rest, 0.0) / degrees, degrees}}}, confidence)
                               : stats::VarianceComponent());
  for (std::size_t source = 0; source < sums.size(); ++source) {
    row.shares[source] = sums[source] < no_share * total ? 0 : sums[source] / total;
  }
}

class CompletePart {
 public:
  explicit CompletePart(const CellTable& table) : table_(table), num_kept_(table.lengths) {
    for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
      missing_[axis].assign(table.lengths[axis], 0);
      kept_[axis].assign(table.lengths[axis], true);
    }
    each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
      if (!std::isfinite(table_.values[place])) {
        holes_.push_back(at);
        for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
          ++missing_[axis][at[axis]];
        }
      }
    });
    while (!holes_.empty()) {
      drop_worst();
    }
  }

  CellTable part() const {
    CellTable part{num_kept_, {}};
    part.values.reserve(std::accumulate(num_kept_.begin(), num_kept_.end(), std::size_t{1}, std::multiplies<>()));
    each_cell(table_.lengths, [&](const CellIndex& at, std::size_t place) {
      bool is_kept = true;
      for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
        is_kept = is_kept && kept_[axis][at[axis]];
      }
      if (is_kept) {
        part.values.push_back(table_.values[place]);
      }
    });
    return part;
  }

 private:
  void drop_worst() {
    std::size_t worst_axis = 0;
    std::size_t worst = 0;
    std::size_t most = 0;
    for (const auto order : {CellAxis::template_, CellAxis::subject, CellAxis::rephrasing, CellAxis::replicate,
                             CellAxis::item, CellAxis::run}) {
      const auto axis = static_cast<std::size_t>(order);
      for (std::size_t label = 0; label < missing_[axis].size(); ++label) {
        // the share of missing cells, times a number that is the same for all labels
        const auto share = missing_[axis][label] * num_kept_[axis];
        if (share > most) {
          most = share;
          worst_axis = axis;
          worst = label;
        }
      }
    }
    std::erase_if(holes_, [&](const CellIndex& at) {
      if (at[worst_axis] != worst) {
        return false;
      }
      for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
        --missing_[axis][at[axis]];
      }
      return true;
    });
    kept_[worst_axis][worst] = false;
    --num_kept_[worst_axis];
  }

  const CellTable& table_;
  std::vector<CellIndex> holes_;                                 ///< missing cells among those kept
  std::array<std::vector<std::size_t>, num_cell_axes> missing_;  ///< [axis][label]: how many of them
  std::array<std::vector<bool>, num_cell_axes> kept_;
  CellIndex num_kept_;
};

}  // namespace

std::vector<std::string> variance_sources(RunsCompared runs) {
  std::vector<std::string> sources = {"subject", "item", "subject x item", "template", "rephrasing", "replicate"};
  if (runs == RunsCompared::several) {
    sources.insert(sources.end(), {"run", "run x subject x item"});
  }
  sources.emplace_back("residual");
  return sources;
}

CentredTable centred(CellTable table) {
  const auto num_scores = std::ranges::count_if(table.values, [](double value) { return std::isfinite(value); });
  const bool is_complete = std::cmp_equal(num_scores, table.values.size());
  CentredTable result{complete_part(std::move(table)), 0, 0, VarianceStatus::no_values};
  auto& values = result.table.values;
  result.num_left_out = static_cast<std::int32_t>(num_scores - std::ssize(values));
  if (values.empty()) {
    return result;
  }
  const auto [least, most] = std::ranges::minmax(values);
  result.largest = std::max(std::abs(least), std::abs(most));
  result.status = least == most ? VarianceStatus::constant
                  : is_complete ? VarianceStatus::ok
                                : VarianceStatus::unbalanced;
  const double mean = stats::mean(values).value;
  std::ranges::for_each(values, [&](double& value) { value -= mean; });
  return result;
}

MeanSquares squares_of(const CellTable& centred) {
  const std::vector<std::size_t> lengths = {centred.length(CellAxis::subject), centred.length(CellAxis::template_),
                                            centred.length(CellAxis::rephrasing), centred.length(CellAxis::item)};
  if (centred.length(CellAxis::run) == 1 && centred.length(CellAxis::replicate) == 1) {
    return {lengths, centred.values};
  }
  return {lengths, means_over(centred, {CellAxis::subject, CellAxis::template_, CellAxis::rephrasing, CellAxis::item})};
}

VarianceShares shares_of(const CentredTable& centred, RunsCompared runs, double confidence) {
  const auto& table = centred.table;
  const auto num_sources = variance_sources(runs).size();
  VarianceShares row;
  row.shares.assign(num_sources, stats::nan);
  row.components.assign(num_sources, {});
  row.degrees.assign(num_sources, 0);
  row.num_cells = static_cast<std::int32_t>(table.values.size());
  row.num_left_out = centred.num_left_out;
  row.status = centred.status;
  if (row.status != VarianceStatus::no_values && row.status != VarianceStatus::constant) {
    row.degrees = degrees_in(table, runs);
    take_apart(row, table, runs, confidence);
  }
  return row;
}

std::vector<Finding> findings_of(const std::string& prefix, const results::AxisSchema& measures, RunsCompared runs,
                                 const std::vector<VarianceShares>& rows, double confidence) {
  struct Source {
    double share;
    stats::VarianceComponent component;
    std::int32_t degrees;
  };
  std::vector<Source> sources;
  for (const auto& row : rows) {
    for (std::size_t source = 0; source < row.shares.size(); ++source) {
      sources.push_back({row.shares[source], row.components[source], row.degrees[source]});
    }
  }
  const auto component = [](double stats::VarianceComponent::*field) {
    return [field](const Source& source) { return source.component.*field; };
  };
  const auto interval = results::percent(confidence) + " interval, modified large sample";
  Finding by_source{.name = prefix + "variance",
                    .axes = {measures, {"variance_source", "source of variance", variance_sources(runs), {}}}};
  by_source.add(Role::value, sources, "share", "1", "share of the total sum of squares", &Source::share);
  by_source.add(Role::value, sources, "component", squared_unit,
                "variance component by expected mean squares; of the residual its mean square",
                component(&stats::VarianceComponent::value));
  by_source.add(Role::low, sources, "component_low", squared_unit, "lower end of the " + interval,
                component(&stats::VarianceComponent::low));
  by_source.add(Role::high, sources, "component_high", squared_unit, "upper end of the " + interval,
                component(&stats::VarianceComponent::high));
  for (auto& column : by_source.columns) {
    column.of = column.role == Role::value ? "" : "component";
  }
  by_source.add(Role::value, sources, "degrees", "1", "degrees of freedom", &Source::degrees);
  by_source.views = {
      {"Variance in parts by source of ",
       table_columns("source: variance_source, share, component, low: component_low, high: component_high, degrees"),
       ""}};
  by_source.notes =
      "share: of the total sum of squares; pure noise has shares too. component: the variance that labels "
      "of a source add beyond noise, all of them samples, with its " +
      results::percent(confidence) +
      " interval (normal effects); a source whose interval holds 0 has "
      "no variance of its own that these data show.";
  Finding of_table{.name = prefix + "variance", .axes = {measures}};
  of_table.add(Role::n, rows, "n", "1", "scores that the variance is computed on", &VarianceShares::num_cells);
  of_table.add(Role::n, rows, "num_left_out", "1", "scores left out to make the table complete",
               &VarianceShares::num_left_out);
  of_table.add_flags(Role::status, rows, "status", "whether the table was complete, and why no shares are",
                     {"ok", "no_values", "constant", "unbalanced"}, &VarianceShares::status);
  return {std::move(by_source), std::move(of_table)};
}

CellTable complete_part(CellTable table) {
  const bool is_complete = std::ranges::all_of(table.values, [](double value) { return std::isfinite(value); });
  return is_complete ? table : CompletePart(table).part();
}

CellTable without_mean_replicate(CellTable table, const std::vector<std::string>& replicates) {
  const auto mean = std::ranges::find(replicates, results::ScoreTable::mean_replicate);
  if (mean == replicates.end()) {
    return table;
  }
  constexpr auto axis = static_cast<std::size_t>(CellAxis::replicate);
  CellTable others{table.lengths, {}};
  others.lengths[axis] -= 1;
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    if (std::cmp_not_equal(at[axis], mean - replicates.begin())) {
      others.values.push_back(table.values[place]);
    }
  });
  const bool has_others = std::ranges::any_of(others.values, [](double value) { return std::isfinite(value); });
  return has_others ? others : table;
}

std::vector<double> means_over(const CellTable& table, const std::vector<CellAxis>& axes) {
  std::size_t size = 1;
  for (const auto axis : axes) {
    size *= table.length(axis);
  }
  std::vector<double> means(size, 0);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    std::size_t index = 0;
    for (const auto axis : axes) {
      index = index * table.length(axis) + at[static_cast<std::size_t>(axis)];
    }
    means[index] += table.values[place];
  });
  const auto each = static_cast<double>(table.values.size() / size);
  std::ranges::for_each(means, [&](double& mean) { mean /= each; });
  return means;
}

}  // namespace stereosweep::findings
