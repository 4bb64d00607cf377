#include "hdf5/DataSet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "base/Error.hpp"
#include "hdf5/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::hdf5 {
namespace {

using ::testing::ElementsAre;

/// Canonical indices of a rectangle, by the definition of row-major order.
std::vector<std::uint64_t> indices(const Shape& shape, const Rectangle& rectangle) {
  std::vector<std::uint64_t> found = {0};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::uint64_t> deeper;
    for (const auto index : found) {
      for (std::uint64_t step = 0; step < rectangle.count[axis]; ++step) {
        deeper.push_back(index * shape[axis] + rectangle.start[axis] + step);
      }
    }
    found = deeper;
  }
  return found;
}

TEST(RectanglesOfRange, CoverEveryRangeInOrder) {
  const Shape shape = {3, 4, 5};
  for (std::uint64_t first = 0; first <= 60; ++first) {
    for (std::uint64_t count = 0; first + count <= 60; ++count) {
      std::vector<std::uint64_t> covered;
      const auto rectangles = rectangles_of_range(shape, first, count);
      for (const auto& rectangle : rectangles) {
        const auto part = indices(shape, rectangle);
        covered.insert(covered.end(), part.begin(), part.end());
      }
      std::vector<std::uint64_t> expected(count);
      std::iota(expected.begin(), expected.end(), first);
      ASSERT_EQ(covered, expected) << first << " + " << count;
      EXPECT_LE(rectangles.size(), 5U);  // two partial rows on each of two levels, and the full ones
    }
  }
}

TEST(CanonicalChunk, IsTheLongestTailThatFits) {
  EXPECT_THAT(canonical_chunk({51, 35, 2, 118, 4}, 8, 1 << 18), ElementsAre(1, 34, 2, 118, 4));
  EXPECT_THAT(canonical_chunk({1000000, 1, 2}, 8, 1 << 18), ElementsAre(16384, 1, 2));
  EXPECT_THAT(canonical_chunk({7, 100000}, 8, 1 << 18), ElementsAre(1, 32768));
  EXPECT_THAT(canonical_chunk({2, 3}, 8, 1 << 18), ElementsAre(2, 3));
}

template <class T>
std::vector<T> round_trip(ElementType type, const Shape& shape, const std::vector<T>& values, const Fill& fill) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  {
    auto dataset = file.root().create_dataset("x", {type, shape, fill});
    std::uint64_t done = 0;
    for (const auto& rectangle : rectangles_of_range(shape, 3, values.size())) {
      const auto length =
          std::accumulate(rectangle.count.begin(), rectangle.count.end(), std::uint64_t{1}, std::multiplies<>());
      dataset.write(rectangle, std::span<const T>(values).subspan(done, length));
      done += length;
    }
  }
  file.finish();
  const auto again = File::open(directory / "x.h5");
  const auto dataset = again.root().open_dataset("x");
  EXPECT_EQ(dataset.shape(), shape);
  EXPECT_EQ(dataset.type(), type);
  std::vector<T> read(std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
  dataset.read(dataset.all(), std::span<T>(read));
  return read;
}

TEST(DataSet, KeepsNumbersAndFillsTheRest) {
  EXPECT_THAT(round_trip<double>(ElementType::float64, {2, 4}, {1.5, -0.25, 1e300}, -7.0),
              ElementsAre(-7, -7, -7, 1.5, -0.25, 1e300, -7, -7));
  EXPECT_THAT(round_trip<std::int32_t>(ElementType::int32, {6}, {-5, 2147483647}, std::int32_t{9}),
              ElementsAre(9, 9, 9, -5, 2147483647, 9));
  EXPECT_THAT(round_trip<std::uint8_t>(ElementType::uint8, {1, 5}, {255}, std::uint8_t{3}),
              ElementsAre(3, 3, 3, 255, 3));
  EXPECT_THAT(round_trip<float>(ElementType::float32, {5}, {0.1F, -1e-45F}, 2.5F),
              ElementsAre(2.5F, 2.5F, 2.5F, 0.1F, -1e-45F));
}

TEST(DataSet, KeepsTextsOfAnyLanguageAndLength) {
  const std::string long_text(100000, 'x');
  EXPECT_THAT(round_trip<std::string>(ElementType::text, {7}, {"größe 日本語", "", long_text}, {}),
              ElementsAre("", "", "", "größe 日本語", "", long_text, ""));
}

TEST(DataSet, RefusesTextWithAZeroByte) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  const std::vector<std::string> texts = {std::string("a\0b", 3)};
  EXPECT_THROW(file.root().create_texts("x", texts), base::Error);
}

TEST(DataSet, NamesItsScales) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  const std::vector<std::string> labels = {"a", "b"};
  auto scale = file.root().create_texts("group", labels);
  scale.make_scale();
  auto dataset = file.root().create_dataset("cube", {ElementType::float64, {2, 3}, {}});
  dataset.attach_scale(scale, 0);
  EXPECT_EQ(dataset.scale_name(0), "group");
  EXPECT_THROW(dataset.scale_name(1), base::Error);
}

}  // namespace
}  // namespace stereosweep::hdf5
