#include "findings/decisions/Decisions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/PValues.hpp"
#include "stats/Summary.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::findings {

/// What the ranks tell each other of a row.
auto fields_of(base::Either<RowRounds> auto& row) {
  return std::tie(row.rounds, row.visited, row.is_whole, row.complete, row.complete_p, row.complete_equivalence_p);
}

namespace {

using sweep::DecideRequest;

constexpr double hopeless_chance = 0.025;
constexpr double equal_rounding = 1e-12;  // of a difference: cells that vary by less are equal
constexpr auto all_rounds = std::numeric_limits<std::size_t>::max();

std::string claim_of(const ContrastPlan& plan, bool is_positive) {
  const auto& words = plan.words;
  return words.left + (is_positive ? " above " : " below ") + (words.right.empty() ? "zero" : words.right) +
         (words.both.empty() ? "" : " (" + words.both + ")");
}

/// Rows that are decided together, round after round.
class Family {
 public:
  Family(const std::vector<DecidedRow*>& rows, const DecideRequest& request) : request_(request) {
    for (auto* row : rows) {
      row->status = row->table.rounds.empty() ? DecisionStatus::missing : DecisionStatus::open;
      if (is_open(row)) {
        rows_.push_back(row);
      }
    }
  }

  void decide(std::size_t num_rounds) {
    for (std::size_t round = 0; round < num_rounds && std::ranges::any_of(rows_, is_open); ++round) {
      for (auto* row : rows_) {
        row->stop = is_open(row) ? round : row->stop;
      }
      if (request_.wants_sign()) {
        step_down(sign, &RoundNumbers::statistic, request_.own_level());
      }
      if (request_.margin() > 0) {  // two one-sided tests: a two-sided boundary at twice the level
        step_down(equivalence, &RoundNumbers::equivalence_statistic, 2 * request_.own_level());
      }
      for (auto* row : rows_) {
        if (is_open(row)) {
          stop_if_known(*row);
        }
      }
    }
    for (auto* row : num_rounds > 0 ? rows_ : std::vector<DecidedRow*>()) {
      tell(*row);
    }
  }

 private:
  /// Places in DecidedRow::rounds_of_wants.
  enum Wanted : std::uint8_t { sign, equivalence, width };

  static bool is_open(const DecidedRow* row) { return row->status == DecisionStatus::open; }
  static bool has(const DecidedRow* row, Wanted want) { return row->rounds_of_wants[want] > 0; }
  /// That Holm tests the rest at when as many are decided.
  double level_now(Wanted want, double level) const {
    const auto num_found = std::ranges::count_if(rows_, [&](const DecidedRow* row) { return has(row, want); });
    return level / static_cast<double>(std::max<std::ptrdiff_t>(std::ssize(rows_) - num_found, 1));
  }

