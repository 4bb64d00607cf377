// Attention on the processor for many short sequences, straight on packed rows.
// Torch's own kernel wants [batch, heads, length, width] copies and is made for long sequences: with ten tokens it
// took a fifth of a bfloat16 forward. Here one (sequence, head) pair stays in the first-level cache from its first
// read to its last write. Arithmetic is float32 throughout; bfloat16 and float16 are how numbers are stored.
#pragma once

#include <cstdint>

namespace stereosweep::model {

/// Where one (sequence, head) pair lies. Strides count numbers, not bytes; `width` numbers of a row belong to the head.
template <class Number>
struct HeadTask {
  const Number* query;  ///< [queries, width]
  const Number* key;    ///< [keys, width]
  const Number* value;  ///< [keys, width]
  Number* out;          ///< [queries, width]
  std::int64_t query_stride;
  std::int64_t key_stride;
  std::int64_t value_stride;
  std::int64_t out_stride;
  std::int64_t num_queries;
  std::int64_t num_keys;  ///< at least 1
  std::int64_t width;
  float scale;  ///< of the scores
};

/// A bfloat16's or a float16's bits.
enum class Bfloat16Bits : std::uint16_t {};
enum class Float16Bits : std::uint16_t {};

/// Vector instructions to use; `best` asks the processor once.
enum class Instructions { best, avx512, avx2, baseline };
bool has(Instructions instructions);

/// out = softmax(scale * query key^T) value. `scratch` holds at least scratch_numbers(keys, width) floats, 64-byte
/// aligned.
void attend_one(const HeadTask<float>& task, float* scratch, Instructions instructions = Instructions::best);
void attend_one(const HeadTask<Bfloat16Bits>& task, float* scratch, Instructions instructions = Instructions::best);
void attend_one(const HeadTask<Float16Bits>& task, float* scratch, Instructions instructions = Instructions::best);
std::int64_t scratch_numbers(std::int64_t num_keys, std::int64_t width);

}  // namespace stereosweep::model
