#include "findings/decisions/Decisions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
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
#include "stats/sequential/VisitingOrder.hpp"

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
  Family(std::vector<DecidedRow*> rows, const DecideRequest& request) : request_(request) {
    for (auto* row : rows) {
      members_.push_back({.row = row, .is_open = !row->table.rounds.empty()});
      row->status = row->table.rounds.empty() ? DecisionStatus::missing : DecisionStatus::open;
    }
  }

  void decide(std::size_t num_rounds) {
    bool is_any_open = true;
    for (std::size_t round = 0; is_any_open && round < num_rounds; ++round) {
      for (auto& member : members_) {
        member.num_rounds += member.is_open ? 1 : 0;
      }
      if (request_.wants_sign()) {
        step_down(&Member::sign, &RoundNumbers::statistic, request_.own_level());
      }
      if (request_.margin() > 0) {  // two one-sided tests: a two-sided boundary at twice the level
        step_down(&Member::equivalence, &RoundNumbers::equivalence_statistic, 2 * request_.own_level());
      }
      is_any_open = false;
      for (auto& member : members_) {
        if (member.is_open) {
          member.is_open = !stops(member, round);
          member.row->stop = round;
          is_any_open = is_any_open || member.is_open;
        }
      }
    }
    for (auto& member : members_) {
      tell(member);
    }
  }

 private:
  struct Member {
    DecidedRow* row;
    bool is_open;
    std::size_t num_rounds = 0;            ///< that it has seen
    std::optional<std::size_t> sign = {};  ///< round whose mean was beyond its boundary
    std::optional<std::size_t> equivalence = {};
    std::optional<std::size_t> width = {};
    bool is_hopeless = false;
  };
  using Found = std::optional<std::size_t> Member::*;

  std::size_t num_rows() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const Member& member) { return !member.row->table.rounds.empty(); }));
  }
  std::size_t num_found(Found found) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [&](const Member& member) { return (member.*found).has_value(); }));
  }
  /// That Holm tests the rest at when as many are decided.
  double level_now(Found found, double level) const {
    return level / static_cast<double>(std::max<std::size_t>(num_rows() - num_found(found), 1));
  }

  /// Holm on sequential p without computing them: with j rows decided the rest is tested at level / (rows - j), all
  /// rounds that each has seen included, until nothing changes. Valid at every round, since sequential p only fall (Liu
  /// and Anderson 2008, JASA 103; Maurer and Bretz 2013, Statistics in Biopharmaceutical Research 5).
  void step_down(Found found, double RoundNumbers::*statistic, double level) {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      const double now = level_now(found, level);
      const double nearest = stats::first_boundary(std::min(now, 1.0));  // no boundary is nearer to zero
      for (auto& member : members_) {
        if (member.num_rounds > 0 && !(member.*found)) {
          member.*found = first_decided(member, statistic, now, nearest);
          has_changed = has_changed || member.*found;
        }
      }
    }
  }

  std::optional<std::size_t> first_decided(const Member& member, double RoundNumbers::*statistic, double level,
                                           double nearest) const {
    const auto& table = member.row->table;
    const auto is_possible = [&](const RoundNumbers& round) {
      return round.is_constant != 0 || round.*statistic > nearest;
    };
    if (std::ranges::none_of(std::span(table.rounds).first(seen(member)), is_possible)) {
      return std::nullopt;
    }
    const auto looked = looked_at(table, member.num_rounds, statistic);
    if (const auto look = stats::first_beyond(looked.looks, level)) {
      return looked.rounds[*look];
    }
    for (std::size_t round = 0; statistic == &RoundNumbers::statistic && round < seen(member); ++round) {
      if (table.rounds[round].is_constant != 0 && table.rounds[round].e_value >= 1 / level) {
        return round;
      }
    }
    return std::nullopt;
  }
  static std::size_t seen(const Member& member) { return std::min(member.num_rounds, member.row->table.rounds.size()); }

  /// Whether the row needs no more after this round.
  bool stops(Member& member, std::size_t round) {
    const auto& rounds = member.row->table.rounds;
    const auto& numbers = rounds[round];
    const bool is_looked_at = numbers.is_looked_at != 0;
    const bool wants_verdict = request_.wants_sign() || request_.margin() > 0;
    const double width = request_.width();
    if (width > 0 && !member.width && is_looked_at && numbers.has_all_templates != 0 &&
        numbers.high - numbers.low <= width) {
      member.width = round;
    }
    const bool is_known = member.sign || member.equivalence;
    const bool is_hopeless =
        wants_verdict && !is_known && is_looked_at && round + 1 < rounds.size() && hopeless(numbers);
    const bool has_verdict = !wants_verdict || is_known || is_hopeless;
    const bool has_width = width == 0 || member.width;
    member.is_hopeless = is_hopeless && has_width;
    return (has_verdict && has_width) || round + 1 == rounds.size();
  }

  /// Given the data, the whole table's mean is N(estimate, V - V of the whole) (stochastic curtailment: Lan, Simon and
  /// Halperin 1982, Sequential Analysis 1). Boundaries ignore it, so going on costs no error.
  bool hopeless(const RoundNumbers& numbers) const {
    if (std::isnan(numbers.end_variance)) {
      return false;
    }
    const double gap = std::sqrt(std::max(numbers.variance - numbers.end_variance, 1e-12 * numbers.variance));
    const double end = std::sqrt(numbers.end_variance);
    const auto below = [&](double limit) { return std::erfc(-(limit - numbers.estimate) / gap / std::sqrt(2.0)) / 2; };
    const auto needed = [&](double level) {
      return stats::as_student(stats::first_boundary(std::min(level, 1.0)), numbers.degrees) * end;
    };
    if (request_.wants_sign()) {
      const double least = needed(level_now(&Member::sign, request_.own_level()));
      if (1 - below(least) + below(-least) >= hopeless_chance) {
        return false;
      }
    }
    const double room = request_.margin() - needed(level_now(&Member::equivalence, 2 * request_.own_level()));
    return request_.margin() == 0 || room <= 0 || below(room) - below(-room) < hopeless_chance;
  }

  void tell(Member& member) const {
    auto& row = *member.row;
    if (row.table.rounds.empty() || member.num_rounds == 0) {
      return;
    }
    const auto number_of = [](const std::optional<std::size_t>& round) {
      return round ? static_cast<std::int32_t>(*round) + 1 : 0;
    };
    row.rounds_of_wants = {number_of(member.sign), number_of(member.equivalence), number_of(member.width)};
    row.is_positive = row.table.rounds[member.sign.value_or(row.stop)].estimate > 0;
    const auto& numbers = *row.at_stop();
    row.status = member.is_open       ? DecisionStatus::open
                 : member.sign        ? (row.is_positive ? DecisionStatus::positive : DecisionStatus::negative)
                 : member.equivalence ? DecisionStatus::equivalent
                 : member.is_hopeless ? DecisionStatus::undecided_here
                 : member.width       ? DecisionStatus::narrow
                 : std::isnan(numbers.estimate) ? DecisionStatus::missing
                                                : DecisionStatus::exhausted;
  }

  const DecideRequest& request_;
  std::vector<Member> members_;
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

