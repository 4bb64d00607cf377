#include "findings/decisions/Rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/Streams.hpp"
#include "findings/contrasts/ComparedCells.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/RateInterval.hpp"
#include "stats/sequential/FlipEvalue.hpp"
#include "stats/sequential/PartEstimate.hpp"
#include "stats/sequential/VisitingOrder.hpp"

namespace stereosweep::findings {
namespace {

using sweep::DecideRequest;

constexpr double most_missing = 0.1;  // of the visited cells
constexpr double closest = 0.9995;    // squared correlation of two rounds whose parts hardly differ
constexpr double certain = 38;        // a statistic beyond every boundary

/// What is compared in each cell of a contrast, of one item.
struct DealtCells {
  std::vector<double> differences;  ///< [block, column]; NaN: a side lacks a score
  std::vector<bool> is_applicable;
  std::vector<std::int32_t> passes;
};

/// A cell has a difference where all that its sides ask there, and could be asked, has a score. A subject without any
/// score of the item is left out, as contrasts do.
class ContrastCells {
 public:
  ContrastCells(const Scores& scores, const ContrastPlan& plan, std::span<const double> values,
                std::span<const std::uint8_t> statuses)
      : plan_(plan), all_(plan) {
    all_.cells = sweep::Contrast::Cells::all;
    means_.emplace_back(scores, all_, values);
    for (const auto& side : plan.sides) {
      sides_.push_back(Cells(scores, values, statuses).of_replicates(side.takes[replicate_axis - subject_axis]));
    }
    contexts_ = contexts_of_cells(scores, plan);
  }

  DealtCells of(std::size_t item) const {
    DealtCells cells{means_.front().of(item).differences, std::vector<bool>(plan_.num_cells(), true),
                     std::vector<std::int32_t>(plan_.num_cells(), 0)};
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      std::vector<bool> has_any(plan_.num_cells(), false);
      for (std::size_t subject = 0; subject < plan_.sides[side].takes[0].size(); ++subject) {
        if (plan_.sides[side].takes[0][subject]) {
          add(side, subject, item, cells, has_any);
        }
      }
      for (std::size_t cell = 0; cell < has_any.size(); ++cell) {
        cells.is_applicable[cell] = cells.is_applicable[cell] && has_any[cell];
      }
    }
    for (std::size_t cell = 0; cell < contexts_.size(); ++cell) {
      cells.passes[cell] = cells.is_applicable[cell] ? static_cast<std::int32_t>(contexts_[cell].size()) : 0;
    }
    return cells;
  }

 private:
  void add(std::size_t side, std::size_t subject, std::size_t item, DealtCells& cells,
           std::vector<bool>& has_any) const {
    const auto& own = sides_[side];
    bool is_scored = false;
    for (std::size_t sentence = 0; !is_scored && sentence < own.num_sentences(); ++sentence) {
      is_scored = plan_.cell_of(plan_.sides[side], sentence) != no_block &&
                  own.state(subject, sentence, item) == CellState::scored;
    }
    for (std::size_t sentence = 0; is_scored && sentence < own.num_sentences(); ++sentence) {
      const auto cell = plan_.cell_of(plan_.sides[side], sentence);
      const auto state = cell == no_block ? CellState::not_applicable : own.state(subject, sentence, item);
      if (state != CellState::not_applicable) {
        has_any[cell] = true;
        cells.differences[cell] = state == CellState::scored ? cells.differences[cell] : stats::nan;
      }
    }
  }

  const ContrastPlan& plan_;
  ContrastPlan all_;
  std::vector<ComparedMeans> means_;  // one; borrows `all_`
  std::vector<Cells> sides_;
  std::vector<std::vector<std::size_t>> contexts_;
};

/// Lines (blocks or columns) with a cell that can be scored, in the order in which they are visited.
std::vector<std::size_t> dealt_lines(std::size_t num_lines, const std::vector<std::size_t>& line_of_place,
                                     const std::vector<std::size_t>& order, const std::vector<bool>& is_used) {
  std::vector<std::size_t> first(num_lines, std::numeric_limits<std::size_t>::max());
  for (std::size_t place = 0; place < line_of_place.size(); ++place) {
    if (line_of_place[place] != no_block) {
      first[line_of_place[place]] = std::min(first[line_of_place[place]], order[place]);
    }
  }
  std::vector<std::size_t> lines;
  for (std::size_t line = 0; line < num_lines; ++line) {
    lines.insert(lines.end(), is_used[line] ? 1 : 0, line);
  }
  std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return first[line]; });
  return lines;
}

