#include "stats/KMeans.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"

namespace stereosweep::stats {

namespace {

std::size_t count_distinct(const Points& points) {
  std::set<std::vector<double>> distinct;
  for (std::size_t p = 0; p < points.size(); ++p) {
    distinct.emplace(points.at(p), points.at(p) + points.num_coordinates);
  }
  return distinct.size();
}

/// One restart: its own random stream, its own centres.
class Restart {
 public:
  Restart(const Points& points, std::size_t num_clusters, const ClusterSettings& settings, std::size_t number)
      : points_(points),
        num_clusters_(num_clusters),
        settings_(settings),
        stream_(base::mix_bits(num_clusters) ^ number),
        distances_(points.size(), 0.0),
        found_{.num_clusters = num_clusters,
               .labels = std::vector<std::size_t>(points.size(), 0),
               .centres = std::vector<double>(num_clusters * points.num_coordinates)} {}

  /// Clusters in no order.
  Clustering run() {
    settings_.start == ClusterSettings::Start::random ? start_random() : start_plus_plus();
    assign();
    for (std::size_t step = 0; step < settings_.max_iterations; ++step) {
      move_centres();
      if (!assign()) {
        break;
      }
    }
    found_.inertia = std::accumulate(distances_.begin(), distances_.end(), 0.0);
    found_.reason = Reason::ok;
    return std::move(found_);
  }

 private:
  double unit() { return base::random_unit(settings_.seed, stream_, counter_++); }
  /// Squared, of a point and a centre.
  double distance(std::size_t point, std::size_t cluster) {
    double sum = 0;
    for (std::size_t i = 0; i < points_.num_coordinates; ++i) {
      const double difference = points_.at(point)[i] - centre(cluster)[i];
      sum += difference * difference;
    }
    return sum;
  }
  double* centre(std::size_t cluster) { return found_.centres.data() + cluster * points_.num_coordinates; }
  void put_centre(std::size_t cluster, std::size_t point) {
    std::copy_n(points_.at(point), points_.num_coordinates, centre(cluster));
  }

  void start_random() {
    auto order = base::places_below(points_.size());
    for (std::size_t i = 0; i < num_clusters_; ++i) {  // the first steps of a Fisher-Yates shuffle
      const auto rest = base::random_below(order.size() - i, settings_.seed, stream_, counter_++);
      std::swap(order[i], order[i + static_cast<std::size_t>(rest)]);
      put_centre(i, order[i]);
    }
  }

  void start_plus_plus() {
    put_centre(0, static_cast<std::size_t>(base::random_below(points_.size(), settings_.seed, stream_, counter_++)));
    std::vector<double> nearest(points_.size(), INFINITY);
    for (std::size_t c = 1; c < num_clusters_; ++c) {
      double total = 0;
      for (std::size_t p = 0; p < points_.size(); ++p) {
        nearest[p] = std::min(nearest[p], distance(p, c - 1));
        total += nearest[p];
      }
      const double wanted = unit() * total;
      std::size_t chosen = points_.size();
      double sum = 0;
      for (std::size_t p = 0; p < points_.size(); ++p) {
        sum += nearest[p];
        if (nearest[p] > 0) {
          chosen = p;  // rounding may leave `wanted` above the last sum
          if (sum > wanted) {
            break;
          }
        }
      }
      STEREOSWEEP_ASSERT(chosen < points_.size(), "there are as many distinct points as clusters");
      put_centre(c, chosen);
    }
  }

  /// Nearest centre of every point; whether any label changed.
  bool assign() {
    bool changed = false;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      std::size_t best = 0;
      double least = INFINITY;
      for (std::size_t c = 0; c < num_clusters_; ++c) {
        if (const double found = distance(p, c); found < least) {
          least = found;
          best = c;
        }
      }
      changed = changed || found_.labels[p] != best;
      found_.labels[p] = best;
      distances_[p] = least;
    }
    return fill_empty() || changed;
  }

  /// An empty cluster takes the farthest point of a cluster that has others.
  bool fill_empty() {
    std::vector<std::size_t> sizes(num_clusters_, 0);
    for (const auto label : found_.labels) {
      ++sizes[label];
    }
    bool changed = false;
    for (std::size_t c = 0; c < num_clusters_; ++c) {
      if (sizes[c] > 0) {
        continue;
      }
      std::size_t farthest = points_.size();
      for (std::size_t p = 0; p < points_.size(); ++p) {
        if (sizes[found_.labels[p]] > 1 && (farthest == points_.size() || distances_[p] > distances_[farthest])) {
          farthest = p;
        }
      }
      --sizes[found_.labels[farthest]];
      sizes[c] = 1;
      found_.labels[farthest] = c;
      distances_[farthest] = 0;
      put_centre(c, farthest);
      changed = true;
    }
    return changed;
  }

