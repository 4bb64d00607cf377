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

TEST(DataSet, ReadsEveryRangeOfItsOrder) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  auto dataset = file.root().create_dataset("x", {ElementType::int32, {3, 4, 5}, {}});
  std::vector<std::int32_t> all(60);
  std::iota(all.begin(), all.end(), 0);
  dataset.write(0, std::span<const std::int32_t>(all));
  for (std::uint64_t first = 0; first <= 60; ++first) {
    for (std::uint64_t count = 0; first + count <= 60; ++count) {
      std::vector<std::int32_t> read(count);
      dataset.read(first, std::span(read));
      ASSERT_TRUE(std::ranges::equal(read, std::span(all).subspan(first, count))) << first << " + " << count;
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
std::vector<T> round_trip(ElementType type, const Shape& shape, const std::vector<T>& values,
                          std::optional<double> fill) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto file = File::create(directory / "x.h5");
  {
    auto dataset = file.root().create_dataset("x", {type, shape, fill});
    dataset.write(3, std::span<const T>(values));
  }
  file.finish();
  const auto again = File::open(directory / "x.h5");
  const auto dataset = again.root().open_dataset("x");
  EXPECT_EQ(dataset.shape(), shape);
  EXPECT_EQ(dataset.type(), type);
  std::vector<T> read(std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
  dataset.read(0, std::span<T>(read));
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
