#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/Lists.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/RateInterval.hpp"

namespace stereosweep::findings {
namespace {

constexpr double short_by_rounding = 1e-12;  // a difference of means that is short of the threshold by less reaches it

stats::Correlation tau_of(const Cells& cells, std::size_t left, std::size_t right) {
  stats::CommonValues means;  // [item]
  for (std::size_t item = 0; item < cells.length(item_axis); ++item) {
    stats::CommonValues scores;
    for (std::size_t cell = 0; cell < cells.num_sentences(); ++cell) {
      scores.add(cells.at(left, cell, item), cells.at(right, cell, item));
    }
    means.add(stats::mean(scores.left).value, stats::mean(scores.right).value);
  }
  return stats::kendall_tau_b(means.left, means.right);
}

/// The largest of all; without a value unless all exist.
stats::Correlation nearest_of(const std::vector<stats::Correlation>& taus) {
  stats::Correlation nearest = taus.front();
  for (const auto& tau : taus) {
    if (!tau.defined()) {
      return {.value = stats::nan, .p = tau.p, .n = tau.n, .reason = tau.reason};
    }
    nearest = tau.value > nearest.value ? tau : nearest;
  }
  return nearest;
}

void add_to(OrderMean& mean, double value, bool has_both_orders) {
  if (std::isnan(value)) {
    return;
  }
  mean.mean = (mean.num_intersections == 0 ? 0 : mean.mean) + value;  // sums, until all are added
  ++mean.num_intersections;
  if (has_both_orders) {
    mean.mean_both_orders = (mean.num_both_orders == 0 ? 0 : mean.mean_both_orders) + value;
    ++mean.num_both_orders;
  }
}

/// Taus of one pair of domains; all intersections of a pair of groups are one cell.
class DomainPair {
 public:
  void add(std::size_t first_group, std::size_t second_group, double tau_first, double tau_second) {
    auto& cell = cells_[{place_of(first_group, first_places_), place_of(second_group, second_places_)}];
    cell.first += tau_first - tau_second;
    cell.second += 1;
    sum_first_ += tau_first;
    sum_second_ += tau_second;
    ++count_;
  }

  void fill(DominanceRow& row, const sweep::Comparison& comparison) const {
    row.num_intersections = count_;
    row.num_first = static_cast<std::int32_t>(first_places_.size());
    row.num_second = static_cast<std::int32_t>(second_places_.size());
    row.tau_first = sum_first_ / count_;
    row.tau_second = sum_second_ / count_;
    row.difference = row.tau_first - row.tau_second;
    const double threshold = comparison.intersections->threshold - short_by_rounding;
    row.rule = row.difference >= threshold    ? Dominant::first
               : row.difference <= -threshold ? Dominant::second
                                              : Dominant::neither;
    if (row.num_first < 2 || row.num_second < 2) {
      row.reason = stats::Reason::too_few;
      return;
    }
    std::vector<double> cells(first_places_.size() * second_places_.size(), stats::nan);
    for (const auto& [place, cell] : cells_) {
      cells[place.first * second_places_.size() + place.second] = cell.first / cell.second;
    }
    const auto squares = stats::crossed_squares(cells, second_places_.size());
    const auto test = stats::test_cells(squares, row.difference, {}, comparison.confidence);
    row.low = std::max(test.low, -2.0);  // a tau-b lies between -1 and 1
    row.high = std::min(test.high, 2.0);
    row.reason = test.reason;
    if (row.reason == stats::Reason::ok) {
      row.beyond = row.low > 0 ? Dominant::first : row.high < 0 ? Dominant::second : Dominant::neither;
    }
  }

 private:
  using Places = std::map<std::size_t, std::size_t>;
  static std::size_t place_of(std::size_t group, Places& places) {
    return places.try_emplace(group, places.size()).first->second;
  }

  Places first_places_;
  Places second_places_;
  std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> cells_;  ///< sum of differences, number
  double sum_first_ = 0;
  double sum_second_ = 0;
  std::int32_t count_ = 0;
};

}  // namespace

std::vector<std::string> order_comparisons(const IntersectionParts& parts) {
  std::vector<std::string> names = {"other order"};
  for (std::size_t part = 0; part < parts.most(); ++part) {
    names.push_back(sweep::part_names[part] + " part");
  }
  names.push_back(parts.most() > 2 ? "nearest part" : "nearer part");
  return names;
}

Order order_of(const Cells& cells, const IntersectionParts& parts, const Workers& ranks) {
  Order order;
  const auto num_comparisons = parts.most() + 2;
  order.taus = base::joined(share<stats::Correlation>(ranks, parts.intersections.size(), [&](std::size_t place) {
    const auto& intersection = parts.intersections[place];
    const auto tau = [&](const std::optional<std::size_t>& other) {
      return other ? tau_of(cells, intersection.subject, *other) : stats::Correlation();
    };
    auto taus = base::mapped(intersection.parts, tau);
    const auto nearest = nearest_of(taus);
    taus.insert(taus.begin(), tau(intersection.reversed));
    taus.resize(num_comparisons - 1);
    taus.push_back(nearest);
    return taus;
  }));
  order.means.resize(num_comparisons);
  for (std::size_t at = 0; at < order.taus.size(); ++at) {
    const auto& intersection = parts.intersections[at / num_comparisons];
    add_to(order.means[at % num_comparisons], order.taus[at].value, intersection.reversed.has_value());
  }
  for (auto& mean : order.means) {
    mean.mean /= mean.num_intersections;  // NaN where there is none
    mean.mean_both_orders /= mean.num_both_orders;
  }
  return order;
}

std::vector<DominanceRow> dominance_of(const Order& order, const IntersectionParts& parts,
                                       const sweep::Comparison& comparison) {
  std::map<std::string, std::size_t> ranks;  // of domains, by their first subject
  for (const auto& domain : parts.domains) {
    ranks.try_emplace(domain, ranks.size());
  }
  std::map<std::pair<std::size_t, std::size_t>, DomainPair> pairs;
  for (std::size_t place = 0; place < parts.intersections.size(); ++place) {
    const auto& groups = parts.intersections[place].parts;
    const auto* taus = &order.taus[place * (parts.most() + 2) + 1];  // [part]
    for (std::size_t one = 0; one < groups.size(); ++one) {
      for (std::size_t other = 0; other < groups.size(); ++other) {
        if (!taus[one].defined() || !taus[other].defined()) {
          continue;
        }
        const auto first = ranks.at(parts.domains[*groups[one]]);
        const auto second = ranks.at(parts.domains[*groups[other]]);
        if (first < second) {
          pairs[{first, second}].add(*groups[one], *groups[other], taus[one].value, taus[other].value);
        }
      }
    }
  }
  std::vector<std::string> names(ranks.size());
  for (const auto& [name, rank] : ranks) {
    names[rank] = name;
  }
  std::vector<DominanceRow> rows;
  for (const auto& [place, pair] : pairs) {
    rows.push_back({.first = names[place.first], .second = names[place.second]});
    pair.fill(rows.back(), comparison);
  }
  return rows;
}

}  // namespace stereosweep::findings
