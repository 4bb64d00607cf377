#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ranges>
#include <set>
#include <tuple>

#include "base/text/Text.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;
using Method = PermutationSummary::Method;

constexpr std::uint64_t few_contexts = 20;
constexpr std::uint64_t least_contexts = 2;  ///< for samples that differ
constexpr const char* one_sample = "one sample";
constexpr std::array<const char*, 4> method_texts = {"none", "exact", "Monte Carlo", "Monte Carlo, ended early"};

std::string paragraph(const std::string& text) { return results::wrapped(text, 2) + '\n'; }

/// What the tables say of one effect: a weat test, or a word of a wefat test. Borrowed.
struct Shown {
  std::string label;
  std::string family;  ///< tests or words that are adjusted together
  std::optional<std::uint64_t> contexts;
  const EffectSummary* of;
};

/// One vector per word: no samples of contexts.
bool is_static(const ContextsResult& result) {
  return result.num_samples == 1 &&
         std::ranges::all_of(result.word_contexts, [](const auto& word) { return word.second <= 1; });
}

std::string family_of(const ContextsResult& result, std::size_t test) {
  const auto& family = result.summaries[test].family;
  return family ? result.families[*family].label : "none";
}

std::vector<Shown> shown_tests(const ContextsResult& result) {
  std::vector<Shown> rows;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto& summary = result.summaries[i];
    if (result.tests[i].kind == Kind::weat) {
      rows.push_back({result.tests[i].label, family_of(result, i), fewest_contexts(result, i), &summary});
    }
  }
  return rows;
}

/// The `top` largest effects of a wefat test.
std::vector<Shown> shown_words(const ContextsResult& result, std::size_t test, std::size_t top) {
  std::vector<Shown> rows;
  for (const auto& word : result.summaries[test].words) {
    if (word.combined.defined()) {
      rows.push_back({word.word, family_of(result, test), result.word_contexts.at(word.word), &word});
    }
  }
  std::ranges::stable_sort(rows, std::greater(), [](const auto& row) { return std::abs(row.of->combined.effect); });
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(std::min(top, rows.size())), rows.end());
  return rows;
}

/// "one sample" where there is no spread.
std::string spread_of(const SampleSummary& effect) {
  return effect.num_used == 1 ? one_sample : results::fixed(effect.deviation);
}

/// What a reader needs first: no p of z, since that shrinks with the number of samples.
std::string main_table(const ContextsResult& result, Kind kind, const std::vector<Shown>& rows) {
  const bool has_samples = !is_static(result);
  const bool is_weat = kind == Kind::weat;
  std::vector<std::string> head = {is_weat ? "test" : "word", "d"};
  if (has_samples) {
    head.insert(head.end(), {"sd", "contexts"});
  }
  head.insert(head.end(), {"p to cite", "Holm", "least"});
  if (is_weat) {
    head.insert(head.end(), {"p targets", "p attributes"});
  }
  results::TextTable table(head);
  for (const auto& row : rows) {
    std::vector<std::string> cells = {row.label, results::fixed(row.of->combined.effect)};
    if (has_samples) {
      cells.push_back(spread_of(row.of->effect));
      cells.push_back(row.contexts ? base::with_thousands(*row.contexts) : "-");
    }
    std::vector<double> all_p = {row.of->cited, row.of->adjusted.front(), row.of->least};
    if (is_weat) {
      all_p.insert(all_p.end(), {row.of->targets.two_sided, row.of->attributes.two_sided});
    }
    std::ranges::transform(all_p, std::back_inserter(cells), results::p_value);
    table.add(std::move(cells));
  }
  return table.text();
}

/// What main_table's columns mean.
std::string explanation(const ContextsResult& result, Kind kind) {
  const bool is_weat = kind == Kind::weat;
  const auto relabelling =
      std::string(is_weat
                      ? "p targets: the share of all ways to relabel the words of X and Y whose d is as far from 0; "
                        "p attributes: the same of A and B. p to cite is the larger: it asks whether d could be that "
                        "large with other words of both kinds."
                      : "p: the share of all ways to relabel the words of A and B whose d is as far from 0.") +
      " least: the smallest that so many words can have. Holm: adjusted in its family.";
  if (is_static(result)) {
    return paragraph(
        "d: the effect size of one vector per word. There is one sample, and so no interval, no z and no p "
        "of z. " +
        relabelling);
  }
  return paragraph("d: the effect sizes of " + base::counted(result.num_samples, "sample") +
                   " of contexts, combined. sd: their spread. contexts: of the " +
                   (is_weat ? "rarest word. " : "word. ") + relabelling) +
         paragraph(
             "p of z (with --all) is no evidence: it shrinks with the number of samples, so that any difference "
             "becomes significant when enough samples are drawn.");
}

