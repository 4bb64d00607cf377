// What is written and shown of the tests, words, samples and detections.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <tuple>

#include "base/text/Text.hpp"
#include "findings/Finding.hpp"
#include "probes/Probe.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes::contexts {
namespace {

using findings::Finding;
using findings::Role;
using findings::table_columns;
using Combined = stats::RandomEffects;
using Heads = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint64_t few_contexts = 20;
constexpr std::uint64_t least_contexts = 2;  ///< for samples that differ
constexpr double level = 0.05;
constexpr std::size_t most_tests = 10;  ///< in the main table
constexpr const char* status_finding = "samples_by_status";
constexpr const char* tests_heading = "Tests of word sets";
constexpr const char* words_heading = "Single words";

/// A weat test, a word of a wefat test, or a wefat test.
struct Row : EffectSummary {
  const EmbeddingTest* test;  ///< borrowed
};

/// One vector per word: no samples of contexts.
bool is_static(const ContextsResult& result) {
  return result.num_samples == 1 &&
         std::ranges::all_of(result.word_contexts, [](const auto& word) { return word.second <= 1; });
}

std::vector<Row> tests_of(const ContextsResult& result, EmbeddingTest::Kind kind) {
  std::vector<Row> rows;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    if (result.tests[test].kind == kind) {
      rows.push_back({result.summaries[test], &result.tests[test]});
    }
  }
  return rows;
}

std::vector<Row> words_of(const ContextsResult& result) {
  std::vector<Row> rows;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    for (const auto& word : result.summaries[test].words) {
      rows.push_back({word, &result.tests[test]});
    }
  }
  return rows;
}

/// "25 and 25 words, 25 and 25 attributes"
std::string set_sizes_of(const EmbeddingTest& test) {
  const auto size = [&](std::size_t set) { return std::to_string(test.sets()[set]->words.size()); };
  return size(0) + (test.is_weat() ? " and " + size(1) : "") + " words, " + size(2) + " and " + size(3) + " attributes";
}

results::AxisSchema axis_of_rows(const std::string& name, const std::string& long_name, const std::vector<Row>& rows) {
  const auto set = [](std::size_t place) { return [place](const Row& row) { return row.test->sets()[place]->label; }; };
  auto axis = axis_of(name, long_name, rows,
                      [](const Row& row) { return row.test->label + (row.word.empty() ? "" : " | " + row.word); },
                      {{"test", "association test", [](const Row& row) { return row.test->label; }},
                       {"title", "what the test compares", [](const Row& row) { return row.test->title; }},
                       {"sizes", "words that take part", [](const Row& row) { return set_sizes_of(*row.test); }},
                       {"x", "target set X", set(0)},
                       {"y", "target set Y", set(1)},
                       {"a", "attribute set A", set(2)},
                       {"b", "attribute set B", set(3)},
                       {"family", "effects that are adjusted together; empty: not adjusted",
                        [](const Row& row) { return row.family; }}});
  if (!rows.empty() && !rows.front().word.empty()) {
    axis.coordinates.push_back({"word", "target word", base::mapped(rows, &Row::word)});
  }
  return axis;
}

/// A set's name, of one that has none its first words: "flowers", "X (rose, tulip and 1 more)". What names a list of a
/// paper ends in "_5a", which is no word.
std::string set_name(const EmbeddingTest& test, std::size_t set) {
  const auto& [name, words] = *test.sets()[set];
  const auto number = name.find_last_of('_') + 1;
  const bool is_numbered =
      number > 1 && number < name.size() && std::isdigit(static_cast<unsigned char>(name[number])) != 0;
  return name.size() > 1 ? name.substr(0, is_numbered ? number - 1 : name.size())
                         : name + " (" + results::first_names(words, 2) + ")";
}

/// With what the tests compare, where all say it.
Heads with_titles(const std::vector<Row>& rows, const std::string& heads) {
  const bool has_titles = std::ranges::none_of(rows, [](const Row& row) { return row.test->title.empty(); });
  return table_columns(heads + (has_titles ? ", title" : ""));
}

