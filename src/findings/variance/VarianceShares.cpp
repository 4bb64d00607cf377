#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/Lists.hpp"
#include "findings/variance/Variance.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr double no_share = 1e-12;  // what rounding leaves of a share that is 0

/// [run, template, rephrasing, subject and item], replicates averaged.
MeanSquares squares_of_runs(const CellTable& table) {
  return {{table.lengths[axis_of_runs], table.lengths[template_axis], table.lengths[rephrasing_axis],
           table.lengths[subject_axis] * table.lengths[item_axis]},
          means_over(table, {axis_of_runs, template_axis, rephrasing_axis, subject_axis, item_axis})};
}
constexpr AxisSet run_effect = 1;
constexpr AxisSet pair_effect = 8;

/// Sum of squares of the means over one axis alone.
double main_square(const CellTable& table, std::size_t axis) {
  const auto means = means_over(table, {axis});
  return std::inner_product(means.begin(), means.end(), means.begin(), 0.0) *
         static_cast<double>(table.values.size() / means.size());
}

/// [source]
std::vector<VarianceSource> take_apart(const CellTable& table, RunsCompared runs, double confidence) {
  const double total = std::inner_product(table.values.begin(), table.values.end(), table.values.begin(), 0.0);
  std::vector<VarianceSource> sources;
  double explained = 0;
  auto degrees_left = static_cast<double>(table.values.size()) - 1;
  const auto add = [&](double sum, double degrees, const stats::VarianceComponent& component) {
    sources.push_back({sum < no_share * total ? 0 : sum / total, component, static_cast<std::int32_t>(degrees)});
    explained += sum;
    degrees_left -= degrees;
  };
  const auto squares = squares_of(table);
  const bool has_error = (squares.present() & (effect::template_ | effect::rephrasing)) != 0;
  const auto add_effects = [&](const MeanSquares& of_axes, double repeats, std::initializer_list<AxisSet> effects) {
    for (const auto one : effects) {
      add(of_axes.square(one) * repeats, of_axes.degrees(one),
          has_error ? of_axes.component(one, confidence) : stats::VarianceComponent());
    }
  };
  const auto num_replicates = static_cast<double>(table.lengths[replicate_axis]);
  add_effects(squares, static_cast<double>(table.lengths[axis_of_runs]) * num_replicates,
              {effect::subject, effect::item, effect::subject | effect::item, effect::template_, effect::rephrasing});
  add(main_square(table, replicate_axis), num_replicates - 1, {});
  if (runs == RunsCompared::several) {
    add_effects(squares_of_runs(table), num_replicates, {run_effect, run_effect | pair_effect});
  }
  const double rest = std::max(total - explained, 0.0);
  add(total - explained, degrees_left,
      degrees_left > 0 ? stats::variance_component({{{1, rest / degrees_left, degrees_left}}}, confidence)
                       : stats::VarianceComponent());
  return sources;
}

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
  CentredTable result{.table = is_complete ? std::move(table) : complete_part(std::move(table))};
  auto& values = result.table.values;
  result.num_left_out = static_cast<std::int32_t>(num_scores - std::ssize(values));
  if (values.empty()) {
    return result;
  }
  const auto [least, most] = std::ranges::minmax(values);
  result.status = least == most ? VarianceStatus::constant
                  : is_complete ? VarianceStatus::ok
                                : VarianceStatus::unbalanced;
  const double mean = stats::mean(values).value;
  std::ranges::for_each(values, [&](double& value) { value -= mean; });
  return result;
}

MeanSquares squares_of(const CellTable& centred) {
  const std::vector<std::size_t> lengths = {centred.lengths[subject_axis], centred.lengths[template_axis],
                                            centred.lengths[rephrasing_axis], centred.lengths[item_axis]};
  if (centred.lengths[axis_of_runs] == 1 && centred.lengths[replicate_axis] == 1) {
    return {lengths, centred.values};
  }
  return {lengths, means_over(centred, {subject_axis, template_axis, rephrasing_axis, item_axis})};
}

VarianceShares shares_of(const CentredTable& centred, RunsCompared runs, double confidence) {
  const bool has_variance = centred.status == VarianceStatus::ok || centred.status == VarianceStatus::unbalanced;
  return {.sources = has_variance ? take_apart(centred.table, runs, confidence)
                                  : std::vector<VarianceSource>(variance_sources(runs).size()),
          .num_cells = static_cast<std::int32_t>(centred.table.values.size()),
          .num_left_out = centred.num_left_out,
          .status = centred.status};
}