std::string interval_text(const stats::RandomEffects& combined) {
  return combined.has_error() ? results::fixed(combined.low) + " .. " + results::fixed(combined.high)
         : combined.defined() ? one_sample
                              : "-";
}

std::string method_of(const PermutationSummary& permutation) {
  const bool is_exact = permutation.method == Method::exact;
  return method_texts[static_cast<std::size_t>(permutation.method)] +
         (permutation.method == Method::none
              ? std::string()
              : ": " + permutation.reaching + " of " +
                    (is_exact ? permutation.partitions : std::to_string(permutation.draws)));
}

/// For experts: every adjustment, how p was found, the random-effects model and the p of its z.
std::string expert_tables(const ContextsResult& result, const std::string& what, const std::vector<Shown>& rows) {
  results::TextTable adjusted({what, "family", "p to cite", "Holm", "BH", "BY", "max-T"});
  results::TextTable methods({what, "relabelled", "one-sided", "two-sided", "least", "how p was found, one-sided"});
  results::TextTable random_effects({what, "d", "Monte Carlo error of the mean over samples", "tau^2"});
  results::TextTable of_z({what, "p of z", "Holm", "BH", "BY", "one-sided"});
  for (const auto& row : rows) {
    const auto& of = *row.of;
    std::vector<std::string> cells = {row.label, row.family, results::p_value(of.cited)};
    std::ranges::transform(of.adjusted, std::back_inserter(cells), results::p_value);
    adjusted.add(std::move(cells));
    for (const auto* way : {&of.targets, &of.attributes}) {
      if (way->method != Method::none) {
        methods.add({row.label, way == &of.targets ? "targets" : "attributes", results::p_value(way->p),
                     results::p_value(way->two_sided), results::p_value(way->least), method_of(*way)});
      }
    }
    random_effects.add({row.label, results::fixed(of.combined.effect), interval_text(of.combined),
                        results::fixed(of.combined.tau_squared, 4)});
    cells = {row.label, p_of_log10(of.combined.log10_p_two_sided)};
    std::ranges::transform(of.adjusted_log10_p, std::back_inserter(cells), p_of_log10);
    cells.push_back(p_of_log10(of.combined.log10_p_one_sided));
    const bool has_no_error = of.combined.defined() && !of.combined.has_error();
    of_z.add(has_no_error ? std::vector<std::string>{row.label, one_sample, "", "", "", ""} : cells);
  }
  const auto model = std::string("Random effects (variance ") + variance_names[result.chosen / estimator_names.size()] +
                     ", " + estimator_names[result.chosen % estimator_names.size()] + "), " +
                     results::fixed(100 * result.settings.confidence, 1) + " % interval";
  return "\nThe p to cite, adjusted in its family\n\n" + adjusted.text() + "\n" + methods.text() + "\n" + model +
         "\n\n" + random_effects.text() +
         "\np of z (it shrinks with the number of samples): two-sided as in the paper, one-sided as in its code\n\n" +
         of_z.text();
}

/// Which tests of a kind are adjusted together, and which are not.
std::string families_text(const ContextsResult& result, Kind kind) {
  std::vector<std::string> parts;
  for (const auto& family : result.families) {
    const auto tests = std::ranges::count_if(family.tests, [&](auto test) { return result.tests[test].kind == kind; });
    if (tests == 0) {
      continue;
    }
    const auto without = kind != Kind::weat ? 0 : std::ranges::count_if(family.tests, [&](auto test) {
      return result.tests[test].kind == kind && !result.summaries[test].combined.defined();
    });
    parts.push_back(family.label + " (" +
                    (kind == Kind::weat ? base::counted(family.tests.size(), "test")
                                        : base::counted(family.num_effects, "effect")) +
                    (without > 0 ? ", " + std::to_string(without) + " without p" : "") + ")");
  }
  std::vector<std::string> outside;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (!result.summaries[i].family && result.tests[i].kind == kind) {
      outside.push_back(result.tests[i].label);
    }
  }
  return paragraph("Families: " + base::join(parts, ", ") +
                   (outside.empty() ? "" : "; in none, not adjusted: " + base::join(outside, ", ")) + ".");
}