/// Rows of one measure, contrast by contrast. Collective.
void add_rows(const Scores& scores, std::span<const ContrastPlan* const> plans, std::size_t measure,
              const std::vector<double>& values, const DecideRequest& request, const DealtOrder& order,
              std::vector<DecidedRow>& rows) {
  const auto statuses = scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>();
  auto tables = share<RowRounds>(scores.ranks, plans.size(), [&](std::size_t unit) {
    return rounds_of(scores, *plans[unit], measure, values, statuses, request, order);
  });
  const auto& items = scores.axes[item_axis]->labels;
  for (std::size_t unit = 0; unit < tables.size(); ++unit) {
    for (std::size_t item = 0; item < items.size(); ++item) {
      if (auto name = name_of(scores, *plans[unit], measure, item); request.asks(name)) {
        auto& row = rows.emplace_back(DecidedRow{std::move(name)});
        row.table = std::move(tables[unit][item]);
      }
    }
  }
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
  std::vector<std::size_t> items;
  for (std::size_t item = 0; item < axes.length(item_axis); ++item) {
    if (request.asks(name_of(axes, plan, measure, item))) {
      items.push_back(item);
    }
  }
  return items;
}

std::vector<DecideRequest::Row> rows_left_by(const Decisions& decisions) {
  std::vector<DecideRequest::Row> left;
  for (const auto& row : decisions.rows) {
    if (!is_verdict(row.status)) {
      left.push_back(row);
    }
  }
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
    for (const auto* plan : own) {
      plans_of_rows_.insert(plans_of_rows_.end(), asked_items(scores, *plan, measure, request_).size(),
                            static_cast<std::size_t>(plan - plans_.data()));
    }
    add_rows(scores, own, measure, values, request_, order, rows_);
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
      passes.add(plans_[plans_of_rows_[row]], decisions.rows[row].table.visited, decisions.rows[row].stop);
    }
    decisions.passes.push_back({passes.count(), is_of_all ? "" : measure});
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto& plan = plans_[plans_of_rows_[row]];
    decisions.rows[row].num_rephrasings = plan.num_columns;
    decisions.rows[row].claim = claim_of(plan, decisions.rows[row].is_positive);
    decisions.has_one_wording = decisions.has_one_wording || plan.num_columns == 1;
    decisions.has_few_templates = decisions.has_few_templates || plan.num_blocks < usual_templates;
  }
  return decisions;
}

