#include "findings/decisions/Rounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/Names.hpp"
#include "findings/Streams.hpp"
#include "findings/contrasts/ComparedCells.hpp"
#include "stats/RateInterval.hpp"
#include "stats/permutation/Relabelling.hpp"
#include "stats/sequential/Boundary.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::findings {
namespace {

using sweep::DecideRequest;

constexpr double most_missing = 0.1;      // of the visited cells
constexpr double closest = 0.9995;        // squared correlation of two rounds whose parts hardly differ
constexpr double certain = 38;            // a statistic beyond every boundary
constexpr double mixed_over_planned = 8;  // narrowest near the variance that is planned for the complete table
constexpr double least_mixture = 1e-12;   // where nothing is uncertain any more

/// In which order the cells of one row are visited, and when they are looked at.
struct CellOrder {
  std::vector<std::size_t> blocks;          ///< of the plan, in the order of visits
  std::vector<std::size_t> columns;         ///< those, too
  std::vector<stats::PlannedLook> planned;  ///< [round]; empty: no cell is applicable
  std::vector<std::uint8_t> visited;        ///< [block, column]: the round; never_visited: not applicable
  std::vector<stats::PartEstimate>
      full_parts{};         ///< [round]: the part with all scores that can be, once it is asked for
  std::size_t num_columns;  ///< of the plan

  CellOrder(const ContrastPlan& plan, const DealtOrder& order, const std::vector<bool>& applicable)
      : blocks(dealt_lines(plan.num_blocks, plan.blocks, order.templates)),
        columns(dealt_lines(plan.num_columns, plan.columns, order.rephrasings)),
        visited(plan.num_cells(), never_visited),
        num_columns(plan.num_columns) {
    const auto is_unused = [&](const std::vector<std::size_t>& others, auto cell_with) {
      return std::ranges::none_of(others, [&](std::size_t other) { return applicable[cell_with(other)]; });
    };
    std::erase_if(blocks, [&](std::size_t block) {
      return is_unused(columns, [&](std::size_t column) { return block * num_columns + column; });
    });
    std::erase_if(columns, [&](std::size_t column) {
      return is_unused(blocks, [&](std::size_t block) { return block * num_columns + column; });
    });
    if (blocks.empty()) {
      return;
    }
    planned = stats::planned_looks(blocks.size(), columns.size());
    const auto looks = stats::looks_of_cells(blocks.size(), columns.size(), planned);
    for (std::size_t place = 0; place < num_places(); ++place) {
      visited[cell_at(place)] = applicable[cell_at(place)] ? static_cast<std::uint8_t>(looks[place]) : never_visited;
    }
  }

  /// Places are [row, column] in the order of visits.
  std::size_t num_places() const { return blocks.size() * columns.size(); }
  std::size_t cell_at(std::size_t place) const {
    return blocks[place / columns.size()] * num_columns + columns[place % columns.size()];
  }
  bool is_taken(std::size_t place, std::size_t round) const { return visited[cell_at(place)] <= round; }
  void fill_full_parts() {
    for (std::size_t round = 0; round < planned.size(); ++round) {
      std::vector<double> zeros(num_places(), stats::nan);
      for (std::size_t place = 0; place < zeros.size(); ++place) {
        zeros[place] = is_taken(place, round) ? 0 : stats::nan;
      }
      full_parts.push_back(stats::estimate_part(zeros, columns.size()));
    }
  }
};

/// [block, column]: each side has a sentence there that is asked, as `is_asked(side, sentence)` says.
std::vector<bool> cells_on_all_sides(const ContrastPlan& plan, const auto& is_asked) {
  std::vector<bool> found(plan.num_cells(), true);
  for (std::size_t side = 0; side < plan.sides.size(); ++side) {
    std::vector<bool> has_any(plan.num_cells(), false);
    plan.each_cell(plan.sides[side], [&](std::size_t sentence, std::size_t cell) {
      has_any[cell] = has_any[cell] || is_asked(side, sentence);
    });
    std::transform(found.begin(), found.end(), has_any.begin(), found.begin(), std::logical_and());
  }
  return found;
}

/// What is compared in each cell of a contrast. A cell has a difference where all that its sides ask there, and could
/// be asked, has a score. A subject without any score of the item in the first round is left out of all rounds: what
/// later rounds score must not change an earlier one.
class ContrastCells {
 public:
  ContrastCells(const Scores& scores, const ContrastPlan& plan, std::span<const double> values,
                std::span<const std::uint8_t> statuses, const DealtOrder& order)
      : scores_(scores), plan_(plan), all_(plan), values_(values), contexts_(contexts_of_cells(scores, plan)) {
    all_.cells = sweep::Contrast::Cells::all;
    for (const auto& side : plan.sides) {
      sides_.push_back({Cells(scores, values, statuses).of_replicates(side.takes[replicate_axis - subject_axis]),
                        places_with(side.takes[0], true)});
    }
    for (std::size_t item = 0; item < scores.length(item_axis); ++item) {
      const auto applicable = applicable_cells(item);
      const auto [known, is_new] = orders_.try_emplace(applicable, plan, order, applicable);
      if (is_new) {
        known->second.fill_full_parts();
      }
      order_of_item_.push_back(&known->second);
      find_lacking(item);
    }
    means_.emplace(scores, all_, masked_.empty() ? values : std::span<const double>(masked_));
  }
  ContrastCells(const ContrastCells&) = delete;  // its means borrow `all_`