void add_relabelling(Finding& finding, const std::vector<Row>& rows, const std::string& kind,
                     PermutationSummary EffectSummary::*of) {
  const findings::RowColumns add{finding, rows};
  const auto name = "p_" + kind;
  const auto relabelled = kind == "targets" ? "X and Y" : "A and B";
  const auto interval = &PermutationSummary::interval;
  using Interval = stats::ProbabilityInterval;
  add(Role::p, name, "1", std::string("two-sided p of relabelling the words of ") + relabelled, of,
      &PermutationSummary::two_sided);
  add(Role::low, name + "_low", "1", "lower end of the interval of the p of all relabellings (Clopper and Pearson)", of,
      interval, &Interval::low)
      .of = name;
  add(Role::high, name + "_high", "1", "upper end of that interval, equal to the lower one where all were counted", of,
      interval, &Interval::high)
      .of = name;
  add(Role::n, name + "_n", "1", "relabellings that were counted (all of them) or drawn", of,
      &PermutationSummary::relabellings)
      .of = name;
  add(Role::p, name + "_one_sided", "1", "one-sided p of the same", of, &PermutationSummary::one_sided);
}

/// What a test, or a word, says.
std::string claim_of(const Row& row) {
  const auto& of = row.combined;
  const std::size_t near = of.effect < 0 ? 3 : 2;
  const auto name = [&](std::size_t set) { return set_name(*row.test, set); };
  if (row.word.empty()) {
    return row.test->label + ": " + name(0) + " are nearer to " + name(near) + ", " + name(1) + " to " + name(5 - near);
  }
  return "'" + row.word + "' is nearer to " + name(near) + " than to " + name(5 - near) +
         (std::isnan(of.low) ? " (no interval: there is one sample, or all are alike)"
                             : " (over other samples of contexts " + results::significant(of.low, std::abs(of.high)) +
                                   " .. " + results::significant(of.high, std::abs(of.low)) + ")");
}

void add_effects(Finding& finding, const std::vector<Row>& rows) {
  finding.question = {
      {.claims = base::mapped(rows, claim_of), .value = "", .counted = "sample", .name = "d", .least = "p_least"}};
  const findings::RowColumns add{finding, rows};
  add(Role::value, "", "1", "effect size d, combined over the samples of contexts", &Row::combined, &Combined::effect);
  add(Role::n, "samples", "1", "samples with an effect size", &Row::effect, &SampleSummary::num_used);
  add(Role::p, "p", "1", "two-sided p to cite: the largest of those below", &Row::cited);
  for (std::size_t way = 0; way < adjustment_names.size(); ++way) {
    add(Role::adjusted, std::string("p_") + adjustment_names[way], "1", "p adjusted in its family",
        [way](const Row& row) { return row.adjusted[way]; });
  }
  add(Role::p, "p_least", "1", "smallest p to cite that so many words can have", &Row::least);
  add(Role::status, "status", "", "why there is no effect size", &Row::combined, &Combined::reason);
  add(Role::value, "mean", "1", "mean of the effect size over samples", &Row::effect, &SampleSummary::mean);
  add(Role::value, "sd", "1", "standard deviation (n - 1) of the effect size over samples", &Row::effect,
      &SampleSummary::deviation);
  add(Role::value, "contexts", "1", "contexts with a vector of the word, of a test of its rarest word", &Row::contexts);
  add(Role::value, "family_size", "1", "effects in the family; 0: in none", &Row::family_size);
}

/// What the tables' columns mean, and what each p assumes.
std::string notes_of(const ContextsResult& result, EmbeddingTest::Kind kind) {
  const bool is_weat = kind == EmbeddingTest::Kind::weat;
  std::string text =
      is_static(result)
          ? "d: the effect size of one vector per word. There is one sample, and so no interval, no z and "
            "no p of z."
          : "d: the effect sizes of " + base::counted(result.num_samples, "sample") +
                " of contexts, combined. sd: their spread. contexts: of the " + (is_weat ? "rarest word." : "word.");
  if (result.depth == ContextsDepth::effects) {
    return text + " p values: stereosweep stats.";
  }
  text +=
      is_weat
          ? " p is the largest of three two-sided p, the one to cite. p targets: the share of all ways to "
            "relabel the words of X and Y whose d is as far from 0; it takes these attribute words as given. p "
            "attributes: the same of A and B; it takes these target words as given. p both: Student's t over "
            "other words of both kinds; its variance is the sum of both spreads, up to twice too large where words of "
            "a set share no topic."
          : " p: the share of all ways to relabel the words of A and B whose d is as far from 0; it takes the "
            "word as given and says nothing of words like it. Words: first those with the best evidence.";
  text += " least: the smallest p that so many words can have. p Holm: adjusted in its family.";
  std::vector<std::string> parts;
  std::vector<std::string> outside;
  for (const auto& family : result.families) {
    if (std::ranges::any_of(family.tests, [&](auto test) { return result.tests[test].kind == kind; })) {
      parts.push_back(family.label + " (" + base::counted(family.num_effects, "effect") + ")");
    }
  }
  for (const auto& row : tests_of(result, kind)) {
    if (row.family.empty()) {
      outside.push_back(row.test->label);
    }
  }
  return text + " Families: " + base::join(parts, ", ") +
         (outside.empty() ? "" : "; in none, not adjusted: " + base::join(outside, ", ")) + ".";
}

