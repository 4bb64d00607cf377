#include "base/Text.hpp"
#include "findings/Alignment.hpp"
#include "results/RawBlock.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::findings {

namespace {

using results::CubeSchema;
using results::ElementType;

using stats::nan;
const std::vector<std::string> reason_names = {"ok", "no_values", "too_few", "constant", "not_finite", "not_rated"};
constexpr std::uint8_t not_rated = 5;

CubeSchema count_cube(std::string name, std::string long_name) {
  return {std::move(name), ElementType::int32, {}, "1", std::move(long_name), "", {}};
}

void write_averages(results::Layout& layout, const PairAgreement& result, const std::string& units) {
  std::vector<double> means;
  std::vector<std::int32_t> counts;
  for (const auto& mean : result.scores.overall) {
    means.push_back(mean.value());
    counts.push_back(mean.count);
  }
  const std::vector<std::string> axes = {"variant", "prior", "group", "pair"};
  if (result.scores.axes.templates.empty()) {
    layout.write(results::number_cube("mean_pair_score", units, "effect size of the group's word"), axes, means);
    return;
  }
  layout.write(results::number_cube(
                   "mean_pair_score", units, "mean of pair_score over sentences",
                   "templates: root attribute templates_averaged; all rephrasings; sentences with a score only"),
               axes, means);
  layout.write(count_cube("mean_pair_num_sentences", "sentences with a score"), axes, counts);
}

void write_agreement_by_group(results::Layout& layout, const PairAgreement& result) {
  const auto num_groups = result.scores.axes.groups.size();
  const auto cells = result.alignments.size() * num_groups;
  std::vector<double> tau(cells, nan);
  std::vector<double> p(cells, nan);
  std::vector<std::int32_t> n(cells, 0);
  std::vector<std::uint8_t> status(cells, not_rated);
  std::vector<double> top(cells, nan);
  std::vector<double> bottom(cells, nan);
  std::vector<double> both(cells, nan);
  for (std::size_t table = 0; table < result.alignments.size(); ++table) {
    for (std::size_t index = 0; index < result.ratings->rated_groups.size(); ++index) {
      const auto cell = table * num_groups + result.ratings->rated_groups[index];
      const auto& agreement = result.alignments[table].by_group[index];
      tau[cell] = agreement.tau.value;
      p[cell] = agreement.tau.p;
      n[cell] = static_cast<std::int32_t>(agreement.tau.n);
      status[cell] = static_cast<std::uint8_t>(agreement.tau.reason);
      top[cell] = agreement.precision.top.value;
      bottom[cell] = agreement.precision.bottom.value;
      both[cell] = agreement.precision.mean.value;
    }
  }
  const std::vector<std::string> axes = {"variant", "prior", "group"};
  layout.write(results::number_cube("tau", "1", "Kendall's tau-b with the human means, over trait pairs"), axes, tau);
  layout.write(results::number_cube("tau_p", "1", "two-sided p of tau"), axes, p);
  layout.write(count_cube("tau_n", "trait pairs that are rated and scored"), axes, n);
  layout.write(results::flag_cube("tau_status", "why tau does not exist", reason_names), axes, status);
  layout.write(results::number_cube("precision_top_3", "1", "share of the three highest scores rated above 50"), axes,
               top);
  layout.write(results::number_cube("precision_bottom_3", "1", "share of the three lowest scores rated below 50"), axes,
               bottom);
  layout.write(
      results::number_cube("precision_at_3", "1", "mean of precision_top_3 and precision_bottom_3",
                           "equal scores: the earlier pair first; a rating of exactly 50 counts for neither pole"),
      axes, both);
}

void write_agreement_by_template(results::Layout& layout, const PairAgreement& result) {
  std::vector<double> tau;
  std::vector<double> p;
  std::vector<std::int32_t> n;
  std::vector<double> precision;
  for (const auto& alignment : result.alignments) {
    for (const auto& pooled : alignment.pooled_by_template) {
      tau.push_back(pooled.value);
      p.push_back(pooled.p);
      n.push_back(static_cast<std::int32_t>(pooled.n));
    }
    for (const auto& value : alignment.precision_by_template) {
      precision.push_back(value.value);
    }
  }
  const std::vector<std::string> axes = {"variant", "prior", "template"};
  layout.write(results::number_cube("template_tau", "1", "tau-b pooled over groups and trait pairs, by template"), axes,
               tau);
  layout.write(results::number_cube("template_tau_p", "1", "two-sided p of template_tau; assumes independent cells"),
               axes, p);
  layout.write(count_cube("template_tau_n", "cells that are rated and scored in this template"), axes, n);
  layout.write(results::number_cube("template_precision_at_3", "1", "mean precision at 3 over groups, by template"),
               axes, precision);
}

void write_agreement(results::Layout& layout, const PairAgreement& result) {
  layout.write(results::number_cube("human_mean", "1", "mean human rating", "0: left pole, 100: right pole"),
               {"group", "pair"}, result.ratings->means);
  write_agreement_by_group(layout, result);
  if (!result.scores.axes.templates.empty()) {
    write_agreement_by_template(layout, result);
  }
  std::vector<double> pooled;
  std::vector<double> p_items;
  std::vector<double> p_groups;
  std::vector<double> p_cells;
  std::vector<std::int32_t> pooled_n;
  std::vector<double> mean_tau;
  std::vector<double> precision;
  std::vector<double> chance;
  for (const auto& alignment : result.alignments) {
    pooled.push_back(alignment.pooled.value);
    p_items.push_back(alignment.pooled_p_items.value);
    p_groups.push_back(alignment.pooled_p_groups.value);
    p_cells.push_back(alignment.pooled.p);
    pooled_n.push_back(static_cast<std::int32_t>(alignment.pooled.n));
    mean_tau.push_back(alignment.mean_tau.value);
    precision.push_back(alignment.mean_precision.value);
    chance.push_back(alignment.mean_chance.value);
  }
  const std::vector<std::string> axes = {"variant", "prior"};
  layout.write(results::number_cube("tau_pooled", "1", "Kendall's tau-b over all groups and trait pairs"), axes,
               pooled);
  const auto draws = base::with_thousands(result.shuffles.draws) + " seeded draws (seed " +
                     std::to_string(result.shuffles.seed) +
                     "): 2 (b + 1) / (draws + 1), b: the fewer of those whose tau-b is at least, or at most, this one";
  layout.write(
      results::number_cube("tau_pooled_p_items", "1",
                           "two-sided p of tau_pooled: trait pairs shuffled, the same way in every group", draws),
      axes, p_items);
  layout.write(results::number_cube("tau_pooled_p_groups", "1", "two-sided p of tau_pooled: groups shuffled", draws),
               axes, p_groups);
  layout.write(results::number_cube("tau_pooled_p", "1", "two-sided p of tau_pooled; assumes independent cells",
                                    "too small where the cells of a trait pair, or of a group, move together: prefer "
                                    "tau_pooled_p_items and tau_pooled_p_groups"),
               axes, p_cells);
  layout.write(count_cube("tau_pooled_n", "cells that are rated and scored"), axes, pooled_n);
  layout.write(results::number_cube("tau_mean", "1", "mean of tau over groups; not the same as tau_pooled"), axes,
               mean_tau);
  layout.write(results::number_cube("precision_at_3_mean", "1", "mean of precision_at_3 over groups"), axes, precision);
  layout.write(results::number_cube("precision_at_3_chance", "1", "precision_at_3_mean of scores in random order"),
               axes, chance);
}

}  // namespace

void write_pair_agreement(results::Layout& layout, const PairAgreement& result, const std::string& units) {
  write_averages(layout, result, units);
  if (result.ratings) {
    write_agreement(layout, result);
  }
}

}  // namespace stereosweep::findings