  const CellOrder& order(std::size_t item) const { return *order_of_item_[item]; }
  /// [block, column]; NaN: a side lacks a score.
  std::vector<double> differences(std::size_t item) const {
    auto found = means_->of(item).differences;
    for (std::size_t cell = 0; cell < found.size(); ++cell) {
      found[cell] = lacking_[item][cell] ? stats::nan : found[cell];
    }
    return found;
  }
  std::int32_t passes(std::size_t cell) const { return static_cast<std::int32_t>(contexts_[cell].size()); }

 private:
  /// `use(side, context, cell, state)` of what the sides ask of an item; a context is subject x sentences + sentence.
  void each_state(std::size_t item, const auto& use) const {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      const auto& [cells, subjects] = sides_[side];
      for (const auto subject : subjects) {
        plan_.each_cell(plan_.sides[side], [&, &cells = cells](std::size_t sentence, std::size_t cell) {
          use(side, subject * num_sentences() + sentence, cell, cells.state(subject, sentence, item));
        });
      }
    }
  }
  std::size_t num_sentences() const { return sides_.front().cells.num_sentences(); }

  std::vector<bool> applicable_cells(std::size_t item) const {
    return cells_on_all_sides(plan_, [&](std::size_t side, std::size_t sentence) {
      return std::ranges::any_of(sides_[side].subjects, [&](std::size_t subject) {
        return sides_[side].cells.state(subject, sentence, item) != CellState::not_applicable;
      });
    });
  }

  void find_lacking(std::size_t item) {
    const auto num_subjects = scores_.length(subject_axis);
    std::vector<bool> is_compared(sides_.size() * num_subjects, false);
    const auto subject_on = [&](std::size_t side, std::size_t context) {
      return side * num_subjects + context / num_sentences();
    };
    each_state(item, [&](std::size_t side, std::size_t context, std::size_t cell, CellState state) {
      if (order(item).visited[cell] == 0 && state == CellState::scored) {
        is_compared[subject_on(side, context)] = true;
      }
    });
    auto& lacking = lacking_.emplace_back(plan_.num_cells(), false);
    each_state(item, [&](std::size_t side, std::size_t context, std::size_t cell, CellState state) {
      if (is_compared[subject_on(side, context)]) {
        lacking[cell] = lacking[cell] || (state != CellState::scored && state != CellState::not_applicable);
      } else {
        leave_out(context, item);
      }
    });
  }

  void leave_out(std::size_t context, std::size_t item) {
    const auto num_replicates = scores_.length(replicate_axis);
    for (std::size_t replicate = 0; replicate < num_replicates; ++replicate) {
      const auto place = (context * num_replicates + replicate) * scores_.length(item_axis) + item;
      if (!std::isnan(values_[place])) {
        if (masked_.empty()) {
          masked_.assign(values_.begin(), values_.end());
        }
        masked_[place] = stats::nan;
      }
    }
  }

  const Scores& scores_;
  const ContrastPlan& plan_;
  ContrastPlan all_;
  std::span<const double> values_;
  std::vector<double> masked_;  ///< empty: `values_` is taken
  std::vector<std::vector<std::size_t>> contexts_;
  struct SideCells {
    Cells cells;
    std::vector<std::size_t> subjects;
  };
  std::vector<SideCells> sides_;
  std::map<std::vector<bool>, CellOrder> orders_;  ///< by the applicable cells; most items have one
  std::vector<const CellOrder*> order_of_item_;
  std::vector<std::vector<bool>> lacking_;  ///< [item][cell]: a side lacks a score
  std::optional<ComparedMeans> means_;
};

