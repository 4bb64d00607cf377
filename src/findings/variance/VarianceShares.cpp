#include "findings/variance/VarianceShares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "results/TextTable.hpp"
#include "stats/PValues.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

constexpr double no_share = 1e-12;              // what rounding leaves of a share that is 0
constexpr std::size_t fewest_to_leave_out = 3;  // one of two left out would leave one, which does not vary

std::size_t product(const CellIndex& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{1}, std::multiplies<>());
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// Sums of cells of a table.
struct Sums {
  CellIndex lengths;          ///< of the axes of these cells
  std::vector<double> cells;  ///< [run, subject, item]
  std::vector<double> templates;
  std::vector<double> rephrasings;
  std::vector<double> replicates;
  double squares = 0;

  explicit Sums(const CellTable& table)
      : lengths(table.lengths),
        cells(table.length(CellAxis::run) * table.length(CellAxis::subject) * table.length(CellAxis::item)),
        templates(table.length(CellAxis::template_)),
        rephrasings(table.length(CellAxis::rephrasing)),
        replicates(table.length(CellAxis::replicate)) {}

  std::size_t length(CellAxis axis) const { return lengths[static_cast<std::size_t>(axis)]; }

  void add(const CellIndex& at, double value) {
    const auto of = [&](CellAxis axis) { return at[static_cast<std::size_t>(axis)]; };
    const auto row = of(CellAxis::run) * length(CellAxis::subject) + of(CellAxis::subject);
    cells[row * length(CellAxis::item) + of(CellAxis::item)] += value;
    templates[of(CellAxis::template_)] += value;
    rephrasings[of(CellAxis::rephrasing)] += value;
    replicates[of(CellAxis::replicate)] += value;
    squares += value * value;
  }

  /// Without the cells of a label of the axis.
  Sums without(const Sums& part, CellAxis axis, std::size_t label) const {
    Sums rest = *this;
    for (const auto list : {&Sums::cells, &Sums::templates, &Sums::rephrasings, &Sums::replicates}) {
      std::ranges::transform(rest.*list, part.*list, (rest.*list).begin(), std::minus<>());
    }
    rest.squares -= part.squares;
    rest.lengths[static_cast<std::size_t>(axis)] -= 1;
    auto& own = axis == CellAxis::template_ ? rest.templates : rest.rephrasings;
    own.erase(own.begin() + static_cast<std::ptrdiff_t>(label));
    return rest;
  }
};

/// Sums of squares of a balanced table by source; they add up to the total.
class Decomposition {
 public:
  explicit Decomposition(const Sums& sums) : sums_(sums), size_(static_cast<double>(product(sums.lengths))) {
    const double sum = std::accumulate(sums.cells.begin(), sums.cells.end(), 0.0);
    common_ = sum * sum / size_;
  }

  std::vector<double> squares(RunsCompared runs) const {
    const auto num_subjects = sums_.length(CellAxis::subject);
    const auto num_items = sums_.length(CellAxis::item);
    std::vector<double> by_run(sums_.length(CellAxis::run));
    std::vector<double> by_subject(num_subjects);
    std::vector<double> by_item(num_items);
    std::vector<double> by_both(num_subjects * num_items);
    for (std::size_t place = 0; place < sums_.cells.size(); ++place) {
      const double sum = sums_.cells[place];
      by_run[place / by_both.size()] += sum;
      by_subject[place / num_items % num_subjects] += sum;
      by_item[place % num_items] += sum;
      by_both[place % by_both.size()] += sum;
    }
    std::vector<double> squares = {of(by_subject), of(by_item)};
    squares.push_back(of(by_both) - squares[0] - squares[1]);
    for (const auto* sums : {&sums_.templates, &sums_.rephrasings, &sums_.replicates}) {
      squares.push_back(of(*sums));
    }
    if (runs == RunsCompared::several) {
      squares.push_back(of(by_run));
      squares.push_back(of(sums_.cells) - of(by_both) - of(by_run));
    }
    const double explained = std::accumulate(squares.begin(), squares.end(), 0.0);
    squares.push_back(sums_.squares - common_ - explained);
    return squares;
  }

 private:
  double of(const std::vector<double>& sums) const {
    return sum_of_squares(sums) * static_cast<double>(sums.size()) / size_ - common_;
  }

  const Sums& sums_;
  double size_;
  double common_ = 0;
};

std::vector<double> shares_in(const Sums& sums, RunsCompared runs) {
  auto shares = Decomposition(sums).squares(runs);
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (auto& share : shares) {
    share = share < no_share * total ? 0 : share / total;
  }
  return shares;
}

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

double logit(double share) { return std::log(share / (1 - share)); }

/// Jackknife variances of the logits of shares over one axis; empty where it has too few labels.
std::vector<double> variances_over(const CellTable& table, const Sums& whole, CellAxis axis, RunsCompared runs) {
  const auto length = table.length(axis);
  if (length < fewest_to_leave_out) {
    return {};
  }
  std::vector<Sums> parts(length, Sums(table));
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    parts[at[static_cast<std::size_t>(axis)]].add(at, table.values[place]);
  });
  std::vector<std::vector<double>> logits;  // [source][label left out]
  for (std::size_t label = 0; label < length; ++label) {
    const auto shares = shares_in(whole.without(parts[label], axis, label), runs);
    logits.resize(shares.size());
    for (std::size_t source = 0; source < shares.size(); ++source) {
      logits[source].push_back(logit(shares[source]));
    }
  }
  std::vector<double> variances;
  for (const auto& own : logits) {
    const double mean = std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(length);
    double squares = 0;
    for (const double value : own) {
      squares += (value - mean) * (value - mean);
    }
    variances.push_back(squares * static_cast<double>(length - 1) / static_cast<double>(length));
  }
  return variances;
}

