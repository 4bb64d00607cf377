#include "hdf5/Chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hdf5/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::hdf5 {
namespace {

template <class T>
void write_at_random(ElementType type, const Shape& shape, std::optional<double> fill, T filled, unsigned seed) {
  const stereosweep::testing::TemporaryDirectory directory;
  std::mt19937 random(seed);
  std::vector<T> expected(product(shape), filled);
  auto file = File::create(directory / "x.h5");
  {
    auto dataset = file.root().create_dataset("x", {type, shape, fill});
    for (int round = 0; round < 8; ++round) {
      const auto first = random() % 3 == 0 ? 0 : random() % expected.size();
      std::vector<T> values(random() % 3 == 0 ? expected.size() - first : random() % (expected.size() - first));
      std::ranges::generate(values, [&] { return static_cast<T>(static_cast<double>(random() % 1000) / 8); });
      std::ranges::copy(values, expected.begin() + static_cast<std::ptrdiff_t>(first));
      dataset.write(first, std::span<const T>(values));
    }
  }
  file.finish();
  const auto again = File::open(directory / "x.h5");
  std::vector<T> read(expected.size());
  const auto dataset = again.root().open_dataset("x");
  dataset.read(0, std::span<T>(read));
  EXPECT_EQ(read, expected) << "seed " << seed;
}

/// Several chunks, whole ones and parts, chunks at an edge, written over each other in any order: HDF5 reads back what
/// an array in memory would hold.
TEST(Chunks, HoldWhatWasWrittenLast) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    write_at_random<double>(ElementType::float64, {5, 7, 3, 1999}, -7.0, -7.0, seed);
    write_at_random<double>(ElementType::float64, {3, 50000}, -7.0, -7.0, seed);
    write_at_random<double>(ElementType::float64, {70000, 1}, -7.0, -7.0, seed);
    write_at_random<std::int32_t>(ElementType::int32, {4, 9, 11, 700}, 9, 9, seed);
    write_at_random<std::uint8_t>(ElementType::uint8, {3, 10, 30, 1001}, 3, 3, seed);
    write_at_random<float>(ElementType::float32, {2, 3, 40000}, 2.5F, 2.5F, seed);
  }
}

TEST(Chunks, LeaveThePartsThatAreNoWholeChunk) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  {
    const Shape shape = {10, 20000};  // chunks of one row
    auto dataset = file.root().create_dataset("x", {ElementType::float64, shape, -7.0});
    const std::vector<double> row(20000, 1);
    const ChunkCompressor compressor(dataset);
    const auto whole = compressor.compress(60000, std::span(row));
    EXPECT_TRUE(whole.rest.empty());
    EXPECT_EQ(whole.chunks.size(), 1U);
    EXPECT_EQ(whole.chunks.front().start, Shape({3, 0}));
    const auto left = compressor.compress(60000, std::span(row).first(19999)).rest;
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].first, 60000U);
    EXPECT_EQ(left[0].count, 19999U);
  }
  file.finish();
}

/// A range of the canonical order that begins and ends at such places is whole chunks alone; any later end cuts one.
TEST(Chunks, HaveBordersBetweenWhichNothingIsLeft) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  for (const Shape& shape : {Shape{5, 7, 3, 1999}, {3, 50000}, {70000, 1}, {2, 3, 4}, {9, 10, 10, 1000, 1}}) {
    auto dataset = file.root().create_dataset(std::to_string(shape.size()) + "x" + std::to_string(shape[0]),
                                              {ElementType::float64, shape, -7.0});
    const ChunkCompressor compressor(dataset);
    const std::vector<double> values(product(shape), 1);
    const auto is_cut = [&](std::uint64_t first, std::uint64_t end) {
      return !compressor.compress(first, std::span(values).first(end - first)).rest.empty();
    };
    std::uint64_t first = 0;
    for (std::uint64_t end = 0; end < values.size(); end += 9973) {
      const auto border = compressor.last_border(end);
      ASSERT_LE(border, end);
      EXPECT_FALSE(is_cut(first, border)) << first << " " << border;
      EXPECT_TRUE(border == end || is_cut(border, end)) << border << " " << end;
      first = border;
    }
    EXPECT_EQ(compressor.last_border(values.size()), values.size());
  }
}

}  // namespace
}  // namespace stereosweep::hdf5
