#include "model/Rotary.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/sin.h>

#include <algorithm>

#include "base/Check.hpp"
#include "model/NumberType.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;
using lanes::Ints;

template <class Number>
struct Rows {
  Number* numbers;
  std::int64_t stride;
  std::int64_t heads;
  std::int64_t width;  // of a head
  std::int64_t half;   // pairs that turn
  RotaryPairs pairs;
  const float* cosines;
  const float* sines;
  const std::int32_t* positions;
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
  const Ints even_lanes = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  const Ints odd_lanes = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  const Ints lower = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  const Ints upper = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
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
    const Floats first = __builtin_shuffle(one, two, even_lanes);
    const Floats second = __builtin_shuffle(one, two, odd_lanes);
    const Floats turned_first = first * cosine - second * sine;
    const Floats turned_second = second * cosine + first * sine;
    one = __builtin_shuffle(turned_first, turned_second, lower);
    two = __builtin_shuffle(turned_first, turned_second, upper);
    lanes::store_some(head + 2 * i, one, left);
    if (left > lanes::width) {
      lanes::store_some(head + 2 * i + lanes::width, two, left - lanes::width);
    }
  }
}

struct RotateRows {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const Rows<Number>& rows, std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const float* cosines = rows.cosines + rows.positions[row] * rows.half;
      const float* sines = rows.sines + rows.positions[row] * rows.half;
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

template <class Number>
void run_kernel(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const Turns& turns,
                std::span<const std::int32_t> positions, Instructions instructions) {
  Rows<Number> task{};
  task.numbers = static_cast<Number*>(rows.mutable_data_ptr());
  task.stride = rows.stride(0);
  task.heads = heads;
  task.width = rows.size(1) / heads;
  task.half = rotary.width / 2;
  task.pairs = rotary.pairs;
  task.cosines = turns.cosines.const_data_ptr<float>();
  task.sines = turns.sines.const_data_ptr<float>();
  task.positions = positions.data();
  at::parallel_for(0, std::ssize(positions), 64, [&](std::int64_t begin, std::int64_t end) {
    lanes::run<RotateRows>(instructions, task, begin, end);
  });
}

}  // namespace

Turns turns_of(const Rotary& rotary, std::int64_t positions) {
  STEREOSWEEP_ASSERT(std::ssize(rotary.inverse_frequencies) * 2 == rotary.width, "one frequency for every pair");
  auto frequencies = at::empty({rotary.width / 2}, at::TensorOptions(at::kFloat));
  std::copy(rotary.inverse_frequencies.begin(), rotary.inverse_frequencies.end(),
            frequencies.mutable_data_ptr<float>());
  const auto angles = at::outer(at::arange(positions, at::TensorOptions(at::kFloat)), frequencies);
  return {angles.cos().mul_(rotary.scaling), angles.sin().mul_(rotary.scaling)};
}

void rotate_on_cpu(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const Turns& turns,
                   std::span<const std::int32_t> positions, Instructions instructions) {
  STEREOSWEEP_ASSERT(rows.stride(1) == 1 && std::ssize(positions) <= rows.size(0), "a row for every position");
  with_number(rows.scalar_type(),
              [&]<class Number>(Number) { run_kernel<Number>(rows, heads, rotary, turns, positions, instructions); });
}

void rotate_with_operators(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const Turns& picked) {
  const auto count = picked.cosines.size(0);
  const auto half = rotary.width / 2;
  const auto turning = rows.slice(0, 0, count).unflatten(1, {heads, rows.size(1) / heads}).slice(2, 0, rotary.width);
  const auto cosines = picked.cosines.unsqueeze(1);
  const auto sines = picked.sines.unsqueeze(1);
  const bool by_halves = rotary.pairs == RotaryPairs::halves;
  const auto first = by_halves ? turning.slice(2, 0, half) : turning.slice(2, 0, rotary.width, 2);
  const auto second = by_halves ? turning.slice(2, half) : turning.slice(2, 1, rotary.width, 2);
  // float32, because the turns are
  const auto turned_first = first.mul(cosines).addcmul_(second, sines, -1);
  const auto turned_second = second.mul(cosines).addcmul_(first, sines);
  first.copy_(turned_first);
  second.copy_(turned_second);
}

}  // namespace stereosweep::model
