#include "findings/Means.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/Lists.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/AdditiveFit.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/RateInterval.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t rows_together = 64;  // computed by one rank
constexpr std::size_t few_templates = 5;   // below it an interval says little
constexpr double score_rounding = 1e-12;   // of the largest score: what varies by less does not vary

class MeansOfMeasure {
 public:
  /// Borrows `cells` and `groups`.
  MeansOfMeasure(const Scores& scores, std::size_t measure, const Cells& cells, const std::vector<ItemGroup>& groups,
                 double confidence)
      : num_rephrasings_(scores.length(rephrasing_axis)),
        ends_(ends_of(*scores.axes[measure_axis], measure)),
        in_score_(answers_in_score(*scores.axes[measure_axis], measure)),
        confidence_(confidence),
        cells_(cells),
        groups_(groups),
        item_means_(std::ranges::any_of(groups_, [](const auto& group) { return group.items.size() > 1; })
                        ? cells_.means({item_axis})
                        : std::vector(cells_.length(item_axis), CellMean{0, 1})),
        fit_(num_rows(), cells_.num_sentences(), [this](std::size_t place) { return cells_of(place); }),
        joined_(stats::joined_units(num_rows(), cells_.num_sentences(),
                                    [this](std::size_t place) { return cells_of(place); })),
        of_all_(cells_.num_sentences(), 0) {
    compare();
  }
  MeansOfMeasure(const MeansOfMeasure&) = delete;  // the fit asks this one for its cells

  std::size_t num_rows() const { return cells_.length(subject_axis) * groups_.size(); }

  /// All but what compares the rows.
  MeanRow row(std::size_t place) const {
    const auto subject = place / groups_.size();
    const auto& items = groups_[place % groups_.size()].items;
    const auto cells = cells_of(place);
    const auto present = stats::finite(cells);
    MeanRow row;
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      row.num_applicable += std::ranges::any_of(
          items, [&](std::size_t item) { return cells_.state(subject, sentence, item) != CellState::not_applicable; });
    }
    row.num_cells = static_cast<std::int32_t>(present.size());
    row.num_answers = in_score_ < 0 ? -1 : cells_.num_answers(subject, items, in_score_);
    if (present.empty()) {
      return row;
    }
    row.mean = cells_.mean(subject, items).value;
    const auto test = stats::test_cells(stats::crossed_squares(cells, num_rephrasings_), row.mean, ends_, confidence_);
    row.low = test.low;
    row.high = test.high;
    row.reason = test.reason;
    add_deviation(row, place, cells);
    return row;
  }

 private:
  /// Of a row, [sentence]: mean over its items. What an item adds to all subjects alike is taken off before, so that a
  /// sentence without a score of some item is compared all the same.
  std::vector<double> cells_of(std::size_t place) const {
    const auto subject = place / groups_.size();
    const auto& items = groups_[place % groups_.size()].items;
    std::vector<double> cells(cells_.num_sentences());
    std::vector<double> known;
    for (const auto item : items) {
      known.insert(known.end(), item_means_[item].num_cells > 0 ? 1 : 0, item_means_[item].value);
    }
    const double mean_of_items = stats::mean(known).value;
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      double sum = 0;
      double count = 0;
      for (const auto item : items) {
        if (const double cell = cells_.at(subject, sentence, item); !std::isnan(cell)) {
          sum += cell - item_means_[item].value;
          count += 1;
        }
      }
      cells[sentence] = sum / count + mean_of_items;
    }
    return cells;
  }

  /// What deviations are made of: rows that hang together are compared, each with the mean of all of them.
  void compare() {
    means_.assign(num_rows(), 0);
    weights_.assign(num_rows(), 0);
    std::vector<double> num_joined(num_rows(), 0);
    for (std::size_t place = 0; place < num_rows(); ++place) {
      num_joined[joined_[place]] += 1;
      means_[joined_[place]] += fit_.unit_effects[place];
    }
    for (std::size_t place = 0; place < num_rows(); ++place) {
      const auto cells = cells_of(place);
      double shared = 0;  // cells that say as much of the row: those that others lack say nothing
      for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
        shared += std::isnan(cells[sentence]) ? 0 : 1 - 1 / fit_.in_cells[sentence];
      }
      const double all = num_joined[joined_[place]];
      shared *= all / (all - 1);
      weights_[place] = shared > 1 + score_rounding ? 1 / std::sqrt(shared * (shared - 1)) : 0;
      for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
        const double rest = fit_.rest(place, sentence, cells[sentence]);
        of_all_[sentence] += std::isnan(rest) ? 0 : weights_[place] * rest / all;
      }
    }
    for (std::size_t place = num_rows(); place-- > 0;) {  // the first of those that are joined comes last
      const double all = num_joined[joined_[place]];
      means_[place] = all > 1 ? means_[joined_[place]] / all : stats::nan;
    }
  }

  /// Its variance is that of what each of the row's cells adds to it: the row's rest, less that of all, by the least
  /// squares' weights, of which the diagonal is taken (exact where no cell is missing and of two rows).
  void add_deviation(MeanRow& row, std::size_t place, std::vector<double> cells) const {
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      const double rest = fit_.rest(place, sentence, cells[sentence]);
      cells[sentence] = fit_.in_cells[sentence] > 1 ? weights_[place] * rest - of_all_[sentence] : stats::nan;
    }
    row.deviation = fit_.unit_effects[place] - means_[place];
    const auto parts = stats::finite(cells);
    const auto n = static_cast<double>(parts.size());
    const auto squares = stats::crossed_squares(cells, num_rephrasings_);
    if (weights_[place] > 0 && squares.num_rows > 1 &&
        n * (std::ranges::max(parts) - std::ranges::min(parts)) > score_rounding * fit_.largest) {
      auto error = squares.error();
      error.variance *= n * (n - 1);
      row.test = stats::test_mean(row.deviation, error, confidence_);
    }
  }

  std::size_t num_rephrasings_;
  std::optional<stats::ScaleEnds> ends_;
  std::int32_t in_score_;  ///< as answers_in_score
  double confidence_;
  const Cells& cells_;
  const std::vector<ItemGroup>& groups_;
  std::vector<CellMean> item_means_;  ///< [item]; 0 where each group is one item
  stats::AdditiveFit fit_;            ///< of rows in sentences
  std::vector<std::size_t> joined_;   ///< [row]: stats::joined_units
  std::vector<double> means_;         ///< [row]: mean effect of the rows that it is joined with
  std::vector<double> weights_;       ///< [row]: of its rests in its effect
  std::vector<double> of_all_;        ///< [sentence]: what rests of all its rows add to the mean of all
};

