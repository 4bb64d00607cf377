#include "probes/contexts/statistics/ContextsFile.hpp"

#include <algorithm>
#include <cmath>

#include "base/Json.hpp"
#include "base/PendingFile.hpp"
#include "base/Sha256.hpp"
#include "hdf5/File.hpp"
#include "probes/contexts/statistics/TestFamilies.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::CubeSchema;
using results::ElementType;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

using stats::nan;
constexpr std::array<const char*, 4> method_names = {"none", "exact", "monte_carlo", "monte_carlo_early_end"};
constexpr std::size_t num_corrections = 3;  ///< adjustments of a list of p values
/// Why there is no error, interval, z and p of z.
const Names z_statuses = {"ok", "one_sample", "no_effect"};
constexpr std::array<const char*, 2> detection_kinds = {"intersectional", "emergent"};

template <class Strings>
results::AxisSchema axis(const char* name, const char* long_name, const Strings& labels) {
  return {name, long_name, Names(labels.begin(), labels.end()), {}};
}

std::uint8_t z_status(const stats::RandomEffects& combined) {
  return static_cast<std::uint8_t>(combined.has_error() ? 0 : combined.defined() ? 1 : 2);
}

/// Writes tables over axes that the layout knows.
class Tables {
 public:
  explicit Tables(hdf5::Group& root) : layout_(root) {}
  results::Layout& layout() { return layout_; }

  void numbers(const std::string& name, const Names& axes, const std::string& units, const std::string& long_name,
               const Numbers& values) {
    write({name, ElementType::float64, {}, units, long_name, "", {}}, axes, values);
  }
  void counts(const std::string& name, const Names& axes, const std::string& long_name,
              const std::vector<std::int32_t>& values) {
    write({name, ElementType::int32, {}, "1", long_name, "", {}}, axes, values);
  }
  void texts(const std::string& name, const Names& axes, const std::string& long_name, const Names& values) {
    write({name, ElementType::text, {}, "", long_name, "", {}}, axes, values);
  }
  void flags(const std::string& name, const Names& axes, const std::string& long_name, const Names& meanings,
             const std::vector<std::uint8_t>& values) {
    write({name, ElementType::uint8, {}, "", long_name, "", meanings}, axes, values);
  }

 private:
  template <class T>
  void write(const CubeSchema& cube, const Names& axes, const std::vector<T>& values) {
    auto dataset = layout_.add_cube(cube, axes);
    dataset.write(dataset.all(), std::span<const T>(values));
  }
  results::Layout layout_;
};

template <class Read>
Numbers of_tests(const ContextsResult& result, Read read) {
  Numbers values;
  for (const auto& summary : result.summaries) {
    values.push_back(read(summary));
  }
  return values;
}

void write_attributes(hdf5::Group& root, const results::ResultFile& source, const ContextsResult& result,
                      const ContextsOptions& options) {
  results::write_statistics_attributes(root, source, "contexts");
  root.write_attribute("variance", variance_names[result.chosen / estimator_names.size()]);
  root.write_attribute("estimator", estimator_names[result.chosen % estimator_names.size()]);
  root.write_attribute("confidence", result.settings.confidence);
  root.write_attribute("draws", result.settings.draws);
  root.write_attribute("exceedances", result.settings.exceedances);
  root.write_attribute("permutation_seed", std::to_string(options.seed));
  root.write_attribute("human_ratings", options.ratings ? options.ratings_source : std::string("none"));
}

/// The axis of the tests, with their families.
void write_tests(Tables& tables, const results::ResultFile& source, const ContextsResult& result) {
  auto axis = source.schema().outer_axes.front();
  std::vector<std::int32_t> sizes;
  Names names;
  for (const auto* family : family_of_tests(result)) {
    names.push_back(family == nullptr ? "" : family->label);
    sizes.push_back(family == nullptr ? 0 : static_cast<std::int32_t>(family->tests.size()));
  }
  axis.coordinates.push_back({"family", "tests with which a WEAT test is adjusted; empty: it is not adjusted", names});
  tables.layout().add_axis(axis);
  tables.counts("family_size", {"test"}, "WEAT tests in the test's family, itself included; 0: in none", sizes);
}

