#include "findings/variance/Variance.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/Lists.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/Power.hpp"

namespace stereosweep::findings {

/// What the ranks tell each other.
auto fields_of(base::Either<VarianceRow> auto& row) {
  auto& shares = row.shares;
  return std::tie(shares.sources, shares.num_cells, shares.num_left_out, shares.status, row.subjects, row.status,
                  row.own, row.projected, row.enough_templates, row.enough_rephrasings);
}

namespace {

constexpr double enough_reliability = 0.9;
constexpr std::size_t most_projected = std::size_t{1} << 19;

/// Numbers for which reliability is projected, and `own`.
std::vector<std::size_t> counts_with(std::size_t own) {
  std::vector<std::size_t> counts = {1, 2, 5, 10, 20, 50, 100};
  if (!base::contains(counts, own)) {
    counts.insert(std::ranges::upper_bound(counts, own), own);
  }
  return counts;
}

/// Variances within items, each at least 0; 0 for an effect of an axis with one label.
class Generalizability {
 public:
  explicit Generalizability(const MeanSquares& squares) {
    for (AxisSet of = 1; of < values_.size(); ++of) {
      const double found = squares.component(of, any_confidence, effect::item).value;
      values_[of] = std::isnan(found) ? 0 : std::max(found, 0.0);
    }
  }

  /// With k templates and m rephrasings.
  Reliability with(double k, double m) const {
    using effect::rephrasing;
    using effect::subject;
    using effect::template_;
    const double own = values_[subject];
    const auto error_of = [&](AxisSet of) {
      return values_[of | template_] / k + values_[of | rephrasing] / m +
             values_[of | template_ | rephrasing] / (k * m);
    };
    const double relative = error_of(subject);
    const double absolute = relative + error_of(0);
    return {own / (own + relative), own / (own + absolute)};
  }