/// Columns of effects that the tables show; p only where they were computed.
Heads heads_of(const ContextsResult& result, const std::string& first, const std::string& p_heads) {
  return table_columns(first + ", d:" + (is_static(result) ? "" : ", sd, contexts") +
                       (result.depth == ContextsDepth::everything ? ", " + p_heads : ""));
}

/// "2 words have fewer than 20 contexts: aster 3, clover 12", the rarest first, of the words that take part; "" where
/// none has.
std::string rare_words(const ContextsResult& result, std::uint64_t bound) {
  std::set<std::pair<std::uint64_t, std::string>> rare;
  for (const auto& word : list_words(result.tests)) {
    if (const auto contexts = result.word_contexts.at(word); contexts < bound) {
      rare.insert({contexts, word});
    }
  }
  const auto parts =
      base::mapped(rare, [](const auto& word) { return word.second + " " + std::to_string(word.first); });
  return rare.empty() ? ""
                      : base::counted(rare.size(), "word") + (rare.size() == 1 ? " has" : " have") + " fewer than " +
                            std::to_string(bound) + " contexts: " + results::first_names(parts, 20);
}

/// What keeps a reader from taking the numbers as they stand: words with few contexts, words that a test lacks, sets so
/// small that no p can be small.
std::vector<std::string> warnings_of(const ContextsResult& result) {
  std::vector<std::string> warnings;
  if (const auto few = rare_words(result, few_contexts); !few.empty() && !is_static(result)) {
    warnings.push_back(few);
    if (const auto alike = rare_words(result, least_contexts); !alike.empty()) {
      warnings.push_back(alike + "; the samples draw the same sentence every time");
    }
  }
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    const auto& [label, consequence] = std::tie(result.tests[test].label, result.consequences[test]);
    if (consequence != "all words") {
      warnings.push_back(label + ": " + consequence);
    }
    const auto& words = result.summaries[test].words;
    const double least = words.empty() ? result.summaries[test].least : words.front().least;
    if (least > level) {
      warnings.push_back(label + ": so few words cannot have a p below " + results::p_value(least));
    }
  }
  return warnings;
}

Finding finding_of_tests(const ContextsResult& result) {
  const auto rows = tests_of(result, EmbeddingTest::Kind::weat);
  Finding finding{
      .name = "weat", .heading = tests_heading, .axes = {axis_of_rows("weat_test", "test of two target sets", rows)}};
  add_effects(finding, rows);
  add_relabelling(finding, rows, "targets", &EffectSummary::targets);
  add_relabelling(finding, rows, "attributes", &EffectSummary::attributes);
  const findings::RowColumns add{finding, rows};
  add(Role::p, "p_both", "1", "two-sided p of Student's t over other words of both kinds", &Row::crossed,
      &stats::MeanTest::p);
  add(Role::low, "low", "1", "lower end of the interval of d over other words of both kinds, as p both", &Row::crossed,
      &stats::MeanTest::low);
  add(Role::high, "high", "1", "upper end of that interval", &Row::crossed, &stats::MeanTest::high);
  finding.views = {
      {.title = "Two target sets: d > 0 says that X is nearer to A, and Y to B",
       .columns = heads_of(result, "test: weat_test",
                           "low, high, p, p Holm: p_holm, p targets: p_targets, p attributes: p_attributes, p both: "
                           "p_both"),
       .by = "p"},
      {.title = "Words of these tests", .columns = with_titles(rows, "test: weat_test, sizes")}};
  finding.notes = notes_of(result, EmbeddingTest::Kind::weat);
  return finding;
}