void write_combined(Tables& tables, const ContextsResult& result) {
  const Names axes = {"test", "variance", "estimator"};
  const auto add = [&](const char* name, const char* units, const char* long_name,
                       double stats::RandomEffects::*member) {
    Numbers values;
    for (const auto& summary : result.summaries) {
      for (const auto& combined : summary.combined) {
        values.push_back(combined.*member);
      }
    }
    tables.numbers(name, axes, units, long_name, values);
  };
  using Combined = stats::RandomEffects;
  add("combined_effect", "1", "combined effect size of a WEAT test (random effects)", &Combined::effect);
  add("standard_error", "1", "standard error of combined_effect", &Combined::standard_error);
  add("low", "1", "lower end of the interval of combined_effect", &Combined::low);
  add("high", "1", "upper end of the interval of combined_effect", &Combined::high);
  add("tau_squared", "1", "variance between samples", &Combined::tau_squared);
  add("q", "1", "Cochran's Q", &Combined::q);
  add("i_squared", "1", "share of Q above its degrees of freedom", &Combined::i_squared);
  add("fixed_effect", "1", "combined effect with tau^2 = 0", &Combined::fixed_effect);
  add("z", "1", "combined_effect / standard_error", &Combined::z);
  add("log10_p_two_sided", "1", "log10 of the two-sided p of z (as the paper states it)", &Combined::log10_p_two_sided);
  add("log10_p_one_sided", "1", "log10 of the one-sided p of z (as the published code computes it)",
      &Combined::log10_p_one_sided);
  Numbers adjusted;
  std::vector<std::uint8_t> statuses;
  for (const auto& summary : result.summaries) {
    statuses.push_back(z_status(summary.combined[result.chosen]));
    const auto& values = summary.adjusted_log10_p.values;
    adjusted.insert(adjusted.end(), values.begin(), values.end());
  }
  tables.layout().add_axis(axis("correction",
                                "correction for the number of tests of a family, or of words of a WEFAT test",
                                Names(adjustment_names.begin(), adjustment_names.begin() + num_corrections)));
  tables.numbers("adjusted_log10_p_two_sided", {"test", "correction"}, "1",
                 "log10 of the two-sided p, adjusted in the test's family (attributes variance, estimator)", adjusted);
  tables.flags("z_status", {"test"},
               "why a WEAT test has no standard_error, low, high, z and p of z; one_sample: nothing says how far the "
               "next sample would lie",
               z_statuses, statuses);
}

/// The adjusted p of both sides.
void append(std::array<Numbers, 2>& adjusted, const PermutationSummary& permutation) {
  adjusted[0].insert(adjusted[0].end(), permutation.adjusted.begin(), permutation.adjusted.end());
  adjusted[1].insert(adjusted[1].end(), permutation.adjusted_two_sided.begin(), permutation.adjusted_two_sided.end());
}

/// An end of the interval of the exact p.
double end_of(const PermutationSummary& permutation, double stats::ProbabilityInterval::*end) {
  return permutation.method == PermutationSummary::Method::none ? nan : permutation.interval.*end;
}

void write_permutations(Tables& tables, const ContextsResult& result) {
  const Names axes = {"test"};
  tables.numbers("permutation_p", axes, "1", "one-sided p of relabelling the target words (WEAT)",
                 of_tests(result, [](const auto& summary) { return summary.permutation.p; }));
  tables.numbers("permutation_p_two_sided", axes, "1",
                 "two-sided p of relabelling the target words; NaN after an early end",
                 of_tests(result, [](const auto& summary) { return summary.permutation.two_sided; }));
  tables.numbers(
      "permutation_p_low", axes, "1", "lower end of the interval of the exact p",
      of_tests(result, [](const auto& s) { return end_of(s.permutation, &stats::ProbabilityInterval::low); }));
  tables.numbers(
      "permutation_p_high", axes, "1", "upper end of the interval of the exact p",
      of_tests(result, [](const auto& s) { return end_of(s.permutation, &stats::ProbabilityInterval::high); }));
  Names reaching;
  Names two_sided_reaching;
  Names partitions;
  std::vector<std::uint8_t> methods;
  Numbers draws;
  std::array<Numbers, 2> adjusted;
  for (const auto& summary : result.summaries) {
    reaching.push_back(summary.permutation.reaching);
    two_sided_reaching.push_back(summary.permutation.two_sided_reaching);
    partitions.push_back(summary.permutation.partitions);
    methods.push_back(static_cast<std::uint8_t>(summary.permutation.method));
    draws.push_back(static_cast<double>(summary.permutation.draws));
    append(adjusted, summary.permutation);
  }
  tables.texts("permutation_reaching", axes, "partitions (exact) or draws that reach the observed statistic", reaching);
  tables.texts("permutation_two_sided_reaching", axes, "partitions or draws that reach its magnitude",
               two_sided_reaching);
  tables.texts("permutation_partitions", axes, "partitions of the target words", partitions);
  tables.flags("permutation_method", axes, "how the p was found", Names(method_names.begin(), method_names.end()),
               methods);
  tables.numbers("permutation_draws", axes, "1", "draws of a Monte Carlo test", draws);
  tables.layout().add_axis(axis(
      "adjustment", "adjustment for the number of tests of a family, or of words of a WEFAT test", adjustment_names));
  tables.numbers("adjusted_permutation_p", {"test", "adjustment"}, "1", "permutation_p, adjusted in the test's family",
                 adjusted[0]);
  tables.numbers("adjusted_permutation_p_two_sided", {"test", "adjustment"}, "1",
                 "permutation_p_two_sided, adjusted in the test's family", adjusted[1]);
}

