#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "findings/contrasts/Contrasts.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::int32_t few = 20;  // templates or rephrasings
constexpr const char* few_text =
    " With fewer than 20 templates or rephrasings, 95 % intervals held the truth in 91 to 99.8 % of simulated tables.";

std::string notes_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const bool is_few = std::ranges::any_of(rows, [](const ContrastRow& row) {
    return row.reason == stats::Reason::ok &&
           (row.num_templates < few || (row.num_rephrasings > 1 && row.num_rephrasings < few));
  });
  return "low, high: " + results::percent(comparison.confidence) + " interval over templates and rephrasings." +
         (is_few ? few_text : "") +
         " p: two-sided, the signs of templates flipped; adjusted by max-T (by Holm where the templates differ) "
         "among " +
         family_text(comparison.family) + ".";
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

void add_differences(Finding& finding, const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) -> Column& {
    return finding.add(role, rows, name, unit, what, read);
  };
  const auto family = ", adjusted among " + family_text(comparison.family);
  const auto interval = results::percent(comparison.confidence) +
                        " interval, templates and rephrasings drawn with replacement, rescaled for their numbers";
  add(Role::value, "difference", "", "left minus right, in the measure's unit", &ContrastRow::difference);
  add(Role::low, "low", "", "lower end of the " + interval, &ContrastRow::low);
  add(Role::high, "high", "", "upper end of the " + interval, &ContrastRow::high);
  add(Role::p, "p", "1", "two-sided p, signs of templates flipped, each with all its rephrasings", &ContrastRow::p);
  add(Role::low, "p_low", "1", "lower end of the interval of a p that was drawn; p where it was counted",
      &ContrastRow::p_low)
      .of = "p";
  add(Role::high, "p_high", "1", "upper end of the interval of a p that was drawn; p where it was counted",
      &ContrastRow::p_high)
      .of = "p";
  add(Role::adjusted, "p_max_t", "1", "p by max-T with common flips" + family, &ContrastRow::p_max_t);
  add(Role::adjusted, "p_holm", "1", "p after Holm" + family, &ContrastRow::p_holm);
  add(Role::adjusted, "p_hochberg", "1", "p after Benjamini and Hochberg" + family, &ContrastRow::p_hochberg);
  add(Role::adjusted, "p_yekutieli", "1", "p after Benjamini and Yekutieli" + family, &ContrastRow::p_yekutieli);
  add(Role::n, "num_templates", "1", "templates, or pairs of them, with a difference", &ContrastRow::num_templates);
  add(Role::n, "num_rephrasings", "1", "rephrasings with a difference; 1 where the sides take different ones",
      &ContrastRow::num_rephrasings);
  add(Role::n, "num_cells", "1", "(template, rephrasing) with a difference", &ContrastRow::num_cells);
  add(Role::n, "num_possible", "1", "(template, rephrasing) compared", &ContrastRow::num_possible);
  add(Role::status, "status", "", "why there is no interval and no p", &ContrastRow::reason);
  add(Role::value, "left", "", "mean of the left side", &ContrastRow::left);
  add(Role::value, "right", "", "mean of the right side; 0 for a contrast with zero", &ContrastRow::right);
  add(Role::value, "effect", "1", "mean of the templates' differences over their standard deviation (n - 1)",
      &ContrastRow::effect);
}

Finding finding_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  Finding finding{.name = "contrast", .notes = notes_of(rows, comparison)};
  finding.axes = {list_axis<ContrastRow>("contrast", "contrast, measure and item", rows,
                                         {{"name", "name of the contrast", &ContrastRow::contrast},
                                          {"measure", "what is compared", &ContrastRow::measure},
                                          {"item", "what it is about", &ContrastRow::item}})};
  add_differences(finding, rows, comparison);
  finding.add(Role::p, rows, "p_subjects", "1", "two-sided p, subjects of both sides relabelled",
              &ContrastRow::p_subjects);
  const bool has_max_t = std::ranges::any_of(rows, [](const auto& row) { return !std::isnan(row.p_max_t); });
  finding.views = {{"Contrasts in ",
                    {{"name", "contrast"},
                     {"item", "item"},
                     {"difference", "difference"},
                     {"low", "low"},
                     {"high", "high"},
                     {"effect", "effect"},
                     {"num_templates", "templates"},
                     {"p", "p"},
                     {has_max_t ? "p_max_t" : "p_holm", "p adjusted"}},
                    "p"}};
  for (const auto& contrast : comparison.contrasts) {
    finding.named.insert(finding.named.end(), contrast.measures.begin(), contrast.measures.end());
  }
  return finding;
}

}  // namespace stereosweep::findings