/// "2 words have fewer than 20 contexts: aster 3, clover 12", the rarest first, of the words that take part; "" where
/// none has.
std::string rare_words(const ContextsResult& result, std::uint64_t bound) {
  std::set<std::pair<std::uint64_t, std::string>> rare;
  for (const auto& test : result.tests) {
    for (const auto& word : test.words | std::views::join) {
      if (const auto contexts = result.word_contexts.at(word); contexts < bound) {
        rare.insert({contexts, word});
      }
    }
  }
  std::vector<std::string> parts;
  for (const auto& [contexts, word] : rare) {
    parts.push_back(word + " " + std::to_string(contexts));
  }
  return rare.empty() ? ""
                      : base::counted(rare.size(), "word") + (rare.size() == 1 ? " has" : " have") + " fewer than " +
                            std::to_string(bound) + " contexts: " + results::first_names(parts, 20);
}

/// How the combined effect depends on what is taken for V; the chosen estimator.
std::string variances_text(const ContextsResult& result) {
  results::TextTable table({"combined d and error by V", "paper", "error", "cohen", "error", "permutation", "error"});
  const auto estimator = result.chosen % estimator_names.size();
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].kind != Kind::weat) {
      continue;
    }
    std::vector<std::string> row = {result.tests[i].label};
    for (std::size_t variance = 0; variance < variance_names.size(); ++variance) {
      const auto& combined = result.summaries[i].combinations[variance * estimator_names.size() + estimator];
      row.push_back(results::fixed(combined.effect));
      row.push_back(results::fixed(combined.standard_error, 4));
    }
    table.add(std::move(row));
  }
  return table.text();
}

/// What the tests are called, their sizes, and the warnings.
std::string titles_text(const ContextsResult& result) {
  std::string text;
  for (const auto& test : result.tests) {
    const auto size = [&](std::size_t set) { return std::to_string(test.words[set].size()); };
    const auto sizes = test.kind == Kind::weat
                           ? size(0) + " and " + size(1) + " words, " + size(2) + " and " + size(3) + " attributes"
                           : size(0) + " words, " + size(2) + " and " + size(3) + " attributes";
    text += paragraph(test.label + ": " + (test.title.empty() ? "" : test.title + ", ") + sizes);
  }
  for (const auto& warning : contexts_warnings(result)) {
    text += paragraph("WARNING: " + warning);
  }
  return text;
}

}  // namespace

std::string p_of_log10(double log10_p) {
  constexpr double smallest_double = -290;
  if (std::isnan(log10_p) || log10_p > smallest_double) {
    return results::p_value(std::pow(10, log10_p));
  }
  double exponent = std::floor(log10_p);
  double leading = std::round(std::pow(10, log10_p - exponent) * 10) / 10;
  if (leading >= 10) {
    leading = 1;
    exponent += 1;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1fe%.0f", leading, exponent);
  return text.data();
}

std::string contexts_status_text(const ContextsResult& result) {
  results::TextTable table({"status of a sample", "samples"});
  for (std::size_t status = 0; status < result.status_names.size(); ++status) {
    std::uint64_t total = 0;
    for (const auto& summary : result.summaries) {
      total += summary.samples_by_status[status];
    }
    if (total > 0) {
      table.add({result.status_names[status], base::with_thousands(total)});
    }
  }
  return table.text();
}

std::string contexts_effects_text(const ContextsResult& result, std::size_t top) {
  results::TextTable tests({"test", "kind", "samples", "mean d", "sd"});
  std::string words;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto& test = result.tests[i];
    const auto& effect = result.summaries[i].effect;
    tests.add({test.label, name_of(test.kind), base::with_thousands(static_cast<std::uint64_t>(effect.num_used)),
               results::fixed(effect.mean), spread_of(effect)});
    const auto rows = shown_words(result, i, top);
    if (rows.empty()) {
      continue;
    }
    results::TextTable table({"word", "mean d", "sd"});
    for (const auto& row : rows) {
      table.add({row.label, results::fixed(row.of->effect.mean), spread_of(row.of->effect)});
    }
    words += "\n" +
             paragraph(test.label + ": largest effects of " + base::counted(result.summaries[i].words.size(), "word")) +
             "\n" + table.text();
  }
  return tests.text() + "\n" + titles_text(result) + words + "\np values: stereosweep stats\n";
}

std::string contexts_tests_text(const ContextsResult& result, Detail detail) {
  const auto rows = shown_tests(result);
  if (rows.empty()) {
    return "";
  }
  const bool everything = detail == Detail::everything;
  return "Two target sets: d > 0 says that X is nearer to A, and Y to B\n\n" + main_table(result, Kind::weat, rows) +
         "\n" + explanation(result, Kind::weat) + families_text(result, Kind::weat) +
         (everything ? expert_tables(result, "test", rows) : "") +
         (everything && result.num_samples > 1 ? "\n" + variances_text(result) : "");
}

