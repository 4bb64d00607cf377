#include "findings/people/Agreement.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/Lists.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

stats::CommonValues common_cells(std::span<const double> scores, std::span<const double> ratings) {
  stats::CommonValues cells;
  for (std::size_t place = 0; place < scores.size(); ++place) {
    cells.add(scores[place], ratings[place]);
  }
  return cells;
}

stats::Correlation tau_of_cells(std::span<const double> scores, std::span<const double> ratings) {
  const auto cells = common_cells(scores, ratings);
  return stats::kendall_tau_b(cells.left, cells.right);
}

}  // namespace

Agreement agreement_of(std::span<const double> scores, std::span<const double> ratings) {
  const auto cells = common_cells(scores, ratings);
  return {stats::kendall_tau_b(cells.left, cells.right), stats::pearson(cells.left, cells.right),
          stats::spearman(cells.left, cells.right), stats::precision_at(3, cells.left, cells.right)};
}

TableAgreement agreement_of(const RatedTable& table) {
  std::vector<Agreement> by_subject;
  for (std::size_t first = 0; first < table.scores.size(); first += table.num_items) {
    by_subject.push_back(agreement_of(std::span(table.scores).subspan(first, table.num_items),
                                      std::span(table.ratings).subspan(first, table.num_items)));
  }
  const auto mean_of = [&](const auto& read) { return stats::mean(stats::finite(base::mapped(by_subject, read))); };
  const auto precision_of = [&](stats::Value stats::Precision::*part) {
    return mean_of([&](const Agreement& one) { return (one.precision.*part).value; });
  };
  TableAgreement found{agreement_of(table.scores, table.ratings), {}};
  found.precision = {precision_of(&stats::Precision::top), precision_of(&stats::Precision::bottom),
                     precision_of(&stats::Precision::mean), precision_of(&stats::Precision::chance)};
  found.mean_tau = mean_of([](const Agreement& one) { return one.tau.value; });
  return found;
}

double ShuffledP::cited() const {
  const double of_items = dimensions.defined() ? dimensions.value : items.value;
  return std::fmax(of_items, domains.defined() ? domains.value : subjects.value);  // the other one of a NaN
}

ShuffledP shuffled_p(const RatedTable& table, std::span<const std::size_t> dimensions,
                     std::span<const std::size_t> domains, const stats::ShuffleSettings& settings) {
  ShuffledP found;
  const auto of = [&](stats::Shuffle shuffle, std::span<const std::size_t> blocks) {
    return stats::shuffled_tau_p(table.scores, table.ratings, table.num_items, shuffle, settings, blocks);
  };
  const auto add = [&](stats::Shuffle shuffle, std::span<const std::size_t> blocks, std::size_t size,
                       stats::Value& free, stats::Value& within) {
    free = of(shuffle, {});
    if (!free.defined()) {
      within = free;
      return;
    }
    const bool has_blocks = std::ranges::adjacent_find(blocks, std::not_equal_to()) != blocks.end();
    auto smallest = has_blocks ? stats::smallest_shuffled_p(size, blocks, settings) : 1;
    within = {stats::nan, stats::Reason::too_few};
    if (has_blocks && smallest <= ShuffledP::level) {
      within = of(shuffle, blocks);
    } else {
      smallest = stats::smallest_shuffled_p(size, {}, settings);
    }
    found.smallest = std::fmax(found.smallest, smallest);
  };
  add(stats::Shuffle::columns, dimensions, table.num_items, found.items, found.dimensions);
  add(stats::Shuffle::rows, domains, table.scores.size() / table.num_items, found.subjects, found.domains);
  return found;
}

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