  /// Holm on sequential p without computing them: with j rows decided the rest is tested at level / (rows - j), all
  /// rounds that each has seen included, until nothing changes. Valid at every round, since sequential p only fall (Liu
  /// and Anderson 2008, JASA 103; Maurer and Bretz 2013, Statistics in Biopharmaceutical Research 5).
  void step_down(Wanted want, double RoundNumbers::*statistic, double level) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      const double now = level_now(want, level);
      const double nearest = stats::first_boundary(std::min(now, 1.0));  // no boundary is nearer to zero
      for (auto* row : rows_) {
        if (!has(row, want)) {
          row->rounds_of_wants[want] = first_decided(*row, statistic, now, nearest);
          has_changed = has_changed || has(row, want);
        }
      }
    }
  }

  /// The round, from 1, whose mean was beyond its boundary; 0: none was.
  static std::int32_t first_decided(const DecidedRow& row, double RoundNumbers::*statistic, double level,
                                    double nearest) {
    const auto rounds = std::span(row.table.rounds).first(row.stop + 1);
    const auto is_possible = [&](const RoundNumbers& round) {
      return round.is_constant != 0 || round.*statistic > nearest;
    };
    if (std::ranges::none_of(rounds, is_possible)) {
      return 0;
    }
    const auto looked = looked_at(row.table, rounds.size(), statistic);
    if (const auto look = stats::first_beyond(looked.looks, level)) {
      return static_cast<std::int32_t>(looked.rounds[*look]) + 1;
    }
    const auto constant = std::ranges::find_if(rounds, [&](const RoundNumbers& round) {
      return statistic == &RoundNumbers::statistic && round.is_constant != 0 && round.e_value >= 1 / level;
    });
    return constant == rounds.end() ? 0 : static_cast<std::int32_t>(constant - rounds.begin()) + 1;
  }

  /// Gives the row a status where it needs no more after its last round.
  void stop_if_known(DecidedRow& row) const {
    const auto& numbers = *row.at_stop();
    const bool is_last = row.stop + 1 == row.table.rounds.size();
    const bool is_looked_at = numbers.is_looked_at != 0;
    const bool wants_verdict = request_.wants_sign() || request_.margin() > 0;
    if (!has(&row, width) && is_looked_at && numbers.has_all_templates != 0 && request_.width() > 0 &&
        numbers.high - numbers.low <= request_.width()) {
      row.rounds_of_wants[width] = static_cast<std::int32_t>(row.stop) + 1;
    }
    const bool is_known = !wants_verdict || has(&row, sign) || has(&row, equivalence);
    const bool is_hopeless = !is_known && is_looked_at && !is_last && hopeless(numbers);
    const bool has_width = request_.width() == 0 || has(&row, width);
    if (is_last || (has_width && (is_known || is_hopeless))) {
      row.status = is_hopeless ? DecisionStatus::undecided_here : DecisionStatus::exhausted;
    }
  }

  /// Given the data, the whole table's mean is N(estimate, V - V of the whole) (stochastic curtailment: Lan, Simon and
  /// Halperin 1982, Sequential Analysis 1). Boundaries ignore it, so going on costs no error.
  bool hopeless(const RoundNumbers& numbers) const {
    if (std::isnan(numbers.end_variance)) {
      return false;
    }
    const double gap = std::sqrt(std::max(numbers.variance() - numbers.end_variance, 1e-12 * numbers.variance()));
    const double end = std::sqrt(numbers.end_variance);
    const auto below = [&](double limit) { return std::erfc(-(limit - numbers.estimate) / gap / std::sqrt(2.0)) / 2; };
    const auto needed = [&](double level) {
      return stats::as_student(stats::first_boundary(std::min(level, 1.0)), numbers.degrees) * end;
    };
    if (request_.wants_sign()) {
      const double least = needed(level_now(sign, request_.own_level()));
      if (1 - below(least) + below(-least) >= hopeless_chance) {
        return false;
      }
    }
    const double room = request_.margin() - needed(level_now(equivalence, 2 * request_.own_level()));
    return request_.margin() == 0 || room <= 0 || below(room) - below(-room) < hopeless_chance;
  }

  /// What else was decided of a row that has stopped: Holm may have taken it into account since.
  static void tell(DecidedRow& row) {
    const auto of_sign = has(&row, sign) ? static_cast<std::size_t>(row.rounds_of_wants[sign]) - 1 : row.stop;
    row.is_positive = row.table.rounds[of_sign].estimate > 0;
    if (is_open(&row)) {
      return;
    }
    row.status = has(&row, sign)          ? (row.is_positive ? DecisionStatus::positive : DecisionStatus::negative)
                 : has(&row, equivalence) ? DecisionStatus::equivalent
                 : row.status == DecisionStatus::undecided_here ? DecisionStatus::undecided_here
                 : has(&row, width)                             ? DecisionStatus::narrow
                 : std::isnan(row.at_stop()->estimate)          ? DecisionStatus::missing
                                                                : DecisionStatus::exhausted;
  }

  const DecideRequest& request_;
  std::vector<DecidedRow*> rows_;  ///< those with a cell
};

/// Smallest level at which the sign would have been decided until the stop.
double sequential_p(const DecidedRow& row) {
  double p = stats::sequential_p(looked_at(row.table, row.stop + 1, &RoundNumbers::statistic).looks);
  for (std::size_t round = 0; round <= row.stop; ++round) {
    const auto& at = row.table.rounds[round];
    p = at.is_constant != 0 ? std::min(p, 1 / at.e_value) : p;
  }
  return p;
}