/// The cells of one row, round by round.
class RowDealer {
 public:
  RowDealer(const ContrastCells& cells, std::size_t item, const DecideRequest& request)
      : cells_(cells),
        order_(cells.order(item)),
        differences_(cells.differences(item)),
        request_(request),
        row_{.rounds = {}, .visited = order_.visited},
        planned_(order_.full_parts) {}

  RowRounds deal() {
    for (std::size_t round = 0; round < planned_.size(); ++round) {
      row_.rounds.push_back(numbers(round));
    }
    put_shares_of_level(row_.rounds);
    put_intervals(row_);
    return std::move(row_);
  }

 private:
  bool is_last(std::size_t round) const { return round + 1 == planned_.size(); }
  std::size_t num_columns() const { return order_.columns.size(); }

  RoundNumbers numbers(std::size_t round) {
    RoundNumbers found;
    std::int32_t num_taken = 0;
    std::vector<double> values(order_.num_places(), stats::nan);
    for (std::size_t place = 0; place < order_.num_places(); ++place) {
      if (order_.is_taken(place, round)) {
        values[place] = differences_[order_.cell_at(place)];
        ++num_taken;
        found.passes += cells_.passes(order_.cell_at(place));
        found.num_missing += std::isnan(values[place]) ? 1 : 0;
      }
    }
    found.has_all_templates = order_.planned[round].num_rows == order_.blocks.size() ? 1 : 0;
    found.num_cells = num_taken - found.num_missing;
    found.e_value = e_value(values, round);
    if (found.num_missing <= most_missing * (found.num_cells + found.num_missing)) {
      look_at(stats::estimate_part(values, num_columns()), round, found);
    }
    return found;
  }

  /// Of the first row after row each in a fresh column.
  double e_value(const std::vector<double>& values, std::size_t round) const {
    std::vector<double> diagonal;
    std::size_t num_first = 0;
    const auto num_rows = order_.blocks.size();
    const auto last = num_columns() == 1 ? num_rows : std::min(num_rows, num_columns());
    for (std::size_t row = 0; row < std::min(order_.planned[round].num_rows, last); ++row) {
      const double value = values[row * num_columns() + row % num_columns()];
      if (!std::isnan(value)) {
        diagonal.push_back(value);
        num_first += row < order_.planned.front().num_rows ? 1 : 0;
      }
    }
    return stats::flip_e_value(diagonal, num_first);
  }

  /// What the variances leave uncertain of the target's mean.
  stats::CrossedVariances uncertain_parts(const stats::CrossedVariances& variances,
                                          const stats::MeanShares& shares) const {
    auto parts = shares.parts_of(variances);
    if (request_.target == DecideRequest::Target::product) {
      const auto whole = planned_.back().shares.parts_of(variances);
      parts = {std::max(parts.rows - whole.rows, 0.0), std::max(parts.columns - whole.columns, 0.0),
               std::max(parts.rest - whole.rest, 0.0)};
    }
    return parts;
  }

