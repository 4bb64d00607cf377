#include "findings/decisions/Decisions.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/Error.hpp"
#include "findings/RandomScores.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "stats/sequential/PartEstimate.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using Status = DecisionStatus;
using Want = sweep::DecideRequest::Want;

/// One contrast with zero for each subject.
sweep::Comparison comparison_of(std::vector<Want> want = {{.claim = Want::Claim::sign}}) {
  sweep::Comparison comparison;
  comparison.contrasts = {{.name = "one", .against = sweep::Contrast::Against::zero, .each = "subject"}};
  comparison.decide = sweep::DecideRequest{.want = std::move(want)};
  return comparison;
}

/// Subjects x templates x rephrasings; subject s has the mean `means[s]`.
RandomScores planted(const std::vector<double>& means, std::size_t templates, std::size_t rephrasings,
                     std::uint64_t seed = 1) {
  RandomScores scores({1, means.size(), templates, rephrasings, 1, 1});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> of_templates(means.size() * templates);
  std::ranges::generate(of_templates, [&] { return normal(random); });
  for (std::size_t place = 0; place < scores.table.values.size(); ++place) {
    const auto sentence = place / rephrasings;
    scores.table.values[place] = means[sentence / templates] + of_templates[sentence] + 0.5 * normal(random);
    scores.table.statuses[place] = results::ScoreStatus::ok;
  }
  return scores;
}

std::vector<Status> statuses_of(const Decisions& decisions) {
  std::vector<Status> found;
  std::ranges::transform(decisions.rows, std::back_inserter(found), &DecidedRow::status);
  return found;
}

TEST(FindingsDecisions, tell_clear_rows_early_and_agree_with_the_complete_table) {
  const auto scores = planted({3, -3, 1, 0}, 35, 20);
  const auto decisions =
      decide(scores.scores(), comparison_of({{.claim = Want::Claim::sign}, {.equivalence = 0.8}}), 5);
  EXPECT_THAT(statuses_of(decisions),
              ::testing::ElementsAre(Status::positive, Status::negative, Status::positive, Status::equivalent));
  EXPECT_LE(decisions.rows[0].stop, 1U);
  EXPECT_EQ(decisions.rows[0].at_stop()->passes, decisions.rows[0].stop == 0 ? 12 : 20);
  EXPECT_LE(decisions.rows[2].stop, 4U);
  EXPECT_EQ(decisions.passes.front().all, 4U * 35 * 20);
  std::uint64_t passes = 0;
  for (const auto& row : decisions.rows) {
    EXPECT_EQ(row.status, row.complete);
    EXPECT_EQ(row.table.rounds.size(), 7U);
    passes += static_cast<std::uint64_t>(row.at_stop()->passes);  // each row has a subject of its own
  }
  EXPECT_EQ(decisions.passes.front().asked, passes);
}

TEST(FindingsDecisions, count_the_passes_of_measures_that_are_decided_together_once) {
  RandomScores scores({2, 1, 35, 20, 1, 1});
  for (const std::size_t measure : {0, 1}) {
    const auto one = planted({measure == 0 ? 4.0 : 0.5}, 35, 20, 1 + measure);
    std::ranges::copy(one.table.values, scores.table.values.begin() + static_cast<std::ptrdiff_t>(700 * measure));
  }
  std::ranges::fill(scores.table.statuses, results::ScoreStatus::ok);
  auto comparison = comparison_of();
  for (const auto& axis = scores.table.axes[measure_axis]; const auto& label : axis.labels) {
    comparison.contrasts.front().measures.push_back(label);
  }
  comparison.decide->family = sweep::TestFamily::measure;
  const auto apart = decide(scores.scores(), comparison, 5);
  ASSERT_EQ(apart.passes.size(), 2U);
  const auto asked = std::pair(apart.passes[0].asked, apart.passes[1].asked);
  EXPECT_LT(asked.first, asked.second);
  comparison.decide->family = sweep::TestFamily::all;
  const auto together = decide(scores.scores(), comparison, 5);
  ASSERT_EQ(together.passes.size(), 1U);
  EXPECT_EQ(together.passes.front().measure, "");
  std::uint64_t longest = 0;
  for (const auto& row : together.rows) {
    longest = std::max(longest, static_cast<std::uint64_t>(row.at_stop()->passes));
  }
  EXPECT_EQ(together.passes.front().asked, longest);
  EXPECT_EQ(together.passes.front().all, 700U);
  const auto told = findings_of(together, comparison).front();
  EXPECT_THAT(told.answers.front().text, ::testing::HasSubstr("2 rows of all measures with"));
  EXPECT_EQ(told.answers.front().measure, "");
}

