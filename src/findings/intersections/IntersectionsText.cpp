#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/text/Text.hpp"
#include "findings/intersections/Intersections.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

void add_order(std::string& text, const IntersectionsOfMeasure& of_measure) {
  results::TextTable table({"tau-b of an intersection with", "mean", "intersections", "both orders", "of these"});
  for (std::size_t i = 0; i < num_order_comparisons; ++i) {
    const auto& mean = of_measure.order.means[i];
    table.add({order_comparison_names[i], results::fixed(mean.mean), std::to_string(mean.num_intersections),
               results::fixed(mean.mean_both_orders), std::to_string(mean.num_both_orders)});
  }
  text += table.text();
}

/// "age dominates gender and race; dominated by politics"
void add_domains(std::string& text, const std::vector<DominanceRow>& rows) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> domains;
  for (const auto& row : rows) {
    const bool is_first = row.rule == Dominant::first;
    if (is_first || row.rule == Dominant::second) {
      domains[is_first ? row.first : row.second].first.push_back(is_first ? row.second : row.first);
      domains[is_first ? row.second : row.first].second.push_back(is_first ? row.first : row.second);
    }
  }
  for (const auto& [domain, others] : domains) {
    const auto names = [](const auto& list) { return list.empty() ? std::string("none") : base::join(list, ", "); };
    text +=
        results::wrapped(domain + " dominates: " + names(others.first) + "; dominated by: " + names(others.second), 2) +
        '\n';
  }
}

void add_dominance(std::string& text, const IntersectionsOfMeasure& of_measure, const sweep::Comparison& comparison,
                   std::size_t top) {
  if (of_measure.dominance.empty()) {
    return;
  }
  std::vector<const DominanceRow*> rows;
  for (const auto& row : of_measure.dominance) {
    rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, [](const auto* left, const auto* right) {
    return std::abs(left->difference) > std::abs(right->difference);
  });
  results::TextTable table(
      {"domains", "tau-b first", "tau-b second", "difference", "low", "high", "groups", "dominates", "beyond zero"});
  const auto side = [](const DominanceRow& row, Dominant dominant) {
    return dominant == Dominant::first ? row.first : dominant == Dominant::second ? row.second : std::string("-");
  };
  const auto shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = *rows[i];
    table.add({row.first + " x " + row.second, results::fixed(row.tau_first), results::fixed(row.tau_second),
               results::fixed(row.difference), results::fixed(row.low), results::fixed(row.high),
               std::to_string(row.num_first) + " x " + std::to_string(row.num_second), side(row, row.rule),
               side(row, row.beyond)});
  }
  text += '\n';
  add_domains(text, of_measure.dominance);
  text += table.text() + results::rest_text(shown, rows.size(), "pairs of domains") +
          results::wrapped("dominates: whose mean tau-b is larger by at least " +
                           base::format_double(comparison.intersections->threshold) +
                           "; low, high: " + results::percent(comparison.confidence) +
                           " interval over the groups of both domains, too narrow where they are few.") +
          '\n';
}

/// Places of the rows that `is_shown`, by p and then by |z|; all that are, `shown` of them sorted.
template <class Shown, class P, class Z>
std::vector<std::size_t> ranked_rows(const std::vector<EmergenceRow>& rows, std::size_t top, Shown is_shown, P p, Z z) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t place) { return !is_shown(rows[place]); });
  const auto size = [&](std::size_t place) {
    const double value = std::abs(z(rows[place]));
    return std::isnan(value) ? -1 : value;
  };
  const auto shown = static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  std::ranges::partial_sort(order, order.begin() + shown, [&](std::size_t left, std::size_t right) {
    const double left_p = p(rows[left]);
    const double right_p = p(rows[right]);
    if (left_p != right_p) {
      return left_p < right_p;
    }
    return size(left) != size(right) ? size(left) > size(right) : left < right;
  });
  return order;
}

struct RowLabels {
  const Intersections& all;
  const std::vector<std::string>& items;
  std::string intersection(std::size_t place) const {
    return all.subjects.labels[all.parts.intersections[place / items.size()].subject];
  }
  const std::string& item(std::size_t place) const { return items[place % items.size()]; }
};