  void look_at(const stats::PartEstimate& part, std::size_t round, RoundNumbers& found) {
    const bool is_product = request_.target == DecideRequest::Target::product;
    const bool foretells = can_foretell(part);
    if (part.num_cells == 0 || (is_product && !foretells && !is_last(round))) {
      return;
    }
    found.estimate = part.mean;
    found.is_constant = part.variance == 0 ? 1 : 0;
    if (is_product && is_last(round)) {  // all of the product is known
      found.is_constant = 0;
      found.is_looked_at = 1;
      found.parts = {};
      found.statistic = part.mean != 0 ? certain : 0;
      found.equivalence_statistic = std::abs(part.mean) < request_.margin() ? certain : 0;
      found.mixture = is_any_look() ? least_mixture : 0;
      return;
    }
    const auto parts = uncertain_parts(part.variances, part.shares);
    const double variance = parts.sum();
    if (!(variance > 0)) {
      return;
    }
    found.is_looked_at = 1;
    found.parts = parts;
    found.degrees = part.degrees_of(parts);
    found.end_variance = !is_product && foretells ? planned_.back().shares.variance_of(part.variances) : stats::nan;
    const double error = std::sqrt(variance);
    found.statistic = stats::as_normal(std::abs(part.mean) / error, found.degrees);
    found.equivalence_statistic =
        stats::as_normal(std::max(request_.margin() - std::abs(part.mean), 0.0) / error, found.degrees);
    if (before_.rest > 0) {
      // variances are estimated anew in each round, so that t of two rounds are less alike than their means
      const double ratio = variance / std::max(uncertain_parts(part.variances, before_).sum(), variance);
      found.correlation = std::sqrt(std::min(ratio, closest)) * (1 - 1 / static_cast<double>(order_.blocks.size()));
    }
    before_ = part.shares;
    if (is_any_look()) {
      if (mixed_variance_ == 0) {  // known from the first look on, whose variance says nothing of its mean
        const auto end = is_product ? std::max(round + 2, planned_.size()) - 2 : planned_.size() - 1;
        const double ratio = planned_variance(end) / planned_variance(round);
        mixed_variance_ = mixed_over_planned * variance * (ratio > 0 ? ratio : 1);
      }
      found.mixture = std::max(variance / mixed_variance_, least_mixture);
    }
  }

  bool is_any_look() const { return request_.looks == DecideRequest::Looks::any; }
  double planned_variance(std::size_t round) const {
    const auto& plan = request_.plan;
    return uncertain_parts({plan.templates, plan.rephrasings, plan.cells}, planned_[round].shares).sum();
  }

  /// Of the whole table's mean.
  bool can_foretell(const stats::PartEstimate& part) const { return part.separates_cells || num_columns() == 1; }

  /// What each round has spent, by the planned information; of the product's mean, of which the last round knows all,
  /// evenly over the rounds that can tell something of it. No later round has a part in it.
  void put_shares_of_level(std::vector<RoundNumbers>& rounds) const {
    const bool is_product = request_.target == DecideRequest::Target::product;
    const auto tells = [&](std::size_t round) { return is_last(round) || can_foretell(planned_[round]) ? 1.0 : 0.0; };
    double count = 0;
    double so_far = 0;
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      count += tells(round);
    }
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      so_far += tells(round) / count;
      const double spent =
          is_product ? so_far : stats::spent_share(planned_variance(rounds.size() - 1) / planned_variance(round));
      rounds[round].spent = is_any_look() ? stats::nan : is_last(round) ? 1 : spent;
    }
  }

  void put_intervals(RowRounds& row) const {
    const auto [looks, places] = looked_at(row, row.rounds.size(), &RoundNumbers::statistic);
    const auto critical = stats::boundaries(looks, request_.own_level());
    for (std::size_t look = 0; look < looks.size(); ++look) {
      auto& numbers = row.rounds[places[look]];
      numbers.critical = critical[look];
      const double half = numbers.variance() > 0
                              ? stats::as_student(critical[look], numbers.degrees) * std::sqrt(numbers.variance())
                              : 0;
      numbers.low = numbers.estimate - half;
      numbers.high = numbers.estimate + half;
    }
  }

  const ContrastCells& cells_;
  const CellOrder& order_;
  std::vector<double> differences_;
  const DecideRequest& request_;
  RowRounds row_;
  const std::vector<stats::PartEstimate>& planned_;  ///< full_parts of the order
  stats::MeanShares before_;                         ///< of the last round that was looked at
  double mixed_variance_ = 0;                        ///< of the mixture of a confidence sequence
};

/// As `compare` tests it.
void put_complete(const ContrastPlan& plan, const ComparedItem& compared, const std::optional<stats::ScaleEnds>& ends,
                  double margin, RowRounds& row) {
  constexpr double any_confidence = 0.95;  // the p does not depend on it
  const auto squares = compared.squares(plan.num_columns);
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
    std::vector<std::size_t> places(scores.length(axis));
    stats::shuffle(places, seed, start_of(stream));
    order.resize(places.size());
    for (std::size_t place = 0; place < places.size(); ++place) {
      order[places[place]] = place;
    }
  };
  deal(template_axis, Stream::visited_templates, templates);
  deal(rephrasing_axis, Stream::visited_rephrasings, rephrasings);
}

std::vector<bool> templates_without(const Scores& axes, std::size_t measure, std::size_t item,
                                    const LeftOut& is_left_out) {
  return base::mapped(base::places_below(is_left_out ? axes.length(template_axis) : 0),
                      [&](std::size_t place) { return is_left_out(measure, place, item); });
}