TEST(FindingsDecisions, share_the_passes_of_rows_with_the_same_subjects) {
  const auto scores = planted({0, 4, 8}, 35, 20);
  sweep::Comparison comparison = comparison_of();
  const auto of = [](const char* label) { return std::vector{sweep::Selection{"subject", {label}}}; };
  comparison.contrasts = {{.name = "far", .left = of("subject2"), .right = of("subject0")},
                          {.name = "near", .left = of("subject1"), .right = of("subject0")}};
  const auto decisions = decide(scores.scores(), comparison, 5);
  EXPECT_THAT(statuses_of(decisions), ::testing::Each(Status::positive));
  const auto stops = std::pair(decisions.rows[0].at_stop()->passes, decisions.rows[1].at_stop()->passes);
  EXPECT_EQ(stops.first % 2, 0);  // two subjects a cell
  const auto longer = static_cast<std::uint64_t>(std::max(stops.first, stops.second));
  EXPECT_EQ(decisions.passes.front().asked, static_cast<std::uint64_t>(stops.first + stops.second) / 2 + longer / 2);
  EXPECT_EQ(decisions.passes.front().all, 3U * 700);
}

/// Of one row again from its cells: which are visited, by their order, and their mean and variance.
TEST(FindingsDecisions, look_at_the_cells_of_their_rounds_and_no_others) {
  auto scores = planted({0.7}, 35, 20);
  const auto before = decide(scores.scores(), comparison_of(), 5).rows.front();
  for (std::size_t round = 0; round < before.table.rounds.size(); ++round) {
    std::vector<double> cells(700, stats::nan);
    for (std::size_t template_ = 0; template_ < 35; ++template_) {
      for (std::size_t rephrasing = 0; rephrasing < 20; ++rephrasing) {
        if (before.table.visited[template_ * 20 + rephrasing] <= round) {
          cells[template_ * 20 + rephrasing] = scores.at({0, 0, template_, rephrasing, 0, 0});
        }
      }
    }
    const auto part = stats::estimate_part(cells, 20);
    EXPECT_NEAR(before.table.rounds[round].estimate, part.mean, 1e-12);
    EXPECT_NEAR(before.table.rounds[round].variance(), part.variance, 1e-12);
    EXPECT_NEAR(before.table.rounds[round].degrees, part.degrees, 1e-9);
    const auto planned = stats::planned_looks(35, 20)[round];
    EXPECT_EQ(part.num_cells, planned.num_rows * planned.num_layers);
  }
  // what is scored ahead of its round does not count there
  for (auto& value : scores.table.values) {
    value += 1000;
  }
  for (std::size_t cell = 0; cell < 700; ++cell) {
    if (before.table.visited[cell] <= 3) {
      scores.at({0, 0, cell / 20, cell % 20, 0, 0}) -= 1000;
    }
  }
  const auto after = decide(scores.scores(), comparison_of(), 5).rows.front();
  for (std::size_t round = 0; round < 4; ++round) {
    EXPECT_NEAR(after.table.rounds[round].low, before.table.rounds[round].low, 1e-9);
    EXPECT_NEAR(after.table.rounds[round].statistic, before.table.rounds[round].statistic, 1e-9);
  }
  EXPECT_GT(after.table.rounds[4].estimate, 100);
}

TEST(FindingsDecisions, spend_what_they_do_not_keep_for_a_later_job) {
  const auto scores = planted({0.9, 0.5, 0.3, -0.4, 0}, 24, 6, 3);
  auto kept = comparison_of({{.claim = Want::Claim::sign}, {.equivalence = 0.6}});
  kept.decide->reserve = 0.2;
  auto less = kept;
  less.decide->reserve = 0;
  less.decide->level = 0.04;
  const auto some = decide(scores.scores(), kept, 5);
  const auto same = decide(scores.scores(), less, 5);
  ASSERT_EQ(some.rows.size(), 5U);
  for (std::size_t row = 0; row < some.rows.size(); ++row) {
    EXPECT_EQ(some.rows[row].status, same.rows[row].status);
    EXPECT_EQ(some.rows[row].stop, same.rows[row].stop);
    EXPECT_NEAR(some.rows[row].at_stop()->high, same.rows[row].at_stop()->high, 1e-12);
    EXPECT_EQ(some.rows[row].complete, same.rows[row].complete);
  }
}

