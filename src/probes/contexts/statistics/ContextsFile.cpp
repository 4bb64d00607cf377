// The file contexts.stats.h5.
#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "findings/agreement/Alignment.hpp"
#include "probes/Probe.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::AxisSchema;
using results::ElementType;
using results::Layout;
using results::ScoreStatus;
using Kind = EmbeddingTest::Kind;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

template <class Strings>
void add_axis(Layout& layout, const char* name, const char* long_name, const Strings& labels) {
  layout.add_axis({name, long_name, Names(labels.begin(), labels.end()), {}});
}

template <class Value>
void write(Layout& layout, const std::string& name, const Names& axes, const std::string& long_name,
           const std::vector<Value>& values, const Names& meanings = {}) {
  constexpr bool is_text = std::is_same_v<Value, std::string>;
  constexpr bool is_flag = std::is_same_v<Value, std::uint8_t>;
  constexpr auto numeric = std::is_same_v<Value, double> ? ElementType::float64 : ElementType::int32;
  constexpr auto type = is_text ? ElementType::text : is_flag ? ElementType::uint8 : numeric;
  layout.write({name, type, {}, is_text || is_flag ? "" : "1", long_name, "", meanings}, axes, values);
}

/// Variables over what `rows` point at: tests, words, curves.
template <class Row>
class Variables {
 public:
  Variables(Layout& layout, std::string prefix, Names axes, std::vector<const Row*> rows)
      : layout_(layout), prefix_(std::move(prefix)), axes_(std::move(axes)), rows_(std::move(rows)) {}

  template <class Read>
  void add(const std::string& name, const std::string& long_name, Read read, const Names& meanings = {}) const {
    std::vector<std::decay_t<std::invoke_result_t<Read, const Row&>>> values;
    std::ranges::transform(rows_, std::back_inserter(values), [&](const auto* row) { return read(*row); });
    write(layout_, prefix_ + name, axes_, long_name, values, meanings);
  }
  /// `read` gives a number for every label of `axis`; the name is taken as it is.
  template <class Read>
  void lists(const std::string& name, const char* axis, const std::string& long_name, Read read) const {
    Numbers values;
    for (const auto* row : rows_) {
      std::ranges::copy(read(*row), std::back_inserter(values));
    }
    auto axes = axes_;
    axes.emplace_back(axis);
    write(layout_, name, axes, long_name, values);
  }

 private:
  Layout& layout_;
  std::string prefix_;
  Names axes_;
  std::vector<const Row*> rows_;
};

/// `relabelled`: "target words".
template <class Row>
void write_relabelling(const Variables<Row>& variables, const std::string& prefix, const std::string& relabelled,
                       PermutationSummary EffectSummary::*of) {
  const auto add = [&](const char* name, const std::string& long_name, auto read, const Names& meanings = {}) {
    variables.add(
        prefix + name, long_name, [of, read](const Row& row) { return std::invoke(read, row.*of); }, meanings);
  };
  using Summary = PermutationSummary;
  add("permutation_p", "one-sided p of relabelling the " + relabelled, &Summary::p);
  add("permutation_p_two_sided", "two-sided p of relabelling the " + relabelled + "; NaN after an early end",
      &Summary::two_sided);
  add("permutation_p_low", "lower end of the interval of the exact one-sided p",
      [](const Summary& summary) { return summary.interval.low; });
  add("permutation_p_high", "upper end of the interval of the exact one-sided p",
      [](const Summary& summary) { return summary.interval.high; });
  add("permutation_method", "how the p was found",
      [](const Summary& summary) { return static_cast<std::uint8_t>(summary.method); },
      {"none", "exact", "monte_carlo", "monte_carlo_early_end"});
  if constexpr (std::is_same_v<Row, TestSummary>) {
    add("permutation_p_least", "smallest two-sided p that so many " + relabelled + " can have", &Summary::least);
    add("permutation_reaching", "partitions (exact) or draws that reach the observed statistic", &Summary::reaching);
    add("permutation_two_sided_reaching", "partitions or draws that reach its magnitude", &Summary::two_sided_reaching);
    add("permutation_partitions", "partitions of the " + relabelled, &Summary::partitions);
    add("permutation_draws", "draws of a Monte Carlo test",
        [](const Summary& summary) { return static_cast<double>(summary.draws); });
  }
}