std::vector<bool> Deciding::needed_next(const Decisions& decisions, std::size_t num_rounds) const {
  std::vector<bool> needed;
  std::vector<std::vector<std::vector<std::size_t>>> contexts_of_plans(plans_.size());  // those of open rows
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (decisions.rows[row].status != DecisionStatus::open) {
      continue;
    }
    needed.resize(scores_.length(subject_axis) * scores_.length(template_axis) * scores_.length(rephrasing_axis));
    const auto& visited = rows_[row].table.visited;
    auto& contexts = contexts_of_plans[plans_of_rows_[row]];
    if (contexts.empty()) {
      contexts = contexts_of_cells(scores_, plans_[plans_of_rows_[row]]);
    }
    for (std::size_t cell = 0; cell < visited.size(); ++cell) {
      if (visited[cell] <= num_rounds) {
        std::ranges::for_each(contexts[cell], [&](std::size_t place) { needed[place] = true; });
      }
    }
  }
  return needed;
}

base::Digest digest_of_round(const Decisions& decisions, std::size_t round) {
  base::Sha256 hash;
  for (const auto& row : decisions.rows) {
    if (round > row.stop || row.table.rounds.empty()) {
      continue;
    }
    const auto& numbers = row.table.rounds[round];
    for (const double value :
         {numbers.estimate, numbers.variance, numbers.degrees, numbers.critical, numbers.e_value}) {
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
  std::array<std::vector<double>, 3> shares;
  bool has_rephrasings = false;
  for (const auto& spread : spreads_of(pilot, asked_contrasts(comparison))) {
    const auto parts = spread.squares.variances();
    const double sum = parts.rows + parts.columns + parts.rest;
    has_rephrasings = has_rephrasings || spread.squares.num_columns > 1;
    if (spread.squares.rest_degrees > 0 && sum > std::pow(equal_rounding * spread.difference, 2)) {
      shares[0].push_back(parts.rows / sum);
      shares[1].push_back(parts.columns / sum);
      shares[2].push_back(parts.rest / sum);
    }
  }
  base::refuse_if(!has_rephrasings, "only one rephrasing",
                  "it does not tell cells from templates, nor what rephrasings add");
  std::array<double, 3> medians = {0, 0, 0};
  std::ranges::transform(shares, medians.begin(), [](const auto& of_rows) { return stats::median(of_rows).value; });
  base::refuse_if(!(medians[0] + medians[2] > 0), "no variances",
                  "no contrast has two templates and two rephrasings with differences that vary");
  constexpr double far_less = 1e-3;
  const double unit = medians[0] > far_less * medians[2] ? medians[0] : medians[2];
  const auto ratio = [&](double share) { return *base::parse_double(digits(share / unit, 3)); };
  return {ratio(medians[0]), ratio(medians[1]), ratio(medians[2])};
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
  return rounds_of_sentences(scores, plans, order);
}

}  // namespace stereosweep::findings
