#include "model/Tiles.hpp"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/Log.hpp"

namespace stereosweep::model::tiles {
namespace {

constexpr std::int64_t columns = 64;     // of the answer, per tile
constexpr std::int64_t most_rows = 128;  // of the answer, per tile
constexpr std::int64_t depth = 32;       // the width must be a multiple

// Compiled for wide registers too and picked when the program starts; additions round alike in all of them.
[[gnu::target_clones("avx512f", "avx2", "default")]] void add_bias(const float* sums, std::int64_t rows,
                                                                   const float* bias, std::int64_t width, float* out,
                                                                   std::int64_t out_stride) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      out[row * out_stride + column] = sums[row * columns + column] + bias[column];
    }
  }
}

bool try_out() {
  try {
    const auto wave = [](std::int64_t rows, std::int64_t width) {
      return at::arange(rows * width, at::TensorOptions(at::kFloat)).sin().view({rows, width}).to(at::kBFloat16);
    };
    const auto input = wave(5, 2 * depth);
    const auto weight = wave(columns + 7, 2 * depth);
    const auto bias = wave(1, columns + 7).view({columns + 7}).to(at::kFloat);
    const auto expected = at::linear(input.to(at::kFloat), weight.to(at::kFloat), bias);
    return at::native::cpublas::could_pack(at::kBFloat16) &&
           at::allclose(multiply(input, pack(weight), bias), expected, 1e-4, 1e-4);
  } catch (const c10::Error& error) {
    base::log(base::LogLevel::debug, std::string("bfloat16 tiles are not used: ") + error.what_without_backtrace());
    return false;
  }
}

}  // namespace

bool take(std::int64_t hidden) {
  static const bool works = try_out();
  return works && hidden % depth == 0;
}

at::Tensor pack(const at::Tensor& weight) {
  const auto hidden = weight.size(1);
  const auto tiles = (weight.size(0) + columns - 1) / columns;
  auto packed = at::empty({tiles, hidden, columns}, weight.options());
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto part = weight.slice(0, i * columns, std::min(weight.size(0), (i + 1) * columns));
    auto upright = at::zeros({hidden, columns}, weight.options());
    upright.slice(1, 0, part.size(0)).copy_(part.t());
    at::native::cpublas::pack(hidden, columns, columns, columns, at::kBFloat16, at::kBFloat16, upright.const_data_ptr(),
                              packed[i].mutable_data_ptr());
  }
  return packed;
}

at::Tensor multiply(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias) {
  const auto rows = input.size(0);
  const auto hidden = input.size(1);
  const auto vocabulary = bias.size(0);
  const auto numbers = input.contiguous();
  const auto out = at::empty({rows, vocabulary}, at::TensorOptions(at::kFloat));
  const auto* in = numbers.const_data_ptr<at::BFloat16>();
  const auto* weights = packed.const_data_ptr<at::BFloat16>();
  const auto* offsets = bias.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  at::parallel_for(0, packed.size(0), 8, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = at::empty({most_rows, columns}, at::TensorOptions(at::kFloat));
    for (auto tile = begin; tile < end; ++tile) {
      const auto column = tile * columns;
      for (std::int64_t row = 0; row < rows; row += most_rows) {
        const auto count = std::min(most_rows, rows - row);
        auto* sums = scratch.mutable_data_ptr<float>();
        at::native::cpublas::brgemm(count, columns, hidden, hidden, columns, columns, false, in + row * hidden,
                                    weights + tile * hidden * columns, sums, true);
        add_bias(sums, count, offsets + column, std::min(columns, vocabulary - column), to + row * vocabulary + column,
                 vocabulary);
      }
    }
    at::native::cpublas::brgemm_release();
  });
  return out;
}

}  // namespace stereosweep::model::tiles
