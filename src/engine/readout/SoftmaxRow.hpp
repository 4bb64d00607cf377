// Log-sum-exp of one row of logits, split by token class in the same pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Class of every column of the logits, as bit masks for the vector loop.
class ClassMask {
 public:
  /// `width`: of the logits. Columns past the classes have no token, hence cannot start a word: continuation.
  ClassMask(std::span<const tokenizer::TokenClass> classes, std::size_t width);
  /// [width] all bits set: continuation; 0: initial.
  std::span<const std::uint32_t> bits() const { return bits_; }
  /// Whether a column has these bits.
  bool any(std::uint32_t bits) const;

 private:
  std::vector<std::uint32_t> bits_;
};

/// Natural logarithms of sums of exp(logit), [width] terms each. -infinity for a class without columns.
struct LogSums {
  double total = 0;
  double initial = 0;
  double continuation = 0;
};

/// Exponentials in float32 (relative error under 2e-7), each class relative to its own largest logit; sums in float64.
/// Nothing if a logit is not finite. The order of additions is fixed, so the bits are a function of the row.
std::optional<LogSums> log_sums(std::span<const float> logits, const ClassMask& classes);

/// Whether no entry is NaN or infinite.
bool all_finite(std::span<const float> row);

}  // namespace stereosweep::engine
