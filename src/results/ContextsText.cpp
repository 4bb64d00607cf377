#include "results/ContextsText.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/Text.hpp"
#include "results/TestFamilies.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::results {
namespace {

using Kind = domain::EmbeddingTest::Kind;
using Method = PermutationSummary::Method;

bool has(const ContextsResult& result, Kind kind) {
  return std::any_of(result.tests.begin(), result.tests.end(), [&](const auto& test) { return test.kind == kind; });
}

std::string sizes(const ContextsTest& test) {
  const auto size = [&](std::size_t set) { return std::to_string(test.words[set].size()); };
  return test.kind == Kind::weat ? size(0) + "/" + size(1) + "/" + size(2) + "/" + size(3)
                                 : size(0) + "/" + size(2) + "/" + size(3);
}

std::string method_text(const PermutationSummary& permutation) {
  switch (permutation.method) {
    case Method::exact:
      return "exact, " + permutation.reaching + " of " + permutation.partitions;
    case Method::monte_carlo:
      return base::with_thousands(static_cast<std::uint64_t>(permutation.draws)) + " draws";
    case Method::monte_carlo_early_end:
      return "ended after " + base::with_thousands(static_cast<std::uint64_t>(permutation.draws)) + " draws";
    case Method::none:
      break;
  }
  return "-";
}

std::string interval_text(const stats::RandomEffects& combined, int digits = 3) {
  return combined.defined() ? fixed(combined.low, digits) + " .. " + fixed(combined.high, digits) : "-";
}

/// Which tests are adjusted together, and which are not.
std::string families_text(const ContextsResult& result) {
  std::vector<std::string> parts;
  for (const auto& family : result.families) {
    const auto without = std::count_if(family.tests.begin(), family.tests.end(), [&](auto test) {
      return !result.summaries[test].combined[result.chosen].defined();
    });
    parts.push_back(shortened(family.label, 40) + " (" + base::counted(family.tests.size(), "test") +
                    (without > 0 ? ", " + std::to_string(without) + " without p" : "") + ")");
  }
  std::vector<std::string> outside;
  const auto families = family_of_tests(result);
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (families[i] == nullptr && result.tests[i].kind == Kind::weat) {
      outside.push_back(result.tests[i].label);
    }
  }
  return "Families of tests: " + base::join(parts, ", ") +
         (outside.empty() ? "" : "; in none, not adjusted: " + base::join(outside, ", ")) + ".\n";
}

/// How the combined effect depends on what is taken for V; the chosen estimator.
std::string variances_text(const ContextsResult& result) {
  TextTable table({"combined d and error by V", "paper", "error", "cohen", "error", "permutation", "error"});
  const auto estimator = result.chosen % estimator_names.size();
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].kind != Kind::weat) {
      continue;
    }
    std::vector<std::string> row = {result.tests[i].label};
    for (std::size_t variance = 0; variance < variance_names.size(); ++variance) {
      const auto& combined = result.summaries[i].combined[variance * estimator_names.size() + estimator];
      row.push_back(fixed(combined.effect));
      row.push_back(fixed(combined.standard_error, 4));
    }
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace

std::string p_of_log10(double log10_p) {
  constexpr double smallest_double = -290;
  if (std::isnan(log10_p) || log10_p > smallest_double) {
    return p_value(std::pow(10, log10_p));
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
  std::vector<std::uint64_t> total(result.status_names.size(), 0);
  for (const auto& summary : result.summaries) {
    for (std::size_t status = 0; status < total.size(); ++status) {
      total[status] += summary.samples_by_status[status];
    }
  }
  TextTable table({"status of a sample", "samples"});
  for (std::size_t status = 0; status < total.size(); ++status) {
    if (total[status] > 0) {
      table.add({result.status_names[status], base::with_thousands(total[status])});
    }
  }
  return table.text();
}

std::string contexts_effects_text(const ContextsResult& result) {
  TextTable table({"test", "kind", "words X/Y/A/B", "samples", "mean d", "sd", "title"});
  std::string notes;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto& test = result.tests[i];
    const auto& effect = result.summaries[i].effect;
    table.add({shortened(test.label, 24), test.kind == Kind::weat ? "weat" : "wefat", sizes(test),
               base::with_thousands(static_cast<std::uint64_t>(effect.num_used)), fixed(effect.mean),
               fixed(effect.deviation), shortened(test.title, 60)});
    if (test.consequence != "all words") {
      notes += test.label + ": " + test.consequence + "\n";
    }
  }
  return table.text() + (notes.empty() ? "" : "\n" + notes);
}

