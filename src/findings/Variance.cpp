#include "findings/Variance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr double enough_share = 0.05;  // of the standard deviation between subjects

// Places of the axes in a table of one measure: without that of measures.
constexpr std::size_t place_of_subjects = subject_axis - 1;
constexpr std::size_t place_of_templates = template_axis - 1;
constexpr std::size_t place_of_rephrasings = rephrasing_axis - 1;
constexpr std::size_t place_of_replicates = replicate_axis - 1;
constexpr std::size_t place_of_items = item_axis - 1;
constexpr std::size_t num_axes = place_of_items + 1;

/// [subject, template, rephrasing, replicate, item]
struct Table {
  std::array<std::size_t, num_axes> lengths{};
  std::vector<double> values;
};

/// Calls `use(indices, place)` for all cells, in order, whose index on `axis` is `only`; on no axis: for all.
template <class Use>
void each_cell(const std::array<std::size_t, num_axes>& lengths, std::size_t axis, std::size_t only, Use use) {
  std::array<std::size_t, num_axes> first{};
  std::array<std::size_t, num_axes> last = lengths;
  if (axis < num_axes) {
    first[axis] = only;
    last[axis] = only + 1;
  }
  std::array<std::size_t, num_axes> at{};
  for (at[0] = first[0]; at[0] < last[0]; ++at[0]) {
    for (at[1] = first[1]; at[1] < last[1]; ++at[1]) {
      for (at[2] = first[2]; at[2] < last[2]; ++at[2]) {
        for (at[3] = first[3]; at[3] < last[3]; ++at[3]) {
          const auto row = ((at[0] * lengths[1] + at[1]) * lengths[2] + at[2]) * lengths[3] + at[3];
          for (at[4] = first[4]; at[4] < last[4]; ++at[4]) {
            use(std::as_const(at), row * lengths[4] + at[4]);
          }
        }
      }
    }
  }
}

/// Finds a complete table inside a table with missing cells: as long as cells are missing, the label (of any axis) that
/// lacks the largest share of its cells is dropped; of equals a template, subject, rephrasing, replicate, item.
class CompletePart {
 public:
  explicit CompletePart(const Table& table) : table_(table) {
    for (std::size_t axis = 0; axis < num_axes; ++axis) {
      missing_[axis].assign(table.lengths[axis], 0);
      kept_[axis].assign(table.lengths[axis], true);
    }
    num_kept_ = table.lengths;
    each_cell(table.lengths, num_axes, 0, [&](const auto& at, std::size_t place) {
      if (!std::isfinite(table_.values[place])) {
        ++num_missing_;
        for (std::size_t axis = 0; axis < num_axes; ++axis) {
          ++missing_[axis][at[axis]];
        }
      }
    });
    while (num_missing_ > 0) {
      drop_worst();
    }
  }

  Table table() const {
    Table part{num_kept_, {}};
    part.values.reserve(std::accumulate(num_kept_.begin(), num_kept_.end(), std::size_t{1}, std::multiplies<>()));
    each_cell(table_.lengths, num_axes, 0, [&](const auto& at, std::size_t place) {
      if (is_kept(at)) {
        part.values.push_back(table_.values[place]);
      }
    });
    return part;
  }

 private:
  bool is_kept(const std::array<std::size_t, num_axes>& at) const {
    return kept_[0][at[0]] && kept_[1][at[1]] && kept_[2][at[2]] && kept_[3][at[3]] && kept_[4][at[4]];
  }

