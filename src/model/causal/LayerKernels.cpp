#include "model/causal/LayerKernels.hpp"

#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/Error.hpp"
#include "model/kernels/Segments.hpp"
#include "model/kernels/VectorLanes.hpp"

namespace stereosweep::model {

namespace {

using lanes::Floats;

constexpr std::int64_t numbers_per_thread = 16384;  // below, a second thread costs more than it saves

template <class Number>
struct NormRows {
  const Number* input;
  const Number* residual;  // or null
  const Number* weight;
  const Number* bias;  // or null
  Number* out;
  std::int64_t input_stride;
  std::int64_t residual_stride;
  std::int64_t out_stride;
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
STEREOSWEEP_ALWAYS_INLINE void normalize_row(const NormRows<Number>& rows, const NormRule& rule, const Number* input,
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
  STEREOSWEEP_ALWAYS_INLINE static void run(std::int64_t begin, std::int64_t end, const NormRows<Number>& rows,
                                            const NormRule& rule) {
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

void norm_on_cpu(const at::Tensor& input, std::int64_t parts, const Norm& norm, const NormRule& rule,
                 const at::Tensor& residual, const at::Tensor& out, Instructions instructions = Instructions::best) {
  STEREOSWEEP_ASSERT(
      input.stride(1) == 1 && norm.weight.is_contiguous() && norm.weight.numel() * parts == input.size(1),
      "rows must be contiguous and as wide as their norm");
  with_number(input.scalar_type(), [&]<class Number>(Number) {
    const NormRows<Number> rows{.input = numbers_of<Number>(input),
                                .residual = numbers_of<Number>(residual),
                                .weight = numbers_of<Number>(norm.weight),
                                .bias = numbers_of<Number>(norm.bias),
                                .out = numbers_to<Number>(out),
                                .input_stride = input.stride(0),
                                .residual_stride = residual.defined() ? residual.stride(0) : 0,
                                .out_stride = out.stride(0),
                                .parts = parts,
                                .width = input.size(1) / parts};
    const auto grain = std::max<std::int64_t>(1, numbers_per_thread / input.size(1));
    lanes::run_parallel<NormalizeRows>(instructions, input.size(0), grain, rows, rule);
  });
}

// What a norm's numbers are multiplied by: 1 plus Gemma's weight has more digits than 16 bits hold.
at::Tensor factor_of(const Norm& norm, const NormRule& rule) {
  if (norm.factor.defined()) {
    return norm.factor;
  }
  return rule.kind == NormKind::rms_gemma ? norm.weight.to(at::kFloat).add(1) : norm.weight;
}

// One pass over the numbers; sums, and the product with a factor that it is given, are float32, rounded at its end.
at::Tensor divide_by_root(const at::Tensor& input, const std::optional<at::Tensor>& factor, const NormRule& rule) {
  return std::get<0>(at::_fused_rms_norm(input, {input.size(-1)}, factor, rule.epsilon));
}

// Before the last rounding to the input's type.
at::Tensor normalize_unrounded(const at::Tensor& input, const Norm& norm, const NormRule& rule) {
  switch (rule.kind) {
    case NormKind::layer:
      return at::layer_norm(input, {input.size(-1)}, norm.weight, norm.bias, rule.epsilon, false);
    case NormKind::rms_gemma:
      return divide_by_root(input.to(at::kFloat), factor_of(norm, rule), rule);
    case NormKind::rms:  // rounded once less than by transformers, which rounds before the factor, too
    case NormKind::rms_late:
      break;
  }
  return divide_by_root(input, norm.weight, rule);
}

}  // namespace

Norm with_factor(Norm norm, const NormRule& rule) {
  norm.factor = factor_of(norm, rule);
  return norm;
}

at::Tensor normalize_with_operators(const at::Tensor& input, const Norm& norm, const NormRule& rule) {
  return normalize_unrounded(input, norm, rule).to(input.scalar_type());
}

at::Tensor normalize(const at::Tensor& input, const Norm& norm, const NormRule& rule, Instructions instructions) {
  if (kernels_on(input.device()) == Kernels::operators) {
    return normalize_with_operators(input, norm, rule);
  }
  auto out = at::empty(input.sizes(), input.options());
  norm_on_cpu(input, 1, norm, rule, {}, out, instructions);
  return out;
}

at::Tensor normalize_and_add(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                             const at::Tensor& residual) {
  if (kernels_on(input.device()) == Kernels::operators) {
    auto sum = at::empty(residual.sizes(), residual.options());
    return at::add_out(sum, normalize_unrounded(input, norm, rule), residual);
  }
  auto out = at::empty(input.sizes(), input.options());
  norm_on_cpu(input, 1, norm, rule, residual, out);
  return out;
}

void normalize_parts(const at::Tensor& rows, std::int64_t parts, const Norm& norm, const NormRule& rule) {
  if (kernels_on(rows.device()) == Kernels::own_kernels) {
    norm_on_cpu(rows, parts, norm, rule, {}, rows);
    return;
  }
  auto by_part = rows.unflatten(1, {parts, rows.size(1) / parts});
  if (rule.kind == NormKind::rms || rule.kind == NormKind::rms_gemma) {
    const auto type = rule.kind == NormKind::rms ? rows.scalar_type() : at::kFloat;
    at::mul_out(by_part, divide_by_root(by_part.to(type), std::nullopt, rule), factor_of(norm, rule));
  } else {
    by_part.copy_(normalize_with_operators(by_part, norm, rule));
  }
}

namespace {

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
  } else if constexpr (activation == Activation::clipped_silu) {
    x = x > silu_clip ? Floats{} + silu_clip : x;
    const Floats y = x * silu_slope;
    multiply_by_sigmoid(x, y);
  } else if constexpr (activation == Activation::gelu_tanh) {  // (1 + tanh y) / 2 = 1 / (1 + e^-2y)
    const Floats y = (x * x * 0.044715F + 1.0F) * x * 1.5957691216F;
    multiply_by_sigmoid(x, y);
  } else {
    gelu(x);
  }
}

// What the activated gate is multiplied by.
template <Activation activation>
STEREOSWEEP_ALWAYS_INLINE void change_factor(Floats& up) {
  if constexpr (activation == Activation::clipped_silu) {
    up = up > silu_clip ? Floats{} + silu_clip : up;
    up = up < -silu_clip ? Floats{} - silu_clip : up;
    up += 1.0F;
  }
}

template <class Number>
struct ActivationRows {
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
  STEREOSWEEP_ALWAYS_INLINE static void run(std::int64_t begin, std::int64_t end, const ActivationRows<Number>& rows) {
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
          change_factor<activation>(other);
          numbers *= other;
        }
        lanes::store_some(out + i, numbers, left);
      }
    }
  }
};