void write_words(Tables& tables, const ContextsResult& result) {
  std::size_t num_slots = 0;
  for (const auto& test : result.tests) {
    num_slots = std::max(num_slots, test.num_targets());
  }
  if (num_slots == 0) {
    return;
  }
  Names slots;
  for (std::size_t slot = 0; slot < num_slots; ++slot) {
    slots.push_back(std::to_string(slot));
  }
  tables.layout().add_axis(axis("target", "target word: those of X, then those of Y", slots));
  Names words;
  std::vector<const WordSummary*> summaries;  // null: not a word of a wefat test
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    auto all = result.tests[test].words[0];
    all.insert(all.end(), result.tests[test].words[1].begin(), result.tests[test].words[1].end());
    const auto& of_test = result.summaries[test].words;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
      words.push_back(slot < all.size() ? all[slot] : "");
      summaries.push_back(slot < of_test.size() ? &of_test[slot] : nullptr);
    }
  }
  const Names axes = {"test", "target"};
  tables.texts("word", axes, "target word", words);
  const WordSummary none{};
  const auto add = [&](const char* name, const char* long_name, auto read) {
    Numbers values;
    for (const auto* summary : summaries) {
      values.push_back(read(summary == nullptr ? none : *summary));
    }
    tables.numbers(name, axes, "1", long_name, values);
  };
  using Word = WordSummary;
  add("word_association", "mean over samples of the word's association (WEFAT)",
      [](const Word& word) { return word.association.mean; });
  add("word_effect", "mean over samples of the word's effect size (WEFAT)",
      [](const Word& word) { return word.effect.mean; });
  add("word_effect_deviation", "its standard deviation over samples",
      [](const Word& word) { return word.effect.deviation; });
  add("word_combined_effect", "combined effect size of the word (WEFAT)",
      [](const Word& word) { return word.combined.effect; });
  add("word_standard_error", "standard error of word_combined_effect",
      [](const Word& word) { return word.combined.standard_error; });
  add("word_log10_p_two_sided", "log10 of the two-sided p of its z",
      [](const Word& word) { return word.combined.log10_p_two_sided; });
  add("word_permutation_p", "one-sided p of relabelling the attribute words (WEFAT)",
      [](const Word& word) { return word.permutation.p; });
  add("word_permutation_p_two_sided", "two-sided p of relabelling the attribute words; NaN after an early end",
      [](const Word& word) { return word.permutation.two_sided; });
  add("word_permutation_p_low", "lower end of the interval of the exact p",
      [](const Word& word) { return end_of(word.permutation, &stats::ProbabilityInterval::low); });
  add("word_permutation_p_high", "upper end of the interval of the exact p",
      [](const Word& word) { return end_of(word.permutation, &stats::ProbabilityInterval::high); });
  Numbers of_z;
  std::array<Numbers, 2> adjusted;
  std::vector<std::uint8_t> methods;
  std::vector<std::uint8_t> statuses;
  for (const auto* summary : summaries) {
    const auto& word = summary == nullptr ? none : *summary;
    of_z.insert(of_z.end(), word.adjusted.values.begin(), word.adjusted.values.end());
    append(adjusted, word.permutation);
    methods.push_back(static_cast<std::uint8_t>(word.permutation.method));
    statuses.push_back(z_status(word.combined));
  }
  tables.flags("word_permutation_method", axes, "how the p was found", Names(method_names.begin(), method_names.end()),
               methods);
  tables.numbers("adjusted_word_permutation_p", {"test", "target", "adjustment"}, "1",
                 "word_permutation_p, adjusted for the number of words of the test", adjusted[0]);
  tables.numbers("adjusted_word_permutation_p_two_sided", {"test", "target", "adjustment"}, "1",
                 "word_permutation_p_two_sided, adjusted for the number of words of the test", adjusted[1]);
  tables.numbers("adjusted_word_log10_p_two_sided", {"test", "target", "correction"}, "1",
                 "word_log10_p_two_sided, adjusted for the number of words of the test", of_z);
  tables.flags("word_z_status", axes, "why a word has no word_standard_error and p of z", z_statuses, statuses);
}

