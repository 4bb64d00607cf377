#include <algorithm>
#include <cmath>

#include "base/text/Text.hpp"
#include "findings/runs/RunComparison.hpp"
#include "results/TextTable.hpp"
#include "results/measures/Glossary.hpp"

namespace stereosweep::findings {
namespace {

using results::TextTable;

constexpr std::size_t most_names = 6;
constexpr std::size_t most_measures_shown = 3;

/// Series of one measure and people; of unpaired runs all series together.
struct Selected {
  std::string title;
  std::vector<std::size_t> series;
  bool names_runs_only = true;
};

std::vector<Selected> selections(const RunComparison& runs, const results::ShownMeasures& shown) {
  std::vector<Selected> selected;
  if (!runs.why_unpaired.empty()) {
    auto& all = selected.emplace_back("all measures", std::vector<std::size_t>(), false);
    for (std::size_t series = 0; series < runs.series.size(); ++series) {
      all.series.push_back(series);
    }
    return selected;
  }
  for (const auto& measure : runs.measures.labels) {
    if (!shown.holds(measure)) {
      continue;
    }
    auto& one = selected.emplace_back(measure);
    for (std::size_t series = 0; series < runs.series.size(); ++series) {
      if (runs.series[series].measure == measure || runs.series[series].run == people_label) {
        one.series.push_back(series);
      }
    }
  }
  return selected;
}

std::vector<std::string> labels_of(const RunComparison& runs, const results::ShownMeasures& shown) {
  auto labels = runs.measures.labels;
  std::erase_if(labels, [&](const auto& label) { return !shown.holds(label); });
  return labels;
}

std::string name_of(const RunComparison& runs, const Selected& selected, std::size_t place) {
  const auto& series = runs.series[selected.series[place]];
  return selected.names_runs_only ? series.run : series.label();
}

struct RunAgreement {
  double tau_b = stats::nan;
  std::string names = "-";
};

/// Of two runs each, in order of their tau-b; of unpaired runs also of different measures.
std::vector<RunAgreement> agreements_of(const RunComparison& runs, const Selected& selected) {
  std::vector<RunAgreement> agreements;
  for (std::size_t i = 0; i < selected.series.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& left = runs.series[selected.series[j]];
      const auto& right = runs.series[selected.series[i]];
      const double tau_b = runs.correlation(0, selected.series[j], selected.series[i]).tau_b;
      if (!std::isnan(tau_b) && left.run != right.run && left.run != people_label && right.run != people_label) {
        agreements.push_back({tau_b, name_of(runs, selected, j) + " & " + name_of(runs, selected, i)});
      }
    }
  }
  std::ranges::stable_sort(agreements, {}, &RunAgreement::tau_b);
  return agreements;
}

std::vector<const ContrastRow*> strongest(const RunComparison& runs, const std::string& measure) {
  std::vector<const ContrastRow*> rows;
  for (const auto& row : runs.differences) {
    if (row.measure == measure && !std::isnan(row.difference)) {
      rows.push_back(&row);
    }
  }
  std::ranges::stable_sort(rows, [](const auto* left, const auto* right) {
    return std::abs(left->difference) > std::abs(right->difference);
  });
  return rows;
}

/// One line for each measure: which runs agree, how far they are apart at most, how many differences are tested.
std::string answer(const RunComparison& runs, const results::ShownMeasures& shown) {
  const bool has_two = runs.runs.labels.size() == 2 && runs.why_unpaired.empty();
  std::vector<std::string> head = {"measure", "tau-b"};
  if (!has_two) {
    head = {"measure", "most alike", "tau-b", "least alike", "tau-b"};
  }
  if (!runs.pairs.empty()) {
    head.insert(head.end(), {"largest difference", "tests", "p adjusted < 0.05"});
  }
  TextTable table(head);
  for (const auto& selected : selections(runs, shown)) {
    const auto agreements = agreements_of(runs, selected);
    const auto least = agreements.empty() ? RunAgreement() : agreements.front();
    const auto most = agreements.empty() ? RunAgreement() : agreements.back();
    std::vector<std::string> row = {selected.title, results::fixed(most.tau_b, 2)};
    if (!has_two) {
      row = {selected.title, most.names, results::fixed(most.tau_b, 2), least.names, results::fixed(least.tau_b, 2)};
    }
    if (!runs.pairs.empty()) {
      const auto rows = strongest(runs, selected.title);
      const auto tested = std::ranges::count_if(rows, [](const auto* each) { return !std::isnan(each->p); });
      const auto found = std::ranges::count_if(rows, [](const auto* each) { return each->p_holm < 0.05; });
      row.insert(row.end(), {rows.empty() ? "-" : results::significant(rows.front()->difference),
                             std::to_string(tested), std::to_string(found)});
    }
    table.add(std::move(row));
  }
  return (has_two ? "How '" + runs.runs.labels[0] + "' and '" + runs.runs.labels[1] + "' agree and differ"
                  : "How " + base::counted(runs.runs.labels.size(), "run") + " agree and differ") +
         '\n' + table.text() + "tau-b: Kendall's, of mean scores over subjects and items.\n" +
         results::definitions_text(labels_of(runs, shown));
}

std::string scope(const RunComparison& runs, const results::ShownMeasures& shown) {
  std::string text = base::counted(runs.runs.labels.size(), "run") + ", " +
                     base::counted(runs.subjects.labels.size(), "subject") + ", " +
                     base::counted(runs.items.labels.size(), "item") + " that all have";
  text += runs.why_unpaired.empty()
              ? "; cells that are compared: " + base::counted(runs.num_templates, "template") + " x " +
                    base::counted(runs.num_rephrasings, "rephrasing") + " x " +
                    base::counted(runs.num_replicates, "replicate") + ".\n"
              : ". No cells are paired (" + runs.why_unpaired + "): means and correlations only, no differences.\n";
  std::string out = results::wrapped(text, 2);
  for (const auto& axis : runs.not_shared) {
    out += results::wrapped("left out, not in all runs: " + base::counted(axis.labels.size(), axis.axis) + ": " +
                                results::first_names(axis.labels, most_names) + ".\n",
                            2);
  }
  for (std::size_t measure = 0; measure < runs.measures.labels.size(); ++measure) {
    if (runs.num_dropped[measure] > 0 && shown.holds(runs.measures.labels[measure])) {
      out += results::wrapped(
          "left out in " + runs.measures.labels[measure] + ": " + base::counted(runs.num_dropped[measure], "cell") +
              " with a score in some runs only; " + base::with_thousands(runs.num_shared[measure]) + " are shared.\n",
          2);
    }
  }
  return out;
}

std::string matrix(const RunComparison& runs, const Selected& selected) {
  std::vector<std::string> head = {"tau-b"};
  for (std::size_t i = 0; i < selected.series.size(); ++i) {
    head.push_back(name_of(runs, selected, i));
  }
  TextTable table(head);
  for (std::size_t i = 0; i < selected.series.size(); ++i) {
    std::vector<std::string> row = {head[i + 1]};
    for (const auto other : selected.series) {
      row.push_back(results::fixed(runs.correlation(0, selected.series[i], other).tau_b, 2));
    }
    table.add(std::move(row));
  }
  return "\nKendall's tau-b of mean scores over subjects and items, " + selected.title + '\n' + table.text();
}

std::string differences_table(const RunComparison& runs, const std::string& measure, std::size_t top) {
  const auto rows = strongest(runs, measure);
  if (rows.empty()) {
    return "";
  }
  const bool has_one_pair = runs.pairs.size() == 1;
  std::vector<std::string> head = {"subject", "item", "difference", "low", "high", "templates", "p", "p adjusted"};
  if (!has_one_pair) {
    head.insert(head.begin() + 1, "runs");
  }
  TextTable table(head);
  const auto shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = *rows[i];
    const auto place = static_cast<std::size_t>(&row - runs.differences.data());
    const auto per_pair = runs.differences.size() / runs.pairs.size();
    const auto subject = place / runs.items.labels.size() % runs.subjects.labels.size();
    std::vector<std::string> cells = {runs.subjects.labels[subject],
                                      row.item,
                                      results::significant(row.difference),
                                      results::significant(row.low),
                                      results::significant(row.high),
                                      std::to_string(row.num_templates),
                                      results::p_value(row.p),
                                      results::p_value(row.p_holm)};
    if (!has_one_pair) {
      cells.insert(cells.begin() + 1, runs.pair_label(runs.pairs[place / per_pair]));
    }
    table.add(std::move(cells));
  }
  const auto title = has_one_pair ? runs.pair_label(runs.pairs.front()) + ": largest differences in "
                                  : std::string("Largest differences between runs in ");
  return '\n' + title + measure + '\n' + table.text() + results::rest_text(shown, rows.size(), "differences");
}