TEST(FindingsDecisions, ask_again_what_an_earlier_run_left_as_a_family_of_its_own) {
  const auto first = planted({2, 0.5, 0.3, -2.5, 0}, 16, 4, 3);
  const auto second = planted({2, 0.5, 0.3, -2.5, 0}, 30, 6, 4);
  auto comparison = comparison_of();
  comparison.decide->reserve = 0.4;
  const auto left = rows_left_by(decide(first.scores(), comparison, 5));
  ASSERT_GE(left.size(), 2U);
  ASSERT_LT(left.size(), 5U);
  comparison.decide->after = {.run = "first", .rows = left};
  const auto decisions = decide(second.scores(), comparison, 5);
  // the same rows, named one by one, at what was kept
  auto alone = comparison_of();
  alone.decide->level = 0.4 * 0.05;
  alone.contrasts.clear();
  for (const auto& row : left) {
    alone.contrasts.push_back({.name = row.contrast,
                               .left = {{"subject", {row.contrast.substr(row.contrast.find("subject"))}}},
                               .against = sweep::Contrast::Against::zero});
  }
  const auto expected = decide(second.scores(), alone, 5);
  ASSERT_EQ(decisions.rows.size(), left.size());
  ASSERT_EQ(expected.rows.size(), left.size());
  for (std::size_t row = 0; row < left.size(); ++row) {
    EXPECT_EQ(decisions.rows[row].contrast, left[row].contrast);
    EXPECT_EQ(decisions.rows[row].status, expected.rows[row].status);
    EXPECT_EQ(decisions.rows[row].p_holm, expected.rows[row].p_holm);
    EXPECT_NEAR(decisions.rows[row].at_stop()->low, expected.rows[row].at_stop()->low, 1e-12);
  }
  EXPECT_EQ(decisions.passes.front().all, left.size() * 30U * 6);
  EXPECT_EQ(decisions.passes.front().asked, expected.passes.front().asked);

  comparison.decide->after->rows.push_back({"two", "measure0", "item0"});
  EXPECT_THAT([&] { decide(second.scores(), comparison, 5); },
              ::testing::ThrowsMessage<base::InputError>(::testing::HasSubstr("no contrast 'two' in measure0")));
}

/// Scores what is needed, round by round, of a table that is known; what later rounds score changes no earlier one.
TEST(FindingsDecisions, of_a_run_in_rounds_are_those_of_a_replay) {
  auto whole = planted({2, -0.6, 0.4, 0, -0.2}, 20, 6, 8);
  whole.table.values[3] = stats::nan;  // a score that is missing
  whole.table.statuses[3] = results::ScoreStatus::missing;
  const auto comparison = comparison_of({{.claim = Want::Claim::sign}, {.equivalence = 0.5}});
  const auto replayed = decide(whole.scores(), comparison, 5);
  auto partial = whole;
  std::ranges::fill(partial.table.values, stats::nan);
  std::ranges::fill(partial.table.statuses, results::ScoreStatus::unscored);
  std::size_t num_scored = 0;
  std::vector<base::Digest> digests;
  for (std::size_t round = 0; round < 20; ++round) {
    const auto scores = partial.scores();
    const Deciding deciding(scores, comparison, 5);
    const auto decisions = deciding.after(round);
    for (std::size_t before = 0; before < round; ++before) {
      EXPECT_EQ(digest_of_round(decisions, before), digests[before]);
    }
    const auto needed = deciding.needed_next(decisions, round);
    if (needed.empty()) {
      break;
    }
    num_scored = 0;
    for (std::size_t place = 0; place < needed.size(); ++place) {
      if (needed[place]) {
        partial.table.values[place] = whole.table.values[place];
        partial.table.statuses[place] = whole.table.statuses[place];
      }
      num_scored += partial.table.statuses[place] == results::ScoreStatus::unscored ? 0 : 1;
    }
    const auto now = partial.scores();
    digests.push_back(digest_of_round(Deciding(now, comparison, 5).after(round + 1), round));
  }
  EXPECT_EQ(num_scored, replayed.passes.front().asked);
  EXPECT_LT(num_scored, replayed.passes.front().all);
  auto scores = partial.scores();
  scores.num_rounds = digests.size();
  const auto decided = decide(scores, comparison, 5);
  EXPECT_FALSE(decided.is_whole);
  EXPECT_EQ(statuses_of(decided), statuses_of(replayed));
  for (std::size_t row = 0; row < decided.rows.size(); ++row) {
    EXPECT_EQ(decided.rows[row].stop, replayed.rows[row].stop);
    EXPECT_EQ(decided.rows[row].p_holm, replayed.rows[row].p_holm);
    EXPECT_EQ(decided.rows[row].at_stop()->low, replayed.rows[row].at_stop()->low);
    EXPECT_TRUE(std::isnan(decided.rows[row].table.complete_p));
    EXPECT_EQ(decided.rows[row].complete, Status::open);
  }
}