void activation_on_cpu(const at::Tensor& input, const at::Tensor& out, Activation activation,
                       Instructions instructions) {
  STEREOSWEEP_ASSERT(input.stride(1) == 1, "rows must be contiguous");
  with_number(input.scalar_type(), [&]<class Number>(Number) {
    const auto width = out.size(1);
    const auto* numbers = numbers_of<Number>(input);
    const ActivationRows<Number> rows{.input = numbers,
                                      .factor = input.size(1) == 2 * width ? numbers + width : nullptr,
                                      .out = numbers_to<Number>(out),
                                      .input_stride = input.stride(0),
                                      .out_stride = out.stride(0),
                                      .width = width};
    const auto run = [&]<Activation kind>() {
      const auto grain = std::max<std::int64_t>(1, numbers_per_thread / width);
      lanes::run_parallel<ActivateRows<kind>>(instructions, input.size(0), grain, rows);
    };
    switch (activation) {
      case Activation::gelu:
        return run.template operator()<Activation::gelu>();
      case Activation::gelu_tanh:
        return run.template operator()<Activation::gelu_tanh>();
      case Activation::relu:
        return run.template operator()<Activation::relu>();
      case Activation::silu:
        return run.template operator()<Activation::silu>();
      case Activation::clipped_silu:
        return run.template operator()<Activation::clipped_silu>();
    }
  });
}

// Halves of a product lie behind each other; then the gate's memory takes what comes out.
at::Tensor gated_with_operators(at::Tensor gate, const at::Tensor& up, Activation activation) {
  if (activation == Activation::silu && gate.is_contiguous()) {
    return at::silu_(gate).mul_(up);
  }
  if (activation != Activation::clipped_silu) {
    return activate(gate, activation).mul_(up);
  }
  const auto clipped = gate.clamp_max(silu_clip);
  return clipped.mul(silu_slope).sigmoid_().mul_(clipped).mul_(up.clamp(-silu_clip, silu_clip).add_(1));
}

}  // namespace