/// p of the sequence and of the complete table, and the latter's verdict, of one family.
void put_p(const std::vector<DecidedRow*>& rows, std::size_t num_rounds, const DecideRequest& request) {
  for (auto* row : rows) {
    row->p = num_rounds == 0 || row->table.rounds.empty() ? stats::nan : sequential_p(*row);
  }
  const auto put = [&](auto read, auto write) { stats::adjust_rows(rows, read, write, stats::Adjustment::holm); };
  put([](const DecidedRow* row) { return row->p; }, [](DecidedRow* row) -> double& { return row->p_holm; });
  put([](const DecidedRow* row) { return row->table.complete_p; },
      [](DecidedRow* row) -> double& { return row->complete_p_holm; });
  const auto equal = stats::adjusted_p(
      base::mapped(rows, [](const auto* row) { return row->table.complete_equivalence_p; }), stats::Adjustment::holm);
  const bool is_product = request.target == DecideRequest::Target::product;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    auto& row = *rows[place];
    const double mean = row.table.complete;
    // exactly these prompts: their mean is known without error
    const bool has_sign = is_product ? mean != 0 && !std::isnan(mean) : row.complete_p_holm <= request.own_level();
    row.is_equivalent_in_full = is_product ? std::abs(mean) < request.margin() : equal[place] <= request.own_level();
    row.complete = std::isnan(mean)                   ? DecisionStatus::open
                   : request.wants_sign() && has_sign ? (mean > 0 ? DecisionStatus::positive : DecisionStatus::negative)
                   : row.is_equivalent_in_full        ? DecisionStatus::equivalent
                                                      : DecisionStatus::exhausted;
  }
}

DecideRequest::Row name_of(const Scores& axes, const ContrastPlan& plan, std::size_t measure, std::size_t item) {
  return {plan.name, axes.axes[measure_axis]->labels[measure], axes.axes[item_axis]->labels[item]};
}

std::string digits(double value, int count) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", count, value);
  return text.data();
}

/// What `decide` names is told once, not for each contrast.
std::vector<ContrastPlan> plans_of(const Scores& scores, const sweep::Comparison& comparison) {
  chosen_measures(scores, comparison.decide->measures, "statistics.decide");
  return plan_contrasts_of(scores, asked_contrasts(comparison));
}

/// Rows that are decided together.
std::map<std::string, std::vector<DecidedRow*>> families_of(std::vector<DecidedRow>& rows, sweep::TestFamily family) {
  std::map<std::string, std::vector<DecidedRow*>> families;
  for (auto& row : rows) {
    families[family_of(row.contrast, row.measure, family)].push_back(&row);
  }
  return families;
}

/// Throws where there is no such row as an earlier run left undecided.
void require_rows(const Scores& axes, const std::vector<ContrastPlan>& plans,
                  const std::vector<DecideRequest::Row>& rows) {
  std::set<DecideRequest::Row> missing(rows.begin(), rows.end());
  for (const auto& plan : plans) {
    for (const auto measure : plan.measures) {
      for (std::size_t item = 0; item < axes.length(item_axis); ++item) {
        missing.erase(name_of(axes, plan, measure, item));
      }
    }
  }
  if (!missing.empty()) {
    const auto& row = *missing.begin();
    base::refuse(base::counted(missing.size(), "row") + " that the earlier run left undecided cannot be asked here",
                 "this job has no contrast '" + row.contrast + "' in " + row.measure + " for " + row.item,
                 "Ask the same contrasts of the same items.");
  }
}

}  // namespace

sweep::Comparison asked_contrasts(const sweep::Comparison& comparison) {
  base::refuse_if(comparison.contrasts.empty(), "statistics.decide: there is nothing to decide",
                  "statistics.contrasts names no contrast",
                  "Add 'contrasts: [{name: ..., left: {...}, right: {...}}]'.");
  auto asked = comparison;
  for (auto& contrast : asked.contrasts) {
    contrast.measures = comparison.decide->measures.empty() ? contrast.measures : comparison.decide->measures;
  }
  return asked;
}

std::vector<std::string> decision_names() {
  return {"positive", "negative", "equivalent", "narrow", "undecided_here", "exhausted", "missing", "open"};
}