TEST(FindingsDecisions, leave_a_subject_out_that_the_first_round_does_not_score) {
  auto scores = planted({1, 1}, 20, 6);
  auto comparison = comparison_of();
  comparison.contrasts = {
      {.name = "both", .left = {{"subject", {"subject0", "subject1"}}}, .against = sweep::Contrast::Against::zero}};
  const auto visited = decide(scores.scores(), comparison, 5).rows.front().table.visited;
  auto alone = scores;
  for (std::size_t cell = 0; cell < visited.size(); ++cell) {
    alone.table.values[120 + cell] = stats::nan;
    alone.table.statuses[120 + cell] = results::ScoreStatus::missing;
    if (visited[cell] == 0) {  // what stands in later rounds is as if it did not
      scores.table.values[120 + cell] = stats::nan;
      scores.table.statuses[120 + cell] = results::ScoreStatus::missing;
    }
  }
  const auto later = decide(scores.scores(), comparison, 5).rows.front();
  const auto never = decide(alone.scores(), comparison, 5).rows.front();
  ASSERT_EQ(later.table.rounds.size(), never.table.rounds.size());
  for (std::size_t round = 0; round < later.table.rounds.size(); ++round) {
    EXPECT_EQ(later.table.rounds[round].estimate, never.table.rounds[round].estimate);
  }
  EXPECT_EQ(later.status, Status::positive);
}

TEST(FindingsDecisions, deal_by_the_seed) {
  const auto scores = planted({0.7}, 35, 20);
  const auto visited = [&](std::uint64_t seed) {
    return decide(scores.scores(), comparison_of(), seed).rows.front().table.visited;
  };
  EXPECT_EQ(visited(1), visited(1));
  EXPECT_NE(visited(1), visited(2));
}

TEST(FindingsDecisions, adjust_as_holm_on_sequential_p) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> means(20);
    std::ranges::generate(means, [&] { return std::exponential_distribution<double>(2)(random) - 0.3; });
    const auto scores = planted(means, 20, 5, seed);
    const auto rows = decide(scores.scores(), comparison_of(), seed).rows;
    for (const auto& row : rows) {
      const bool is_decided = row.status == Status::positive || row.status == Status::negative;
      if (std::abs(row.p_holm - 0.05) > 0.0005) {  // p are known to 0.2 %
        EXPECT_EQ(is_decided, row.p_holm <= 0.05) << seed << ' ' << row.contrast << ' ' << row.p_holm;
      }
      EXPECT_GE(row.p_holm, row.p);
    }
  }
}

TEST(FindingsDecisions, are_those_of_contrasts_where_nothing_is_looked_at_before_the_end) {
  const auto scores = planted({0, 1, 5}, 5, 4);  // fewer than six templates
  const auto comparison = comparison_of();
  const auto decisions = decide(scores.scores(), comparison, 1);
  const auto contrasts = compare(scores.scores(), comparison, 1);
  ASSERT_EQ(decisions.rows.size(), contrasts.size());
  for (std::size_t row = 0; row < contrasts.size(); ++row) {
    EXPECT_EQ(decisions.rows[row].table.rounds.size(), 1U);
    EXPECT_EQ(decisions.rows[row].table.complete_p, contrasts[row].p);
    EXPECT_EQ(decisions.rows[row].table.complete, contrasts[row].difference);
    EXPECT_NEAR(decisions.rows[row].complete_p_holm, contrasts[row].p_holm, 1e-12);
  }
  EXPECT_TRUE(decisions.has_few_templates);
}