/// The p to cite. `prefix`: of the variables; `which`: "the larger of permutation_p_two_sided and ...".
template <class Row>
void write_cited(const Variables<Row>& variables, const std::string& prefix, const std::string& which) {
  variables.add("p_cite", "two-sided p to cite: " + which, [](const Row& row) { return row.cited; });
  variables.add("p_least", "smallest p_cite that so many words can have", [](const Row& row) { return row.least; });
  variables.lists("adjusted_" + prefix + "p_cite", "adjustment", prefix + "p_cite, adjusted in the test's family",
                  [](const Row& row) { return row.adjusted; });
  variables.lists("adjusted_" + prefix + "log10_p_two_sided", "correction",
                  prefix + "log10_p_two_sided, adjusted in the test's family (attributes variance, estimator)",
                  [](const Row& row) { return row.adjusted_log10_p; });
}

/// Why there is no error, interval, z and p of z.
template <class Row>
void write_z_status(const Variables<Row>& variables, const std::string& long_name) {
  const auto status_of = [](const Row& row) {
    return static_cast<std::uint8_t>(row.combined.has_error() ? 0 : row.combined.defined() ? 1 : 2);
  };
  variables.add("z_status", long_name, status_of, {"ok", "one_sample", "no_effect"});
}

void write_attributes(hdf5::Group& root, const ContextsResult& result, const ContextsOptions& options) {
  root.write_attribute("variance", variance_names[result.chosen / estimator_names.size()]);
  root.write_attribute("estimator", estimator_names[result.chosen % estimator_names.size()]);
  root.write_attribute("confidence", result.settings.confidence);
  root.write_attribute("draws", result.settings.draws);
  root.write_attribute("exceedances", result.settings.exceedances);
  root.write_attribute("permutation_seed", std::to_string(options.seed));
  if (const auto warnings = contexts_warnings(result); !warnings.empty()) {
    root.write_attribute("contexts_warnings", base::join(warnings, "\n"));
  }
  root.write_attribute("human_ratings", options.ratings ? options.ratings_source : std::string("none"));
}

/// The axis of the tests, with their families, and how much each rests on.
void write_test_axis(Layout& layout, results::AxisSchema axis, const ContextsResult& result) {
  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> used;
  std::vector<std::int32_t> fewest;
  Names names;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    const auto& summary = result.summaries[test];
    const auto family = summary.family ? result.families[*summary.family] : FamilyInUse{};
    names.push_back(family.label);
    sizes.push_back(static_cast<std::int32_t>(family.num_effects));
    used.push_back(summary.effect.num_used);
    fewest.push_back(static_cast<std::int32_t>(fewest_contexts(result, test).value_or(0)));
  }
  axis.coordinates.push_back({"family", "tests whose effects are adjusted together; empty: not adjusted", names});
  layout.add_axis(axis);
  write(layout, "family_size", {"test"}, "WEAT tests, and words of WEFAT tests, in the test's family; 0: in none",
        sizes);
  add_axis(layout, "variance", "in-sample variance V", variance_names);
  add_axis(layout, "estimator", "estimator of tau^2", estimator_names);
  write(layout, "num_samples_used", {"test"}, "samples with an effect size", used);
  write(layout, "fewest_contexts", {"test"}, "contexts with a vector of the test's rarest word; 1 with static vectors",
        fewest);
}

