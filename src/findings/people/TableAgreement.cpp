#include "findings/people/TableAgreement.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

/// The cells that both lists have.
struct RatedCells {
  std::vector<double> scores;
  std::vector<double> ratings;
};

RatedCells common_cells(std::span<const double> scores, std::span<const double> ratings) {
  RatedCells cells;
  for (std::size_t place = 0; place < scores.size(); ++place) {
    if (!std::isnan(scores[place]) && !std::isnan(ratings[place])) {
      cells.scores.push_back(scores[place]);
      cells.ratings.push_back(ratings[place]);
    }
  }
  return cells;
}

stats::Correlation tau_of_cells(std::span<const double> scores, std::span<const double> ratings) {
  const auto cells = common_cells(scores, ratings);
  return stats::kendall_tau_b(cells.scores, cells.ratings);
}

}  // namespace

Agreement agreement_of(std::span<const double> scores, std::span<const double> ratings) {
  const auto cells = common_cells(scores, ratings);
  return {stats::kendall_tau_b(cells.scores, cells.ratings), stats::pearson(cells.scores, cells.ratings),
          stats::spearman(cells.scores, cells.ratings), stats::precision_at(3, cells.scores, cells.ratings)};
}

std::vector<Agreement> agreement_by_subject(const RatedTable& table) {
  std::vector<Agreement> agreements;
  for (std::size_t first = 0; first < table.scores.size(); first += table.num_items) {
    agreements.push_back(agreement_of(std::span(table.scores).subspan(first, table.num_items),
                                      std::span(table.ratings).subspan(first, table.num_items)));
  }
  return agreements;
}

stats::Correlation pooled_tau(const RatedTable& table) { return tau_of_cells(table.scores, table.ratings); }

stats::Value shuffled_p(const RatedTable& table, stats::Shuffle shuffle, const stats::ShuffleSettings& settings) {
  return stats::shuffled_tau_p(table.scores, table.ratings, table.num_items, shuffle, settings);
}

stats::Value mean_over(std::span<const Agreement> agreements,
                       const std::function<stats::Value(const Agreement&)>& read) {
  std::vector<double> defined;
  for (const auto& agreement : agreements) {
    if (const auto value = read(agreement); value.defined()) {
      defined.push_back(value.value);
    }
  }
  return stats::mean(defined);
}

stats::Value tau_of(const Agreement& agreement) { return {agreement.tau.value, agreement.tau.reason}; }
stats::Value precision_of(const Agreement& agreement) { return agreement.precision.mean; }
stats::Value chance_of(const Agreement& agreement) { return agreement.precision.chance; }

std::vector<double> mean_of_templates(std::span<const std::vector<double>> by_template,
                                      std::span<const std::size_t> templates) {
  std::vector<double> mean = by_template[templates.front()];
  for (const auto sentence : templates.subspan(1)) {
    std::ranges::transform(mean, by_template[sentence], mean.begin(), std::plus());
  }
  for (auto& value : mean) {
    value /= static_cast<double>(templates.size());
  }
  return mean;
}

std::optional<TemplateChoice> choose_templates(std::span<const std::vector<double>> by_template,
                                               std::span<const double> ratings, std::size_t most) {
  if (by_template.size() > max_templates_to_choose) {
    return std::nullopt;
  }
  std::vector<TemplateChoice> offers;
  const auto offer = [&](std::vector<std::size_t> templates) {
    const auto pooled = tau_of_cells(mean_of_templates(by_template, templates), ratings);
    if (pooled.defined()) {
      offers.push_back({std::move(templates), pooled});
    }
  };
  for (std::size_t first = 0; first < by_template.size(); ++first) {
    offer({first});
  }
  for (std::size_t first = 0; most > 1 && first < by_template.size(); ++first) {
    for (auto second = first + 1; second < by_template.size(); ++second) {
      offer({first, second});
    }
  }
  const auto cells_of = [](const TemplateChoice& choice) { return choice.pooled.n; };
  const auto most_cells = offers.empty() ? 0 : std::ranges::max(offers | std::views::transform(cells_of));
  std::optional<TemplateChoice> best;
  for (auto& candidate : offers) {
    if (2 * candidate.pooled.n >= most_cells && (!best || candidate.pooled.value > best->pooled.value)) {
      best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace stereosweep::findings
