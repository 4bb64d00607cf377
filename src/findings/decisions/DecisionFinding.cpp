#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/decisions/Decisions.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::findings {
namespace {

using sweep::DecideRequest;

constexpr std::size_t most_decisions_told = 5;  // rows of each measure in words

/// Both may be true of a row: a difference, and a small one.
bool agrees(const DecidedRow& row) {
  return row.status == row.complete || (!is_verdict(row.status) && !is_verdict(row.complete)) ||
         (row.status == DecisionStatus::equivalent && row.is_equivalent_in_full);
}

std::string count_text(std::int32_t count) { return base::with_thousands(static_cast<std::uint64_t>(count)); }

/// "0.410, 0.170 .. 0.650 at every round, over other templates and rephrasings"
std::string interval_text(const DecidedRow& row, const DecideRequest& request) {
  const auto& numbers = *row.at_stop();
  if (std::isnan(numbers.low)) {
    return results::significant(numbers.estimate) + ", no interval, since no cell differs from another";
  }
  const double size = std::max(std::abs(numbers.low), std::abs(numbers.high));
  return results::significant(numbers.estimate, size) + ", interval " + results::significant(numbers.low, size) +
         " to " + results::significant(numbers.high, size) +
         (request.looks == DecideRequest::Looks::any ? " that holds at any look, " : " that holds at every round, ") +
         (request.target == DecideRequest::Target::product ? "of exactly these prompts"
          : row.num_rephrasings > 1                        ? "over other templates and rephrasings"
                                                           : "over other templates, in this wording");
}

std::string sentence_of(const DecidedRow& row, bool names_item, const DecideRequest& request) {
  const auto name = row.contrast + (names_item ? ", " + row.item : "") + ": ";
  if (row.at_stop() == nullptr) {
    return name + "no score on both sides.";
  }
  const auto& numbers = *row.at_stop();
  const auto after = " round " + std::to_string(row.stop + 1) + " of " + std::to_string(row.table.rounds.size()) +
                     " after " + count_text(numbers.passes) + " of " + count_text(row.table.rounds.back().passes) +
                     " passes";
  switch (row.status) {
    case DecisionStatus::positive:
    case DecisionStatus::negative:
      return name + row.claim + " (sequential p " + results::p_value(row.p) + ", adjusted " +
             results::p_value(row.p_holm) + "), decided in" + after + "; difference " + interval_text(row, request) +
             ".";
    case DecisionStatus::equivalent:
      return name + "no difference of " + base::format_double(request.margin()) + " or more, decided in" + after +
             "; difference " + interval_text(row, request) + ".";
    case DecisionStatus::narrow:
      return name + "an interval of at most " + base::format_double(request.width()) + " in" + after + "; difference " +
             interval_text(row, request) + ".";
    case DecisionStatus::undecided_here:
      return name + "not decided; given up in" + after +
             ": the whole product would decide it in fewer than 1 of 40 cases. More templates are needed, not more "
             "rephrasings. Difference " +
             interval_text(row, request) + ".";
    case DecisionStatus::exhausted:
      return name + "not decided by the whole product; difference " + interval_text(row, request) + ".";
    case DecisionStatus::open:
      return name + "not decided yet, after" + after + ".";
    case DecisionStatus::missing:
      break;
  }
  return name + "not decided, since more than a tenth of what was asked has no score.";
}

std::string summary_of(const Decisions& decisions, const MeasurePasses& passes) {
  std::uint64_t num_rows = 0;
  std::uint64_t num_decided = 0;
  std::uint64_t num_same = 0;
  for (const auto& row : decisions.rows) {
    if (passes.measure.empty() || row.measure == passes.measure) {
      num_rows += 1;
      num_decided += is_verdict(row.status) ? 1 : 0;
      num_same += agrees(row) ? 1 : 0;
    }
  }
  const double share = static_cast<double>(passes.asked) / static_cast<double>(std::max<std::uint64_t>(passes.all, 1));
  return (decisions.is_whole ? "Rounds would have decided " : "Rounds decided ") + base::with_thousands(num_decided) +
         " of " + base::counted(num_rows, "row") + " of " + (passes.measure.empty() ? "all measures" : passes.measure) +
         " with " + base::with_thousands(passes.asked) + " of " + base::with_thousands(passes.all) + " passes (" +
         results::fixed(100 * share, 1) + " %)" +
         (decisions.is_whole ? "; " + base::with_thousands(num_same) + " of " + base::with_thousands(num_rows) +
                                   " verdicts are those of the complete table."
                             : ".");
}

/// What is spent here and what elsewhere, where an earlier or a later job has a part in it.
std::string shares_of_level(const DecideRequest& request) {
  const auto own = results::percent(request.own_level());
  const auto level = results::percent(request.level);
  if (request.after) {
    return " Asked again in new templates: " + base::counted(request.after->rows.size(), "row") + " that " +
           request.after->run + " left undecided, at the level of " + own + " that it kept of " + level +
           ", so that in both together a wrong sign is decided with a chance of at most " + level +
           " (sum of both chances). Scores of the earlier run do not count here.";
  }
  return request.reserve == 0 ? ""
                              : " Of the level of " + level + " this run spends " + own +
                                    "; the rest is kept: a later job of new templates whose statistics.decide names "
                                    "this run as 'after' asks undecided rows again.";
}

std::string notes_of(const DecideRequest& request, bool is_whole) {
  return std::string(is_whole
                         ? "Replayed over a complete table: what rounds of a sweep, dealt by the job's seed, would "
                           "have known of the mean "
                         : "Of a run that stopped asking for a row once it was known: what its rounds, dealt by "
                           "the job's seed, know of the mean ") +
         std::string(request.target == DecideRequest::Target::product
                         ? "of exactly these prompts"
                         : "over other templates and rephrasings, these subjects taken as given") +
         ". passes: subject x template x rephrasing. low, high: repeated interval of the row, all rounds of which "
         "together hold the mean with " +
         results::percent(1 - request.own_level()) +
         (request.looks == DecideRequest::Looks::any ? ", and any look that was not declared: a confidence sequence "
                                                       "(normal mixture) by Student's t, which holds "
                                                       "for many templates. "
                                                     : ": boundaries spend the level over the declared rounds, an "
                                                       "upper bound of the exact ones, by Student's t. ") +
         "Adjusted p: Holm on sequential p. The estimate of a row that stopped early is too large "
         "on average; its interval is not. " +
         (is_whole ? "complete: verdict of the whole table by its own p, adjusted alike. " : "") +
         "e: evidence on cells with templates and rephrasings of their own, exact where differences are symmetric." +
         shares_of_level(request);
}

/// A row each; columns alone.
Finding rows_finding(const std::vector<DecidedRow>& rows, double level) {
  Finding finding{.name = "decide"};
  finding.axes = {list_axis<DecidedRow>("decide_row", "contrast, measure and item that is decided", rows,
                                        {{"name", "name of the contrast", &DecidedRow::contrast},
                                         {"measure", "what is compared", &DecidedRow::measure},
                                         {"item", "what it is about", &DecidedRow::item}})};
  const RowColumns add{finding, rows};
  const auto stopped = [](const DecidedRow& row) { return row.at_stop() == nullptr ? RoundNumbers() : *row.at_stop(); };
  add(Role::value, "difference", "", "mean of the cells that were visited until the row stopped", stopped,
      &RoundNumbers::estimate)
      .is_difference = true;
  add.interval({results::percent(1 - level) + " repeated interval of the round it stopped at"}, stopped);
  add(Role::p, "p", "1", "sequential p: smallest level at which a round had decided the sign", &DecidedRow::p);
  add(Role::adjusted, "p_holm", "1", "sequential p after Holm in its family", &DecidedRow::p_holm);
  add(Role::n, "num_cells", "1", "(template, rephrasing) with a difference until the row stopped", stopped,
      &RoundNumbers::num_cells);
  add(Role::n, "round", "1", "round, from 1, after which the row needed no more",
      [](const DecidedRow& row) { return row.stop + 1; });
  add(Role::n, "rounds", "1", "rounds that were declared",
      [](const DecidedRow& row) { return row.table.rounds.size(); });
  add(Role::n, "passes", "1", "(subject, template, rephrasing) that were scored until the row stopped", stopped,
      &RoundNumbers::passes);
  add(Role::n, "all_passes", "1", "of the complete table",
      [](const DecidedRow& row) { return row.table.rounds.empty() ? 0 : row.table.rounds.back().passes; });
  constexpr std::array wants = {"sign_round", "equivalence_round", "width_round"};
  for (std::size_t want = 0; want < wants.size(); ++want) {
    add(Role::n, wants[want], "1", "round whose mean decided it; 0: none did",
        [want](const DecidedRow& row) { return row.rounds_of_wants[want]; });
  }
  finding.add_flags(Role::status, rows, "status", "what is known, or why nothing is", decision_names(),
                    &DecidedRow::status);
  add(Role::value, "e", "1", "e-value of the diagonal until the row stopped", stopped, &RoundNumbers::e_value);
  const auto table = &DecidedRow::table;
  add(Role::value, "complete", "", "difference of the complete table", table, &RowRounds::complete).is_difference =
      true;
  add(Role::p, "complete_p", "1", "its two-sided p, as contrast_p", table, &RowRounds::complete_p).of = "complete";
  add(Role::adjusted, "complete_p_holm", "1", "that p after Holm in the family of decisions",
      &DecidedRow::complete_p_holm)
      .of = "complete";
  finding
      .add_flags(Role::status, rows, "complete_status", "verdict of the complete table", decision_names(),
                 &DecidedRow::complete)
      .of = "complete";
  for (auto& column : finding.columns) {  // the complete table has other cells, and a verdict of its own
    const bool is_of_all = column.of.empty() && (column.role == Role::n || column.role == Role::status);
    column.of = is_of_all ? "difference" : column.of;
  }
  return finding;
}

Finding rounds_finding(const Decisions& decisions, const results::AxisSchema& rows, double level) {
  std::size_t most = 0;
  for (const auto& row : decisions.rows) {
    most = std::max(most, row.table.rounds.size());
  }
  results::AxisSchema rounds{"decide_look", "round of a sweep that may stop", {}, {}};
  for (std::size_t round = 0; round < most; ++round) {
    rounds.labels.push_back(std::to_string(round + 1));
  }
  std::vector<RoundNumbers> all;
  for (const auto& row : decisions.rows) {
    for (std::size_t round = 0; round < most; ++round) {
      all.push_back(round < row.table.rounds.size() && round <= row.stop ? row.table.rounds[round] : RoundNumbers());
    }
  }
  Finding finding{.name = "decide_by_round", .axes = {rows, rounds}};
  const RowColumns add{finding, all};
  add(Role::value, "difference", "", "mean of the visited cells", &RoundNumbers::estimate).is_difference = true;
  add.interval({results::percent(1 - level) + " repeated interval"});
  add(Role::n, "num_cells", "1", "visited cells with a score; 0: the row had stopped", &RoundNumbers::num_cells);
  add(Role::n, "num_missing", "1", "visited cells without a score", &RoundNumbers::num_missing);
  add(Role::n, "passes", "1", "(subject, template, rephrasing) that were scored until here", &RoundNumbers::passes);
  add(Role::n, "degrees", "1", "degrees of freedom of the variance", &RoundNumbers::degrees);
  add(Role::value, "variance", squared_unit, "of the mean about the target", &RoundNumbers::variance);
  const auto parts = &RoundNumbers::parts;
  add(Role::value, "variance_templates", squared_unit, "what templates add to it", parts,
      &stats::CrossedVariances::rows);
  add(Role::value, "variance_rephrasings", squared_unit, "what rephrasings add to it", parts,
      &stats::CrossedVariances::columns);
  add(Role::value, "variance_cells", squared_unit, "what cells add to it", parts, &stats::CrossedVariances::rest);
  add(Role::value, "critical", "1", "normal quantile beyond which the mean must be", &RoundNumbers::critical);
  add(Role::value, "spent", "1", "share of the level that is spent until here", &RoundNumbers::spent);
  add(Role::value, "e", "1", "e-value of the diagonal until here", &RoundNumbers::e_value);
  return finding;
}

/// Of a job or a table with such rows.
std::vector<std::string> doubts(bool has_one_wording, bool has_few_templates, const DecideRequest& request) {
  std::vector<std::string> found;
  if (has_one_wording && request.target == DecideRequest::Target::prompts) {
    found.emplace_back(
        "statistics.decide: one rephrasing says nothing of others: every decision and interval is of this wording "
        "alone. Where rephrasings have effects of their own, 41 % of such decisions about other wordings are wrong.");
  }
  if (has_few_templates) {
    found.push_back(
        "statistics.decide: fewer than 12 templates: with 8 the complete table's verdict is met in 90 %, "
        "not 95 %; with fewer than " +
        std::to_string(stats::fewest_rows_looked_at) + " nothing is decided before the end.");
  }
  return found;
}

}  // namespace