void write_combinations(Layout& layout, const ContextsResult& result) {
  using Combined = stats::RandomEffects;
  struct Variable {
    const char* name;
    const char* long_name;
    double Combined::*member;
  };
  constexpr std::array variables = {
      Variable{"combined_effect", "combined effect size of a WEAT test (random effects)", &Combined::effect},
      Variable{"standard_error", "standard error of combined_effect", &Combined::standard_error},
      Variable{"low", "lower end of the interval of combined_effect", &Combined::low},
      Variable{"high", "upper end of the interval of combined_effect", &Combined::high},
      Variable{"tau_squared", "variance between samples", &Combined::tau_squared},
      Variable{"q", "Cochran's Q", &Combined::q},
      Variable{"i_squared", "share of Q above its degrees of freedom", &Combined::i_squared},
      Variable{"fixed_effect", "combined effect with tau^2 = 0", &Combined::fixed_effect},
      Variable{"z", "combined_effect / standard_error", &Combined::z},
      Variable{"log10_p_two_sided", "log10 of the two-sided p of z (as the paper states it)",
               &Combined::log10_p_two_sided},
      Variable{"log10_p_one_sided", "log10 of the one-sided p of z (as the published code computes it)",
               &Combined::log10_p_one_sided},
  };
  for (const auto& [name, long_name, member] : variables) {
    Numbers values;
    for (const auto& summary : result.summaries) {
      std::ranges::transform(summary.combinations, std::back_inserter(values), member);
    }
    write(layout, name, {"test", "variance", "estimator"}, long_name, values);
  }
}

void write_tests(Layout& layout, const ContextsResult& result) {
  std::vector<const TestSummary*> rows;
  for (const auto& summary : result.summaries) {
    rows.push_back(&summary);
  }
  const Variables tests(layout, "", {"test"}, rows);
  tests.add("mean_effect", "mean over samples of the effect size (WEFAT: of the words' mean)",
            [](const auto& test) { return test.effect.mean; });
  tests.add("effect_deviation", "its standard deviation over samples (ddof 1)",
            [](const auto& test) { return test.effect.deviation; });
  write_combinations(layout, result);
  add_axis(layout, "correction", "correction for the number of effects of a family",
           std::span(adjustment_names).first(num_step_adjustments));
  write_z_status(tests,
                 "why a WEAT test has no standard_error, low, high, z and p of z; one_sample: nothing says how far the "
                 "next sample would lie");
  add_axis(layout, "adjustment", "adjustment for the number of effects of a family", adjustment_names);
  write_relabelling(tests, "", "target words", &EffectSummary::targets);
  write_relabelling(tests, "attribute_", "attribute words", &EffectSummary::attributes);
  write_cited(tests, "", "the larger of permutation_p_two_sided and attribute_permutation_p_two_sided");
}

void write_words(Layout& layout, const ContextsResult& result) {
  std::size_t num_slots = 0;
  for (const auto& test : result.tests) {
    num_slots = std::max(num_slots, test.num_targets());
  }
  if (num_slots == 0) {
    return;
  }
  layout.add_axis(numbered_axis("target", "target word: those of X, then those of Y", num_slots));
  const WordSummary none{};  // of what is not a word of a wefat test
  Names names;
  std::vector<const WordSummary*> rows;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    auto all = result.tests[test].words[0];
    all.insert(all.end(), result.tests[test].words[1].begin(), result.tests[test].words[1].end());
    const auto& of_test = result.summaries[test].words;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
      names.push_back(slot < all.size() ? all[slot] : "");
      rows.push_back(slot < of_test.size() ? &of_test[slot] : &none);
    }
  }
  write(layout, "word", {"test", "target"}, "target word", names);
  const Variables words(layout, "word_", {"test", "target"}, rows);
  words.add("association", "mean over samples of the word's association (WEFAT)",
            [](const auto& word) { return word.association.mean; });
  words.add("effect", "mean over samples of the word's effect size (WEFAT)",
            [](const auto& word) { return word.effect.mean; });
  words.add("effect_deviation", "its standard deviation over samples",
            [](const auto& word) { return word.effect.deviation; });
  words.add("combined_effect", "combined effect size of the word (WEFAT)",
            [](const auto& word) { return word.combined.effect; });
  words.add("standard_error", "standard error of word_combined_effect",
            [](const auto& word) { return word.combined.standard_error; });
  words.add("log10_p_two_sided", "log10 of the two-sided p of its z",
            [](const auto& word) { return word.combined.log10_p_two_sided; });
  write_relabelling(words, "", "attribute words", &EffectSummary::attributes);
  write_cited(words, "word_", "word_permutation_p_two_sided, since one target word cannot be relabelled");
  write_z_status(words, "why a word has no word_standard_error and p of z");
}