Finding finding_of_words(const ContextsResult& result, const std::vector<Row>& rows) {
  Finding finding{.name = "wefat",
                  .heading = words_heading,
                  .axes = {axis_of_rows("wefat_word", "word of a test of one target set", rows)}};
  add_effects(finding, rows);
  add_relabelling(finding, rows, "attributes", &EffectSummary::attributes);
  finding.add(Role::value, rows, "association", "1", "mean over samples of the word's association", &Row::association);
  finding.add(Role::value, rows, "rank", "1", "place among the test's words, the smallest p first, then the largest d",
              &Row::rank);
  finding.views = {{.title = "Words, d > 0: nearer to A, d < 0: nearer to B; test, A, B: ",
                    .columns = heads_of(result, "word", "p, p Holm: p_holm, least: p_least"),
                    .by = "rank",
                    .each = {"test", "a", "b"}}};
  finding.notes = notes_of(result, EmbeddingTest::Kind::wefat);
  return finding;
}

/// The variant of cao2022 for a group's words.
Finding finding_of_word_means(const ContextsResult& result) {
  const auto rows = tests_of(result, EmbeddingTest::Kind::wefat);
  Finding finding{.name = "wefat_mean_effect",
                  .heading = words_heading,
                  .axes = {axis_of_rows("wefat_test", "test of one target set", rows)}};
  const findings::RowColumns add{finding, rows};
  add(Role::value, "", "1", "mean over samples of the mean effect size of the test's words", &Row::effect,
      &SampleSummary::mean);
  add(Role::n, "samples", "1", "samples in which every word has an effect size", &Row::effect,
      &SampleSummary::num_used);
  add(Role::value, "sd", "1", "standard deviation (n - 1) of that mean over samples", &Row::effect,
      &SampleSummary::deviation);
  finding.views = {{.title = "Mean effect of the words of each test",
                    .columns = with_titles(rows, "test: wefat_test, mean:, sd, samples, sizes")}};
  return finding;
}

/// Random effects of the samples. `axis`: of the rows. Only an expert is shown tables of them.
Finding finding_of_samples(const ContextsResult& result, const std::string& name, const results::AxisSchema& axis,
                           const std::vector<Row>& rows, Detail detail) {
  Finding finding{
      .name = name + "_sampling", .heading = name == "weat" ? tests_heading : words_heading, .axes = {axis}};
  const auto column = [&](const char* of, const char* what, const auto& member) {
    finding.add(Role::value, rows, of, "1", what, &Row::combined, member);
  };
  column("error", "standard error of d over samples of contexts", &Combined::standard_error);
  column("low", "lower end of the interval of d over other samples", &Combined::low);
  column("high", "upper end of the interval of d over other samples", &Combined::high);
  column("tau_squared", "variance of d between samples", &Combined::tau_squared);
  column("q", "Cochran's Q", &Combined::q);
  column("i_squared", "share of Q above its degrees of freedom", &Combined::i_squared);
  column("fixed_effect", "combined effect with tau^2 = 0", &Combined::fixed_effect);
  column("z", "d over its standard error", &Combined::z);
  column("log10_p", "log10 of the two-sided p of z (as the paper states it)", &Combined::log10_p_two_sided);
  column("log10_p_one_sided", "log10 of the one-sided p of z (as the published code computes it)",
         &Combined::log10_p_one_sided);
  finding.add(Role::status, rows, "status", "", "why samples give no error", &Row::combined, &Combined::error_reason);
  if (detail != Detail::everything) {
    return finding;
  }
  finding.views = {{.title = std::string("How far the samples of contexts determine d (variance ") +
                             variance_names.at(static_cast<std::size_t>(result.settings.variance)) + ", " +
                             estimator_names.at(static_cast<std::size_t>(result.settings.estimator)) + ")",
                    .columns = table_columns((name == "weat" ? "test: " : "test | word: ") + axis.name +
                                             ", error, low, high, tau^2: tau_squared, z, log10 p of z: log10_p")}};
  finding.notes =
      "low, high: " + results::percent(result.settings.confidence) +
      " interval over other samples of the same contexts. p of z is no evidence: it shrinks with the number "
      "of samples, so that any difference becomes significant when enough samples are drawn.";
  return finding;
}

std::vector<results::AxisSchema> detection_axes(const std::vector<DetectionSummary>& rows) {
  std::vector<std::string> labels;
  for (const auto& row : rows) {
    base::add_once(labels, row.label);
  }
  return {
      {"detection", "intersectional group", labels, {}},
      {"detection_kind", "words of the intersection (IBD), or of it and of neither part (EIBD)", {"IBD", "EIBD"}, {}}};
}

std::string name_of(const DetectionSummary& row) {
  return row.label + ", " + (row.is_intersectional() ? "IBD" : "EIBD");
}