  void drop_worst() {
    std::size_t worst_axis = 0;
    std::size_t worst = 0;
    std::size_t most = 0;
    for (const auto axis :
         {place_of_templates, place_of_subjects, place_of_rephrasings, place_of_replicates, place_of_items}) {
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
    each_cell(table_.lengths, worst_axis, worst, [&](const auto& at, std::size_t place) {
      if (!std::isfinite(table_.values[place]) && is_kept(at)) {
        --num_missing_;
        for (std::size_t axis = 0; axis < num_axes; ++axis) {
          --missing_[axis][at[axis]];
        }
      }
    });
    kept_[worst_axis][worst] = false;
    --num_kept_[worst_axis];
  }

  const Table& table_;
  std::array<std::vector<std::size_t>, num_axes> missing_;  ///< [axis][label]: cells among those kept
  std::array<std::vector<bool>, num_axes> kept_;
  std::array<std::size_t, num_axes> num_kept_{};
  std::size_t num_missing_ = 0;
};

/// Means of a complete table over all but some axes, [axis, axis, ...].
std::vector<double> means_over(const Table& table, std::span<const std::size_t> axes) {
  std::size_t size = 1;
  for (const auto axis : axes) {
    size *= table.lengths[axis];
  }
  std::vector<double> means(size, 0);
  each_cell(table.lengths, num_axes, 0, [&](const auto& at, std::size_t place) {
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

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// Sums of squares of a complete table whose mean is 0.
void add_shares(VarianceRow& row, const Table& table) {
  const auto size = static_cast<double>(table.values.size());
  const auto by_subject = means_over(table, std::array{place_of_subjects});
  const auto by_item = means_over(table, std::array{place_of_items});
  const auto by_both = means_over(table, std::array{place_of_subjects, place_of_items});
  const auto by_template = means_over(table, std::array{place_of_templates});
  const auto by_rephrasing = means_over(table, std::array{place_of_rephrasings});
  const auto by_replicate = means_over(table, std::array{place_of_replicates});
  double residual = 0;
  each_cell(table.lengths, num_axes, 0, [&](const auto& at, std::size_t place) {
    const double rest = table.values[place] - by_both[at[place_of_subjects] * by_item.size() + at[place_of_items]] -
                        by_template[at[place_of_templates]] - by_rephrasing[at[place_of_rephrasings]] -
                        by_replicate[at[place_of_replicates]];
    residual += rest * rest;
  });
  double interaction = 0;
  for (std::size_t place = 0; place < by_both.size(); ++place) {
    const double rest = by_both[place] - by_subject[place / by_item.size()] - by_item[place % by_item.size()];
    interaction += rest * rest;
  }
  const auto scaled = [&](const std::vector<double>& means) {
    return sum_of_squares(means) * size / static_cast<double>(means.size());
  };
  row.shares = {scaled(by_subject),
                scaled(by_item),
                interaction * size / static_cast<double>(by_both.size()),
                scaled(by_template),
                scaled(by_rephrasing),
                scaled(by_replicate),
                residual};
  const auto degrees = [](std::size_t length) { return static_cast<std::int32_t>(length) - 1; };
  row.degrees = {degrees(by_subject.size()),
                 degrees(by_item.size()),
                 degrees(by_subject.size()) * degrees(by_item.size()),
                 degrees(by_template.size()),
                 degrees(by_rephrasing.size()),
                 degrees(by_replicate.size()),
                 0};
  row.degrees.back() = degrees(table.values.size()) - std::accumulate(row.degrees.begin(), row.degrees.end(), 0);
  const double total = std::accumulate(row.shares.begin(), row.shares.end(), 0.0);
  for (std::size_t source = 0; source < row.shares.size(); ++source) {
    row.shares[source] = row.degrees[source] == 0 ? 0 : row.shares[source] / total;
  }
}

/// The mean square of subjects x an axis within items, other axes averaged; NaN without two subjects and two labels.
double interaction_within_items(const Table& table, std::size_t axis) {
  const auto [num_subjects, num_labels, num_items] =
      std::array{table.lengths[place_of_subjects], table.lengths[axis], table.lengths[place_of_items]};
  if (num_subjects < 2 || num_labels < 2) {
    return stats::nan;
  }
  const auto cells = means_over(table, std::array{place_of_items, place_of_subjects, axis});
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
double subject_deviation(const Table& table) {
  if (table.lengths[place_of_subjects] < 2) {
    return stats::nan;
  }
  const auto by_both = means_over(table, std::array{place_of_subjects, place_of_items});
  const auto by_item = means_over(table, std::array{place_of_items});
  double squares = 0;
  for (std::size_t place = 0; place < by_both.size(); ++place) {
    const double rest = by_both[place] - by_item[place % by_item.size()];
    squares += rest * rest;
  }
  return std::sqrt(squares / static_cast<double>(by_item.size() * (table.lengths[place_of_subjects] - 1)));
}

/// `most`: labels of the axis in the whole table; differences below `rounding` are none.
Sufficiency sufficiency_of(const Table& table, std::size_t axis, std::size_t most, double deviation, double rounding) {
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

VarianceRow row_of(Table whole) {
  VarianceRow row;
  row.shares.fill(stats::nan);
  const auto num_scores = std::ranges::count_if(whole.values, [](double value) { return std::isfinite(value); });
  const auto lengths = whole.lengths;
  const bool is_complete = static_cast<std::size_t>(num_scores) == whole.values.size();
  auto table = is_complete ? std::move(whole) : CompletePart(whole).table();
  row.num_cells = static_cast<std::int32_t>(table.values.size());
  row.num_left_out = static_cast<std::int32_t>(num_scores) - row.num_cells;
  row.templates.errors.assign(lengths[place_of_templates], stats::nan);
  row.rephrasings.errors.assign(lengths[place_of_rephrasings], stats::nan);
  if (table.values.empty()) {
    return row;
  }
  const auto [least, most] = std::ranges::minmax(table.values);
  if (least == most) {
    row.status = VarianceStatus::constant;
    return row;
  }
  row.status = is_complete ? VarianceStatus::ok : VarianceStatus::unbalanced;
  const double rounding = 1e-12 * std::max(std::abs(least), std::abs(most));
  const double mean = stats::mean(table.values).value;
  std::ranges::for_each(table.values, [&](double& value) { value -= mean; });
  add_shares(row, table);
  row.subject_deviation = subject_deviation(table);
  row.templates =
      sufficiency_of(table, place_of_templates, lengths[place_of_templates], row.subject_deviation, rounding);
  row.rephrasings =
      sufficiency_of(table, place_of_rephrasings, lengths[place_of_rephrasings], row.subject_deviation, rounding);
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
  auto enough =
      results::number_cube("enough_" + what + "s", "1",
                           "smallest number of " + what +
                               "s with a standard error of at most 5 % of the standard deviation between subjects",
                           "-1: none");
  enough.type = hdf5::ElementType::int32;
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

}  // namespace

Variance variance_of(const Scores& scores, const sweep::Comparison& comparison) {
  Variance variance{chosen_measures(scores, *comparison.variance, "statistics.variance"), {}, {}};
  for (const auto measure : variance.measures) {
    Table table;
    for (std::size_t axis = 0; axis < num_axes; ++axis) {
      table.lengths[axis] = scores.length(subject_axis + axis);
    }
    table.values = scores.read(measure);
    variance.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
    variance.rows.push_back(row_of(std::move(table)));
  }
  return variance;
}

void write_variance(results::Layout& layout, const Variance& variance) {
  const auto measure = measure_axis_of(layout, variance.measures, "variance_measure");
  const auto& rows = variance.rows;
  layout.add_axis({"variance_source", "source of variance", {variance_sources.begin(), variance_sources.end()}, {}});
  std::vector<double> shares;
  std::vector<std::int32_t> degrees;
  for (const auto& row : rows) {
    shares.insert(shares.end(), row.shares.begin(), row.shares.end());
    degrees.insert(degrees.end(), row.degrees.begin(), row.degrees.end());
  }
  const auto count = [](const char* name, const char* long_name) {
    auto cube = results::number_cube(name, "1", long_name);
    cube.type = hdf5::ElementType::int32;
    return cube;
  };
  layout.write(results::number_cube("variance_share", "1", "share of the total sum of squares"),
               {measure, "variance_source"}, shares);
  layout.write(count("variance_degrees", "degrees of freedom"), {measure, "variance_source"}, degrees);
  layout.write(results::number_cube("variance_subject_deviation", "",
                                    "standard deviation between subjects' means of one item (n - 1), pooled over items",
                                    "unit: measure_units"),
               {measure}, rows, &VarianceRow::subject_deviation);
  layout.write(count("variance_n", "scores that the shares are computed on"), {measure}, rows, &VarianceRow::num_cells);
  layout.write(count("variance_num_left_out", "scores left out to make the table complete"), {measure}, rows,
               &VarianceRow::num_left_out);
  layout.write(results::flag_cube("variance_status", "whether the table was complete, and why there are no shares",
                                  {"ok", "no_values", "constant", "unbalanced"}),
               {measure}, rows, &VarianceRow::status);
  write_sufficiency(layout, variance, measure, "template", &VarianceRow::templates);
  write_sufficiency(layout, variance, measure, "rephrasing", &VarianceRow::rephrasings);
}

std::string variance_text(const Variance& variance) {
  std::vector<std::string> head = {"measure"};
  head.insert(head.end(), variance_sources.begin(), variance_sources.end());
  head.insert(head.end(), {"left out", "enough templates", "enough rephrasings"});
  results::TextTable table(head);
  for (std::size_t measure = 0; measure < variance.rows.size(); ++measure) {
    const auto& row = variance.rows[measure];
    std::vector<std::string> cells = {variance.measure_names[measure]};
    for (const double share : row.shares) {
      cells.push_back(results::fixed(100 * share, 1));
    }
    cells.push_back(std::to_string(row.num_left_out));
    cells.push_back(enough_text(row.templates));
    cells.push_back(enough_text(row.rephrasings));
    table.add(std::move(cells));
  }
  return "\nVariance in % by source\n" + table.text() +
         results::wrapped(
             "left out: scores of templates, subjects, ... that lack others. enough: with so many, the standard "
             "error of a subject's mean is at most 5 % of the standard deviation between subjects.") +
         '\n';
}

}  // namespace stereosweep::findings
