#include "model/Lstm.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "base/Check.hpp"
#include "model/LstmCells.hpp"
#include "model/RowCount.hpp"

namespace stereosweep::model {
namespace {

// Copies row i of `from` to row rows[i] of `to`.
void put_rows(const at::Tensor& from, std::span<const std::int64_t> rows, const at::Tensor& to) {
  const auto bytes = static_cast<std::size_t>(from.size(1)) * from.element_size();
  const auto* source = static_cast<const std::byte*>(from.const_data_ptr());
  auto* target = static_cast<std::byte*>(to.mutable_data_ptr());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(target + static_cast<std::size_t>(rows[i]) * bytes, source + i * bytes, bytes);
  }
}

}  // namespace

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
    put_rows(state, tokens, outputs);
  }
  return outputs;
}

}  // namespace stereosweep::model
