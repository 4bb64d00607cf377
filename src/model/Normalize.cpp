#include "model/Normalize.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/Check.hpp"
#include "model/Kernels.hpp"
#include "model/NumberType.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;

constexpr std::int64_t numbers_per_thread = 16384;  // below, a second thread costs more than it saves

template <class Number>
struct Rows {
  const Number* input;
  const Number* residual;  // or null
  const Number* weight;
  const Number* bias;  // or null
  Number* out;
  std::int64_t input_stride;
  std::int64_t residual_stride;
  std::int64_t out_stride;
  std::int64_t count;
  std::int64_t parts;  // of a row, each normed by itself
  std::int64_t width;  // of a part
};

// A row's sums: the mean (layer norms) or zero, and the reciprocal root of the mean square around it.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void measure(const Number* input, std::int64_t width, const NormRule& rule, float& centre,
                                       float& factor) {
  Floats numbers;
  Floats sums = {};
  centre = 0;
  if (rule.kind == NormKind::layer) {
    for (std::int64_t i = 0; i < width; i += lanes::width) {
      lanes::load_some(numbers, input + i, width - i);
      sums += numbers;
    }
    lanes::fold<lanes::Fold::sum>(sums);
    centre = sums[0] / static_cast<float>(width);
  }
  Floats squares = {};
  std::int64_t i = 0;
  for (; i + lanes::width <= width; i += lanes::width) {
    lanes::load(numbers, input + i);
    numbers -= centre;
    squares += numbers * numbers;
  }
  if (i < width) {
    lanes::load_some(numbers, input + i, width - i);
    for (std::int64_t lane = 0; lane < width - i; ++lane) {
      squares[lane] += (numbers[lane] - centre) * (numbers[lane] - centre);
    }
  }
  lanes::fold<lanes::Fold::sum>(squares);
  factor = 1.0F / std::sqrt(squares[0] / static_cast<float>(width) + static_cast<float>(rule.epsilon));
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void normalize_row(const Rows<Number>& rows, const NormRule& rule, const Number* input,
                                             const Number* residual, Number* out) {
  float centre = 0;
  float factor = 0;
  measure(input, rows.width, rule, centre, factor);
  const float shift = rule.kind == NormKind::rms_gemma ? 1.0F : 0.0F;
  for (std::int64_t i = 0; i < rows.width; i += lanes::width) {
    const auto left = rows.width - i;
    Floats numbers;
    Floats weight;
    lanes::load_some(numbers, input + i, left);
    lanes::load_some(weight, rows.weight + i, left);
    numbers = (numbers - centre) * factor;
    if (rule.kind == NormKind::rms) {
      lanes::round_as(numbers, rows.weight);
    }
    numbers *= weight + shift;
    if (rows.bias != nullptr) {
      Floats bias;
      lanes::load_some(bias, rows.bias + i, left);
      numbers += bias;
    }
    if (residual != nullptr) {
      Floats before;
      lanes::load_some(before, residual + i, left);
      lanes::round_as(numbers, rows.weight);
      numbers += before;
    }
    lanes::store_some(out + i, numbers, left);
  }
}

struct NormalizeRows {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const Rows<Number>& rows, const NormRule& rule, std::int64_t begin,
                                            std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      for (std::int64_t part = 0; part < rows.parts; ++part) {
        const auto column = part * rows.width;
        normalize_row(rows, rule, rows.input + row * rows.input_stride + column,
                      rows.residual == nullptr ? nullptr : rows.residual + row * rows.residual_stride + column,
                      rows.out + row * rows.out_stride + column);
      }
    }
  }
};

template <class Number>
void run_kernel(const at::Tensor& input, std::int64_t parts, const Norm& norm, const NormRule& rule,
                const at::Tensor& residual, const at::Tensor& out, Instructions instructions) {
  const auto read = [](const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<const Number*>(tensor.const_data_ptr()) : nullptr;
  };
  Rows<Number> rows{};
  rows.input = read(input);
  rows.residual = read(residual);
  rows.weight = read(norm.weight);
  rows.bias = read(norm.bias);
  rows.out = static_cast<Number*>(out.mutable_data_ptr());
  rows.input_stride = input.stride(0);
  rows.residual_stride = residual.defined() ? residual.stride(0) : 0;
  rows.out_stride = out.stride(0);
  rows.count = input.size(0);
  rows.parts = parts;
  rows.width = input.size(1) / parts;
  const auto grain = std::max<std::int64_t>(1, numbers_per_thread / input.size(1));
  at::parallel_for(0, rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
    lanes::run<NormalizeRows>(instructions, rows, rule, begin, end);
  });
}

void run_on_cpu(const at::Tensor& input, std::int64_t parts, const Norm& norm, const NormRule& rule,
                const at::Tensor& residual, const at::Tensor& out, Instructions instructions = Instructions::best) {
  STEREOSWEEP_ASSERT(
      input.stride(1) == 1 && norm.weight.is_contiguous() && norm.weight.numel() * parts == input.size(1),
      "rows must be contiguous and as wide as their norm");
  with_number(input.scalar_type(),
              [&]<class Number>(Number) { run_kernel<Number>(input, parts, norm, rule, residual, out, instructions); });
}

}  // namespace

at::Tensor normalize_with_operators(const at::Tensor& input, const Norm& norm, const NormRule& rule) {
  const auto type = input.scalar_type();
  if (rule.kind == NormKind::layer) {
    return at::layer_norm(input, {input.size(-1)}, norm.weight, norm.bias, rule.epsilon, false);
  }
  // One pass over the numbers; sums and the product with a weight that it is given are float32, rounded at its end.
  const auto scaled = [&](const at::Tensor& numbers, const std::optional<at::Tensor>& weight) {
    return std::get<0>(at::_fused_rms_norm(numbers, {input.size(-1)}, weight, rule.epsilon));
  };
  switch (rule.kind) {
    case NormKind::rms_gemma:  // 1 plus the weight has more digits than 16 bits hold
      return scaled(input.to(at::kFloat), norm.weight.to(at::kFloat).add(1)).to(type);
    case NormKind::rms_late:
      return scaled(input, norm.weight);
    default:
      return scaled(input, std::nullopt).mul_(norm.weight);
  }
}

at::Tensor normalize_on_cpu(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                            Instructions instructions) {
  auto out = at::empty(input.sizes(), input.options());
  run_on_cpu(input, 1, norm, rule, {}, out, instructions);
  return out;
}

at::Tensor normalize(const at::Tensor& input, const Norm& norm, const NormRule& rule) {
  return kernels_on(input.device()) == Kernels::own_kernels ? normalize_on_cpu(input, norm, rule)
                                                            : normalize_with_operators(input, norm, rule);
}

at::Tensor normalize_and_add(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                             const at::Tensor& residual) {
  if (kernels_on(input.device()) == Kernels::operators) {
    return normalize_with_operators(input, norm, rule).add_(residual);
  }
  auto out = at::empty(input.sizes(), input.options());
  run_on_cpu(input, 1, norm, rule, residual, out);
  return out;
}

void normalize_parts(const at::Tensor& rows, std::int64_t parts, const Norm& norm, const NormRule& rule) {
  if (kernels_on(rows.device()) == Kernels::own_kernels) {
    run_on_cpu(rows, parts, norm, rule, {}, rows);
    return;
  }
  const auto by_part = rows.unflatten(1, {parts, rows.size(1) / parts});
  by_part.copy_(normalize_with_operators(by_part, norm, rule));
}

}  // namespace stereosweep::model
