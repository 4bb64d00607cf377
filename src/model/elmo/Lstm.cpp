#include "model/elmo/Lstm.hpp"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "base/Error.hpp"
#include "model/kernels/VectorLanes.hpp"

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
  STEREOSWEEP_ALWAYS_INLINE static void run(std::int64_t begin, std::int64_t end, const Cells<Number>& step) {
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

}  // namespace

void step_cells(const CellStep& step, Instructions instructions) {
  const auto cells = step.memory.size(1);
  for (const auto* gates : {&step.input_gates, &step.state_gates}) {
    STEREOSWEEP_ASSERT(!gates->defined() || (gates->is_contiguous() && gates->size(1) == 4 * cells),
                       "four gates a cell");
  }
  STEREOSWEEP_ASSERT(step.memory.is_contiguous() && step.output.is_contiguous(), "rows must be contiguous");
  STEREOSWEEP_ASSERT(step.sequences <= step.memory.size(0), "a memory for each sequence");
  STEREOSWEEP_ASSERT(step.input_gates.scalar_type() != at::kHalf, "float32 and bfloat16 are computed");
  with_number(step.input_gates.scalar_type(), [&]<class Number>(Number) {
    const Cells<Number> task{.input = numbers_of<Number>(step.input_gates),
                             .rows = step.rows,
                             .state = numbers_of<Number>(step.state_gates),
                             .memory = step.memory.mutable_data_ptr<float>(),
                             .output = numbers_to<Number>(step.output),
                             .cells = cells,
                             .clip = step.clip > 0 ? step.clip : std::numeric_limits<float>::infinity()};
    const auto grain = std::max<std::int64_t>(1, cells_per_thread / cells);
    lanes::run_parallel<StepCells>(instructions, step.sequences, grain, task);
  });
}

Lstm::Lstm(const ElmoOptions& options, const ElmoTensors& tensors, const std::string& path, at::TensorOptions type)
    : cells_(options.cell),
      width_(options.projection),
      cell_clip_(options.cell_clip),
      projection_clip_(options.projection_clip) {
  const auto weights = tensors.at(path + "W_0").t();  // [4 cells, input and state]
  auto bias = tensors.at(path + "B").clone();
  bias.slice(0, 2 * cells_, 3 * cells_).add_(1);  // what the forget gate adds
  input_ = Linear(weights.slice(1, 0, width_).contiguous().to(type), bias.to(type));
  state_ = Linear(weights.slice(1, width_).contiguous().to(type), {});
  projection_ = Linear(tensors.at(path + "W_P_0").t().contiguous().to(type), {});
}

at::Tensor Lstm::run(const at::Tensor& inputs, std::span<const std::int64_t> rows, const Sequences& sequences,
                     Direction direction) const {
  const auto count = std::ssize(sequences.lengths);
  STEREOSWEEP_ASSERT(count > 0 && std::ssize(rows) == sequences.tokens, "a row for each token");
  STEREOSWEEP_ASSERT(std::is_sorted(sequences.lengths.rbegin(), sequences.lengths.rend()), "longest sequence first");
  const auto device = inputs.device();
  const auto places = filled_rows(count, device);
  auto outputs = at::zeros({filled_rows(sequences.tokens, device), width_}, inputs.options());
  CellStep step;
  step.input_gates = input_.apply(inputs);
  step.memory = at::zeros({places, cells_}, at::kFloat);
  step.output = at::zeros({places, cells_}, inputs.options());
  step.clip = static_cast<float>(cell_clip_);
  step.sequences = count;
  at::Tensor state;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> token_rows;
  for (std::int64_t time = 0; time < sequences.lengths.front(); ++time) {
    while (sequences.lengths[static_cast<std::size_t>(step.sequences) - 1] <= time) {
      --step.sequences;
    }
    tokens.clear();
    token_rows.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(step.sequences); ++i) {
      const auto last = sequences.lengths[i] - 1;
      tokens.push_back(sequences.begins[i] + (direction == Direction::forwards ? time : last - time));
      token_rows.push_back(rows[static_cast<std::size_t>(tokens.back())]);
    }
    step.rows = token_rows.data();
    const auto products = filled_rows(step.sequences, device);  // those that have ended run on, unread
    step.state_gates = time == 0 ? at::Tensor() : state_.apply(state.narrow(0, 0, products));
    step_cells(step);
    state = projection_.apply(step.output.narrow(0, 0, products));
    if (projection_clip_ > 0) {
      state.clamp_(-projection_clip_, projection_clip_);
    }
    outputs.index_copy_(0, at::tensor(tokens), state.narrow(0, 0, step.sequences));
  }
  return outputs;
}

}  // namespace stereosweep::model