void compare_rows(std::span<MeanRow> rows) {
  const auto p_of = [](const MeanRow& row) { return row.test.p; };
  stats::adjust_rows(rows, p_of, &MeanRow::p_holm, stats::Adjustment::holm);
  const auto ranks = evidence_ranks(base::mapped(rows, p_of), base::mapped(rows, &MeanRow::deviation));
  for (std::size_t place = 0; place < rows.size(); ++place) {
    rows[place].rank = ranks[place];
  }
}

}  // namespace

std::vector<std::int32_t> evidence_ranks(std::span<const double> p, std::span<const double> effects) {
  auto order = base::places_below(p.size());
  const auto key = [&](std::size_t place) {  // NaN has no order
    return std::pair(std::isnan(p[place]) ? 2 : p[place], std::isnan(effects[place]) ? 1 : -std::abs(effects[place]));
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::int32_t> ranks(p.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = static_cast<std::int32_t>(rank) + 1;
  }
  return ranks;
}

std::vector<MeanRow> compared_means(const Scores& scores, std::size_t measure, const Cells& cells,
                                    const std::vector<ItemGroup>& groups, double confidence) {
  const MeansOfMeasure of_measure(scores, measure, cells, groups, confidence);
  const auto num_rows = of_measure.num_rows();
  const auto rows_of_unit = [&](std::size_t unit) {
    std::vector<MeanRow> rows;
    for (auto place = unit * rows_together; place < std::min((unit + 1) * rows_together, num_rows); ++place) {
      rows.push_back(of_measure.row(place));
    }
    return rows;
  };
  auto all = base::joined(share<MeanRow>(scores.ranks, (num_rows + rows_together - 1) / rows_together, rows_of_unit));
  compare_rows(all);
  return all;
}

std::string answers_column(const std::vector<MeanRow>& rows) {
  return rows.empty() || rows.front().num_answers < 0 ? "" : ", answers";
}

void add_means(Finding& finding, const std::vector<MeanRow>& rows, const std::string& mean, const std::string& others,
               double confidence) {
  const RowColumns add{finding, rows};
  const std::string unit_note = "unit: measure_units";
  const auto add_interval = [&](const std::string& prefix, const std::string& of, const auto&... path) {
    add.interval({.what = results::percent(confidence) + " interval over other templates and rephrasings",
                  .prefix = prefix,
                  .of = of,
                  .note = unit_note},
                 path...);
  };
  add(Role::value, mean, "", "mean over templates and rephrasings, replicates averaged first", &MeanRow::mean).note =
      unit_note;
  add_interval("", mean);
  add(Role::n, "n", "1", "(template, rephrasing) with a score", &MeanRow::num_cells);
  if (!answers_column(rows).empty()) {
    add(Role::n, "answers", "1", "sampled answers that were read in the mean; 0: it is of none", &MeanRow::num_answers)
        .of = mean;
  }
  add(Role::status, "status", "", "why there is no mean or no interval", &MeanRow::reason).of = mean;
  auto& deviation =
      add(Role::value, "deviation", "",
          "difference from the mean of all " + others + " on the same templates and rephrasings", &MeanRow::deviation);
  deviation.note = unit_note;
  deviation.is_difference = true;
  add_interval("deviation_", "deviation", &MeanRow::test);
  add(Role::p, "p", "1", "p of the deviation, two-sided, Student's t over templates and rephrasings", &MeanRow::test,
      &stats::MeanTest::p)
      .of = "deviation";
  add(Role::adjusted, "p_holm", "1", "p of the deviation adjusted for all " + others + " (Holm)", &MeanRow::p_holm).of =
      "deviation";
  add(Role::value, "rank", "1", "place in a list with the smallest p first, of equal p the largest deviation",
      &MeanRow::rank);
}

Finding means_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto& request = *comparison.means;
  const auto chosen = chosen_measures(scores, request.measures, "statistics.means");
  const auto& items = *scores.axes[item_axis];
  std::vector<MeanRow> rows;
  for (const auto measure : chosen) {
    const auto values = scores.read(measure);
    const auto statuses = scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>();
    const Cells cells(scores, values, statuses);
    std::ranges::move(compared_means(scores, measure, cells, single_items(items), comparison.confidence),
                      std::back_inserter(rows));
  }
  Finding finding{.name = "mean_score",
                  .axes = {measure_axis_of(scores, chosen, "mean_measure"), *scores.axes[subject_axis], items}};
  add_means(finding, rows, "", "subjects and items", comparison.confidence);
  finding.add(Role::value, rows, "coverage", "1", "share of the applicable (template, rephrasing) that have a score",
              &MeanRow::coverage);
  finding.views = {{"Means of ",
                    table_columns("subject, item, mean:, low, high, cells: n" + answers_column(rows) +
                                  ", coverage, from all: deviation, p Holm: p_holm"),
                    "rank"}};
  const RowLabels measures(finding, "measure");
  const RowLabels subjects(finding, "subject");
  const auto claim = [&, row = std::size_t{0}](const MeanRow& mean) mutable {
    const auto place = row++;
    return std::isnan(mean.deviation)
               ? ""
               : claim_of({subjects.of(place), "the mean of all subjects and items", "", true}, measures.of(place),
                          items, place % items.labels.size(), mean.deviation > 0);
  };
  finding.question = {{base::mapped(rows, claim), "deviation", "cell", "difference"}};
  finding.notes =
      "Chosen: first those with the best evidence that they differ from the mean of all subjects and items. from all: "
      "that difference; p Holm: its p, adjusted for all of the measure from which these were chosen. low, high: " +
      results::percent(comparison.confidence) +
      " interval over other templates and rephrasings, inside the scale of the measure; it holds the mean less often "
      "where scores are skewed (small probabilities) or few templates have most of the cells. coverage: share of the "
      "applicable cells that have a score.";
  finding.notes += answers_column(rows).empty() ? "" : " answers: sampled answers that were read in the mean.";
  if (const auto num_templates = scores.length(template_axis); num_templates < few_templates) {
    finding.notes +=
        " With so few templates (" + std::to_string(num_templates) + ") intervals and p say little of other templates.";
  }
  return finding;
}

}  // namespace stereosweep::findings
