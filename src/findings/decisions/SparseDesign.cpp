#include "findings/decisions/SparseDesign.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Names.hpp"
#include "findings/decisions/Rounds.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t last_round = never_visited - 1;  // which holds all layers from there on

/// Labels that are equal where templates are dealt together. Adds what the axes do not have.
std::vector<std::string> lines_of(const Scores& scores, const sweep::Design& design, std::vector<std::string>& faults) {
  const auto num_rephrasings = scores.length(rephrasing_axis);
  if (num_rephrasings > 0 && static_cast<std::size_t>(design.layers) > num_rephrasings) {
    faults.push_back(
        base::describe("axes.design.layers: " + std::to_string(design.layers) + " rephrasings of each template",
                       "the job has " + base::counted(num_rephrasings, "rephrasing"),
                       "Leave 'design' out to ask all, or add rephrasings."));
  }
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
  std::vector<std::string> faults;
  const auto scores = scores_of(axes);
  const auto lines = lines_of(scores, design, faults);
  require_no_faults(faults);
  std::map<std::string, std::size_t> numbers;
  const auto line_of_template =
      base::mapped(lines, [&](const auto& line) { return numbers.try_emplace(line, numbers.size()).first->second; });
  const DealtOrder order(scores, seed);
  std::vector<std::size_t> row_of_line(numbers.size());
  for (std::size_t row = 0; const auto line : dealt_lines(numbers.size(), line_of_template, order.templates)) {
    row_of_line[line] = row++;
  }
  const auto num_columns = order.rephrasings.size();
  std::vector<stats::PlannedLook> layers;
  while (std::cmp_less(layers.size(), design.layers)) {
    layers.push_back({numbers.size(), layers.size() + 1});
  }
  const auto looks = stats::looks_of_cells(numbers.size(), num_columns, layers);
  std::vector<std::uint8_t> visits(lines.size() * num_columns, never_visited);
  for (std::size_t sentence = 0; sentence < visits.size(); ++sentence) {
    const auto row = row_of_line[line_of_template[sentence / num_columns]];
    const auto layer = looks[row * num_columns + order.rephrasings[sentence % num_columns]];
    if (layer < layers.size()) {
      visits[sentence] = static_cast<std::uint8_t>(std::min(layer, last_round));
    }
  }
  return visits;
}

}  // namespace stereosweep::findings
