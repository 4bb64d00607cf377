#include "findings/decisions/SparseDesign.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/Names.hpp"
#include "findings/decisions/Rounds.hpp"
#include "stats/sequential/VisitingOrder.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t last_round = never_visited - 1;  // which holds all layers from there on

/// Labels that are equal where templates are dealt together.
std::vector<std::string> lines_of(const Scores& scores, const sweep::Design& design, std::vector<std::string>& faults) {
  auto lines = scores.axes[template_axis]->labels;
  if (!design.paired.empty()) {
    if (const auto named = AxisNames(scores, template_axis, template_axis).find(design.paired, "axes.design", faults)) {
      std::ranges::transform(*named->values, lines, lines.begin(), [](const auto& value, const auto& label) {
        return value.empty() ? "of itself: " + label : "together: " + value;
      });
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> faults_of_design(const results::ScoreTableAxes& axes, const sweep::Design& design) {
  std::vector<std::string> faults;
  const auto num_rephrasings = axes[rephrasing_axis].labels.size();
  if (num_rephrasings > 0 && static_cast<std::size_t>(design.layers) > num_rephrasings) {
    faults.push_back(
        base::describe("axes.design.layers: " + std::to_string(design.layers) + " rephrasings of each template",
                       "the job has " + base::counted(num_rephrasings, "rephrasing"),
                       "Leave 'design' out to ask all, or add rephrasings."));
  }
  lines_of(scores_of(axes), design, faults);
  return faults;
}

std::string design_text(const results::ScoreTableAxes& axes, const sweep::Design& design) {
  const auto num_templates = axes[template_axis].labels.size();
  const auto num_rephrasings = axes[rephrasing_axis].labels.size();
  const auto num_layers = static_cast<std::size_t>(design.layers);
  return "each of " + base::counted(num_templates, "template") + " in " + base::with_thousands(num_layers) + " of " +
         base::counted(num_rephrasings, "rephrasing") + ": " + base::with_thousands(num_templates * num_layers) +
         " of " + base::counted(num_templates * num_rephrasings, "sentence");
}

std::vector<std::uint8_t> visits_of_design(const results::ScoreTableAxes& axes, const sweep::Design& design,
                                           std::uint64_t seed) {
  auto faults = faults_of_design(axes, design);
  require_no_faults(faults);
  const auto scores = scores_of(axes);
  const DealtOrder order(scores, seed);
  const auto lines = lines_of(scores, design, faults);
  std::map<std::size_t, std::size_t> template_at;  // place in the order -> template
  for (std::size_t place = 0; place < lines.size(); ++place) {
    template_at[order.templates[place]] = place;
  }
  std::map<std::string, std::size_t> rows;
  for (const auto& [visit, place] : template_at) {
    rows.try_emplace(lines[place], rows.size());
  }
  const auto num_columns = order.rephrasings.size();
  std::vector<stats::PlannedLook> layers;
  while (std::cmp_less(layers.size(), design.layers)) {
    layers.push_back({rows.size(), layers.size() + 1});
  }
  const auto looks = stats::looks_of_cells(rows.size(), num_columns, layers);
  std::vector<std::uint8_t> visits(lines.size() * num_columns, never_visited);
  for (std::size_t sentence = 0; sentence < visits.size(); ++sentence) {
    const auto row = rows.at(lines[sentence / num_columns]);
    const auto layer = looks[row * num_columns + order.rephrasings[sentence % num_columns]];
    if (layer < layers.size()) {
      visits[sentence] = static_cast<std::uint8_t>(std::min(layer, last_round));
    }
  }
  return visits;
}

}  // namespace stereosweep::findings