at::Tensor activate_rows(const at::Tensor& input, Activation activation, Instructions instructions) {
  if (kernels_on(input.device()) == Kernels::operators) {
    return activate(input, activation);
  }
  activation_on_cpu(input, input, activation, instructions);
  return input;
}

at::Tensor activate_gated(const at::Tensor& gate_and_up, Activation activation, Instructions instructions) {
  const auto inner = gate_and_up.size(1) / 2;
  if (kernels_on(gate_and_up.device()) == Kernels::operators) {
    return gated_with_operators(gate_and_up.slice(1, 0, inner), gate_and_up.slice(1, inner), activation);
  }
  auto out = at::empty({gate_and_up.size(0), inner}, gate_and_up.options());
  activation_on_cpu(gate_and_up, out, activation, instructions);
  return out;
}

at::Tensor apply_gated(const Linear& gate_and_up, const at::Tensor& input, Activation activation) {
  if (kernels_on(input.device()) == Kernels::own_kernels) {
    return activate_gated(gate_and_up.apply(input), activation);
  }
  const auto halves = gate_and_up.apply_in_halves(input);
  return gated_with_operators(halves[0], halves[1], activation);
}

namespace {

template <class Number>
struct RotaryRows {
  Number* numbers;
  std::int64_t stride;
  std::int64_t heads;
  std::int64_t width;  // of a head
  std::int64_t half;   // pairs that turn
  RotaryPairs pairs;
  const float* cosines;  // [row, half]
  const float* sines;
};

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void rotate_halves(Number* head, std::int64_t half, const float* cosines,
                                             const float* sines) {
  for (std::int64_t i = 0; i < half; i += lanes::width) {
    const auto left = half - i;
    Floats first;
    Floats second;
    Floats cosine;
    Floats sine;
    lanes::load_some(first, head + i, left);
    lanes::load_some(second, head + half + i, left);
    lanes::load_some(cosine, cosines + i, left);
    lanes::load_some(sine, sines + i, left);
    lanes::store_some(head + i, first * cosine - second * sine, left);
    lanes::store_some(head + half + i, second * cosine + first * sine, left);
  }
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void rotate_neighbours(Number* head, std::int64_t half, const float* cosines,
                                                 const float* sines) {
  for (std::int64_t i = 0; i < half; i += lanes::width) {
    const auto left = 2 * (half - i);  // numbers of the head
    Floats one = {};
    Floats two = {};
    Floats cosine;
    Floats sine;
    lanes::load_some(one, head + 2 * i, left);
    if (left > lanes::width) {
      lanes::load_some(two, head + 2 * i + lanes::width, left - lanes::width);
    }
    lanes::load_some(cosine, cosines + i, half - i);
    lanes::load_some(sine, sines + i, half - i);
    const Floats first = __builtin_shufflevector(one, two, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Floats second = __builtin_shufflevector(one, two, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const Floats turned_first = first * cosine - second * sine;
    const Floats turned_second = second * cosine + first * sine;
    one = __builtin_shufflevector(turned_first, turned_second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    two = __builtin_shufflevector(turned_first, turned_second, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                  31);
    lanes::store_some(head + 2 * i, one, left);
    if (left > lanes::width) {
      lanes::store_some(head + 2 * i + lanes::width, two, left - lanes::width);
    }
  }
}

struct RotateRows {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(std::int64_t begin, std::int64_t end, const RotaryRows<Number>& rows) {
    for (auto row = begin; row < end; ++row) {
      const float* cosines = rows.cosines + row * rows.half;
      const float* sines = rows.sines + row * rows.half;
      for (std::int64_t head = 0; head < rows.heads; ++head) {
        Number* numbers = rows.numbers + row * rows.stride + head * rows.width;
        if (rows.pairs == RotaryPairs::halves) {
          rotate_halves(numbers, rows.half, cosines, sines);
        } else {
          rotate_neighbours(numbers, rows.half, cosines, sines);
        }
      }
    }
  }
};

constexpr std::int64_t positions_at_once = 1024;  // always as many: a vector library's last bits may follow the length

// A pair's two numbers, apart in a dimension of their own.
constexpr std::int64_t pair_dimension(RotaryPairs pairs) { return pairs == RotaryPairs::halves ? -2 : -1; }

// Of `count` positions from `first` on, made on the CPU: [count, width / 2].
RotaryAngles rotary_angles(const Rotary& rotary, std::int64_t first, std::int64_t count) {
  STEREOSWEEP_ASSERT(std::ssize(rotary.inverse_frequencies) * 2 == rotary.width, "one frequency for every pair");
  auto frequencies = at::empty({rotary.width / 2}, at::TensorOptions(at::kFloat));
  std::copy(rotary.inverse_frequencies.begin(), rotary.inverse_frequencies.end(),
            frequencies.mutable_data_ptr<float>());
  const auto angles = at::outer(at::arange(first, first + count, at::TensorOptions(at::kFloat)), frequencies);
  return {angles.cos().mul_(rotary.scaling), angles.sin().mul_(rotary.scaling)};
}

// The same as operators take them.
RotaryAngles angles_by_number(const Rotary& rotary, const RotaryAngles& angles) {
  const auto dimension = pair_dimension(rotary.pairs);
  return {at::stack({angles.cosines, angles.cosines}, dimension).flatten(1),
          at::stack({angles.sines.neg(), angles.sines}, dimension).flatten(1)};
}

void rotate_on_cpu(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const RotaryAngles& picked,
                   Instructions instructions) {
  const auto count = picked.cosines.size(0);
  STEREOSWEEP_ASSERT(rows.stride(1) == 1 && count <= rows.size(0), "a row for every angle");
  with_number(rows.scalar_type(), [&]<class Number>(Number) {
    const RotaryRows<Number> task{.numbers = numbers_to<Number>(rows),
                                  .stride = rows.stride(0),
                                  .heads = heads,
                                  .width = rows.size(1) / heads,
                                  .half = rotary.width / 2,
                                  .pairs = rotary.pairs,
                                  .cosines = picked.cosines.const_data_ptr<float>(),
                                  .sines = picked.sines.const_data_ptr<float>()};
    lanes::run_parallel<RotateRows>(instructions, count, 64, task);
  });
}

void rotate_with_operators(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary,
                           const RotaryAngles& picked) {
  const auto count = picked.cosines.size(0);
  const auto half = rotary.width / 2;
  const auto of_pairs =
      rotary.pairs == RotaryPairs::halves ? std::array{std::int64_t{2}, half} : std::array{half, std::int64_t{2}};
  // as_strided costs the host a third of slices and unflatten
  const auto step = rows.stride(0);
  const auto width = rows.size(1) / heads;
  const auto first = rows.storage_offset();
  auto turning = rows.as_strided({count, heads, rotary.width}, {step, width, 1}, first);
  const auto partners = rows.as_strided({count, heads, of_pairs[0], of_pairs[1]}, {step, width, of_pairs[1], 1}, first)
                            .flip(pair_dimension(rotary.pairs))
                            .view({count, heads, rotary.width});
  const auto turned = turning.mul(picked.cosines.unsqueeze(1));  // float32, because the angles are
  at::addcmul_out(turning, turned, partners, picked.sines.unsqueeze(1));
}

}  // namespace

RotaryAngles RotaryTable::at_least(std::int64_t positions) {
  if (kernels_ == Kernels::own_kernels) {
    return rotary_angles(rotary_, 0, positions);
  }
  const std::scoped_lock lock(mutex_);
  const auto present = [this] { return kept_.cosines.defined() ? kept_.cosines.size(0) : 0; };
  while (present() < positions) {
    const auto more = angles_by_number(rotary_, rotary_angles(rotary_, present(), positions_at_once));
    const auto append = [this](at::Tensor& kept, const at::Tensor& added) {
      const auto sent = sent_to(added, device_);
      kept = kept.defined() ? at::cat({kept, sent}) : sent;
    };
    append(kept_.cosines, more.cosines);
    append(kept_.sines, more.sines);
  }
  return kept_;
}

void RotaryTable::turn(const at::Tensor& rows, std::int64_t heads, const RotaryAngles& picked,
                       Instructions instructions) const {
  kernels_ == Kernels::operators ? rotate_with_operators(rows, heads, rotary_, picked)
                                 : rotate_on_cpu(rows, heads, rotary_, picked, instructions);
}

}  // namespace stereosweep::model
