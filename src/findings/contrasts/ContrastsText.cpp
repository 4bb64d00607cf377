#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "findings/contrasts/Contrasts.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::int32_t few = 20;  // templates or rephrasings
constexpr const char* few_text =
    " With fewer than 20 templates or rephrasings, 95 % intervals held the truth in 91 to 99.8 % of simulated tables.";

results::AxisSchema axis_of(std::span<const ContrastRow> rows) {
  results::AxisSchema axis{"contrast", "contrast, measure and item", {}, {}};
  const auto add = [&](const std::string& name, const std::string& long_name, std::string ContrastRow::*field) {
    auto& coordinate = axis.coordinates.emplace_back(name, long_name, std::vector<std::string>());
    std::ranges::transform(rows, std::back_inserter(coordinate.values),
                           [&](const ContrastRow& row) { return row.*field; });
  };
  for (const auto& row : rows) {
    axis.labels.push_back(row.contrast + " | " + row.measure + " | " + row.item);
  }
  add("name", "name of the contrast", &ContrastRow::contrast);
  add("measure", "what is compared", &ContrastRow::measure);
  add("item", "what it is about", &ContrastRow::item);
  return axis;
}

void add_table(std::string& text, std::vector<const ContrastRow*> rows, std::size_t top) {
  std::ranges::stable_sort(rows, [](const ContrastRow* left, const ContrastRow* right) {
    return std::isnan(right->p) ? !std::isnan(left->p) : left->p < right->p;
  });
  results::TextTable table({"contrast", "item", "difference", "low", "high", "effect", "templates", "p", "p adjusted"});
  const auto shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = *rows[i];
    table.add({row.contrast, row.item, results::significant(row.difference), results::significant(row.low),
               results::significant(row.high), results::fixed(row.effect, 2), std::to_string(row.num_templates),
               results::p_value(row.p), results::p_value(std::isnan(row.p_max_t) ? row.p_holm : row.p_max_t)});
  }
  text +=
      "\nContrasts in " + rows.front()->measure + '\n' + table.text() + results::rest_text(shown, rows.size(), "rows");
}

}  // namespace

std::string family_text(sweep::Comparison::Family family) {
  switch (family) {
    case sweep::Comparison::Family::contrast:
      return "the items of one contrast and measure";
    case sweep::Comparison::Family::measure:
      return "all contrasts and items of one measure";
    case sweep::Comparison::Family::all:
      break;
  }
  return "all rows";
}

void write_differences(results::Layout& layout, const std::string& prefix, const std::vector<std::string>& axes,
                       const std::vector<ContrastRow>& items, const sweep::Comparison& comparison) {
  const auto write = [&](const char* name, const char* units, const std::string& long_name, auto ContrastRow::*field) {
    layout.write(results::number_cube(prefix + name, units, long_name), axes, items, field);
  };
  const auto family = ", adjusted among " + family_text(comparison.family);
  const auto interval = results::percent(comparison.confidence) +
                        " interval, templates and rephrasings drawn with replacement, rescaled for their numbers";
  write("left", "", "mean of the left side", &ContrastRow::left);
  write("right", "", "mean of the right side; 0 for a contrast with zero", &ContrastRow::right);
  write("difference", "", "left minus right, in the measure's unit", &ContrastRow::difference);
  write("low", "", "lower end of the " + interval, &ContrastRow::low);
  write("high", "", "upper end of the " + interval, &ContrastRow::high);
  write("effect", "1", "mean of the templates' differences over their standard deviation (n - 1)",
        &ContrastRow::effect);
  write("num_templates", "1", "templates, or pairs of them, with a difference", &ContrastRow::num_templates);
  write("num_rephrasings", "1", "rephrasings with a difference; 1 where the sides take different ones",
        &ContrastRow::num_rephrasings);
  write("num_cells", "1", "(template, rephrasing) with a difference", &ContrastRow::num_cells);
  write("num_possible", "1", "(template, rephrasing) compared", &ContrastRow::num_possible);
  write("p", "1", "two-sided p, signs of templates flipped, each with all its rephrasings", &ContrastRow::p);
  write("p_low", "1", "lower end of the interval of a p that was drawn; p where it was counted", &ContrastRow::p_low);
  write("p_high", "1", "upper end of the interval of a p that was drawn; p where it was counted", &ContrastRow::p_high);
  write("p_max_t", "1", "p by max-T with common flips" + family, &ContrastRow::p_max_t);
  write("p_holm", "1", "p after Holm" + family, &ContrastRow::p_holm);
  write("p_hochberg", "1", "p after Benjamini and Hochberg" + family, &ContrastRow::p_hochberg);
  write("p_yekutieli", "1", "p after Benjamini and Yekutieli" + family, &ContrastRow::p_yekutieli);
  layout.write(results::flag_cube(prefix + "status", "why there is no interval and no p",
                                  {"ok", "no_values", "too_few", "constant", "not_finite"}),
               axes, items, &ContrastRow::reason);
}

void write_contrasts(results::Layout& layout, std::span<const ContrastRow> rows, const sweep::Comparison& comparison) {
  if (rows.empty()) {
    return;
  }
  layout.add_axis(axis_of(rows));
  const std::vector<ContrastRow> items(rows.begin(), rows.end());
  write_differences(layout, "contrast_", {"contrast"}, items, comparison);
  layout.write(results::number_cube("contrast_p_subjects", "1", "two-sided p, subjects of both sides relabelled"),
               {"contrast"}, items, &ContrastRow::p_subjects);
}

std::string contrasts_text(std::span<const ContrastRow> rows, const sweep::Comparison& comparison, std::size_t top) {
  std::string text;
  std::vector<std::string> measures;
  for (const auto& row : rows) {
    if (std::ranges::find(measures, row.measure) == measures.end()) {
      measures.push_back(row.measure);
    }
  }
  for (const auto& measure : measures) {
    std::vector<const ContrastRow*> of_measure;
    for (const auto& row : rows) {
      if (row.measure == measure) {
        of_measure.push_back(&row);
      }
    }
    add_table(text, std::move(of_measure), top);
  }
  if (!rows.empty()) {
    const bool is_few = std::ranges::any_of(rows, [](const ContrastRow& row) {
      return row.reason == stats::Reason::ok &&
             (row.num_templates < few || (row.num_rephrasings > 1 && row.num_rephrasings < few));
    });
    text += results::wrapped("low, high: " + results::percent(comparison.confidence) +
                             " interval over templates and rephrasings." + (is_few ? few_text : "") +
                             " p: two-sided, the signs of templates flipped; "
                             "adjusted by max-T (by Holm where the templates differ) among " +
                             family_text(comparison.family) + ".") +
            '\n';
  }
  return text;
}

}  // namespace stereosweep::findings