std::vector<std::size_t> asked_items(const Scores& axes, const ContrastPlan& plan, std::size_t measure,
                                     const DecideRequest& request) {
  const auto is_asked = [&](std::size_t item) { return request.asks(name_of(axes, plan, measure, item)); };
  return base::places_where(axes.length(item_axis), is_asked);
}

std::vector<DecideRequest::Row> rows_left_by(const Decisions& decisions) {
  const auto is_left = [](const DecidedRow& row) { return !is_verdict(row.status); };
  std::vector<DecideRequest::Row> left;
  std::ranges::copy_if(decisions.rows, std::back_inserter(left), is_left);
  std::ranges::sort(left);
  return left;
}

Deciding::Deciding(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
    : scores_(scores), request_(*comparison.decide), plans_(plans_of(scores, comparison)) {
  if (request_.after) {
    require_rows(scores, plans_, request_.after->rows);
  }
  const DealtOrder order(scores, seed);
  each_compared(scores, plans_, [&](const auto& own, std::size_t measure, const std::vector<double>& values) {
    const auto statuses = scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>();
    auto tables = share<RowRounds>(scores.ranks, own.size(), [&](std::size_t unit) {
      return rounds_of(scores, *own[unit], measure, values, statuses, request_, order);
    });
    for (std::size_t unit = 0; unit < own.size(); ++unit) {
      for (const auto item : asked_items(scores, *own[unit], measure, request_)) {
        auto& row = rows_.emplace_back(DecidedRow{name_of(scores, *own[unit], measure, item)});
        row.plan = static_cast<std::size_t>(own[unit] - plans_.data());
        row.table = std::move(tables[unit][item]);
      }
    }
  });
  is_whole_ = std::ranges::all_of(rows_, [](const DecidedRow& row) { return row.table.is_whole != 0; });
}

Decisions Deciding::after(std::size_t num_rounds) const {
  Decisions decisions;
  decisions.rows = rows_;
  decisions.is_whole = is_whole_;
  for (const auto& [name, rows] : families_of(decisions.rows, request_.family)) {
    Family(rows, request_).decide(num_rounds);
  }
  return decisions;
}

Decisions Deciding::told_after(std::size_t num_rounds) const {
  auto decisions = after(num_rounds);
  for (const auto& [name, rows] : families_of(decisions.rows, request_.family)) {
    put_p(rows, num_rounds, request_);
  }
  for (std::size_t row = 0; row < rows_.size();) {
    const auto measure = rows_[row].measure;
    PassCounter passes(scores_);
    const bool is_of_all = request_.family == sweep::TestFamily::all && rows_.back().measure != measure;
    for (; row < rows_.size() && (is_of_all || rows_[row].measure == measure); ++row) {
      passes.add(plans_[rows_[row].plan], rows_[row].table.visited, decisions.rows[row].stop);
    }
    decisions.passes.push_back({passes.count(), is_of_all ? "" : measure});
  }
  for (auto& row : decisions.rows) {
    const auto& plan = plans_[row.plan];
    row.num_rephrasings = plan.num_columns;
    row.claim = claim_of(plan, row.is_positive);
    decisions.has_one_wording = decisions.has_one_wording || plan.num_columns == 1;
    decisions.has_few_templates = decisions.has_few_templates || plan.num_blocks < usual_templates;
  }
  return decisions;
}

std::vector<bool> Deciding::needed_next(const Decisions& decisions, std::size_t num_rounds) const {
  PassCounter passes(scores_);
  for (const auto& row : decisions.rows) {
    if (row.status == DecisionStatus::open) {
      passes.add(plans_[row.plan], row.table.visited, num_rounds);
    }
  }
  return base::mapped(passes.states(), [](PassCounter::State state) { return state == PassCounter::asked; });
}

base::Digest digest_of_round(const Decisions& decisions, std::size_t round) {
  base::Sha256 hash;
  for (const auto& row : decisions.rows) {
    if (round > row.stop || row.table.rounds.empty()) {
      continue;
    }
    const auto& numbers = row.table.rounds[round];
    for (const double value :
         {numbers.estimate, numbers.variance(), numbers.degrees, numbers.critical, numbers.e_value}) {
      hash.field(digits(value, 6));
    }
    const bool stops_here = round == row.stop && row.status != DecisionStatus::open;
    hash.number(static_cast<std::uint64_t>(numbers.num_cells)).number(static_cast<std::uint64_t>(numbers.num_missing));
    hash.number(stops_here ? static_cast<std::uint64_t>(row.status) + 1 : 0);
  }
  return hash.finish();
}

Decisions decide(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  return Deciding(scores, comparison, seed).told_after(scores.num_rounds.value_or(all_rounds));
}

sweep::DecideRequest::Plan plan_of(const Scores& pilot, const sweep::Comparison& comparison) {
  using Variances = stats::CrossedVariances;
  std::vector<Variances> shares;  // of each row
  bool has_rephrasings = false;
  for (const auto& spread : spreads_of(pilot, asked_contrasts(comparison))) {
    const auto parts = spread.squares.variances();
    const double sum = parts.sum();
    has_rephrasings = has_rephrasings || spread.squares.num_columns > 1;
    if (spread.squares.rest_degrees > 0 && sum > std::pow(equal_rounding * spread.difference, 2)) {
      shares.push_back({parts.rows / sum, parts.columns / sum, parts.rest / sum});
    }
  }
  base::refuse_if(!has_rephrasings, "only one rephrasing",
                  "it does not tell cells from templates, nor what rephrasings add");
  const auto median_of = [&](double Variances::*part) { return stats::median(base::mapped(shares, part)).value; };
  const Variances medians = {median_of(&Variances::rows), median_of(&Variances::columns), median_of(&Variances::rest)};
  base::refuse_if(!(medians.rows + medians.rest > 0), "no variances",
                  "no contrast has two templates and two rephrasings with differences that vary");
  constexpr double far_less = 1e-3;
  const double unit = medians.rows > far_less * medians.rest ? medians.rows : medians.rest;
  const auto ratio = [&](double share) { return *base::parse_double(digits(share / unit, 3)); };
  return {ratio(medians.rows), ratio(medians.columns), ratio(medians.rest)};
}

std::vector<bool> decided_measures(const Scores& axes, const sweep::Comparison& comparison) {
  std::vector<bool> found(axes.length(measure_axis), false);
  for (const auto& plan : plans_of(axes, comparison)) {
    std::ranges::for_each(plan.measures, [&](std::size_t measure) { found[measure] = true; });
  }
  return found;
}

std::vector<std::uint8_t> visiting_rounds(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison,
                                          std::uint64_t seed, const LeftOut& is_left_out) {
  const auto scores = scores_of(axes);
  const auto plans = plans_of(scores, comparison);
  const DealtOrder order(scores, seed);
  const bool has_items = axes[item_axis].long_name != results::ScoreTable::no_axis(item_axis).long_name;
  const auto is_asked = [&](const ContrastPlan& plan, std::size_t measure, std::size_t item) {
    const auto visited = visited_cells(plan, order, templates_without(scores, measure, item, is_left_out));
    return std::ranges::any_of(visited, [](auto round) { return round != never_visited; });
  };
  bool has_sentences = false;
  for (const auto& plan : plans) {
    for (const auto measure : plan.measures) {
      for (std::size_t item = 0; !has_sentences && item < scores.length(item_axis); ++item) {
        has_sentences = is_asked(plan, measure, item);
      }
    }
  }
  base::refuse_if(!has_items || !has_sentences, "statistics.decide: there is nothing to decide",
                  has_items ? "no contrast has sentences on all of its sides" : "the job asks for no number",
                  "Compare what the job asks, or leave 'decide' out.");
  std::vector<std::uint8_t> rounds(scores.length(template_axis) * scores.length(rephrasing_axis), never_visited);
  for (const auto& plan : plans) {
    const auto visited = visited_cells(plan, order);
    for (const auto& side : plan.sides) {
      plan.each_cell(side, [&](std::size_t sentence, std::size_t cell) {
        rounds[sentence] = std::min(rounds[sentence], visited[cell]);
      });
    }
  }
  return rounds;
}

}  // namespace stereosweep::findings