/// Side by side: the (subject, item) whose means lie farthest apart.
std::string means_table(const RunComparison& runs, std::size_t measure, std::size_t top) {
  struct Line {
    std::size_t subject;
    std::size_t item;
    double spread;
  };
  std::vector<Line> lines;
  for (std::size_t subject = 0; subject < runs.subjects.labels.size(); ++subject) {
    for (std::size_t item = 0; item < runs.items.labels.size(); ++item) {
      std::vector<double> means;
      for (std::size_t run = 0; run < runs.runs.labels.size(); ++run) {
        const double mean = runs.means[runs.cell(run, measure, subject, item)].value;
        if (!std::isnan(mean)) {
          means.push_back(mean);
        }
      }
      if (!means.empty()) {
        const auto [least, most] = std::ranges::minmax(means);
        lines.push_back({subject, item, most - least});
      }
    }
  }
  std::ranges::stable_sort(lines, std::greater(), &Line::spread);
  std::vector<std::string> head = {"subject | item"};
  head.insert(head.end(), runs.runs.labels.begin(), runs.runs.labels.end());
  const bool is_paired = runs.why_unpaired.empty();  // then all have the same number of cells
  if (is_paired) {
    head.emplace_back("cells");
  }
  TextTable table(head);
  const auto shown = std::min(top, lines.size());
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {runs.subjects.labels[lines[i].subject] + " | " + runs.items.labels[lines[i].item]};
    std::int32_t n = 0;
    for (std::size_t run = 0; run < runs.runs.labels.size(); ++run) {
      const auto& mean = runs.means[runs.cell(run, measure, lines[i].subject, lines[i].item)];
      row.push_back(results::significant(mean.value));
      n = std::max(n, mean.num_cells);
    }
    if (is_paired) {
      row.push_back(std::to_string(n));
    }
    table.add(std::move(row));
  }
  return lines.empty() ? ""
                       : "\nMean " + runs.measures.labels[measure] + '\n' + table.text() +
                             results::rest_text(shown, lines.size(), "means");
}

}  // namespace