TEST(FindingsDecisions, never_come_early_of_two_templates) {
  const auto rows = decide(planted({9}, 2, 20).scores(), comparison_of(), 1).rows;
  EXPECT_EQ(rows.front().table.rounds.size(), 1U);
  EXPECT_EQ(rows.front().stop, 0U);
}

TEST(FindingsDecisions, of_equal_cells_are_by_e_values) {
  auto scores = planted({0, 0, 0}, 35, 20);
  for (std::size_t place = 0; place < scores.table.values.size(); ++place) {
    scores.table.values[place] = std::array{0.25, 0.0, -3.0}[place / 700];
  }
  const auto rows = decide(scores.scores(), comparison_of(), 1).rows;
  EXPECT_EQ(rows[0].status, Status::positive);
  EXPECT_EQ(rows[0].stop, 0U);
  EXPECT_TRUE(std::isnan(rows[0].at_stop()->low));
  EXPECT_NEAR(rows[0].p, 1 / rows[0].at_stop()->e_value, 1e-12);
  EXPECT_EQ(rows[1].status, Status::exhausted);  // zeros bet nothing
  EXPECT_EQ(rows[2].status, Status::negative);
}

TEST(FindingsDecisions, skip_templates_that_cannot_be_asked_and_refuse_missing_scores) {
  auto scores = planted({2, 0, 2}, 35, 20);
  const auto drop = [&](std::size_t subject, std::size_t template_, std::size_t every, results::ScoreStatus status) {
    for (std::size_t rephrasing = 0; rephrasing < 20; rephrasing += every) {
      const auto place = scores.table.index({0, subject, template_, rephrasing, 0, 0});
      scores.table.values[place] = stats::nan;
      scores.table.statuses[place] = status;
    }
  };
  for (std::size_t template_ = 0; template_ < 10; ++template_) {
    drop(0, template_, 1, results::ScoreStatus::not_applicable);
  }
  for (std::size_t template_ = 0; template_ < 35; ++template_) {
    drop(1, template_, 5, results::ScoreStatus::undefined);  // a fifth
  }
  drop(2, 3, 1, results::ScoreStatus::undefined);  // one template without any score
  const auto rows = decide(scores.scores(), comparison_of(), 1).rows;
  EXPECT_EQ(rows[0].table.rounds.back().passes, 25 * 20);  // as if there were 25 templates
  EXPECT_EQ(rows[0].table.rounds.back().num_missing, 0);
  EXPECT_EQ(rows[0].status, Status::positive);
  EXPECT_EQ(rows[1].table.rounds.back().num_missing, 140);
  EXPECT_EQ(rows[1].status, Status::missing);
  EXPECT_EQ(rows[2].table.rounds.back().num_missing, 20);
  EXPECT_EQ(rows[2].status, Status::positive);
}

TEST(FindingsDecisions, of_a_finished_file_know_what_was_not_asked) {
  auto scores = planted({2}, 35, 20);
  for (std::size_t template_ = 0; template_ < 10; ++template_) {
    for (std::size_t rephrasing = 0; rephrasing < 20; ++rephrasing) {
      const auto place = scores.table.index({0, 0, template_, rephrasing, 0, 0});
      scores.table.values[place] = stats::nan;
      scores.table.statuses[place] = results::ScoreStatus::not_applicable;
    }
  }
  const testing::TemporaryDirectory folder;
  scores.write(folder / "run.stats.h5");
  const results::ScoreFile file(folder / "run.stats.h5");
  const auto rows = decide(scores_of(file), comparison_of(), 1).rows;
  EXPECT_EQ(rows[0].table.rounds.back().num_missing, 0);
  EXPECT_EQ(rows[0].status, Status::positive);
}

TEST(FindingsDecisions, of_no_common_template_are_missing) {
  auto scores = planted({2, 1}, 12, 3);
  for (std::size_t subject = 0; subject < 2; ++subject) {
    for (std::size_t template_ = subject * 6; template_ < subject * 6 + 6; ++template_) {
      for (std::size_t rephrasing = 0; rephrasing < 3; ++rephrasing) {
        const auto place = scores.table.index({0, subject, template_, rephrasing, 0, 0});
        scores.table.values[place] = stats::nan;
        scores.table.statuses[place] = results::ScoreStatus::not_applicable;
      }
    }
  }
  auto comparison = comparison_of();
  comparison.contrasts = {{.name = "both",
                           .left = {sweep::Selection{"subject", {"subject0"}}},
                           .right = {sweep::Selection{"subject", {"subject1"}}}}};
  const auto decisions = decide(scores.scores(), comparison, 1);
  EXPECT_EQ(decisions.rows.front().status, Status::missing);
  EXPECT_EQ(decisions.rows.front().at_stop(), nullptr);
  EXPECT_EQ(decisions.passes.front().all, 0U);
  for (const auto& finding : findings_of(decisions, comparison)) {
    EXPECT_EQ(finding.num_rows(), finding.name == "decide" ? 1U : 0U);
  }
}

