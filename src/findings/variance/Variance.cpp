#include "findings/variance/Variance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr double enough_share = 0.05;  // of the standard deviation between subjects

/// The mean square of subjects x an axis within items, other axes averaged; NaN without two subjects and two labels.
double interaction_within_items(const CellTable& table, CellAxis axis) {
  const auto [num_subjects, num_labels, num_items] =
      std::array{table.length(CellAxis::subject), table.length(axis), table.length(CellAxis::item)};
  if (num_subjects < 2 || num_labels < 2) {
    return stats::nan;
  }
  const auto cells = means_over(table, {CellAxis::item, CellAxis::subject, axis});
  double squares = 0;
  for (std::size_t item = 0; item < num_items; ++item) {
    const auto* own = cells.data() + item * num_subjects * num_labels;
    std::vector<double> by_subject(num_subjects, 0);
    std::vector<double> by_label(num_labels, 0);
    for (std::size_t place = 0; place < num_subjects * num_labels; ++place) {
      by_subject[place / num_labels] += own[place] / static_cast<double>(num_labels);
      by_label[place % num_labels] += own[place] / static_cast<double>(num_subjects);
    }
    const double mean = std::accumulate(by_subject.begin(), by_subject.end(), 0.0) / static_cast<double>(num_subjects);
    for (std::size_t place = 0; place < num_subjects * num_labels; ++place) {
      const double rest = own[place] - by_subject[place / num_labels] - by_label[place % num_labels] + mean;
      squares += rest * rest;
    }
  }
  return squares / static_cast<double>(num_items * (num_subjects - 1) * (num_labels - 1));
}

/// Between subjects' means of an item (n - 1), pooled over items; NaN for one subject.
double subject_deviation(const CellTable& table) {
  if (table.length(CellAxis::subject) < 2) {
    return stats::nan;
  }
  const auto by_both = means_over(table, {CellAxis::subject, CellAxis::item});
  const auto by_item = means_over(table, {CellAxis::item});
  double squares = 0;
  for (std::size_t place = 0; place < by_both.size(); ++place) {
    const double rest = by_both[place] - by_item[place % by_item.size()];
    squares += rest * rest;
  }
  return std::sqrt(squares / static_cast<double>(by_item.size() * (table.length(CellAxis::subject) - 1)));
}

/// `most`: labels of the axis in the whole table; differences below `rounding` are none.
Sufficiency sufficiency_of(const CellTable& table, CellAxis axis, std::size_t most, double deviation, double rounding) {
  const double square = interaction_within_items(table, axis);
  Sufficiency sufficiency;
  for (std::size_t k = 1; k <= most; ++k) {
    sufficiency.errors.push_back(std::sqrt(square / static_cast<double>(k)));
  }
  if (!std::isnan(square) && deviation > rounding) {
    const double wanted = square / std::pow(enough_share * deviation, 2);
    // one more only where it is no rounding
    const double enough = std::max(1.0, std::ceil(wanted * (1 - 1e-12)));
    sufficiency.enough = enough > std::numeric_limits<std::int32_t>::max() ? -1 : static_cast<std::int32_t>(enough);
  }
  return sufficiency;
}

/// [template], [rephrasing]: how many labels the whole table has.
struct Lengths {
  std::size_t templates = 0;
  std::size_t rephrasings = 0;
};

VarianceRow row_of(CellTable whole, const Lengths& lengths, double confidence) {
  const auto cells = centred(std::move(whole));
  VarianceRow row{shares_of(cells, RunsCompared::one, confidence), stats::nan, {}, {}};
  row.templates.errors.assign(lengths.templates, stats::nan);
  row.rephrasings.errors.assign(lengths.rephrasings, stats::nan);
  if (row.shares.status == VarianceStatus::ok || row.shares.status == VarianceStatus::unbalanced) {
    const double rounding = 1e-12 * cells.largest;
    row.subject_deviation = subject_deviation(cells.table);
    row.templates =
        sufficiency_of(cells.table, CellAxis::template_, lengths.templates, row.subject_deviation, rounding);
    row.rephrasings =
        sufficiency_of(cells.table, CellAxis::rephrasing, lengths.rephrasings, row.subject_deviation, rounding);
  }
  return row;
}

CellTable table_of(const Scores& scores, std::vector<double> values) {
  CellTable table{{1, scores.length(subject_axis), scores.length(template_axis), scores.length(rephrasing_axis),
                   scores.length(replicate_axis), scores.length(item_axis)},
                  std::move(values)};
  return without_mean_replicate(std::move(table), scores.axes[replicate_axis]->labels);
}

/// A row for the other ranks.
UnitBytes bytes_of(const VarianceRow& row) {
  base::ByteWriter out;
  const auto& shares = row.shares;
  out.array<double>(shares.shares).array<double>(shares.lows).array<double>(shares.highs);
  out.array<std::int32_t>(shares.degrees).number(shares.num_cells).number(shares.num_left_out);
  out.number(static_cast<std::uint8_t>(shares.status)).number(row.subject_deviation);
  for (const auto* sufficiency : {&row.templates, &row.rephrasings}) {
    out.array<double>(sufficiency->errors).number(sufficiency->enough);
  }
  return out.take();
}