std::vector<Finding> findings_of(const std::string& prefix, const results::AxisSchema& measures, RunsCompared runs,
                                 const std::vector<VarianceShares>& rows, double confidence) {
  const auto sources = base::joined(rows, &VarianceShares::sources);
  Finding by_source{.name = prefix + "variance",
                    .axes = {measures, {"variance_source", "source of variance", variance_sources(runs), {}}}};
  const RowColumns add{by_source, sources};
  const auto component = &VarianceSource::component;
  add(Role::value, "share", "1", "share of the total sum of squares", &VarianceSource::share);
  add(Role::value, "component", squared_unit,
      "variance component by expected mean squares; of the residual its mean square", component,
      &stats::VarianceComponent::value);
  add.interval({.what = results::percent(confidence) + " interval, modified large sample",
                .unit = squared_unit,
                .prefix = "component_",
                .of = "component"},
               component);
  add(Role::value, "degrees", "1", "degrees of freedom", &VarianceSource::degrees);
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
  auto num_kept = table.lengths;
  std::vector<CellIndex> holes;                                 // missing cells among those kept
  std::array<std::vector<std::size_t>, num_cell_axes> missing;  // [axis][label]: how many of them
  std::array<std::vector<bool>, num_cell_axes> kept;
  const auto each_axis = [](const auto& use) {
    for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
      use(axis);
    }
  };
  each_axis([&](std::size_t axis) {
    missing[axis].assign(table.lengths[axis], 0);
    kept[axis].assign(table.lengths[axis], true);
  });
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    if (!std::isfinite(table.values[place])) {
      holes.push_back(at);
      each_axis([&](std::size_t axis) { ++missing[axis][at[axis]]; });
    }
  });
  while (!holes.empty()) {
    std::size_t worst_axis = 0;
    std::size_t worst = 0;
    std::size_t most = 0;
    for (const auto axis : {template_axis, subject_axis, rephrasing_axis, replicate_axis, item_axis, axis_of_runs}) {
      for (std::size_t label = 0; label < missing[axis].size(); ++label) {
        // the share of missing cells, times a number that is the same for all labels
        const auto share = missing[axis][label] * num_kept[axis];
        if (share > most) {
          std::tie(most, worst_axis, worst) = std::tie(share, axis, label);
        }
      }
    }
    std::erase_if(holes, [&](const CellIndex& at) {
      const bool is_dropped = at[worst_axis] == worst;
      each_axis([&](std::size_t axis) { missing[axis][at[axis]] -= is_dropped ? 1 : 0; });
      return is_dropped;
    });
    kept[worst_axis][worst] = false;
    --num_kept[worst_axis];
  }
  CellTable part{num_kept, {}};
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    bool is_kept = true;
    each_axis([&](std::size_t axis) { is_kept = is_kept && kept[axis][at[axis]]; });
    if (is_kept) {
      part.values.push_back(table.values[place]);
    }
  });
  return part;
}

CellTable without_mean_replicate(CellTable table, const std::vector<std::string>& replicates) {
  const auto mean = results::place_of(replicates, results::ScoreTable::mean_replicate);
  if (!mean) {
    return table;
  }
  CellTable others{table.lengths, {}};
  others.lengths[replicate_axis] -= 1;
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    if (at[replicate_axis] != *mean) {
      others.values.push_back(table.values[place]);
    }
  });
  const bool has_others = std::ranges::any_of(others.values, [](double value) { return std::isfinite(value); });
  return has_others ? others : table;
}

std::vector<double> means_over(const CellTable& table, const std::vector<std::size_t>& axes) {
  std::size_t size = 1;
  for (const auto axis : axes) {
    size *= table.lengths[axis];
  }
  std::vector<double> means(size, 0);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    std::size_t index = 0;
    for (const auto axis : axes) {
      index = index * table.lengths[axis] + at[axis];
    }
    means[index] += table.values[place];
  });
  const auto each = static_cast<double>(table.values.size() / size);
  std::ranges::for_each(means, [&](double& mean) { mean /= each; });
  return means;
}

}  // namespace stereosweep::findings