/// The cells of one row in the order of visits, round by round.
class RowDealer {
 public:
  RowDealer(const DealtCells& cells, const ContrastPlan& plan, const DealtOrder& order, const DecideRequest& request)
      : cells_(cells), plan_(plan), request_(request) {
    std::vector<bool> used_blocks(plan.num_blocks, false);
    std::vector<bool> used_columns(plan.num_columns, false);
    for (std::size_t cell = 0; cell < plan.num_cells(); ++cell) {
      if (cells.is_applicable[cell]) {
        used_blocks[cell / plan.num_columns] = used_columns[cell % plan.num_columns] = true;
      }
    }
    blocks_ = dealt_lines(plan.num_blocks, plan.blocks, order.templates, used_blocks);
    columns_ = dealt_lines(plan.num_columns, plan.columns, order.rephrasings, used_columns);
  }

  RowRounds deal() {
    RowRounds row;
    row.visited.assign(plan_.num_cells(), never_visited);
    if (blocks_.empty()) {
      return row;
    }
    planned_ = stats::planned_looks(blocks_.size(), columns_.size());
    looks_ = stats::looks_of_cells(blocks_.size(), columns_.size(), planned_);
    for (std::size_t place = 0; place < looks_.size(); ++place) {
      if (cells_.is_applicable[cell_at(place)]) {
        row.visited[cell_at(place)] = static_cast<std::uint8_t>(looks_[place]);
      }
    }
    for (std::size_t round = 0; round < planned_.size(); ++round) {
      std::vector<double> zeros(looks_.size(), stats::nan);
      for (std::size_t place = 0; place < looks_.size(); ++place) {
        zeros[place] = is_taken(place, round) ? 0 : stats::nan;
      }
      planned_shares_.push_back(stats::estimate_part(zeros, columns_.size()).shares);
    }
    for (std::size_t round = 0; round < planned_.size(); ++round) {
      row.rounds.push_back(numbers(round));
    }
    put_shares_of_level(row.rounds);
    put_intervals(row);
    return row;
  }

 private:
  std::size_t cell_at(std::size_t place) const {
    return blocks_[place / columns_.size()] * plan_.num_columns + columns_[place % columns_.size()];
  }
  bool is_last(std::size_t round) const { return round + 1 == planned_.size(); }
  /// Of a place [row, column] in the order of visits.
  bool is_taken(std::size_t place, std::size_t round) const {
    return looks_[place] <= round && cells_.is_applicable[cell_at(place)];
  }

  RoundNumbers numbers(std::size_t round) {
    RoundNumbers found;
    std::vector<double> values(looks_.size(), stats::nan);
    for (std::size_t place = 0; place < looks_.size(); ++place) {
      if (is_taken(place, round)) {
        values[place] = cells_.differences[cell_at(place)];
        found.passes += cells_.passes[cell_at(place)];
        found.num_missing += std::isnan(values[place]) ? 1 : 0;
      }
    }
    found.has_all_templates = planned_[round].num_rows == blocks_.size() ? 1 : 0;
    const auto part = stats::estimate_part(values, columns_.size());
    found.num_cells = static_cast<std::int32_t>(part.num_cells);
    found.e_value = e_value(values, round);
    if (found.num_missing <= most_missing * (found.num_cells + found.num_missing)) {
      look_at(part, round, found);
    }
    return found;
  }

  /// Of the first row after row each in a fresh column.
  double e_value(const std::vector<double>& values, std::size_t round) const {
    std::vector<double> diagonal;
    std::size_t num_first = 0;
    const auto last = columns_.size() == 1 ? blocks_.size() : std::min(blocks_.size(), columns_.size());
    for (std::size_t row = 0; row < std::min(planned_[round].num_rows, last); ++row) {
      const double value = values[row * columns_.size() + row % columns_.size()];
      if (!std::isnan(value)) {
        diagonal.push_back(value);
        num_first += row < planned_.front().num_rows ? 1 : 0;
      }
    }
    return stats::flip_e_value(diagonal, num_first);
  }