  void move_centres() {
    std::fill(found_.centres.begin(), found_.centres.end(), 0.0);
    std::vector<double> sizes(num_clusters_, 0.0);
    for (std::size_t p = 0; p < points_.size(); ++p) {
      ++sizes[found_.labels[p]];
      for (std::size_t i = 0; i < points_.num_coordinates; ++i) {
        centre(found_.labels[p])[i] += points_.at(p)[i];
      }
    }
    for (std::size_t c = 0; c < num_clusters_; ++c) {
      for (std::size_t i = 0; i < points_.num_coordinates; ++i) {
        centre(c)[i] /= sizes[c];
      }
    }
  }

  const Points& points_;
  std::size_t num_clusters_;
  const ClusterSettings& settings_;
  std::uint64_t stream_;
  std::uint64_t counter_ = 0;
  std::vector<double> distances_;  ///< squared, to the own centre
  Clustering found_;
};

/// Numbers clusters by the first point in them, so that equal partitions have equal labels.
void renumber(Clustering& result, std::size_t num_coordinates) {
  std::vector<std::size_t> number(result.num_clusters, result.num_clusters);
  std::size_t next = 0;
  for (auto& label : result.labels) {
    number[label] = number[label] == result.num_clusters ? next++ : number[label];
    label = number[label];
  }
  const auto centres = result.centres;
  for (std::size_t c = 0; c < result.num_clusters; ++c) {
    std::copy_n(centres.begin() + static_cast<std::ptrdiff_t>(c * num_coordinates), num_coordinates,
                result.centres.begin() + static_cast<std::ptrdiff_t>(number[c] * num_coordinates));
  }
}

}  // namespace

Clustering cluster(const Points& points, std::size_t num_clusters, const ClusterSettings& settings) {
  Clustering result;
  result.num_clusters = num_clusters;
  if (points.size() == 0 || num_clusters == 0 || settings.num_restarts == 0) {
    return result;
  }
  if (!all_finite(points.values)) {
    result.reason = Reason::not_finite;
    return result;
  }
  if (count_distinct(points) < num_clusters) {
    result.reason = Reason::too_few;
    return result;
  }
  std::vector<double> inertias;
  for (std::size_t number = 0; number < settings.num_restarts; ++number) {
    auto found = Restart(points, num_clusters, settings, number).run();
    inertias.push_back(found.inertia);
    if (number == 0 || found.inertia < result.inertia) {
      result = std::move(found);
    }
  }
  const double limit = result.inertia * (1 + 1e-9);
  result.num_best = static_cast<std::size_t>(
      std::count_if(inertias.begin(), inertias.end(), [&](double inertia) { return inertia <= limit; }));
  renumber(result, points.num_coordinates);
  return result;
}

Value adjusted_rand(std::span<const std::size_t> left, std::span<const std::size_t> right) {
  STEREOSWEEP_ASSERT(left.size() == right.size(), "both partitions are of the same points");
  if (left.size() < 2) {
    return {nan, left.empty() ? Reason::no_values : Reason::too_few};
  }
  std::map<std::pair<std::size_t, std::size_t>, double> both;
  std::map<std::size_t, double> by_left;
  std::map<std::size_t, double> by_right;
  for (std::size_t point = 0; point < left.size(); ++point) {
    ++both[{left[point], right[point]}];
    ++by_left[left[point]];
    ++by_right[right[point]];
  }
  const auto pairs = [](const auto& counts) {
    double sum = 0;
    for (const auto& [label, count] : counts) {
      sum += count * (count - 1) / 2;
    }
    return sum;
  };
  const double all = static_cast<double>(left.size()) * static_cast<double>(left.size() - 1) / 2;
  const double together = pairs(both);
  const double expected = pairs(by_left) * pairs(by_right) / all;
  const double most = (pairs(by_left) + pairs(by_right)) / 2;
  // both have one cluster, or one point in each
  return {most == expected ? 1.0 : (together - expected) / (most - expected), Reason::ok};
}

Elbow find_elbow(std::span<const double> inertia) {
  Elbow elbow;
  if (inertia.size() < 3) {
    elbow.reason = inertia.empty() ? Reason::no_values : Reason::too_few;
    return elbow;
  }
  if (!all_finite(inertia)) {
    elbow.reason = Reason::not_finite;
    return elbow;
  }
  const double drop = inertia.front() - inertia.back();
  if (!(drop > 0)) {
    elbow.reason = Reason::constant;
    return elbow;
  }
  double best_bend = -INFINITY;
  double best_depth = -INFINITY;
  for (std::size_t i = 1; i + 1 < inertia.size(); ++i) {
    const double bend = inertia[i - 1] - 2 * inertia[i] + inertia[i + 1];
    const double x = static_cast<double>(i) / static_cast<double>(inertia.size() - 1);
    const double depth = (inertia.front() - inertia[i]) / drop - x;
    if (bend > best_bend) {
      best_bend = bend;
      elbow.second_difference = i + 1;
    }
    if (depth > best_depth) {
      best_depth = depth;
      elbow.kneedle = i + 1;
    }
  }
  elbow.reason = Reason::ok;
  return elbow;
}

}  // namespace stereosweep::stats