void add_emergence(std::string& text, const std::vector<EmergenceRow>& rows, const RowLabels& labels, std::size_t top) {
  const auto z = [](const EmergenceRow& row) { return row.side() > 0 ? row.z_max : row.z_min; };
  const auto order = ranked_rows(
      rows, top, [](const auto& row) { return row.side() != 0 && !std::isnan(row.p); },
      [](const auto& row) { return row.p; }, z);
  results::TextTable table(
      {"intersection", "trait", "score", "first", "second", "beyond both", "z", "p", "p adjusted"});
  const auto shown = std::min(top, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[order[i]];
    table.add({labels.intersection(order[i]), labels.item(order[i]), results::significant(row.score),
               results::significant(row.first), results::significant(row.second),
               results::significant(row.side() > 0 ? row.emerge_max : row.emerge_min), results::fixed(z(row), 2),
               results::p_value(row.p), results::p_value(row.p_max_t)});
  }
  text += "\nScores beyond both parts'\n" +
          (shown == 0 ? "none\n" : table.text() + results::rest_text(shown, order.size(), "scores"));
}

void add_interactions(std::string& text, const IntersectionsOfMeasure& of_measure, const Intersections& all,
                      std::size_t top) {
  const RowLabels labels{all, all.items};
  const auto& rows = of_measure.items;
  const auto order = ranked_rows(
      rows, top, [](const auto& row) { return !std::isnan(row.interaction_p); },
      [](const auto& row) { return row.interaction_p; }, [](const auto& row) { return row.interaction_z; });
  results::TextTable table({"intersection", "item", "beyond the sum", "z", "p", "p Holm", "p adjusted"});
  const auto shown = std::min(top, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[order[i]];
    table.add({labels.intersection(order[i]), labels.item(order[i]), results::significant(row.interaction),
               results::fixed(row.interaction_z, 2), results::p_value(row.interaction_p),
               results::p_value(row.interaction_p_holm), results::p_value(row.interaction_p_max_t)});
  }
  text += "\nScores beyond the sum of both parts'\n" +
          (shown == 0 ? "none\n" : table.text() + results::rest_text(shown, order.size(), "scores"));
}

void add_known(std::string& text, const Intersections& all, const sweep::IntersectionQuestions& questions) {
  results::TextTable table(
      {"measure", "of", "precision", "recall", "always yes", "universe", "known", "predicted", "hits", "unscored"});
  const auto add = [&](const std::string& measure, const char* kind, const KnownCounts& counts) {
    if (counts.num_universe + counts.num_unscored > 0) {
      table.add({measure, kind, results::fixed(counts.precision()), results::fixed(counts.recall()),
                 results::fixed(counts.prevalence()), std::to_string(counts.num_universe),
                 std::to_string(counts.num_known), std::to_string(counts.num_predicted),
                 std::to_string(counts.num_hits), std::to_string(counts.num_unscored)});
    }
  };
  for (const auto& of_measure : all.of_measures) {
    add(of_measure.measure, "items", of_measure.known_items);
    add(of_measure.measure, "poles", of_measure.known_poles);
  }
  const auto level = questions.level < 1 ? " and p at most " + base::format_double(questions.level) : "";
  text += "\nKnown stereotypes that emerge\n" + table.text() +
          results::wrapped("predicted: beyond both parts' by more than " + base::format_double(questions.emergence) +
                           level +
                           ". universe: intersections x items that the table names, higher and lower. always "
                           "yes: precision of predicting all of it, with recall 1 (the share that is known). " +
                           all.known_source) +
          '\n';
}

}  // namespace

std::string intersections_text(const Intersections& all, const sweep::Comparison& comparison, std::size_t top) {
  std::string text;
  if (!comparison.intersections->known.empty()) {
    add_known(text, all, *comparison.intersections);
  }
  for (const auto& of_measure : all.of_measures) {
    text += "\nIntersections in " + of_measure.measure + '\n';
    add_order(text, of_measure);
    add_dominance(text, of_measure, comparison, top);
    if (all.poles.empty()) {
      add_emergence(text, of_measure.items, {all, all.items}, top);
    } else {
      add_emergence(text, of_measure.poles, {all, all.poles}, top);
    }
    add_interactions(text, of_measure, all, top);
  }
  const auto num_apart =
      std::ranges::count_if(all.parts.intersections, [](const auto& one) { return !one.has_parts(); });
  text += results::wrapped(
      std::string("beyond both: over the larger part's score, or under the smaller's. p: two-sided, the signs of "
                  "templates flipped, the larger of both parts' p; adjusted by max-T among all intersections and items "
                  "of the measure. Beyond the sum: the score where no group is named is ") +
      (all.parts.baseline ? "the baseline's." : "taken to be 0.") +
      (num_apart > 0 ? " " + base::counted(static_cast<std::uint64_t>(num_apart), "intersection") +
                           " left out: a part is not scored by itself."
                     : ""));
  return text + '\n';
}

}  // namespace stereosweep::findings
