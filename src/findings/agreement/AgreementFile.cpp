#include "base/text/Text.hpp"
#include "findings/agreement/Alignment.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::findings {

namespace {

using results::number_cube;

const std::vector<std::string> reason_names = {"ok", "no_values", "too_few", "constant", "not_finite", "not_rated"};
constexpr std::uint8_t not_rated = 5;

void write_averages(results::Layout& layout, const PairAgreement& result, const std::string& units) {
  const std::vector<std::string> axes = {"variant", "prior", "group", "pair"};
  const auto& means = result.scores.overall;
  if (result.scores.axes.templates.empty()) {
    layout.write(number_cube("mean_pair_score", units, "effect size of the group's word"), axes, means,
                 &RunningMean::value);
    return;
  }
  layout.write(
      number_cube("mean_pair_score", units, "mean of pair_score over sentences",
                  "templates: root attribute templates_averaged; all rephrasings; sentences with a score only"),
      axes, means, &RunningMean::value);
  layout.write(number_cube("mean_pair_num_sentences", "1", "sentences with a score"), axes, means, &RunningMean::count);
}

void write_agreement_by_group(results::Layout& layout, const PairAgreement& result) {
  const auto num_groups = result.scores.axes.groups.size();
  std::vector<Agreement> cells(result.alignments.size() * num_groups);
  std::vector<std::uint8_t> statuses(cells.size(), not_rated);
  for (std::size_t table = 0; table < result.alignments.size(); ++table) {
    for (std::size_t index = 0; index < result.ratings->rated_groups.size(); ++index) {
      const auto cell = table * num_groups + result.ratings->rated_groups[index];
      cells[cell] = result.alignments[table].by_group[index];
      statuses[cell] = static_cast<std::uint8_t>(cells[cell].tau.reason);
    }
  }
  const auto write = [&](const results::CubeSchema& cube, auto read) {
    layout.write(cube, {"variant", "prior", "group"}, cells, read);
  };
  write(number_cube("tau", "1", "Kendall's tau-b with the human means, over trait pairs"),
        [](const Agreement& cell) { return cell.tau.value; });
  write(number_cube("tau_p", "1", "two-sided p of tau"), [](const Agreement& cell) { return cell.tau.p; });
  write(number_cube("tau_n", "1", "trait pairs that are rated and scored"),
        [](const Agreement& cell) { return cell.tau.n; });
  layout.write(results::flag_cube("tau_status", "why tau does not exist", reason_names), {"variant", "prior", "group"},
               statuses);
  write(number_cube("precision_top_3", "1", "share of the three highest scores rated above 50"),
        [](const Agreement& cell) { return cell.precision.top.value; });
  write(number_cube("precision_bottom_3", "1", "share of the three lowest scores rated below 50"),
        [](const Agreement& cell) { return cell.precision.bottom.value; });
  write(number_cube("precision_at_3", "1", "mean of precision_top_3 and precision_bottom_3",
                    "equal scores: the earlier pair first; a rating of exactly 50 counts for neither pole"),
        [](const Agreement& cell) { return cell.precision.mean.value; });
}

void write_agreement_by_template(results::Layout& layout, const PairAgreement& result) {
  std::vector<stats::Correlation> taus;
  std::vector<stats::Value> precisions;
  for (const auto& table : result.alignments) {
    taus.insert(taus.end(), table.pooled_by_template.begin(), table.pooled_by_template.end());
    precisions.insert(precisions.end(), table.precision_by_template.begin(), table.precision_by_template.end());
  }
  const std::vector<std::string> axes = {"variant", "prior", "template"};
  layout.write(number_cube("template_tau", "1", "tau-b pooled over groups and trait pairs, by template"), axes, taus,
               &stats::Correlation::value);
  layout.write(number_cube("template_tau_p", "1", "two-sided p of template_tau; assumes independent cells"), axes, taus,
               &stats::Correlation::p);
  layout.write(number_cube("template_tau_n", "1", "cells that are rated and scored in this template"), axes, taus,
               &stats::Correlation::n);
  layout.write(number_cube("template_precision_at_3", "1", "mean precision at 3 over groups, by template"), axes,
               precisions, &stats::Value::value);
}

void write_agreement(results::Layout& layout, const PairAgreement& result) {
  layout.write(number_cube("human_mean", "1", "mean human rating", "0: left pole, 100: right pole"), {"group", "pair"},
               result.ratings->means);
  write_agreement_by_group(layout, result);
  if (!result.scores.axes.templates.empty()) {
    write_agreement_by_template(layout, result);
  }
  const auto write = [&](const results::CubeSchema& cube, auto read) {
    layout.write(cube, {"variant", "prior"}, result.alignments, read);
  };
  const auto draws = base::with_thousands(result.shuffles.draws) + " seeded draws (seed " +
                     std::to_string(result.shuffles.seed) +
                     "): 2 (b + 1) / (draws + 1), b: the fewer of those whose tau-b is at least, or at most, this one";
  write(number_cube("tau_pooled", "1", "Kendall's tau-b over all groups and trait pairs"),
        [](const Alignment& table) { return table.pooled.value; });
  write(number_cube("tau_pooled_p_items", "1",
                    "two-sided p of tau_pooled: trait pairs shuffled, the same way in every group", draws),
        [](const Alignment& table) { return table.pooled_p_items.value; });
  write(number_cube("tau_pooled_p_groups", "1", "two-sided p of tau_pooled: groups shuffled", draws),
        [](const Alignment& table) { return table.pooled_p_groups.value; });
  write(number_cube("tau_pooled_p", "1", "two-sided p of tau_pooled; assumes independent cells",
                    "too small where the cells of a trait pair, or of a group, move together: prefer "
                    "tau_pooled_p_items and tau_pooled_p_groups"),
        [](const Alignment& table) { return table.pooled.p; });
  write(number_cube("tau_pooled_n", "1", "cells that are rated and scored"),
        [](const Alignment& table) { return table.pooled.n; });
  write(number_cube("tau_mean", "1", "mean of tau over groups; not the same as tau_pooled"),
        [](const Alignment& table) { return table.mean_tau.value; });
  write(number_cube("precision_at_3_mean", "1", "mean of precision_at_3 over groups"),
        [](const Alignment& table) { return table.mean_precision.value; });
  write(number_cube("precision_at_3_chance", "1", "precision_at_3_mean of scores in random order"),
        [](const Alignment& table) { return table.mean_chance.value; });
}

}  // namespace

void write_pair_agreement(results::Layout& layout, const PairAgreement& result, const std::string& units) {
  write_averages(layout, result, units);
  if (result.ratings) {
    write_agreement(layout, result);
  }
}

}  // namespace stereosweep::findings