VarianceRow row_from(const UnitBytes& bytes) {
  base::ByteReader in(bytes);
  VarianceRow row;
  auto& shares = row.shares;
  for (auto* numbers : {&shares.shares, &shares.lows, &shares.highs}) {
    *numbers = in.array<double>();
  }
  shares.degrees = in.array<std::int32_t>();
  shares.num_cells = in.number<std::int32_t>();
  shares.num_left_out = in.number<std::int32_t>();
  shares.status = static_cast<VarianceStatus>(in.number<std::uint8_t>());
  row.subject_deviation = in.number<double>();
  for (auto* sufficiency : {&row.templates, &row.rephrasings}) {
    sufficiency->errors = in.array<double>();
    sufficiency->enough = in.number<std::int32_t>();
  }
  return row;
}

/// "1", "2", ...
results::AxisSchema count_axis(const std::string& name, const std::string& long_name, std::size_t most) {
  results::AxisSchema axis{name, long_name, {}, {}};
  for (std::size_t count = 1; count <= most; ++count) {
    axis.labels.push_back(std::to_string(count));
  }
  return axis;
}

void write_sufficiency(results::Layout& layout, const Variance& variance, const std::string& measure,
                       const std::string& what, Sufficiency VarianceRow::*field) {
  const auto& rows = variance.rows;
  const auto enough =
      results::number_cube("enough_" + what + "s", "1",
                           "smallest number of " + what +
                               "s with a standard error of at most 5 % of the standard deviation between subjects",
                           "-1: none");
  layout.write(enough, {measure}, rows, [&](const VarianceRow& row) { return (row.*field).enough; });
  const auto axis = what + "_count";
  layout.add_axis(count_axis(axis, "number of " + what + "s", (rows.front().*field).errors.size()));
  std::vector<double> errors;
  for (const auto& row : rows) {
    errors.insert(errors.end(), (row.*field).errors.begin(), (row.*field).errors.end());
  }
  layout.write(
      results::number_cube(
          what + "_error", "",
          "standard error of a subject's mean of an item, relative to other subjects, with so many " + what + "s",
          "unit: measure_units"),
      {measure, axis}, errors);
}

std::string enough_text(const Sufficiency& sufficiency) {
  return sufficiency.enough < 0 ? "-" : std::to_string(sufficiency.enough);
}

std::vector<VarianceShares> shares_of_rows(const Variance& variance) {
  std::vector<VarianceShares> shares;
  std::ranges::transform(variance.rows, std::back_inserter(shares), &VarianceRow::shares);
  return shares;
}

}  // namespace

Variance variance_of(const Scores& scores, const sweep::Comparison& comparison) {
  Variance variance{chosen_measures(scores, *comparison.variance, "statistics.variance"), {}, {}};
  const Lengths lengths{scores.length(template_axis), scores.length(rephrasing_axis)};
  for (const auto measure : variance.measures) {
    variance.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
  }
  for (const auto& row :
       share_measures(scores, variance.measures, [&](std::vector<double> values, std::size_t /*place*/) {
         return bytes_of(row_of(table_of(scores, std::move(values)), lengths, comparison.confidence));
       })) {
    variance.rows.push_back(row_from(row));
  }
  return variance;
}

void write_variance(results::Layout& layout, const Variance& variance) {
  const auto measure = measure_axis_of(layout, variance.measures, "variance_measure");
  const auto& rows = variance.rows;
  write_shares(layout, "", measure, RunsCompared::one, shares_of_rows(variance));
  layout.write(results::number_cube("variance_subject_deviation", "",
                                    "standard deviation between subjects' means of one item (n - 1), pooled over items",
                                    "unit: measure_units"),
               {measure}, rows, &VarianceRow::subject_deviation);
  write_sufficiency(layout, variance, measure, "template", &VarianceRow::templates);
  write_sufficiency(layout, variance, measure, "rephrasing", &VarianceRow::rephrasings);
}

std::string variance_text(const Variance& variance, double confidence) {
  results::TextTable table({"measure", "enough templates", "enough rephrasings"});
  for (std::size_t measure = 0; measure < variance.rows.size(); ++measure) {
    const auto& row = variance.rows[measure];
    table.add({variance.measure_names[measure], enough_text(row.templates), enough_text(row.rephrasings)});
  }
  return shares_text(variance.measure_names, RunsCompared::one, shares_of_rows(variance), confidence) + '\n' +
         table.text() +
         results::wrapped(
             "enough: with so many, the standard error of a subject's mean is at most 5 % of the standard deviation "
             "between subjects.\n");
}

}  // namespace stereosweep::findings