std::string contexts_tests_text(const ContextsResult& result) {
  if (!has(result, Kind::weat)) {
    return "";
  }
  TextTable table({"test", "d", fixed(100 * result.settings.confidence, 1) + " % interval", "tau^2", "p two-sided",
                   "Holm", "BH", "BY", "p one-sided"});
  TextTable permutations({"test", "family", "p permutation", "two-sided", "Holm", "BH", "BY", "max-T", "how"});
  const auto families = family_of_tests(result);
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].kind != Kind::weat) {
      continue;
    }
    const auto label = shortened(result.tests[i].label, 24);
    const auto& combined = result.summaries[i].combined[result.chosen];
    const auto& adjusted = result.summaries[i].adjusted_log10_p.values;
    table.add({label, fixed(combined.effect), interval_text(combined), fixed(combined.tau_squared, 4),
               p_of_log10(combined.log10_p_two_sided), p_of_log10(adjusted[0]), p_of_log10(adjusted[1]),
               p_of_log10(adjusted[2]), p_of_log10(combined.log10_p_one_sided)});
    const auto& permutation = result.summaries[i].permutation;
    std::vector<std::string> row = {label, families[i] == nullptr ? "-" : shortened(families[i]->label, 24),
                                    p_value(permutation.p), p_value(permutation.two_sided)};
    for (const double p : permutation.adjusted) {
      row.push_back(p_value(p));
    }
    row.push_back(method_text(permutation));
    permutations.add(std::move(row));
  }
  const std::string head =
      std::string("Combined effect sizes (variance ") + variance_names[result.chosen / estimator_names.size()] + ", " +
      estimator_names[result.chosen % estimator_names.size()] +
      "); p of z: two-sided as the paper states it, adjusted in the test's family, and one-sided as its code computes "
      "it. Both measure the number of samples, too.\n" +
      families_text(result) + "\n";
  return head + table.text() + "\nRelabelling the target words; the one-sided p is adjusted in the test's family\n\n" +
         permutations.text() + (result.num_samples > 1 ? "\n" + variances_text(result) : "");
}

std::string contexts_words_text(const ContextsResult& result, std::size_t top) {
  std::string text;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].kind != Kind::wefat) {
      continue;
    }
    auto words = result.summaries[i].words;
    std::erase_if(words, [](const auto& word) { return !word.combined.defined(); });
    std::stable_sort(words.begin(), words.end(), [](const auto& left, const auto& right) {
      return std::abs(left.combined.effect) > std::abs(right.combined.effect);
    });
    const auto& test = result.tests[i];
    if (words.empty()) {
      text += test.label + ": no word of '" + test.sets[0] + "' has an effect\n\n";
      continue;
    }
    TextTable table({"word", "d", "interval", "p two-sided", "Holm", "BH", "BY"});
    for (std::size_t word = 0; word < std::min(top, words.size()); ++word) {
      const auto& combined = words[word].combined;
      const auto& adjusted = words[word].adjusted.values;
      table.add({shortened(words[word].word, 30), fixed(combined.effect), interval_text(combined),
                 p_of_log10(combined.log10_p_two_sided), p_of_log10(adjusted[0]), p_of_log10(adjusted[1]),
                 p_of_log10(adjusted[2])});
    }
    text += test.label + ": words of '" + test.sets[0] + "', '" + test.sets[2] + "' against '" + test.sets[3] +
            "'; largest effects of " + std::to_string(words.size()) + "; p adjusted for their number\n\n" +
            table.text() + "\n";
  }
  return text;
}

std::string contexts_detections_text(const ContextsResult& result) {
  if (result.detections.empty()) {
    return "";
  }
  TextTable table({"group", "kind", "words", "accuracy", "at", "true rate", "false rate", "best split at", "true rate",
                   "false rate", "area", "chance"});
  std::string lists;
  for (const auto& detection : result.detections) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto& curve = detection.curves[kind];
      const std::string name = kind == 0 ? "IBD" : "EIBD";
      if (curve.reason != stats::Reason::ok) {
        table.add({detection.label, name, std::to_string(detection.words.size()), "-", "-", "-", "-", "-", "-", "-",
                   "-", "-"});
        continue;
      }
      const auto& best = curve.points[curve.most_accurate];
      const auto& split = curve.points[curve.most_separating];
      table.add({detection.label, name, std::to_string(detection.words.size()), fixed(best.accuracy),
                 fixed(best.threshold, 2), fixed(best.true_positive_rate), fixed(best.false_positive_rate),
                 fixed(split.threshold, 2), fixed(split.true_positive_rate), fixed(split.false_positive_rate),
                 kind == 0 ? fixed(detection.area.value) : "-", fixed(curve.chance)});
      lists +=
          detection.label + ", " + name +
          (detection.detected[kind].empty() ? " detects nothing: no threshold is more accurate than naming no word\n"
                                            : " detects: " + base::join(detection.detected[kind], ", ") + "\n");
      if (!detection.unknown[kind].empty()) {
        lists += detection.label + ", " + name +
                 ": validation words without scores: " + base::join(detection.unknown[kind], ", ") + "\n";
      }
    }
  }
  return "Detected words against validated ones: at the threshold of highest accuracy, and at the best split (highest "
         "true "
         "minus false rate)\n\n" +
         table.text() + "\n" + lists;
}

}  // namespace stereosweep::results