  /// What the variances leave uncertain of the target's mean.
  stats::CrossedVariances uncertain_parts(const stats::PartEstimate& part, const stats::MeanShares& shares) const {
    auto parts = shares.parts_of(part.variances);
    if (request_.target == DecideRequest::Target::product) {
      const auto whole = planned_shares_.back().parts_of(part.variances);
      parts = {std::max(parts.rows - whole.rows, 0.0), std::max(parts.columns - whole.columns, 0.0),
               std::max(parts.rest - whole.rest, 0.0)};
    }
    return parts;
  }
  static double sum(const stats::CrossedVariances& parts) { return parts.rows + parts.columns + parts.rest; }

  void look_at(const stats::PartEstimate& part, std::size_t round, RoundNumbers& found) {
    const bool is_product = request_.target == DecideRequest::Target::product;
    const bool can_foretell = part.separates_cells || columns_.size() == 1;
    if (part.num_cells == 0 || (is_product && !can_foretell && !is_last(round))) {
      return;
    }
    found.estimate = part.mean;
    found.is_constant = part.variance == 0 ? 1 : 0;
    if (is_product && is_last(round)) {  // all of the product is known
      found.is_constant = 0;
      found.is_looked_at = 1;
      found.variance_templates = found.variance_rephrasings = found.variance_cells = found.variance = 0;
      found.statistic = part.mean != 0 ? certain : 0;
      found.equivalence_statistic = std::abs(part.mean) < request_.margin() ? certain : 0;
      return;
    }
    const auto parts = uncertain_parts(part, part.shares);
    const double variance = sum(parts);
    if (!(variance > 0)) {
      return;
    }
    found.is_looked_at = 1;
    found.variance_templates = parts.rows;
    found.variance_rephrasings = parts.columns;
    found.variance_cells = parts.rest;
    found.variance = variance;
    found.degrees = part.degrees_of(parts);
    found.end_variance = !is_product && can_foretell ? planned_shares_.back().variance_of(part.variances) : stats::nan;
    const double error = std::sqrt(variance);
    found.statistic = stats::as_normal(std::abs(part.mean) / error, found.degrees);
    found.equivalence_statistic =
        stats::as_normal(std::max(request_.margin() - std::abs(part.mean), 0.0) / error, found.degrees);
    if (before_.rest > 0) {
      // variances are estimated anew in each round, so that t of two rounds are less alike than their means
      const double ratio = variance / std::max(sum(uncertain_parts(part, before_)), variance);
      found.correlation = std::sqrt(std::min(ratio, closest)) * (1 - 1 / static_cast<double>(blocks_.size()));
    }
    before_ = part.shares;
  }

  /// What each round has spent, by the planned information; of the product's mean, of which the last round knows all,
  /// evenly.
  void put_shares_of_level(std::vector<RoundNumbers>& rounds) const {
    const stats::CrossedVariances planned{request_.plan.templates, request_.plan.rephrasings, request_.plan.cells};
    const auto count = std::ranges::count(rounds, 1, &RoundNumbers::is_looked_at);
    double spent = 0;
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      auto& numbers = rounds[round];
      const double information =
          planned_shares_.back().variance_of(planned) / planned_shares_[round].variance_of(planned);
      spent += numbers.is_looked_at / static_cast<double>(std::max<std::ptrdiff_t>(count, 1));
      numbers.spent = is_last(round)                                      ? 1
                      : request_.target == DecideRequest::Target::product ? spent
                                                                          : stats::spent_share(information);
    }
  }

  void put_intervals(RowRounds& row) const {
    const auto [looks, places] = looked_at(row, row.rounds.size(), &RoundNumbers::statistic);
    const auto critical = stats::boundaries(looks, request_.level);
    for (std::size_t look = 0; look < looks.size(); ++look) {
      auto& numbers = row.rounds[places[look]];
      numbers.critical = critical[look];
      const double half =
          numbers.variance > 0 ? stats::as_student(critical[look], numbers.degrees) * std::sqrt(numbers.variance) : 0;
      numbers.low = numbers.estimate - half;
      numbers.high = numbers.estimate + half;
    }
  }

  const DealtCells& cells_;
  const ContrastPlan& plan_;
  const DecideRequest& request_;
  std::vector<std::size_t> blocks_;  ///< of the plan, in the order of visits
  std::vector<std::size_t> columns_;
  std::vector<stats::PlannedLook> planned_;
  std::vector<std::size_t> looks_;                 ///< [row, column] in that order
  std::vector<stats::MeanShares> planned_shares_;  ///< [round], with all scores that can be
  stats::MeanShares before_;                       ///< of the last round that was looked at
};