void write_detections(Layout& layout, const std::vector<DetectionSummary>& detections) {
  using Curve = stats::DetectionCurve;
  const auto thresholds = stats::published_thresholds();
  Curve none;  // where validation is not possible
  none.points.assign(thresholds.size(), {stats::nan, 0, 0, stats::nan, stats::nan, stats::nan});
  none.chance = stats::nan;
  Names labels;
  Names words;
  Numbers areas;
  std::vector<const Curve*> rows;
  std::vector<const Names*> detected;
  std::vector<const Names*> unknown;
  for (const auto& detection : detections) {
    labels.push_back(detection.label);
    words.push_back(base::Json(detection.words).dump());
    areas.push_back(detection.area.value);
    for (std::size_t kind = 0; kind < detection.curves.size(); ++kind) {
      rows.push_back(detection.curves[kind].reason == stats::Reason::ok ? &detection.curves[kind] : &none);
      detected.push_back(&detection.detected[kind]);
      unknown.push_back(&detection.unknown[kind]);
    }
  }
  Names threshold_labels;
  for (const double threshold : thresholds) {
    const auto text = std::to_string(threshold);
    threshold_labels.push_back(text.substr(0, text.size() - 4));  // two decimals
  }
  add_axis(layout, "detection", "intersectional group", labels);
  add_axis(layout, "detection_kind", "intersectional (IBD) or emergent (EIBD)", Names{"intersectional", "emergent"});
  add_axis(layout, "threshold", "effect size above which a word counts", threshold_labels);
  write(layout, "detection_words", {"detection"}, "words with all scores (JSON)", words);
  write(layout, "area", {"detection"}, "area under the curve of IBD", areas);
  Numbers used;
  std::ranges::transform(detections, std::back_inserter(used), [](const DetectionSummary& detection) {
    const auto& curve = detection.curves.front();
    return curve.reason == stats::Reason::ok ? curve.points[detection.used].threshold : stats::nan;
  });
  write(layout, "detection_threshold", {"detection"}, "IBD's threshold of highest accuracy, at which words are listed",
        used);
  const Names axes = {"detection", "detection_kind"};
  const Variables curves(layout, "", axes, rows);
  const auto add_rate = [&](const char* name, const char* long_name, double stats::DetectionPoint::*rate) {
    curves.lists(name, "threshold", long_name,
                 [&](const Curve& curve) { return std::views::transform(curve.points, rate); });
  };
  add_rate("true_positive_rate", "validated words that are detected", &stats::DetectionPoint::true_positive_rate);
  add_rate("false_positive_rate", "other words that are detected", &stats::DetectionPoint::false_positive_rate);
  add_rate("accuracy", "words that are detected or not as validated", &stats::DetectionPoint::accuracy);
  curves.add("best_threshold", "threshold of highest accuracy, the lowest of several",
             [](const Curve& curve) { return curve.points[curve.most_accurate].threshold; });
  curves.add("best_accuracy", "accuracy there",
             [](const Curve& curve) { return curve.points[curve.most_accurate].accuracy; });
  curves.add("separating_threshold", "threshold of highest true minus false positive rate",
             [](const Curve& curve) { return curve.points[curve.most_separating].threshold; });
  curves.add("chance", "validated words / words", [](const Curve& curve) { return curve.chance; });
  const auto json = [](const Names& list) { return base::Json(list).dump(); };
  Variables(layout, "", axes, detected).add("detected_words", "words detected at detection_threshold (JSON)", json);
  Variables(layout, "", axes, unknown).add("unknown_words", "validation words without all scores (JSON)", json);
  curves.add("detection_status", "why there are no numbers",
             [](const Curve& curve) { return static_cast<std::uint8_t>(curve.reason == stats::Reason::ok ? 0 : 1); },
             {"ok", "no_values"});
}