std::vector<std::uint8_t> visited_cells(const ContrastPlan& plan, const DealtOrder& order,
                                        const std::vector<bool>& left_out) {
  const auto applicable = cells_on_all_sides(plan, [&](std::size_t /*side*/, std::size_t sentence) {
    return left_out.empty() || !left_out[sentence / plan.columns.size()];
  });
  return CellOrder(plan, order, applicable).visited;
}

std::vector<std::vector<std::size_t>> contexts_of_cells(const Scores& scores, const ContrastPlan& plan) {
  std::vector<std::vector<std::size_t>> contexts(plan.num_cells());
  const auto num_sentences = scores.length(template_axis) * scores.length(rephrasing_axis);
  for (const auto& side : plan.sides) {
    const auto subjects = places_with(side.takes[0], true);
    plan.each_cell(side, [&](std::size_t sentence, std::size_t cell) {
      std::ranges::for_each(subjects, [&](auto one) { contexts[cell].push_back(one * num_sentences + sentence); });
    });
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
  const ContrastCells contrast(scores, plan, values, statuses, order);
  const bool is_whole =
      !scores.num_rounds && !base::contains(statuses, static_cast<std::uint8_t>(results::ScoreStatus::unscored));
  const auto ends = ends_of(*scores.axes[measure_axis], measure);
  std::vector<RowRounds> rows;
  for (std::size_t item = 0; item < scores.length(item_axis); ++item) {
    rows.push_back(RowDealer(contrast, item, request).deal());
    rows.back().is_whole = is_whole ? 1 : 0;
  }
  if (is_whole) {
    const ComparedMeans means(scores, plan, values);
    for (std::size_t item = 0; item < rows.size(); ++item) {
      put_complete(plan, means.of(item), ends, request.margin(), rows[item]);
    }
  }
  return rows;
}

std::vector<std::size_t> dealt_lines(std::size_t num_lines, const std::vector<std::size_t>& line_of_place,
                                     const std::vector<std::size_t>& order) {
  std::vector<std::size_t> first(num_lines, std::numeric_limits<std::size_t>::max());
  auto lines = base::places_below(num_lines);
  for (std::size_t place = 0; place < line_of_place.size(); ++place) {
    if (line_of_place[place] != no_block) {
      first[line_of_place[place]] = std::min(first[line_of_place[place]], order[place]);
    }
  }
  std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return first[line]; });
  return lines;
}

void PassCounter::add(const ContrastPlan& plan, const std::vector<std::uint8_t>& visited, std::size_t stop) {
  auto& latest = stops_[{&plan, visited}];
  latest = std::max(latest, stop);
}

std::vector<PassCounter::State> PassCounter::states() const {
  std::vector<State> states(
      stops_.empty() ? 0 : axes_.length(subject_axis) * axes_.length(template_axis) * axes_.length(rephrasing_axis));
  std::vector<std::vector<std::size_t>> contexts;
  for (const ContrastPlan* of = nullptr; const auto& [rows, stop] : stops_) {
    const auto& [plan, visited] = rows;
    contexts = plan == of ? std::move(contexts) : contexts_of_cells(axes_, *plan);
    of = plan;
    for (std::size_t cell = 0; cell < contexts.size(); ++cell) {
      for (const auto place : visited[cell] == never_visited ? std::vector<std::size_t>() : contexts[cell]) {
        states[place] = std::max(states[place], visited[cell] <= stop ? asked : spared);
      }
    }
  }
  return states;
}

PassCounter::Count PassCounter::count() const {
  const auto found = states();
  const auto of = [&](State state) { return static_cast<std::uint64_t>(std::ranges::count(found, state)); };
  return {of(asked), of(asked) + of(spared)};
}

LookedAt looked_at(const RowRounds& row, std::size_t num_rounds, double RoundNumbers::*statistic) {
  LookedAt found;
  for (std::size_t round = 0; round < std::min(num_rounds, row.rounds.size()); ++round) {
    const auto& numbers = row.rounds[round];
    if (numbers.is_looked_at != 0) {
      const double spent = numbers.mixture > 0 ? 1 : numbers.spent;
      found.looks.push_back({numbers.*statistic, numbers.correlation, spent, numbers.mixture});
      found.rounds.push_back(round);
    }
  }
  return found;
}

}  // namespace stereosweep::findings