void add_intervals(VarianceShares& row, const CellTable& table, const Sums& whole, RunsCompared runs,
                   double confidence) {
  row.lows.assign(row.shares.size(), stats::nan);
  row.highs = row.lows;
  std::vector<double> variance(row.shares.size(), 0);
  std::vector<double> fourth(row.shares.size(), 0);  // of the variance's own variance
  bool varies = false;
  for (const auto axis : {CellAxis::template_, CellAxis::rephrasing}) {
    const auto own = variances_over(table, whole, axis, runs);
    for (std::size_t source = 0; source < own.size(); ++source) {
      variance[source] += own[source];
      fourth[source] += own[source] * own[source] / static_cast<double>(table.length(axis) - 1);
      varies = true;
    }
  }
  for (std::size_t source = 0; varies && source < row.shares.size(); ++source) {
    const double centre = logit(row.shares[source]);
    if (!std::isfinite(centre) || !std::isfinite(variance[source])) {
      continue;
    }
    const double degrees = variance[source] * variance[source] / fourth[source];
    const double half =
        fourth[source] > 0 ? stats::student_quantile((1 + confidence) / 2, degrees) * std::sqrt(variance[source]) : 0;
    row.lows[source] = 1 / (1 + std::exp(half - centre));
    row.highs[source] = 1 / (1 + std::exp(-half - centre));
  }
}

template <class Value>
std::vector<Value> joined(const std::vector<VarianceShares>& rows, std::vector<Value> VarianceShares::*field) {
  std::vector<Value> values;
  for (const auto& row : rows) {
    values.insert(values.end(), (row.*field).begin(), (row.*field).end());
  }
  return values;
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

VarianceShares shares_of(const CentredTable& centred, RunsCompared runs, double confidence) {
  const auto& table = centred.table;
  const auto num_sources = variance_sources(runs).size();
  VarianceShares row;
  row.shares.assign(num_sources, stats::nan);
  row.lows = row.highs = row.shares;
  row.degrees.assign(num_sources, 0);
  row.num_cells = static_cast<std::int32_t>(table.values.size());
  row.num_left_out = centred.num_left_out;
  row.status = centred.status;
  if (row.status == VarianceStatus::no_values || row.status == VarianceStatus::constant) {
    return row;
  }
  Sums whole(table);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) { whole.add(at, table.values[place]); });
  row.shares = shares_in(whole, runs);
  row.degrees = degrees_in(table, runs);
  add_intervals(row, table, whole, runs, confidence);
  return row;
}

void write_shares(results::Layout& layout, const std::string& prefix, const std::string& over, RunsCompared runs,
                  const std::vector<VarianceShares>& measures) {
  const std::string source = "variance_source";
  const std::vector<std::string> axes = {over, source};
  layout.add_axis({source, "source of variance", variance_sources(runs), {}});
  const auto cube = [&](const char* name, const char* long_name) {
    return results::number_cube(prefix + name, "1", long_name);
  };
  layout.write(cube("variance_share", "share of the total sum of squares"), axes,
               joined(measures, &VarianceShares::shares));
  layout.write(cube("variance_share_low", "lower end of the share's interval over templates and rephrasings"), axes,
               joined(measures, &VarianceShares::lows));
  layout.write(cube("variance_share_high", "upper end"), axes, joined(measures, &VarianceShares::highs));
  layout.write(cube("variance_degrees", "degrees of freedom"), axes, joined(measures, &VarianceShares::degrees));
  layout.write(cube("variance_n", "scores that the shares are computed on"), {over}, measures,
               &VarianceShares::num_cells);
  layout.write(cube("variance_num_left_out", "scores left out to make the table complete"), {over}, measures,
               &VarianceShares::num_left_out);
  layout.write(results::flag_cube(prefix + "variance_status", "whether the table was complete, and why no shares are",
                                  {"ok", "no_values", "constant", "unbalanced"}),
               {over}, measures, &VarianceShares::status);
}

std::string shares_text(const std::vector<std::string>& measures, RunsCompared runs,
                        const std::vector<VarianceShares>& shares, double confidence) {
  std::vector<std::string> head = variance_sources(runs);
  head.insert(head.begin(), "measure");
  head.emplace_back("left out");
  results::TextTable table(head);
  bool has_intervals = false;
  for (std::size_t measure = 0; measure < shares.size(); ++measure) {
    const auto& row = shares[measure];
    std::vector<std::string> values = {measures[measure]};
    std::vector<std::string> ends = {""};
    for (std::size_t source = 0; source < row.shares.size(); ++source) {
      const bool has_interval = !std::isnan(row.lows[source]);
      has_intervals = has_intervals || has_interval;
      values.push_back(results::fixed(100 * row.shares[source], 1));
      ends.push_back(has_interval
                         ? results::fixed(100 * row.lows[source], 0) + "-" + results::fixed(100 * row.highs[source], 0)
                         : "");
    }
    values.push_back(std::to_string(row.num_left_out));
    ends.emplace_back("");
    table.add(std::move(values));
    if (std::ranges::any_of(ends, [](const auto& end) { return !end.empty(); })) {
      table.add(std::move(ends));
    }
  }
  const auto about = has_intervals ? "Second lines: " + results::percent(confidence) +
                                         " intervals over other templates and rephrasings."
                                   : std::string("No intervals: fewer than three templates and three rephrasings.");
  return "\nVariance in % by source\n" + table.text() +
         results::wrapped(about + " left out: scores of templates, subjects, ... that lack others.\n");
}

}  // namespace stereosweep::findings
