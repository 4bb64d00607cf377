// Attention by places against loops over every query, key and head in float64, and the scale of distances against its
// formula.
#include "model/masked/PlacedAttention.hpp"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "model/Difference.hpp"

namespace stereosweep::model {
namespace {

constexpr std::int64_t placed_heads = 3;
constexpr std::int64_t placed_width = 8;

/// Two sequences of one length between others; the last two rows belong to none.
const std::vector<std::int32_t> placed_begins = {0, 1, 8, 15, 32};
constexpr std::int64_t placed_rows = 34;

const std::vector<SequenceGroups::Lengths> both_lengths = {SequenceGroups::Lengths::exact,
                                                           SequenceGroups::Lengths::filled};

SequenceGroups placed_sequences(SequenceGroups::Lengths lengths) {
  return {{placed_begins, placed_begins, {}, {}}, lengths, at::kCPU};
}

at::Tensor random_rows(std::int64_t rows) { return at::randn({rows, placed_heads * placed_width}); }

double product(const at::Tensor& left, std::int64_t i, const at::Tensor& right, std::int64_t j, std::int64_t head) {
  const auto part = [&](const at::Tensor& rows, std::int64_t row) {
    return rows[row].slice(0, head * placed_width, (head + 1) * placed_width).to(at::kDouble);
  };
  return part(left, i).mul(part(right, j)).sum().item<double>();
}

/// softmax of score(query, key, begin of the sequence, head) times the values.
using Score = std::function<double(std::int64_t query, std::int64_t key, std::int64_t begin, std::int64_t head)>;
at::Tensor attend_by_loops(const at::Tensor& value, const Score& score) {
  auto out = at::zeros({value.size(0), value.size(1)}, at::kDouble);
  for (std::size_t sequence = 0; sequence + 1 < placed_begins.size(); ++sequence) {
    const std::int64_t begin = placed_begins[sequence];
    const std::int64_t end = placed_begins[sequence + 1];
    for (auto query = begin; query < end; ++query) {
      for (std::int64_t head = 0; head < placed_heads; ++head) {
        const auto columns = [&](const at::Tensor& row) {
          return row.slice(0, head * placed_width, (head + 1) * placed_width);
        };
        double sum = 0;
        for (auto key = begin; key < end; ++key) {
          const auto weight = std::exp(score(query, key, begin, head));
          sum += weight;
          columns(out[query]).add_(columns(value[key]).to(at::kDouble), weight);
        }
        columns(out[query]).div_(sum);
      }
    }
  }
  return out;
}

/// He et al.'s rule: near distances count each, farther ones by the logarithm.
std::int64_t row_of_distance(const RelativePositions& settings, std::int64_t distance) {
  auto bucket = distance;
  const auto middle = settings.buckets / 2;
  if (settings.buckets > 0 && std::abs(distance) > middle) {
    const auto share = std::log(static_cast<double>(std::abs(distance)) / static_cast<double>(middle)) /
                       std::log(static_cast<double>(settings.farthest - 1) / static_cast<double>(middle));
    const auto far = middle + static_cast<std::int64_t>(std::ceil(share * static_cast<double>(middle - 1)));
    bucket = distance < 0 ? -far : far;
  }
  return std::clamp<std::int64_t>(bucket + settings.span(), 0, 2 * settings.span() - 1);
}

RelativePositions relative_settings(std::int64_t buckets, std::int64_t farthest) {
  RelativePositions settings;
  settings.buckets = buckets;
  settings.farthest = farthest;
  return settings;
}

TEST(PlacedAttention, DistancesHaveTheirRows) {
  for (const auto& settings : {relative_settings(8, 40), relative_settings(0, 6), relative_settings(256, 512)}) {
    const std::int64_t length = 30;
    const auto index = relative_index(settings, length, at::kCPU);
    ASSERT_EQ(index.keys.size(0), 2 * length - 1);
    for (std::int64_t apart = -(length - 1); apart < length; ++apart) {
      const auto column = apart + length - 1;  // of keys: key's place less query's; of queries: the reverse
      EXPECT_EQ(index.keys[column].item<std::int64_t>(), row_of_distance(settings, -apart)) << apart;
      EXPECT_EQ(index.queries[column].item<std::int64_t>(), row_of_distance(settings, apart)) << apart;
    }
  }
}

TEST(PlacedAttention, RelativeScoresAreThoseOfLoops) {
  const auto settings = relative_settings(8, 40);
  const auto query = random_rows(placed_rows);
  const auto key = random_rows(placed_rows);
  const auto value = random_rows(placed_rows);
  const auto index = relative_index(settings, 32, at::kCPU);
  const auto table = random_rows(2 * settings.span());
  const auto other = random_rows(2 * settings.span());
  const std::vector<RelativeRows> cases = {{table, other}, {table, {}}, {{}, other}};
  for (const auto& rows : cases) {
    const double terms = 1 + (rows.keys.defined() ? 1 : 0) + (rows.queries.defined() ? 1 : 0);
    const auto score = [&](std::int64_t q, std::int64_t k, std::int64_t, std::int64_t head) {
      auto sum = product(query, q, key, k, head);
      if (rows.keys.defined()) {
        sum += product(query, q, rows.keys, row_of_distance(settings, q - k), head);
      }
      if (rows.queries.defined()) {
        sum += product(key, k, rows.queries, row_of_distance(settings, q - k), head);
      }
      return sum / std::sqrt(placed_width * terms);
    };
    const auto truth = attend_by_loops(value, score);
    for (const auto lengths : both_lengths) {
      const auto found = attend_relatively(query, key, value, placed_sequences(lengths), placed_heads, rows, index);
      EXPECT_LT(difference(found, truth), 1e-5);
      EXPECT_EQ(found.slice(0, placed_begins.back()).abs().max().item<float>(), 0);
    }
  }
}

TEST(PlacedAttention, WindowsReachBothWays) {
  const auto query = random_rows(placed_rows);
  const auto key = random_rows(placed_rows);
  const auto value = random_rows(placed_rows);
  for (const std::int64_t reach : {1, 4, 100}) {
    const auto score = [&](std::int64_t q, std::int64_t k, std::int64_t, std::int64_t head) {
      return std::abs(q - k) > reach ? -std::numeric_limits<double>::infinity()
                                     : product(query, q, key, k, head) / std::sqrt(placed_width);
    };
    const auto truth = attend_by_loops(value, score);
    for (const auto lengths : both_lengths) {
      auto sequences = placed_sequences(lengths);
      sequences.prepare(reach, at::kFloat);
      const auto found = attend_within(query, key, value, sequences, placed_heads, reach);
      EXPECT_LT(difference(found, truth), 1e-5) << reach;
      EXPECT_EQ(found.slice(0, placed_begins.back()).abs().max().item<float>(), 0);
    }
  }
}

// As many groups as filled shapes, however many lengths there are.
TEST(PlacedAttention, SequencesOfAboutEqualLengthsAreOneGroup) {
  std::vector<std::int32_t> begins{0};
  for (std::int32_t length = 3; length < 35; ++length) {
    begins.push_back(begins.back() + length);
  }
  const Segments segments{begins, begins, {}, {}};
  EXPECT_EQ(SequenceGroups(segments, SequenceGroups::Lengths::exact, at::kCPU).groups().size(), 32U);
  const SequenceGroups filled(segments, SequenceGroups::Lengths::filled, at::kCPU);
  ASSERT_EQ(filled.groups().size(), 3U);
  EXPECT_EQ(filled.groups()[0].length, 16);
  EXPECT_EQ(filled.groups()[2].count, 2);
}

}  // namespace
}  // namespace stereosweep::model