/// The axes variant, prior, group and pair, and what `write_pair_agreement` writes over them.
void write_agreement(Layout& layout, const findings::PairAgreement& agreement, const std::vector<ContextsTest>& tests) {
  const auto& axes = agreement.scores.axes;
  const std::vector<std::string> descriptions = {"mean over samples of the word's effect size",
                                                 "combined effect size of the word (random effects)"};
  layout.add_axis({"variant", "variant of the score", axes.measures, {{"description", "definition", descriptions}}});
  layout.add_axis({"prior", "no prior: effects are differences of cosines", axes.priors, {}});
  layout.add_axis({"group", "target word of the WEFAT tests", axes.groups, {}});
  results::AxisSchema pairs{"pair", "WEFAT test; a score above 0 is nearer to A, the right pole", axes.pairs, {}};
  pairs.coordinates = {{"dimension", "title of the test", {}}, {"left", "B", {}}, {"right", "A", {}}};
  for (const auto& test : tests) {
    if (test.kind == Kind::wefat) {
      pairs.coordinates[0].values.push_back(test.title);
      pairs.coordinates[1].values.push_back(test.sets[3]);
      pairs.coordinates[2].values.push_back(test.sets[2]);
    }
  }
  layout.add_axis(pairs);
  findings::write_pair_agreement(layout, agreement, "1");
}

// The score table.

constexpr std::size_t most_numbers = std::size_t{16} << 20U;  ///< in memory at a time

constexpr std::size_t num_measures = 3;
using Scores = std::array<double, num_measures>;  ///< effect_size, association, deviation; NaN where there is none

/// One value of the axis subject: label, then the coordinates kind, name, domain, first, second.
using SubjectRow = std::array<std::string, 6>;

AxisSchema measure_axis() {
  return {
      results::score_axis_names[0],
      "what is measured",
      {"effect_size", "association", "deviation"},
      {{"units", "unit of the score", {"1", "1", "1"}},
       {"description",
        "definition",
        {"association / deviation: the effect size of the sample",
         "WEAT: mean association of X minus that of Y; WEFAT: mean cosine of the word with A minus that with B",
         "standard deviation (ddof 1). WEAT: of the associations in X and Y; WEFAT: of the cosines with A and B"}}}};
}

AxisSchema subject_axis(const std::vector<SubjectRow>& rows) {
  const auto part = [](std::size_t place) { return [place](const SubjectRow& row) { return row[place]; }; };
  return axis_of(results::score_axis_names[1], "pair of target sets (WEAT) or target word (WEFAT)", rows, part(0),
                 {{"kind", "word sets, word, group or intersection", part(1)},
                  {"name", "label of the group or intersection", part(2)},
                  {"domain", "domain of the group, or of both groups", part(3)},
                  {"first", "first group; of word sets: X", part(4)},
                  {"second", "second group; of word sets: Y", part(5)}});
}