TEST(FindingsDecisions, keep_apart_a_sign_a_margin_and_a_width) {
  const auto scores = planted({0.5, 0}, 100, 20, 3);
  const auto row = [&](std::vector<Want> want) { return decide(scores.scores(), comparison_of(want), 1).rows.front(); };
  EXPECT_EQ(row({{.equivalence = 1e9}}).status, Status::equivalent);  // beyond all scores: as soon as there is a look
  EXPECT_EQ(row({{.equivalence = 1e9}}).stop, 0U);
  EXPECT_EQ(row({{.equivalence = 1e-9}}).status, Status::undecided_here);
  const auto narrow = row({{.width = 0.8}});
  EXPECT_EQ(narrow.status, Status::narrow);
  EXPECT_LE(narrow.at_stop()->high - narrow.at_stop()->low, 0.8);
  EXPECT_EQ(narrow.at_stop()->has_all_templates, 1);
  EXPECT_GT(narrow.table.rounds[narrow.stop - 1].high - narrow.table.rounds[narrow.stop - 1].low, 0.8);
  const auto both = row({{.claim = Want::Claim::sign}, {.width = 0.8}});
  EXPECT_EQ(both.status, Status::positive);
  EXPECT_GT(both.rounds_of_wants[2], 0);
  EXPECT_EQ(both.stop + 1, static_cast<std::size_t>(std::max(both.rounds_of_wants[0], both.rounds_of_wants[2])));
}

TEST(FindingsDecisions, of_the_product_end_with_its_mean) {
  const auto scores = planted({0.02}, 35, 20);
  auto comparison = comparison_of();
  comparison.decide->target = sweep::DecideRequest::Target::product;
  const auto row = decide(scores.scores(), comparison, 1).rows.front();
  const auto& last = row.table.rounds.back();
  EXPECT_EQ(last.low, last.estimate);
  EXPECT_EQ(last.high, last.estimate);
  EXPECT_EQ(row.status, row.complete);
  EXPECT_EQ(row.table.rounds.front().is_looked_at, 0);  // what cells add is not known on the diagonal
  for (const auto& round : row.table.rounds) {
    EXPECT_TRUE(round.is_looked_at == 0 || (round.low <= last.estimate && last.estimate <= round.high));
  }
}

/// Two-way analysis of variance of each subject's table, written out.
TEST(FindingsDecisions, take_variances_from_a_pilot) {
  constexpr std::size_t templates = 9;
  constexpr std::size_t rephrasings = 4;
  auto scores = planted({1, 1, 1}, templates, rephrasings);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::array<std::vector<double>, 3> shares;
  for (std::size_t subject = 0; subject < 3; ++subject) {
    std::vector<double> of_rephrasings(rephrasings);
    std::ranges::generate(of_rephrasings, [&] { return 3 * normal(random); });
    std::vector<double> rows(templates, 0);
    std::vector<double> columns(rephrasings, 0);
    double mean = 0;
    const auto cell = [&](std::size_t t, std::size_t r) -> double& { return scores.at({0, subject, t, r, 0, 0}); };
    for (std::size_t t = 0; t < templates; ++t) {
      for (std::size_t r = 0; r < rephrasings; ++r) {
        cell(t, r) += of_rephrasings[r];
        rows[t] += cell(t, r) / rephrasings;
        columns[r] += cell(t, r) / templates;
        mean += cell(t, r) / (templates * rephrasings);
      }
    }
    std::array<double, 3> squares = {0, 0, 0};
    for (std::size_t t = 0; t < templates; ++t) {
      squares[0] += rephrasings * std::pow(rows[t] - mean, 2) / (templates - 1);
      for (std::size_t r = 0; r < rephrasings; ++r) {
        squares[2] += std::pow(cell(t, r) - rows[t] - columns[r] + mean, 2) / (templates - 1) / (rephrasings - 1);
      }
    }
    for (std::size_t r = 0; r < rephrasings; ++r) {
      squares[1] += templates * std::pow(columns[r] - mean, 2) / (rephrasings - 1);
    }
    const std::array parts = {(squares[0] - squares[2]) / rephrasings, (squares[1] - squares[2]) / templates,
                              squares[2]};
    for (std::size_t part = 0; part < 3; ++part) {
      shares[part].push_back(parts[part] / (parts[0] + parts[1] + parts[2]));
    }
  }
  for (auto& of_rows : shares) {
    std::ranges::sort(of_rows);
  }
  const auto plan = plan_of(scores.scores(), comparison_of());
  EXPECT_EQ(plan.templates, 1);
  EXPECT_NEAR(plan.rephrasings, shares[1][1] / shares[0][1], 0.005 * plan.rephrasings);
  EXPECT_NEAR(plan.cells, shares[2][1] / shares[0][1], 0.005 * plan.cells);
  EXPECT_THROW(plan_of(planted({1}, 12, 1).scores(), comparison_of()), base::InputError);
  auto equal = planted({1}, 6, 3);
  std::ranges::fill(equal.table.values, 0.3);
  EXPECT_THROW(plan_of(equal.scores(), comparison_of()), base::InputError);
}