 private:
  static constexpr double any_confidence = 0.95;  ///< the variances do not depend on it
  std::array<double, 8> values_{};
};

/// Fewest with enough reliability, which rises with the number; NaN: none.
double fewest_reliable(const auto& reliability_with) {
  const auto fewest = stats::fewest_enough(1, most_projected, [&](std::size_t count) {
    return !(reliability_with(static_cast<double>(count)) < enough_reliability);
  });
  return fewest ? static_cast<double>(*fewest) : stats::nan;
}

void add_reliability(VarianceRow& row, const CellTable& cells, const std::vector<std::size_t>& template_counts,
                     const std::vector<std::size_t>& rephrasing_counts, double confidence) {
  const auto squares = squares_of(cells);
  const bool has_templates = (squares.present() & effect::template_) != 0;
  const bool has_rephrasings = (squares.present() & effect::rephrasing) != 0;
  if ((squares.present() & effect::subject) == 0 || (!has_templates && !has_rephrasings)) {
    return;
  }
  const Generalizability variances(squares);
  row.subjects = squares.component(effect::subject, confidence, effect::item);
  row.status = row.subjects.low > 0 ? ReliabilityStatus::ok : ReliabilityStatus::none;
  const auto templates = static_cast<double>(cells.lengths[template_axis]);
  const auto rephrasings = static_cast<double>(cells.lengths[rephrasing_axis]);
  row.own = variances.with(templates, rephrasings);
  for (std::size_t place = 0; place < row.projected.size(); ++place) {
    const auto k = static_cast<double>(template_counts[place % template_counts.size()]);
    const auto m = static_cast<double>(rephrasing_counts[place / template_counts.size()]);
    if ((has_templates || k == templates) && (has_rephrasings || m == rephrasings)) {
      row.projected[place] = variances.with(k, m);
    }
  }
  if (row.status == ReliabilityStatus::ok && has_templates) {
    row.enough_templates = fewest_reliable([&](double k) { return variances.with(k, rephrasings).relative; });
  }
  if (row.status == ReliabilityStatus::ok && has_rephrasings) {
    row.enough_rephrasings = fewest_reliable([&](double m) { return variances.with(templates, m).relative; });
  }
}

CellTable table_of(const Scores& scores, std::vector<double> values) {
  CellTable table{{1, scores.length(subject_axis), scores.length(template_axis), scores.length(rephrasing_axis),
                   scores.length(replicate_axis), scores.length(item_axis)},
                  std::move(values)};
  return without_mean_replicate(std::move(table), scores.axes[replicate_axis]->labels);
}

results::AxisSchema count_axis(const char* name, const char* long_name, const std::vector<std::size_t>& counts) {
  return {name, long_name, base::mapped(counts, [](auto count) { return std::to_string(count); }), {}};
}

Finding subjects_finding(const Variance& variance, const sweep::Comparison& comparison) {
  Finding finding{.name = "subject_variance", .axes = {variance.measures}};
  const RowColumns add{finding, variance.rows};
  add(Role::value, "", squared_unit, "variance between subjects within items, by expected mean squares",
      &VarianceRow::subjects, &stats::VarianceComponent::value);
  add.interval({results::percent(comparison.confidence) + " interval, modified large sample", squared_unit},
               &VarianceRow::subjects);
  finding.add_flags(Role::status, variance.rows, "status",
                    "none: the interval of the variance between subjects is not above 0",
                    {"ok", "none", "not_computed"}, &VarianceRow::status);
  add(Role::value, "relative", "1", "E rho^2: reliability of comparing subjects' means, as in the job",
      &VarianceRow::own, &Reliability::relative);
  add(Role::value, "absolute", "1", "Phi: reliability of a subject's mean itself, as in the job", &VarianceRow::own,
      &Reliability::absolute);
  add(Role::value, "enough_templates", "1", "fewest templates with E rho^2 of 0.9, with the rephrasings of the job",
      &VarianceRow::enough_templates);
  add(Role::value, "enough_rephrasings", "1", "fewest rephrasings with E rho^2 of 0.9, with the templates of the job",
      &VarianceRow::enough_rephrasings);
  finding.views = {{"Reliability of subjects' means by ",
                    table_columns("measure, between subjects:, low, high, E rho^2: relative, Phi: absolute, enough "
                                  "templates: enough_templates, enough rephrasings: enough_rephrasings"),
                    ""}};
  finding.notes =
      "E rho^2: share of subjects in the variance of their means of one item, where they are compared with each other; "
      "Phi: where a mean itself counts. enough: fewest with E rho^2 of 0.9; none: the interval of the variance between "
      "subjects is not above 0, so that no number is known to be enough. The interval of the subjects' "
      "component holds it less often where their effects are skewed or have outliers.";
  return finding;
}

Finding projection(const Variance& variance) {
  const auto all = base::joined(variance.rows, &VarianceRow::projected);
  Finding finding{
      .name = "reliability",
      .axes = {variance.measures, count_axis("rephrasing_count", "number of rephrasings", variance.rephrasing_counts),
               count_axis("template_count", "number of templates", variance.template_counts)}};
  finding.add(Role::value, all, "relative", "1", "E rho^2 with so many templates and rephrasings",
              &Reliability::relative);
  finding.add(Role::value, all, "absolute", "1", "Phi with so many templates and rephrasings", &Reliability::absolute);
  return finding;
}

}  // namespace

Variance variance_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto measures = chosen_measures(scores, comparison.variance->measures, "statistics.variance_shares");
  Variance variance{.measures = measure_axis_of(scores, measures, "variance_measure"),
                    .template_counts = counts_with(scores.length(template_axis)),
                    .rephrasing_counts = counts_with(scores.length(rephrasing_axis)),
                    .rows = {}};
  const auto own = std::ranges::find(variance.rephrasing_counts, scores.length(rephrasing_axis));
  std::rotate(variance.rephrasing_counts.begin(), own, own + 1);
  const auto compute = [&](std::vector<double> values, std::size_t /*place*/) {
    const auto cells = centred(table_of(scores, std::move(values)));
    VarianceRow row;
    row.shares = shares_of(cells, RunsCompared::one, comparison.confidence);
    row.projected.resize(variance.template_counts.size() * variance.rephrasing_counts.size());
    if (row.shares.status == VarianceStatus::ok || row.shares.status == VarianceStatus::unbalanced) {
      add_reliability(row, cells.table, variance.template_counts, variance.rephrasing_counts, comparison.confidence);
    }
    return std::vector{row};
  };
  variance.rows = base::joined(share_measures<VarianceRow>(scores, measures, compute));
  return variance;
}

std::vector<Finding> findings_of(const Variance& variance, const sweep::Comparison& comparison) {
  auto findings = findings_of("", variance.measures, RunsCompared::one,
                              base::mapped(variance.rows, &VarianceRow::shares), comparison.confidence);
  findings.push_back(subjects_finding(variance, comparison));
  findings.push_back(projection(variance));
  return findings;
}

}  // namespace stereosweep::findings