/// Those that find most beyond what chance would.
std::vector<findings::Sentence> answers_of(std::vector<DetectionSummary> rows) {
  constexpr std::size_t most = 3;
  const auto all = rows.size();
  std::erase_if(rows, [](const auto& row) { return !row.exists() || row.point().num_detected() == 0; });
  std::ranges::stable_sort(rows, std::greater(), [](const auto& row) {
    return static_cast<double>(row.point().true_positives) - row.expected();
  });
  std::vector<findings::Sentence> answers;
  for (const auto& row : std::span(rows).first(std::min(most, rows.size()))) {
    const auto& point = row.point();
    const auto num_words = row.words.size();
    answers.push_back({"", name_of(row) + ": " + std::to_string(point.num_detected()) + " of " +
                               base::counted(num_words, "word") +
                               (row.is_intersectional() ? " detected" : " detected as emergent") + " at d > " +
                               results::fixed(point.threshold, 2) + ", " + std::to_string(point.true_positives) +
                               " of " + std::to_string(std::lround(row.curve.chance * static_cast<double>(num_words))) +
                               " validated ones, expected by chance " + results::significant(row.expected()) + "."});
  }
  answers.push_back(
      {"", "Of " + base::counted(all, "list") + " " + std::to_string(rows.size()) +
               " detect any word. No p and no interval: each threshold is the most accurate one for these "
               "words."});
  return answers;
}

Finding finding_of_detections(const std::vector<DetectionSummary>& rows) {
  Finding finding{.name = "detection", .heading = "Detected words", .axes = detection_axes(rows)};
  const auto point = [&](const std::string& name, const std::string& what, std::size_t stats::DetectionCurve::*place,
                         auto member) {
    finding.add(Role::value, rows, name, "1", what, [=](const DetectionSummary& row) {
      return std::invoke(member, place == nullptr ? row.point() : row.curve.points[row.curve.*place]);
    });
  };
  using Curve = stats::DetectionCurve;
  using Point = stats::DetectionPoint;
  point("accuracy", "words that are detected or not as validated, at IBD's threshold of highest accuracy", nullptr,
        &Point::accuracy);
  finding.add(Role::n, rows, "words", "1", "words with all scores",
              [](const DetectionSummary& row) { return row.words.size(); });
  finding.add(Role::status, rows, "status", "", "why there are no numbers", &DetectionSummary::curve, &Curve::reason);
  point("threshold", "IBD's threshold of highest accuracy", nullptr, &Point::threshold);
  point("detected", "words detected there", nullptr, &Point::num_detected);
  point("true_positive_rate", "validated words that are detected there", nullptr, &Point::true_positive_rate);
  point("false_positive_rate", "other words that are detected there", nullptr, &Point::false_positive_rate);
  finding.add(Role::value, rows, "area", "1", "area under the curve of IBD", &DetectionSummary::curve, &Curve::area);
  finding.add(Role::value, rows, "chance", "1", "validated words / words", &DetectionSummary::curve, &Curve::chance);
  finding.add(Role::value, rows, "expected", "1", "validated words among as many drawn at random",
              &DetectionSummary::expected);
  point("best_threshold", "own threshold of highest accuracy, the lowest of several", &Curve::most_accurate,
        &Point::threshold);
  point("best_accuracy", "accuracy there", &Curve::most_accurate, &Point::accuracy);
  point("best_detected", "words detected there", &Curve::most_accurate, &Point::num_detected);
  point("split_threshold", "threshold of highest true minus false positive rate", &Curve::most_separating,
        &Point::threshold);
  finding.views = {{.title = "Detected words against validated ones, at IBD's threshold of highest accuracy",
                    .columns = table_columns("group: detection, kind: detection_kind, words, at: threshold, detected, "
                                             "accuracy, true rate: true_positive_rate, false rate: "
                                             "false_positive_rate, area, chance")},
                   {.title = "Each at its own threshold of highest accuracy, and the threshold that separates best",
                    .columns = table_columns("group: detection, kind: detection_kind, at: best_threshold, accuracy: "
                                             "best_accuracy, detected: best_detected, separates best at: "
                                             "split_threshold")}};
  finding.answers = answers_of(rows);
  for (const auto& row : rows) {
    const auto name = name_of(row);
    const auto& found = row.detected;
    if (row.exists()) {
      finding.sentences.push_back(
          {"",
           name + (found.empty() ? " detects nothing" : " detects at IBD's threshold: " + base::join(found, ", "))});
    }
    if (row.exists() && !row.unknown.empty()) {
      finding.warnings.push_back(name + ": validation words without scores: " + base::join(row.unknown, ", "));
    }
  }
  return finding;
}

