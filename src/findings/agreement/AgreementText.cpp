#include <algorithm>

#include "base/text/Text.hpp"
#include "findings/agreement/Alignment.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

/// With a star where p < 0.05.
std::string starred(const stats::Correlation& correlation) {
  if (!correlation.defined()) {
    return std::string(stats::name_of(correlation.reason));
  }
  return results::fixed(correlation.value) + (correlation.p < 0.05 ? "*" : " ");
}

std::string number_or_reason(const stats::Value& value) {
  return value.defined() ? results::fixed(value.value) : std::string(stats::name_of(value.reason));
}

/// Places of the measures that are printed with this prior.
std::vector<std::size_t> shown_measures(const ScoreAxes& axes, std::size_t prior, const results::ShownMeasures& shown) {
  std::vector<std::size_t> places;
  for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
    if (shown.holds(axes.measure_label(measure, prior))) {
      places.push_back(measure);
    }
  }
  return places;
}

/// What is printed with one prior.
struct OfPrior {
  std::size_t prior;
  std::size_t top;                    ///< rows
  std::vector<std::size_t> measures;  ///< places
};

/// A row for each of the first labels, a column for each measure: `cell_of(alignment, row)`.
template <class CellOf>
std::string by_measure(const PairAgreement& result, const OfPrior& printed, const std::string& noun,
                       const std::vector<std::string>& labels, const CellOf& cell_of) {
  std::vector<std::string> head = {noun};
  for (const auto measure : printed.measures) {
    head.push_back(result.scores.axes.measures[measure]);
  }
  results::TextTable table(head);
  const auto shown = std::min(printed.top, labels.size());
  for (std::size_t index = 0; index < shown; ++index) {
    std::vector<std::string> row = {labels[index]};
    for (const auto measure : printed.measures) {
      row.push_back(cell_of(result.alignments[result.scores.table_index(measure, printed.prior)], index));
    }
    table.add(std::move(row));
  }
  return table.text() + results::rest_text(shown, labels.size(), noun + "s");
}

std::string overall_text(const PairAgreement& result, const results::ShownMeasures& shown) {
  results::TextTable table(
      {"measure - prior", "tau-b", "p items", "p groups", "p cells", "cells", "mean tau-b", "P@3", "chance"});
  for (std::size_t measure = 0; measure < result.scores.axes.measures.size(); ++measure) {
    for (std::size_t prior = 0; prior < result.scores.axes.priors.size(); ++prior) {
      if (!shown.holds(result.scores.axes.measure_label(measure, prior))) {
        continue;
      }
      const auto& alignment = result.alignments[result.scores.table_index(measure, prior)];
      table.add({result.scores.table_name(measure, prior),
                 number_or_reason({alignment.pooled.value, alignment.pooled.reason}),
                 results::p_value(alignment.pooled_p_items.value), results::p_value(alignment.pooled_p_groups.value),
                 results::p_value(alignment.pooled.p), base::with_thousands(alignment.pooled.n),
                 number_or_reason(alignment.mean_tau), number_or_reason(alignment.mean_precision),
                 number_or_reason(alignment.mean_chance)});
    }
  }
  return "Agreement with human ratings, tau-b pooled over " +
         base::counted(result.ratings->rated_groups.size(), "group") + " x " +
         base::counted(result.ratings->rated_pairs.size(), "trait pair") + "\n\n" + table.text() +
         results::wrapped(
             "p items: trait pairs shuffled, the same way in every group. p groups: groups shuffled. Both "
             "two-sided, " +
             base::with_thousands(result.shuffles.draws) +
             " draws. p cells: assumes independent cells, which the cells of one trait pair or of one group are "
             "not; it is often far too small. mean tau-b, P@3: means over groups. chance: P@3 of scores in random "
             "order.\n");
}

std::string by_group_text(const PairAgreement& result, const OfPrior& printed) {
  std::vector<std::string> labels;
  for (const auto group : result.ratings->rated_groups) {
    labels.push_back(result.scores.axes.groups[group]);
  }
  return "Kendall's tau-b by group (prior: " + result.scores.axes.priors[printed.prior] +
         "; * p < 0.05, not adjusted)\n\n" +
         by_measure(result, printed, "group", labels, [](const Alignment& alignment, std::size_t group) {
           return starred(alignment.by_group[group].tau);
         });
}

std::string by_template_text(const PairAgreement& result, const OfPrior& printed) {
  const auto& templates = result.scores.axes.templates;
  std::string text =
      "Kendall's tau-b by template, pooled over groups and trait pairs (prior: " +
      result.scores.axes.priors[printed.prior] + ")\n\n" +
      by_measure(result, printed, "template", templates, [](const Alignment& alignment, std::size_t sentence) {
        const auto& pooled = alignment.pooled_by_template[sentence];
        return number_or_reason({pooled.value, pooled.reason});
      });
  for (const auto measure : printed.measures) {
    const auto& choice = result.alignments[result.scores.table_index(measure, printed.prior)].choice;
    if (choice) {
      std::vector<std::string> labels;
      for (const auto sentence : choice->templates) {
        labels.push_back(templates[sentence]);
      }
      text += results::wrapped("best one or two for " + result.scores.axes.measures[measure] + ": " +
                                   base::join(labels, " + ") + " (tau-b " + results::fixed(choice->pooled.value) +
                                   ", " + base::counted(choice->pooled.n, "cell") + "; chosen on the same ratings)\n",
                               2);
    }
  }
  return text;
}

std::string unmatched_text(const RatingTable& ratings) {
  std::string text = "Ratings matched " + base::counted(ratings.rated_groups.size(), "group") + " and " +
                     base::counted(ratings.rated_pairs.size(), "trait pair");
  const auto list = [&](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty()) {
      text += "; " + base::counted(names.size(), what) + " not in the result: " + base::join(names, ", ");
    }
  };
  list("rated group", ratings.unmatched_groups);
  list("rated trait pair", ratings.unmatched_pairs);
  return results::wrapped(text + "\n", 2);
}

}  // namespace

std::string agreement_text(const PairAgreement& result, std::size_t top, const results::ShownMeasures& shown) {
  if (!result.ratings) {
    return "";
  }
  const OfPrior first{0, top, shown_measures(result.scores.axes, 0, shown)};
  std::string text = overall_text(result, shown) + unmatched_text(*result.ratings) + "\n" +
                     by_group_text(result, first) +
                     (result.scores.axes.templates.empty() ? "" : "\n" + by_template_text(result, first));
  if (result.scores.axes.priors.size() > 1) {
    text += "\nThe tables of the other prior are in the file: tau, template_tau, precision_at_3.\n";
  }
  return text;
}

}  // namespace stereosweep::findings