/// The boundary of each round from its variance, that of the first round and the planned ones.
TEST(FindingsDecisions, hold_at_any_look_by_a_confidence_sequence) {
  const auto scores = planted({3, -2, 0}, 35, 20, 4);
  auto comparison = comparison_of({{.claim = Want::Claim::sign}, {.width = 0.01}});  // so that no row stops early
  comparison.decide->looks = sweep::DecideRequest::Looks::any;
  comparison.decide->plan = {2, 0.2, 3};
  const auto planned = [](double templates, double rephrasings, double cells) {
    return 2 / templates + 0.2 / rephrasings + 3 / cells;
  };
  const auto rows = decide(scores.scores(), comparison, 5).rows;
  for (const auto& row : rows) {
    const auto& rounds = row.table.rounds;
    const double h = 8 * rounds[0].variance() * planned(35, 20, 700) / planned(12, 12, 12);
    double p = 1;
    for (const auto& round : rounds) {
      const double v = round.variance();
      const double c = std::sqrt((v + h) / h * (2 * std::log(1 / 0.05) + std::log((v + h) / v)));
      EXPECT_NEAR(round.critical, c, 1e-9);
      EXPECT_NEAR(round.high - round.estimate, stats::as_student(c, round.degrees) * std::sqrt(v), 1e-9);
      EXPECT_TRUE(std::isnan(round.spent));
      const double z = stats::as_normal(std::abs(round.estimate) / std::sqrt(v), round.degrees);
      p = std::min(p, std::sqrt((v + h) / v) * std::exp(-z * z * h / (2 * (v + h))));
    }
    EXPECT_NEAR(row.p, p, 1e-9 * p);
  }
  EXPECT_EQ(rows[0].status, Status::positive);
  EXPECT_EQ(rows[1].status, Status::negative);
  comparison.decide->target = sweep::DecideRequest::Target::product;  // whose last round knows all
  const auto product = decide(scores.scores(), comparison, 5).rows[2];
  EXPECT_EQ(product.status, product.complete);
  EXPECT_EQ(product.table.rounds.back().low, product.table.rounds.back().high);
  EXPECT_GT(product.table.rounds[5].high, product.table.rounds[5].low);
}

TEST(FindingsDecisions, say_what_cannot_be_decided) {
  const auto scores = planted({1, 1}, 12, 3);
  auto comparison = comparison_of();
  comparison.contrasts.clear();
  EXPECT_THROW(decide(scores.scores(), comparison, 1), base::InputError);
  comparison = comparison_of();
  const auto doubts = [&](std::size_t templates, std::size_t rephrasings) {
    const auto of = planted({1}, templates, rephrasings);
    return doubts_of_decisions(of.table.axes, comparison).size();
  };
  EXPECT_EQ(doubts(12, 3), 0U);
  EXPECT_EQ(doubts(11, 3), 1U);
  EXPECT_EQ(doubts(11, 1), 2U);
  comparison.decide->target = sweep::DecideRequest::Target::product;
  EXPECT_EQ(doubts(12, 1), 0U);
}

}  // namespace
}  // namespace stereosweep::findings
