// The tile of bfloat16 products against sums in float64, for every number of rows that the kernel treats apart.
#include "model/kernels/Tiles.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {
namespace {

Bfloat16Bits cut(double value) {
  return Bfloat16Bits{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16)};
}
double wide(Bfloat16Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::vector<Bfloat16Bits> wave(std::int64_t count, double step) {
  std::vector<Bfloat16Bits> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(cut(3 * std::sin(step * static_cast<double>(i + 1))));
  }
  return numbers;
}

TEST(DotProducts, PackingKeepsPairsOfAColumnTogether) {
  const std::int64_t width = 6;
  const auto weight = wave(5 * width, 0.7);
  std::vector<Bfloat16Bits> packed(width * dots::columns, Bfloat16Bits{0x7fc0});
  dots::pack(weight.data(), 5, width, packed.data());
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t column = 0; column < dots::columns; ++column) {
      const auto expected = column < 5 ? weight[column * width + i] : Bfloat16Bits{0};
      EXPECT_EQ(packed[(i / 2 * dots::columns + column) * 2 + i % 2], expected) << i << ' ' << column;
    }
  }
}

TEST(DotProducts, SumsAreThoseOfFloat64) {
  if (!dots::present()) {
    std::printf("this processor has no bfloat16 products: only the packing is tested\n");
    return;
  }
  for (const std::int64_t width : {2, 64, 770}) {
    for (const std::int64_t count : {64, 7}) {
      const auto weight = wave(count * width, 0.37);
      std::vector<Bfloat16Bits> packed(width * dots::columns);
      dots::pack(weight.data(), count, width, packed.data());
      for (std::int64_t rows = 1; rows <= 13; ++rows) {
        const auto input = wave(rows * width, 0.11);
        std::vector<float> sums(rows * dots::columns + 1, -7.0F);
        dots::multiply(input.data(), rows, width, packed.data(), sums.data());
        EXPECT_EQ(sums.back(), -7.0F) << "written past the rows";
        for (std::int64_t i = 0; i < rows * dots::columns; ++i) {
          const auto row = i / dots::columns;
          const auto column = i % dots::columns;
          double expected = 0;
          double size = 0;
          for (std::int64_t k = 0; column < count && k < width; ++k) {
            const double product = wide(input[row * width + k]) * wide(weight[column * width + k]);
            expected += product;
            size += std::abs(product);
          }
          ASSERT_NEAR(sums[i], expected, 1e-6 * size) << width << ' ' << rows << ' ' << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