std::string contexts_words_text(const ContextsResult& result, std::size_t top, Detail detail) {
  std::string text;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto& test = result.tests[i];
    if (test.kind != Kind::wefat) {
      continue;
    }
    const auto& words = result.summaries[i].words;
    const auto defined = static_cast<std::uint64_t>(
        std::ranges::count_if(words, [](const auto& word) { return word.combined.defined(); }));
    if (defined == 0) {
      text += test.label + ": no word of '" + test.sets[0] + "' has an effect\n\n";
      continue;
    }
    const auto rows = shown_words(result, i, top);
    text += paragraph(test.label + ": words of '" + test.sets[0] + "'; d > 0: nearer to '" + test.sets[2] +
                      "', d < 0: to '" + test.sets[3] + "'; largest effects of " + base::counted(defined, "word")) +
            "\n" + main_table(result, Kind::wefat, rows) + results::rest_text(rows.size(), defined, "words") +
            (detail == Detail::everything ? expert_tables(result, "word", rows) : "") + "\n";
  }
  return text.empty() ? text : text + explanation(result, Kind::wefat) + families_text(result, Kind::wefat);
}

std::vector<std::string> contexts_warnings(const ContextsResult& result) {
  constexpr double level = 0.05;
  std::vector<std::string> warnings;
  if (const auto few = rare_words(result, few_contexts); !few.empty() && !is_static(result)) {
    warnings.push_back(few);
    if (const auto alike = rare_words(result, least_contexts); !alike.empty()) {
      warnings.push_back(alike + "; the samples draw the same sentence every time");
    }
  }
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    const auto& [label, consequence] = std::tie(result.tests[test].label, result.tests[test].consequence);
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

std::string contexts_notes_text(const ContextsResult& result) {
  return titles_text(result) + "\n" + contexts_status_text(result);
}

std::string contexts_detections_text(const ContextsResult& result, Detail detail) {
  if (result.detections.empty()) {
    return "";
  }
  results::TextTable table(
      {"group", "kind", "words", "at", "detected", "accuracy", "true rate", "false rate", "area", "chance"});
  results::TextTable own({"group", "kind", "most accurate at", "accuracy", "detected"});
  results::TextTable splits({"group", "kind", "best split at", "true rate", "false rate"});
  std::string lists;
  for (const auto& detection : result.detections) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto& curve = detection.curves[kind];
      const std::string name = kind == 0 ? "IBD" : "EIBD";
      if (curve.reason != stats::Reason::ok) {
        table.add({detection.label, name, std::to_string(detection.words.size()), "-", "-", "-", "-", "-", "-", "-"});
        continue;
      }
      const auto& used = curve.points[detection.used];
      const auto& best = curve.points[curve.most_accurate];
      const auto detected = [](const stats::DetectionPoint& point) {
        return std::to_string(point.true_positives + point.false_positives);
      };
      own.add(
          {detection.label, name, results::fixed(best.threshold, 2), results::fixed(best.accuracy), detected(best)});
      const auto& split = curve.points[curve.most_separating];
      table.add({detection.label, name, std::to_string(detection.words.size()), results::fixed(used.threshold, 2),
                 detected(used), results::fixed(used.accuracy), results::fixed(used.true_positive_rate),
                 results::fixed(used.false_positive_rate), kind == 0 ? results::fixed(detection.area.value) : "-",
                 results::fixed(curve.chance)});
      splits.add({detection.label, name, results::fixed(split.threshold, 2), results::fixed(split.true_positive_rate),
                  results::fixed(split.false_positive_rate)});
      lists +=
          paragraph(detection.label + ", " + name +
                    (detection.detected[kind].empty() ? " detects nothing"
                                                      : " detects: " + base::join(detection.detected[kind], ", ")));
      if (!detection.unknown[kind].empty()) {
        lists += paragraph(detection.label + ", " + name +
                           ": validation words without scores: " + base::join(detection.unknown[kind], ", "));
      }
    }
  }
  return "Detected words against validated ones, at IBD's threshold of highest accuracy\n\n" + table.text() +
         "\nEach at its own most accurate threshold; the lists below are at IBD's\n\n" + own.text() +
         (detail == Detail::everything ? "\nThe best split: highest true minus false rate\n\n" + splits.text() : "") +
         "\n" + lists;
}

}  // namespace stereosweep::probes::contexts