AxisSchema item_axis(const std::vector<ContextsTest>& tests) {
  return axis_of(
      results::score_axis_names[5], "association test; more is nearer to right", tests, &ContextsTest::label,
      {{"dimension", "title of the test", &ContextsTest::title},
       {"left", "attribute set B", [](const auto& test) { return test.sets[3]; }},
       {"right", "attribute set A", [](const auto& test) { return test.sets[2]; }},
       {"kind", "weat: two sets of targets; wefat: one", [](const auto& test) { return name_of(test.kind); }}});
}

/// The subjects of all tests, and which of them a test has.
class Subjects {
 public:
  Subjects(const std::vector<ContextsTest>& tests, const Contexts& job) {
    for (const auto& test : tests) {
      auto& of_test = of_tests_.emplace_back();
      if (test.kind == Kind::weat) {
        of_test.push_back(add({test.sets[0] + " - " + test.sets[1], "word sets", "", "", test.sets[0], test.sets[1]}));
        without_vector_.emplace_back();
        continue;
      }
      for (const auto& word : test.words[0]) {
        of_test.push_back(add(row_of(word, job)));
      }
      without_vector_.push_back(find_missing(test, job));
    }
  }
  const std::vector<SubjectRow>& rows() const { return rows_; }
  /// Of a weat test its pair of sets, of a wefat test its target words.
  const std::vector<std::size_t>& of_test(std::size_t test) const { return of_tests_[test]; }
  const std::vector<std::size_t>& without_vector(std::size_t test) const { return without_vector_[test]; }

 private:
  static SubjectRow row_of(const std::string& word, const Contexts& job) {
    const auto known = std::ranges::find(job.subjects, word, &TargetSubject::word);
    if (known == job.subjects.end()) {
      return {word, "word", "", "", "", ""};
    }
    const auto* kind = known->second.empty() ? "group" : "intersection";
    return {word, kind, known->label, known->domain, known->first, known->second};
  }

  std::vector<std::size_t> find_missing(const ContextsTest& test, const Contexts& job) {
    std::vector<std::size_t> missing;
    const auto asked = std::ranges::find(job.tests, test.label, &EmbeddingTest::label);
    for (const auto& word : asked == job.tests.end() ? std::vector<std::string>() : asked->x.words) {
      if (std::ranges::find(test.words[0], word) == test.words[0].end()) {
        missing.push_back(add(row_of(word, job)));
      }
    }
    return missing;
  }

  /// Word sets of one name are one subject, whatever the test.
  std::size_t add(SubjectRow row) {
    const auto [place, is_new] = places_.try_emplace({row[0], row[1] == "word sets"}, rows_.size());
    if (is_new) {
      rows_.push_back(std::move(row));
    }
    return place->second;
  }

  std::vector<SubjectRow> rows_;
  std::map<std::pair<std::string, bool>, std::size_t> places_;  ///< by label, and whether it names word sets
  std::vector<std::vector<std::size_t>> of_tests_;
  std::vector<std::vector<std::size_t>> without_vector_;
};

/// Scores of a pair of target sets.
Scores scores_of_sets(const ContextsTest& test, const ContextsSamples& samples, std::size_t sample) {
  std::array<std::vector<double>, 2> associations;
  for (std::size_t target = 0; target < test.num_targets(); ++target) {
    associations[target < test.words[0].size() ? 0 : 1].push_back(samples.association(sample, target));
  }
  return {samples.effect_size(sample), stats::mean(associations[0]).value - stats::mean(associations[1]).value,
          std::sqrt(samples.association_variance(sample))};
}

Scores scores_of_word(const ContextsSamples& samples, std::size_t sample, std::size_t target) {
  const double association = samples.association(sample, target);
  const double deviation = samples.deviation(sample, target);
  return {deviation > stats::cosine_rounding ? association / deviation : stats::nan, association, deviation};
}

