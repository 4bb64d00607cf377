#include "findings/Variation.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <map>

#include "base/Error.hpp"
#include "findings/FindingNumbers.hpp"
#include "findings/RandomScores.hpp"

namespace stereosweep::findings {
namespace {

using Over = sweep::VariationRequest::Over;
const std::vector<Over> all_over = {Over::wording, Over::template_, Over::rephrasing, Over::replicate};

struct PlainVariation {
  double value;
  std::size_t n;
};

/// By the definition, one cell after another: a score alone over replicates, else the mean of a cell's scores.
PlainVariation plain_variation(RandomScores& random, Over over, std::array<std::size_t, 3> of) {
  const auto& table = random.table;
  const bool has_mean = table.axes[replicate_axis].labels.front() == "mean";
  std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> parts;
  for (std::size_t t = 0; t < table.length(2); ++t) {
    for (std::size_t r = 0; r < table.length(3); ++r) {
      std::pair<double, double> cell;
      for (std::size_t k = 0; k < table.length(4); ++k) {
        const double score = random.at({of[0], of[1], t, r, k, of[2]});
        if (std::isnan(score) || (has_mean && (k == 0) == (over == Over::replicate))) {
          continue;
        }
        if (over == Over::replicate) {
          parts[{k, k}].first += score;
          parts[{k, k}].second += 1;
        }
        cell.first += score;
        cell.second += 1;
      }
      if (over != Over::replicate && cell.second > 0) {
        auto& part = parts[{over == Over::rephrasing ? r : t, over == Over::template_ ? t : r}];
        part.first += cell.first / cell.second;
        part.second += 1;
      }
    }
  }
  double sum = 0;
  for (const auto& [part, sums] : parts) {
    sum += sums.first / sums.second;
  }
  const auto n = static_cast<double>(parts.size());
  double squares = 0;
  for (const auto& [part, sums] : parts) {
    squares += std::pow(sums.first / sums.second - sum / n, 2);
  }
  return {std::sqrt(squares / (n - 1)) / (sum / n), parts.size()};
}

TEST(FindingsVariation, is_deviation_over_mean_on_random_tables) {
  std::size_t num_defined = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto random = RandomScores::of(seed);
    if (seed % 2 == 0) {
      random.table.axes[replicate_axis].labels.front() = "mean";
    }
    const auto found = variation_of(random.scores(), {.over = all_over});
    const auto num_items = random.table.length(item_axis);
    const auto num_subjects = random.table.length(subject_axis);
    for (std::size_t place = 0; place < all_over.size(); ++place) {
      for (std::size_t cell = 0; cell < found[place].num_rows(); ++cell) {
        const double value = number_in(found[place], "", cell);
        const double n = number_in(found[place], "n", cell);
        const auto subject = cell / num_items % num_subjects;
        const auto plain =
            plain_variation(random, all_over[place], {cell / num_items / num_subjects, subject, cell % num_items});
        ASSERT_EQ(n, plain.n);
        if (n < 2) {
          EXPECT_EQ(reason_in(found[place], "status", cell),
                    n == 0 ? stats::Reason::no_values : stats::Reason::too_few);
        } else if (std::abs(value) < 1e6) {
          EXPECT_NEAR(value, plain.value, 1e-9 * (1 + std::abs(plain.value)));
          ++num_defined;
        }
      }
    }
  }
  EXPECT_GT(num_defined, 10000U);
}

TEST(FindingsVariation, says_what_is_missing) {
  RandomScores random({1, 1, 2, 1, 1, 1});
  random.at({0, 0, 0, 0, 0, 0}) = -1;
  random.at({0, 0, 1, 0, 0, 0}) = 1;
  const auto found = variation_of(random.scores(), {.over = {Over::template_, Over::replicate}});
  EXPECT_EQ(reason_in(found[0], "status", 0), stats::Reason::constant);
  EXPECT_EQ(reason_in(found[1], "status", 0), stats::Reason::too_few);
  EXPECT_THROW(variation_of(random.scores(), {.measures = {"no such"}}), base::InputError);
}

}  // namespace
}  // namespace stereosweep::findings
