#include "model/LstmCells.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>

#include "base/Check.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;

constexpr std::int64_t cells_per_thread = 4096;  // below, a second thread costs more than it saves

STEREOSWEEP_ALWAYS_INLINE void sigmoid(Floats& x) {
  const Floats most = Floats{} + 80.0F;
  x = -x;
  x = x < most ? x : most;
  lanes::exponential(x);
  x += 1.0F;
  lanes::reciprocal(x);
}

// Near zero by its series (Cephes), where 1 - 2 / (1 + e^2x) would lose digits.
STEREOSWEEP_ALWAYS_INLINE void hyperbolic_tangent(Floats& x) {
  const Floats size = x < 0.0F ? -x : x;
  const Floats square = x * x;
  Floats series = square * -5.70498872745e-3F + 2.06390887954e-2F;
  series = series * square - 5.37397155531e-2F;
  series = series * square + 1.33314422036e-1F;
  series = series * square - 3.33332819422e-1F;
  series = series * square * x + x;
  lanes::cap(x, 1);
  x = size < 0.625F ? series : x;
}

template <class Number>
struct Cells {
  const Number* input;
  const std::int64_t* rows;
  const Number* state;  // or null
  float* memory;
  Number* output;
  std::int64_t cells;
  float clip;
};

struct StepCells {
  template <class Number>
  STEREOSWEEP_ALWAYS_INLINE static void gate(Floats& sum, const Number* input, const Number* state, std::int64_t left) {
    lanes::load_some(sum, input, left);
    if (state != nullptr) {
      Floats more;
      lanes::load_some(more, state, left);
      sum += more;
    }
  }

  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const Cells<Number>& step, std::int64_t begin, std::int64_t end) {
    const auto cells = step.cells;
    const Floats most = Floats{} + step.clip;
    for (auto sequence = begin; sequence < end; ++sequence) {
      const Number* input = step.input + step.rows[sequence] * 4 * cells;
      const Number* state = step.state == nullptr ? nullptr : step.state + sequence * 4 * cells;
      const auto at = [cells, state](std::int64_t part, std::int64_t i) {
        return state == nullptr ? nullptr : state + part * cells + i;
      };
      for (std::int64_t i = 0; i < cells; i += lanes::width) {
        const auto left = cells - i;
        Floats in;
        Floats fresh;
        Floats forget;
        Floats out;
        gate(in, input + i, at(0, i), left);
        gate(fresh, input + cells + i, at(1, i), left);
        gate(forget, input + 2 * cells + i, at(2, i), left);
        gate(out, input + 3 * cells + i, at(3, i), left);
        sigmoid(in);
        hyperbolic_tangent(fresh);
        sigmoid(forget);
        sigmoid(out);
        Floats memory;
        lanes::load_some(memory, step.memory + sequence * cells + i, left);
        memory = in * fresh + forget * memory;
        memory = memory > most ? most : memory < -most ? -most : memory;
        lanes::store_some(step.memory + sequence * cells + i, memory, left);
        hyperbolic_tangent(memory);
        out *= memory;
        lanes::store_some(step.output + sequence * cells + i, out, left);
      }
    }
  }
};

template <class Number>
void run_kernel(const CellStep& step, Instructions instructions) {
  Cells<Number> cells{};
  cells.input = static_cast<const Number*>(step.input_gates.const_data_ptr());
  cells.rows = step.rows;
  cells.state = step.state_gates.defined() ? static_cast<const Number*>(step.state_gates.const_data_ptr()) : nullptr;
  cells.memory = step.memory.mutable_data_ptr<float>();
  cells.output = static_cast<Number*>(step.output.mutable_data_ptr());
  cells.cells = step.memory.size(1);
  cells.clip = step.clip > 0 ? step.clip : std::numeric_limits<float>::infinity();
  const auto grain = std::max<std::int64_t>(1, cells_per_thread / cells.cells);
  at::parallel_for(0, step.sequences, grain, [&](std::int64_t begin, std::int64_t end) {
    lanes::run<StepCells>(instructions, cells, begin, end);
  });
}

}  // namespace

void step_cells(const CellStep& step, Instructions instructions) {
  const auto cells = step.memory.size(1);
  for (const auto* gates : {&step.input_gates, &step.state_gates}) {
    STEREOSWEEP_ASSERT(!gates->defined() || (gates->is_contiguous() && gates->size(1) == 4 * cells),
                       "four gates a cell");
  }
  STEREOSWEEP_ASSERT(step.memory.is_contiguous() && step.output.is_contiguous(), "rows must be contiguous");
  STEREOSWEEP_ASSERT(step.sequences <= step.memory.size(0), "a memory for each sequence");
  if (step.input_gates.scalar_type() == at::kFloat) {
    run_kernel<float>(step, instructions);
  } else {
    STEREOSWEEP_ASSERT(step.input_gates.scalar_type() == at::kBFloat16, "float32 and bfloat16 are computed");
    run_kernel<Bfloat16Bits>(step, instructions);
  }
}

}  // namespace stereosweep::model