void write_detections(Tables& tables, const ContextsResult& result) {
  if (result.detections.empty()) {
    return;
  }
  Names labels;
  Names words;
  Names detected;
  Names unknown;
  Numbers area;
  std::array<Numbers, 3> rates;
  std::array<Numbers, 4> best;
  std::vector<std::uint8_t> status;
  const auto thresholds = stats::published_thresholds();
  for (const auto& detection : result.detections) {
    labels.push_back(detection.label);
    words.push_back(base::Json(detection.words).dump());
    area.push_back(detection.area.value);
    for (std::size_t kind = 0; kind < detection_kinds.size(); ++kind) {
      const auto& curve = detection.curves[kind];
      const bool defined = curve.reason == stats::Reason::ok;
      status.push_back(defined ? 0 : 1);
      detected.push_back(base::Json(detection.detected[kind]).dump());
      unknown.push_back(base::Json(detection.unknown[kind]).dump());
      best[0].push_back(defined ? curve.points[curve.most_accurate].threshold : nan);
      best[1].push_back(defined ? curve.points[curve.most_accurate].accuracy : nan);
      best[2].push_back(defined ? curve.points[curve.most_separating].threshold : nan);
      best[3].push_back(defined ? curve.chance : nan);
      for (std::size_t i = 0; i < thresholds.size(); ++i) {
        rates[0].push_back(defined ? curve.points[i].true_positive_rate : nan);
        rates[1].push_back(defined ? curve.points[i].false_positive_rate : nan);
        rates[2].push_back(defined ? curve.points[i].accuracy : nan);
      }
    }
  }
  Names threshold_labels;
  for (const double threshold : thresholds) {
    std::string text = std::to_string(threshold);
    threshold_labels.push_back(text.substr(0, text.size() - 4));  // two decimals
  }
  auto& layout = tables.layout();
  layout.add_axis(axis("detection", "intersectional group", labels));
  layout.add_axis(axis("detection_kind", "intersectional (IBD) or emergent (EIBD)", detection_kinds));
  layout.add_axis(axis("threshold", "effect size above which a word counts", threshold_labels));
  const Names kinds = {"detection", "detection_kind"};
  const Names curve = {"detection", "detection_kind", "threshold"};
  tables.texts("detection_words", {"detection"}, "words with all scores (JSON)", words);
  tables.numbers("area", {"detection"}, "1", "area under the curve of IBD", area);
  tables.numbers("true_positive_rate", curve, "1", "validated words that are detected", rates[0]);
  tables.numbers("false_positive_rate", curve, "1", "other words that are detected", rates[1]);
  tables.numbers("accuracy", curve, "1", "words that are detected or not as validated", rates[2]);
  tables.numbers("best_threshold", kinds, "1", "threshold of highest accuracy, the lowest of several", best[0]);
  tables.numbers("best_accuracy", kinds, "1", "accuracy there", best[1]);
  tables.numbers("separating_threshold", kinds, "1", "threshold of highest true minus false positive rate", best[2]);
  tables.numbers("chance", kinds, "1", "validated words / words", best[3]);
  tables.texts("detected_words", kinds, "words detected at best_threshold (JSON)", detected);
  tables.texts("unknown_words", kinds, "validation words without all scores (JSON)", unknown);
  tables.flags("detection_status", kinds, "why there are no numbers", {"ok", "no_values"}, status);
}

}  // namespace

void write_contexts_file(const results::ResultFile& source, const ContextsResult& result,
                         const ContextsOptions& options, const std::filesystem::path& target) {
  base::PendingFile pending(target);
  auto file = hdf5::File::create(pending.path());
  {
    write_attributes(file.root(), source, result, options);
    Tables tables(file.root());
    write_tests(tables, source, result);
    tables.layout().add_axis(axis("variance", "in-sample variance V", variance_names));
    tables.layout().add_axis(axis("estimator", "estimator of tau^2", estimator_names));
    std::vector<std::int32_t> used;
    for (const auto& summary : result.summaries) {
      used.push_back(summary.effect.num_used);
    }
    tables.counts("num_samples_used", {"test"}, "samples with an effect size", used);
    std::vector<std::int32_t> fewest;
    for (std::size_t test = 0; test < result.tests.size(); ++test) {
      fewest.push_back(static_cast<std::int32_t>(fewest_contexts(result, test).value_or(0)));
    }
    tables.counts("fewest_contexts", {"test"},
                  "contexts with a vector of the test's rarest word; 1 with static vectors", fewest);
    tables.numbers("mean_effect", {"test"}, "1", "mean over samples of the effect size (WEFAT: of the words' mean)",
                   of_tests(result, [](const auto& summary) { return summary.effect.mean; }));
    tables.numbers("effect_deviation", {"test"}, "1", "its standard deviation over samples (ddof 1)",
                   of_tests(result, [](const auto& summary) { return summary.effect.deviation; }));
    write_combined(tables, result);
    write_permutations(tables, result);
    write_words(tables, result);
    write_detections(tables, result);
    if (result.agreement) {
      write_contexts_agreement(tables.layout(), *result.agreement, result.tests);
    }
    write_contexts_scores(tables.layout(), ContextsReader(source), options.job);
  }
  file.root().write_attribute("complete", std::int64_t{1});
  file.finish();
  results::commit_sealed(pending);
}

}  // namespace stereosweep::probes::contexts
