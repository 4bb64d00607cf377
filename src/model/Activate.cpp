#include "model/Activate.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/Check.hpp"
#include "model/Kernels.hpp"
#include "model/Linear.hpp"
#include "model/NumberType.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;

constexpr std::int64_t numbers_per_thread = 16384;  // below, a second thread costs more than it saves

// x / (1 + e^-y)
STEREOSWEEP_ALWAYS_INLINE void multiply_by_sigmoid(Floats& x, const Floats& y) {
  const Floats most = Floats{} + 80.0F;
  Floats power = -y;
  power = power > most ? most : power;
  lanes::exponential(power);
  power += 1.0F;
  lanes::reciprocal(power);
  x *= power;
}

// x Phi(x) by the error function of Abramowitz and Stegun 7.1.26, off by 1.5e-7 at most.
STEREOSWEEP_ALWAYS_INLINE void gelu(Floats& x) {
  const Floats size = (x < 0.0F ? -x : x) * 0.70710678118F;
  Floats t = size * 0.3275911F + 1.0F;
  lanes::reciprocal(t);
  Floats series = t * 1.061405429F - 1.453152027F;
  series = series * t + 1.421413741F;
  series = series * t - 0.284496736F;
  series = series * t + 0.254829592F;
  Floats power = -size * size;
  lanes::exponential(power);
  const Floats tail = 0.5F * series * t * power;  // Phi(-|x|)
  x *= x < 0.0F ? tail : 1.0F - tail;
}

template <Activation activation>
STEREOSWEEP_ALWAYS_INLINE void activate_lanes(Floats& x) {
  if constexpr (activation == Activation::relu) {
    x = x < 0.0F ? Floats{} : x;  // NaN stays
  } else if constexpr (activation == Activation::silu) {
    multiply_by_sigmoid(x, x);
  } else if constexpr (activation == Activation::gelu_tanh) {  // (1 + tanh y) / 2 = 1 / (1 + e^-2y)
    const Floats y = (x * x * 0.044715F + 1.0F) * x * 1.5957691216F;
    multiply_by_sigmoid(x, y);
  } else {
    gelu(x);
  }
}

template <class Number>
struct Rows {
  const Number* input;
  const Number* factor;  // or null
  Number* out;
  std::int64_t input_stride;
  std::int64_t out_stride;
  std::int64_t width;
};

template <Activation activation>
struct ActivateRows {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const Rows<Number>& rows, std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const Number* input = rows.input + row * rows.input_stride;
      const Number* factor = rows.factor == nullptr ? nullptr : rows.factor + row * rows.input_stride;
      Number* out = rows.out + row * rows.out_stride;
      for (std::int64_t i = 0; i < rows.width; i += lanes::width) {
        const auto left = rows.width - i;
        Floats numbers;
        lanes::load_some(numbers, input + i, left);
        activate_lanes<activation>(numbers);
        if (factor != nullptr) {
          Floats other;
          lanes::load_some(other, factor + i, left);
          numbers *= other;
        }
        lanes::store_some(out + i, numbers, left);
      }
    }
  }
};

template <class Number>
void run_kernel(const at::Tensor& input, const at::Tensor& out, Activation activation, Instructions instructions) {
  Rows<Number> rows{};
  rows.input = static_cast<const Number*>(input.const_data_ptr());
  rows.width = out.size(1);
  rows.factor = input.size(1) == 2 * out.size(1) ? rows.input + rows.width : nullptr;
  rows.out = static_cast<Number*>(out.mutable_data_ptr());
  rows.input_stride = input.stride(0);
  rows.out_stride = out.stride(0);
  const auto grain = std::max<std::int64_t>(1, numbers_per_thread / rows.width);
  at::parallel_for(0, input.size(0), grain, [&](std::int64_t begin, std::int64_t end) {
    switch (activation) {
      case Activation::gelu:
        return lanes::run<ActivateRows<Activation::gelu>>(instructions, rows, begin, end);
      case Activation::gelu_tanh:
        return lanes::run<ActivateRows<Activation::gelu_tanh>>(instructions, rows, begin, end);
      case Activation::relu:
        return lanes::run<ActivateRows<Activation::relu>>(instructions, rows, begin, end);
      case Activation::silu:
        return lanes::run<ActivateRows<Activation::silu>>(instructions, rows, begin, end);
    }
  });
}

void run_on_cpu(const at::Tensor& input, const at::Tensor& out, Activation activation, Instructions instructions) {
  STEREOSWEEP_ASSERT(input.stride(1) == 1, "rows must be contiguous");
  with_number(input.scalar_type(),
              [&]<class Number>(Number) { run_kernel<Number>(input, out, activation, instructions); });
}

}  // namespace

at::Tensor activate_rows(const at::Tensor& input, Activation activation, Instructions instructions) {
  if (kernels_on(input.device()) == Kernels::operators) {
    return activate(input, activation);
  }
  run_on_cpu(input, input, activation, instructions);
  return input;
}

at::Tensor activate_gated(const at::Tensor& gate_and_up, Activation activation, Instructions instructions) {
  const auto inner = gate_and_up.size(1) / 2;
  if (kernels_on(gate_and_up.device()) == Kernels::operators) {
    return activate(gate_and_up.slice(1, 0, inner), activation).mul_(gate_and_up.slice(1, inner));
  }
  auto out = at::empty({gate_and_up.size(0), inner}, gate_and_up.options());
  run_on_cpu(gate_and_up, out, activation, instructions);
  return out;
}

}  // namespace stereosweep::model