std::string runs_text(const RunComparison& runs, const sweep::Comparison& comparison, const RunPrinting& printing) {
  const auto shown = printing.shown.or_all_of(runs.measures.labels);
  const auto measures = labels_of(runs, shown);
  std::string text = answer(runs, shown) + '\n' + scope(runs, shown);
  const bool is_short = measures.size() <= most_measures_shown || printing.detail == RunDetail::everything;
  if (!runs.variance.empty()) {
    text +=
        text_of(findings_of("run_", runs.measures, RunsCompared::several, runs.variance, comparison.confidence).front(),
                variance_sources(RunsCompared::several).size(), shown);
  }
  for (const auto& selected : selections(runs, shown)) {
    if (is_short || !runs.why_unpaired.empty()) {
      text += matrix(runs, selected);
    }
    if (is_short) {
      text += differences_table(runs, selected.title, printing.top);
    }
  }
  for (std::size_t measure = 0; measure < runs.measures.labels.size() && is_short; ++measure) {
    text += shown.holds(runs.measures.labels[measure]) ? means_table(runs, measure, printing.top) : "";
  }
  if (!is_short) {
    text += "\nThe tables of each measure: --all.\n";
  }
  if (!runs.pairs.empty()) {
    text +=
        '\n' + results::wrapped("low, high: " + results::percent(comparison.confidence) +
                                " interval over templates and rephrasings. p: two-sided, the sign of each "
                                "template's difference flipped; adjusted by max-T (by Holm where templates differ) "
                                "among " +
                                family_text(comparison.family) +
                                " (a contrast: two runs and a subject). It asks whether two runs differ beyond what "
                                "the choice of templates explains; of two models it says nothing of others.\n");
  }
  return text;
}

}  // namespace stereosweep::findings
