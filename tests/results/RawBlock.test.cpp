// Serialisation of raw blocks: round trip, every truncation, seeded corruption.
#include "results/RawBlock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/Error.hpp"

namespace stereosweep::results {
namespace {

constexpr std::uint64_t num_contexts = 3;

RawSchema small_schema() {
  RawSchema schema;
  schema.inner_axes = {{.name = "word", .long_name = "word", .labels = {"a", "b"}, .coordinates = {}},
                       {.name = "subword", .long_name = "subword", .labels = {"0", "1"}, .coordinates = {}}};
  schema.cubes = {
      {"logprob", ElementType::float64, {"word", "subword"}, "nat", "log-probability", "", {}},
      {"num_subwords", ElementType::int32, {"word"}, "1", "subwords", "", {}},
      {"status", ElementType::uint8, {"word"}, "", "status", "", {"ok", "unknown_token"}},
      {"prompt", ElementType::text, {}, "", "text", "", {}},
      {"vector", ElementType::float32, {"word"}, "1", "vector", "", {}},
  };
  return schema;
}

RawBlock small_block() {
  RawBlock block;
  std::vector<double> numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = -1.0 / static_cast<double>(i + 1);
  }
  numbers[5] = std::numeric_limits<double>::quiet_NaN();
  numbers[6] = -0.0;
  block.columns = {numbers, std::vector<std::int32_t>{1, 2, 1, 2, 1, -7}, std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0},
                   std::vector<std::string>{"", "caf\xC3\xA9", "x"},
                   std::vector<float>{0.1F, -0.0F, 1e-45F, std::numeric_limits<float>::quiet_NaN(), 3, -4}};
  return block;
}

std::vector<std::byte> bytes_of(const RawBlock& block) {
  base::ByteWriter out;
  block.write(out);
  return out.take();
}

TEST(RawSchema, CountsValuesPerContext) {
  const RawSchema schema = small_schema();
  EXPECT_EQ(schema.values_per_context(schema.cubes[0]), 4u);
  EXPECT_EQ(schema.values_per_context(schema.cubes[1]), 2u);
  EXPECT_EQ(schema.values_per_context(schema.cubes[3]), 1u);
  EXPECT_THROW(schema.inner_axis("group"), std::logic_error);
}

TEST(RawBlock, RoundTripKeepsEveryBit) {
  const auto bytes = bytes_of(small_block());
  base::ByteReader in(bytes);
  const RawBlock read = RawBlock::read(in, small_schema(), num_contexts);
  EXPECT_TRUE(in.done());
  EXPECT_EQ(bytes_of(read), bytes);
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(read.columns[0])[5]));
  EXPECT_EQ(std::get<std::vector<std::string>>(read.columns[3])[1], "caf\xC3\xA9");
}

TEST(RawBlock, EveryTruncationIsRefused) {
  const auto bytes = bytes_of(small_block());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::span<const std::byte> part(bytes.data(), length);
    base::ByteReader in(part);
    EXPECT_THROW(RawBlock::read(in, small_schema(), num_contexts), base::Error) << length;
  }
}

TEST(RawBlock, AnotherShapeOrSchemaIsRefused) {
  const auto bytes = bytes_of(small_block());
  for (const std::uint64_t contexts : {0, 2, 4}) {
    base::ByteReader in(bytes);
    EXPECT_THROW(RawBlock::read(in, small_schema(), contexts), base::Error);
  }
  RawSchema fewer = small_schema();
  fewer.cubes.pop_back();
  base::ByteReader in_fewer(bytes);
  EXPECT_THROW(RawBlock::read(in_fewer, fewer, num_contexts), base::Error);
  RawSchema other = small_schema();
  std::swap(other.cubes[0], other.cubes[1]);
  base::ByteReader in_other(bytes);
  EXPECT_THROW(RawBlock::read(in_other, other, num_contexts), base::Error);
  RawSchema fewer_flags = small_schema();
  fewer_flags.cubes[2].flag_meanings = {"ok"};
  base::ByteReader in_flags(bytes);
  EXPECT_THROW(RawBlock::read(in_flags, fewer_flags, num_contexts), base::Error);
}

TEST(RawBlock, RefusesTextThatIsNoUtf8) {
  RawBlock block = small_block();
  std::get<std::vector<std::string>>(block.columns[3])[0] = "\xFF";
  const auto bytes = bytes_of(block);
  base::ByteReader in(bytes);
  EXPECT_THROW(RawBlock::read(in, small_schema(), num_contexts), base::Error);
}

TEST(RawBlock, CorruptBytesAreRefusedOrReadBackAsTheyStand) {
  const auto bytes = bytes_of(small_block());
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    auto corrupt = bytes;
    for (int change = 0; change < 1 + round % 4; ++change) {
      corrupt[random() % corrupt.size()] = static_cast<std::byte>(random());
    }
    base::ByteReader in(corrupt);
    try {
      const RawBlock read = RawBlock::read(in, small_schema(), num_contexts);
      auto again = bytes_of(read);
      again.insert(again.end(), in.rest().begin(), in.rest().end());
      EXPECT_EQ(again, corrupt);
    } catch (const base::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace stereosweep::results
