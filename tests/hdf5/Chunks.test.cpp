#include "hdf5/Chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hdf5/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::hdf5 {
namespace {

/// Canonical indices of a rectangle's elements, in its order.
std::vector<std::size_t> elements_of(const Shape& shape, const Rectangle& where) {
  std::vector<std::size_t> found;
  for (std::uint64_t number = 0; number < product(where.count); ++number) {
    auto rest = number;
    std::size_t index = 0;
    std::size_t stride = 1;
    for (auto axis = shape.size(); axis-- > 0;) {
      index += stride * (where.start[axis] + rest % where.count[axis]);
      rest /= where.count[axis];
      stride *= shape[axis];
    }
    found.push_back(index);
  }
  return found;
}

template <class T>
void write_at_random(ElementType type, const Shape& shape, const Fill& fill, T filled, unsigned seed) {
  const stereosweep::testing::TemporaryDirectory directory;
  std::mt19937 random(seed);
  std::vector<T> expected(product(shape), filled);
  auto file = File::create(directory / "x.h5");
  {
    auto dataset = file.root().create_dataset("x", {type, shape, fill});
    for (int round = 0; round < 8; ++round) {
      Rectangle where;
      for (const auto length : shape) {
        const auto start = random() % 3 == 0 ? random() % length : 0;
        const auto most = length - start;
        where.start.push_back(start);
        where.count.push_back(random() % 3 == 0 ? 1 + random() % most : most);
      }
      std::vector<T> values;
      for (const auto index : elements_of(shape, where)) {
        values.push_back(static_cast<T>(static_cast<double>(random() % 1000) / 8));
        expected[index] = values.back();
      }
      dataset.write(where, std::span<const T>(values));
    }
  }
  file.finish();
  const auto again = File::open(directory / "x.h5");
  std::vector<T> read(expected.size());
  const auto dataset = again.root().open_dataset("x");
  dataset.read(dataset.all(), std::span<T>(read));
  EXPECT_EQ(read, expected) << "seed " << seed;
}

/// Several chunks, whole ones and parts, chunks at an edge, written over each other in any order: HDF5 reads back what
/// an array in memory would hold.
TEST(Chunks, HoldWhatWasWrittenLast) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    write_at_random<double>(ElementType::float64, {5, 7, 3, 1999}, -7.0, -7.0, seed);
    write_at_random<double>(ElementType::float64, {3, 50000}, -7.0, -7.0, seed);
    write_at_random<double>(ElementType::float64, {70000, 1}, -7.0, -7.0, seed);
    write_at_random<std::int32_t>(ElementType::int32, {4, 9, 11, 700}, std::int32_t{9}, 9, seed);
    write_at_random<std::uint8_t>(ElementType::uint8, {3, 10, 30, 1001}, std::uint8_t{3}, 3, seed);
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
    const auto whole = compressor.compress({{3, 0}, {1, 20000}}, std::span(row));
    EXPECT_TRUE(whole.rest.empty());
    EXPECT_EQ(whole.chunks.size(), 1U);
    const auto left = compressor.compress({{3, 0}, {1, 19999}}, std::span(row).first(19999)).rest;
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].count, Shape({1, 19999}));
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
      return std::ranges::any_of(rectangles_of_range(shape, first, end - first), [&](const auto& part) {
        return !compressor.compress(part, std::span(values).first(product(part.count))).rest.empty();
      });
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