/// Some samples of one test.
void fill(results::ScoreTable& table, const ContextsReader& reader, const Subjects& subjects, std::size_t item,
          const ContextsSamples& samples) {
  const auto& test = reader.tests()[item];
  const auto set = [&](std::size_t subject, std::size_t sample, const Scores& scores, ScoreStatus missing) {
    for (std::size_t measure = 0; measure < num_measures; ++measure) {
      const bool exists = std::isfinite(scores[measure]);
      const auto place = table.index({measure, subject, 0, 0, sample, item});
      table.values[place] = exists ? scores[measure] : stats::nan;
      table.statuses[place] = exists ? ScoreStatus::ok : missing;
    }
  };
  constexpr Scores none = {stats::nan, stats::nan, stats::nan};
  const auto& rows = subjects.of_test(item);
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    const auto status = samples.status(sample);
    const bool is_missing = status == static_cast<std::uint8_t>(EffectStatus::missing_words);
    const bool is_scored = reader.status_names().at(status) != results::not_scored;
    const auto why = is_missing ? ScoreStatus::missing : is_scored ? ScoreStatus::undefined : ScoreStatus::unscored;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      set(rows[i], sample,
          why != ScoreStatus::undefined ? none
          : test.kind == Kind::weat     ? scores_of_sets(test, samples, sample)
                                        : scores_of_word(samples, sample, i),
          why);
    }
    for (const auto subject : subjects.without_vector(item)) {
      set(subject, sample, none, ScoreStatus::missing);
    }
  }
}

/// Adds the score table, some samples at a time. Measures (README.md): effect_size, association, deviation. Subjects:
/// the pair of target sets of each WEAT test, each target word of the WEFAT tests; replicates: the samples; items: the
/// tests, of which A is the right pole. `job` adds what the result does not say: which words are groups, and which have
/// no vector.
void write_score_table(Layout& layout, const ContextsReader& reader, const Contexts& job) {
  const auto& tests = reader.tests();
  const Subjects subjects(tests, job);
  if (subjects.rows().empty()) {
    return;
  }
  const results::ScoreTableAxes axes = {
      measure_axis(),
      subject_axis(subjects.rows()),
      results::ScoreTable::no_axis(2),
      results::ScoreTable::no_axis(3),
      numbered_axis(results::score_axis_names[4], "sample: a draw of one context per word", reader.num_samples()),
      item_axis(tests)};
  results::ScoreTableWriter writer(layout, axes);
  const auto per_sample = num_measures * subjects.rows().size() * tests.size() + reader.numbers_per_sample();
  const auto at_a_time = std::clamp<std::size_t>(most_numbers / per_sample, 1, reader.num_samples());
  for (std::size_t first = 0; first < reader.num_samples(); first += at_a_time) {
    const auto count = std::min(at_a_time, reader.num_samples() - first);
    results::ScoreTable table{axes, {}, {}};
    table.axes[4].labels.resize(count);
    table.resize();
    std::ranges::fill(table.statuses, ScoreStatus::not_applicable);
    for (std::size_t item = 0; item < tests.size(); ++item) {
      fill(table, reader, subjects, item, reader.read(item, first, count));
    }
    writer.write({{0, 0, 0, 0, first, 0}, {num_measures, subjects.rows().size(), 1, 1, count, tests.size()}},
                 table.values, table.statuses);
  }
}

}  // namespace

void write_contexts_file(const results::ResultFile& source, const ContextsResult& result,
                         const ContextsOptions& options, const results::StatisticsTarget& target) {
  results::StatisticsFile file(source, "contexts", target);
  write_attributes(file.root(), result, options);
  auto& layout = file.layout();
  write_test_axis(layout, source.schema().outer_axes.front(), result);
  write_tests(layout, result);
  write_words(layout, result);
  if (!result.detections.empty()) {
    write_detections(layout, result.detections);
  }
  if (result.agreement) {
    write_agreement(layout, *result.agreement, result.tests);
  }
  write_score_table(layout, ContextsReader(source, options.settings.samples),
                    options.job == nullptr ? Contexts() : *options.job);
  file.commit();
}

}  // namespace stereosweep::probes::contexts
