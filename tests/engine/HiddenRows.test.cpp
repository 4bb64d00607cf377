#include "engine/readout/HiddenRows.hpp"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/QueryInput.hpp"

namespace stereosweep::engine {
namespace {

using ::testing::ElementsAre;

model::ModelShape shape_of(std::int64_t vocabulary) {
  model::ModelShape shape;
  shape.vocabulary = vocabulary;
  shape.kernels = model::Kernels::operators;
  return shape;
}

TEST(ReaderQueueTest, ReadsAProductWhenTheNextOneHasStarted) {
  std::vector<std::string> events;
  constexpr std::int64_t one_row_a_product = std::int64_t{1} << 26;
  ReaderQueue queue(shape_of(one_row_a_product), 3, [&](ReaderQueue::Rows rows) -> Later<void> {
    const auto query = std::to_string(rows.uses.front().second->query);
    events.push_back("start " + query);
    return [&events, query] { events.push_back("read " + query); };
  });
  std::vector<std::vector<Use>> uses;
  for (std::uint32_t query = 0; query < 3; ++query) {
    uses.push_back({{0, 0, query}});
  }
  for (const auto& one : uses) {
    const std::vector<RowReader> readers{{0, one}};
    queue.add(at::zeros({1, 4}), readers);
  }
  queue.close({}, nullptr);
  EXPECT_THAT(events, ElementsAre("start 0", "start 1", "read 0", "start 2", "read 1"));
  std::vector<query::Answer> answers(3);
  queue.read(answers);
  EXPECT_THAT(events, ElementsAre("start 0", "start 1", "read 0", "start 2", "read 1", "read 2"));
}

TEST(VectorPoolsTest, RowsAddUpInFloat64TokenAfterToken) {
  const auto hidden = at::rand({7, 33}).sub(0.5);
  const std::vector<PooledRow> rows = {{2, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 3}, {1, 6}, {0, 0}, {3, 5}};
  VectorPools pools(5);
  pool_rows(hidden, rows, pools)();
  std::vector<query::Answer> found(5);
  pools.finish(found, query::Dtype::float32);
  for (std::size_t query = 0; query < 4; ++query) {
    auto sum = at::zeros({33}, at::kDouble);
    int count = 0;
    for (const auto& [asked, row] : rows) {
      if (asked == query) {
        sum.add_(hidden[row].to(at::kDouble));
        ++count;
      }
    }
    const auto expected = sum.div(count).to(at::kFloat);
    EXPECT_EQ(std::get<query::EmbedAnswer>(found[query]).vector,
              std::vector<float>(expected.const_data_ptr<float>(), expected.const_data_ptr<float>() + 33))
        << query;
  }
  EXPECT_TRUE(std::holds_alternative<query::FillAnswer>(found[4]));  // it had no row
}

TEST(DownloadTest, KeepsTypesAndShapes) {
  const auto wide = at::rand({3, 2}, at::kDouble);
  const auto few = at::rand({5});
  const auto none = at::empty({0});
  Download numbers({few, wide.t(), none, at::arange(3, at::kInt)});
  const auto& parts = numbers.parts();
  EXPECT_TRUE(parts[0].equal(few));
  EXPECT_TRUE(parts[1].equal(wide.t()) && parts[1].is_contiguous());
  EXPECT_EQ(parts[2].numel(), 0);
  EXPECT_TRUE(parts[3].equal(at::arange(3, at::kInt)));
}

}  // namespace
}  // namespace stereosweep::engine