/// As `compare` tests it.
void put_complete(const ContrastPlan& plan, const ComparedItem& compared, const std::optional<stats::ScaleEnds>& ends,
                  double margin, RowRounds& row) {
  constexpr double any_confidence = 0.95;  // the p does not depend on it
  const auto squares = stats::crossed_squares(compared.differences, plan.num_columns);
  row.complete = compared.difference;
  row.complete_p =
      stats::test_cells(squares, compared.difference, plan.sides.size() == 1 ? ends : std::nullopt, any_confidence).p;
  if (const auto error = squares.error(); margin > 0 && error.variance > 0) {
    const double inside = (margin - std::abs(compared.difference)) / std::sqrt(error.variance);
    const double two_sided = stats::test_mean(inside, {1, error.degrees}, any_confidence).p;
    row.complete_equivalence_p = inside > 0 ? two_sided / 2 : 1 - two_sided / 2;
  }
}

}  // namespace

DealtOrder::DealtOrder(const Scores& scores, std::uint64_t seed) {
  const auto deal = [&](std::size_t axis, Stream stream, std::vector<std::size_t>& order) {
    const auto places = stats::shuffled_places(scores.length(axis), seed, start_of(stream));
    order.resize(places.size());
    for (std::size_t place = 0; place < places.size(); ++place) {
      order[places[place]] = place;
    }
  };
  deal(template_axis, Stream::visited_templates, templates);
  deal(rephrasing_axis, Stream::visited_rephrasings, rephrasings);
}

std::vector<std::vector<std::size_t>> contexts_of_cells(const Scores& scores, const ContrastPlan& plan) {
  std::vector<std::vector<std::size_t>> contexts(plan.num_cells());
  const auto num_sentences = scores.length(template_axis) * scores.length(rephrasing_axis);
  for (const auto& side : plan.sides) {
    for (std::size_t subject = 0; subject < side.takes[0].size(); ++subject) {
      for (std::size_t sentence = 0; side.takes[0][subject] && sentence < num_sentences; ++sentence) {
        if (const auto cell = plan.cell_of(side, sentence); cell != no_block) {
          contexts[cell].push_back(subject * num_sentences + sentence);
        }
      }
    }
  }
  for (auto& places : contexts) {  // sides may share some
    std::ranges::sort(places);
    const auto repeated = std::ranges::unique(places);
    places.erase(repeated.begin(), repeated.end());
  }
  return contexts;
}

std::vector<RowRounds> rounds_of(const Scores& scores, const ContrastPlan& plan, std::size_t measure,
                                 std::span<const double> values, std::span<const std::uint8_t> statuses,
                                 const DecideRequest& request, const DealtOrder& order) {
  const ContrastCells contrast(scores, plan, values, statuses);
  const ComparedMeans means(scores, plan, values);
  const auto ends = ends_of(*scores.axes[measure_axis], measure);
  std::vector<RowRounds> rows;
  for (std::size_t item = 0; item < scores.length(item_axis); ++item) {
    const auto cells = contrast.of(item);
    auto& row = rows.emplace_back(RowDealer(cells, plan, order, request).deal());
    put_complete(plan, means.of(item), ends, request.margin(), row);
  }
  return rows;
}

LookedAt looked_at(const RowRounds& row, std::size_t num_rounds, double RoundNumbers::*statistic) {
  LookedAt found;
  for (std::size_t round = 0; round < std::min(num_rounds, row.rounds.size()); ++round) {
    const auto& numbers = row.rounds[round];
    if (numbers.is_looked_at != 0) {
      found.looks.push_back({numbers.*statistic, numbers.correlation, numbers.spent});
      found.rounds.push_back(round);
    }
  }
  return found;
}

}  // namespace stereosweep::findings
