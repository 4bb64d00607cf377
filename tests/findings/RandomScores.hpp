// Small random score tables in memory.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/Random.hpp"
#include "findings/Scores.hpp"

namespace stereosweep::findings {

/// Borrows nothing; `scores` borrows it.
struct RandomScores {
  results::ScoreTable table;

  explicit RandomScores(const std::vector<std::size_t>& lengths) {
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
      table.axes[axis] = {results::score_axis_names[axis], "", {}, {}};
      for (std::size_t label = 0; label < lengths[axis]; ++label) {
        table.axes[axis].labels.push_back(std::string(results::score_axis_names[axis]) + std::to_string(label));
      }
    }
    table.resize();
  }

  /// Lengths, kind of values (any, few different ones, one) and share of missing cells depend on the seed.
  static RandomScores of(std::uint64_t seed) {
    std::vector<std::size_t> lengths;
    for (std::uint64_t axis = 0; axis < 6; ++axis) {
      lengths.push_back(1 + base::random_below(axis == 0 ? 2 : 5, seed, 1, axis));
    }
    RandomScores random(lengths);
    const std::vector<double> shares = {0, 0, 0.02, 0.2, 0.7, 1};
    random.fill(seed, shares[seed % shares.size()]);
    return random;
  }

  void fill(std::uint64_t seed, double missing) {
    const auto kind = base::random_below(5, seed, 2, 0);
    for (std::size_t place = 0; place < table.values.size(); ++place) {
      if (base::random_unit(seed, 3, place) < missing) {
        table.values[place] = std::numeric_limits<double>::quiet_NaN();
        table.statuses[place] = place % 2 == 0 ? results::ScoreStatus::not_applicable : results::ScoreStatus::undefined;
        continue;
      }
      const double unit = base::random_unit(seed, 4, place);
      table.values[place] = kind == 0 ? 0.1 : kind == 1 ? std::floor(3 * unit) : std::exp(3 * unit) - 4;
      table.statuses[place] = results::ScoreStatus::ok;
    }
  }

  double& at(const std::array<std::size_t, 6>& place) { return table.values[table.index(place)]; }

  /// Writes the table as a statistics file of a probe "test".
  void write(const std::filesystem::path& path) const {
    results::StatisticsFile file("stereosweep-statistics/test", path);
    results::write_score_table(file.layout(), table);
    file.commit();
  }

  Scores scores() const {
    Scores scores;
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
      scores.axes[axis] = &table.axes[axis];
    }
    const auto size = static_cast<std::ptrdiff_t>(table.values.size() / table.axes[0].labels.size());
    scores.read = [this, size](std::size_t measure) {
      const auto first = table.values.begin() + static_cast<std::ptrdiff_t>(measure) * size;
      return std::vector<double>(first, first + size);
    };
    scores.read_statuses = [this, size](std::size_t measure) {
      std::vector<std::uint8_t> statuses;
      for (auto place = static_cast<std::ptrdiff_t>(measure) * size; std::cmp_less(statuses.size(), size); ++place) {
        statuses.push_back(static_cast<std::uint8_t>(table.statuses[static_cast<std::size_t>(place)]));
      }
      return statuses;
    };
    return scores;
  }
};

}  // namespace stereosweep::findings