/// Rates over thresholds, and which words are detected at IBD's.
std::vector<Finding> curves_of(const std::vector<DetectionSummary>& rows) {
  const auto thresholds =
      base::mapped(stats::published_thresholds(), [](double threshold) { return results::fixed(threshold, 2); });
  std::set<std::string> words;
  for (const auto& row : rows) {
    words.insert(row.words.begin(), row.words.end());
  }
  Finding curves{.name = "detection_curve", .axes = detection_axes(rows)};
  curves.axes.push_back({"threshold", "effect size above which a word counts", thresholds, {}});
  using Point = stats::DetectionPoint;
  const auto points = base::joined(rows, [](const auto& row) { return row.curve.points; });
  curves.add(Role::value, points, "accuracy", "1", "words that are detected or not as validated", &Point::accuracy);
  curves.add(Role::value, points, "true_positive_rate", "1", "validated words that are detected",
             &Point::true_positive_rate);
  curves.add(Role::value, points, "false_positive_rate", "1", "other words that are detected",
             &Point::false_positive_rate);
  Finding lists{.name = "detection_of_word", .axes = detection_axes(rows)};
  lists.axes.push_back({"detection_word", "word of the tests", {words.begin(), words.end()}, {}});
  std::vector<int> states;
  for (const auto& row : rows) {
    for (const auto& word : words) {
      const bool is_scored = row.exists() && base::contains(row.words, word);
      states.push_back(!is_scored ? 2 : base::contains(row.detected, word) ? 1 : 0);
    }
  }
  lists.add_flags(Role::value, states, "", "whether the word is detected at IBD's threshold",
                  {"not_detected", "detected", "not_scored"}, std::identity());
  return {std::move(curves), std::move(lists)};
}

Finding finding_of_statuses(const ContextsResult& result) {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t status = 0; status < result.status_names.size(); ++status) {
    if (const auto total = result.samples_by_status[status]; total > 0) {
      counts.emplace_back(result.status_names[status], total);
    }
  }
  Finding finding{.name = status_finding,
                  .heading = "Samples",
                  .axes = {axis_of("sample_status", "status of a sample of a test", counts,
                                   [](const auto& count) { return count.first; })}};
  finding.add(Role::value, counts, "", "1", "samples of all tests", [](const auto& count) { return count.second; });
  finding.views = {{.title = "Samples of all tests by status",
                    .columns = table_columns("status of a sample: sample_status, samples:")}};
  finding.warnings = warnings_of(result);
  return finding;
}

}  // namespace

std::vector<Finding> findings_of(const ContextsResult& result, Detail detail) {
  std::vector<Finding> all = {finding_of_tests(result)};
  const bool has_p = result.depth == ContextsDepth::everything;
  if (has_p && result.num_samples > 1) {
    all.push_back(finding_of_samples(result, "weat", all.front().axes.front(),
                                     tests_of(result, EmbeddingTest::Kind::weat), detail));
  }
  if (!result.detections.empty()) {
    all.push_back(finding_of_detections(result.detections));
    std::ranges::move(curves_of(result.detections), std::back_inserter(all));
  }
  const auto words = words_of(result);
  all.push_back(finding_of_words(result, words));
  if (has_p && result.num_samples > 1) {
    all.push_back(finding_of_samples(result, "wefat", axis_of_rows("wefat_word", "", words), words, detail));
  }
  all.push_back(finding_of_word_means(result));
  all.push_back(finding_of_statuses(result));
  std::erase_if(all, [](const Finding& finding) { return finding.num_rows() == 0; });
  for (auto& finding : all) {
    if (finding.question && has_p) {
      findings::answer(finding, {}, 1 - level);
    }
  }
  return all;
}

StatsText contexts_text(const ContextsResult& result, Detail detail, std::size_t top) {
  StatsText text;
  for (const auto& finding : findings_of(result, detail)) {
    if (detail == Detail::status_only && finding.name != status_finding) {
      continue;
    }
    const bool is_first = finding.name == "weat" || finding.name == "wefat" || finding.name == "detection";
    (is_first ? text.found : text.details)
        .add(findings::told_by(finding, finding.name == "weat"
                                            ? std::max(top, detail == Detail::main ? most_tests : result.tests.size())
                                            : top));
  }
  return text;
}

}  // namespace stereosweep::probes::contexts