std::vector<Finding> findings_of(const Decisions& decisions, const sweep::Comparison& comparison) {
  const auto& request = *comparison.decide;
  const auto& rows = decisions.rows;
  auto finding = rows_finding(rows, request.own_level());
  finding.notes = notes_of(request, decisions.is_whole);
  finding.warnings = doubts(decisions.has_one_wording, decisions.has_few_templates, request);
  finding.views = {{.title = "Decisions in ",
                    .columns = table_columns(std::string("contrast: name, item, status, ") +
                                             (decisions.is_whole ? "complete: complete_status, " : "") +
                                             "round, passes, difference, low, high, p adjusted: p_holm"),
                    .by = "p"}};
  finding.named = base::joined(asked_contrasts(comparison).contrasts, &sweep::Contrast::measures);
  for (const auto& passes : decisions.passes) {
    finding.answers.push_back({passes.measure, summary_of(decisions, passes)});
  }
  auto order = base::places_below(rows.size());
  finding.sort("p", order);
  std::vector<std::string> items;
  std::ranges::for_each(rows, [&](const DecidedRow& row) { base::add_once(items, row.item); });
  std::map<std::string, std::size_t> told;
  for (const auto row : order) {
    if (told[rows[row].measure]++ < most_decisions_told) {
      finding.answers.push_back({rows[row].measure, sentence_of(rows[row], items.size() > 1, request)});
    }
  }
  auto by_round = rounds_finding(decisions, finding.axes.front(), request.own_level());
  return {std::move(finding), std::move(by_round)};
}

std::vector<std::string> doubts_of_decisions(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison) {
  if (!comparison.decide || std::ranges::any_of(axes, [](const auto& axis) { return axis.labels.empty(); })) {
    return {};
  }
  const auto plans = plan_contrasts_of(scores_of(axes), comparison);
  auto found = doubts(std::ranges::any_of(plans, [](const auto& plan) { return plan.num_columns == 1; }),
                      std::ranges::any_of(plans, [](const auto& plan) { return plan.num_blocks < usual_templates; }),
                      *comparison.decide);
  for (const auto& contrast : comparison.contrasts) {
    if (contrast.against == sweep::Contrast::Against::rest) {
      found.push_back(
          "statistics.decide: a side of '" + contrast.name +
          "' is rest: every subject is asked until its last row is decided. Name a fixed reference instead, "
          "as right: {subject: [LABEL, LABEL]}, so that subjects stop one by one.");
    }
  }
  return found;
}

}  // namespace stereosweep::findings
