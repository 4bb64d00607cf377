// ELMo's word vectors: convolutions over a word's characters, the largest answer of each filter, highway layers, a
// projection (peters2018 §3.4 and its published code). A word's vector depends on its bytes alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/ElmoOptions.hpp"
#include "model/ElmoTensors.hpp"
#include "model/Linear.hpp"

namespace stereosweep::model {

class CharacterEncoder {
 public:
  /// Rows that `encode` puts before the words: the sentence's two ends.
  static constexpr std::int64_t begin_row = 0;
  static constexpr std::int64_t end_row = 1;
  static constexpr std::int64_t first_word_row = 2;

  CharacterEncoder(const ElmoOptions& options, const ElmoTensors& tensors, at::TensorOptions type);
  /// [2 + words and fillers, projection] in the model's dtype, on its device: sentence begin, sentence end, each word.
  at::Tensor encode(std::span<const std::string_view> words) const;

 private:
  /// What one filter width says about each character at each of its places: tables [width, character, count].
  struct Table {
    CharacterFilters filters;
    at::Tensor sums;
    at::Tensor bias;
  };
  struct Highway {
    Linear gates;  ///< transform, then carry
  };

  std::vector<std::int16_t> characters_of(std::string_view word) const;
  void convolve(std::span<const std::int16_t> characters, float* out) const;

  ElmoOptions options_;
  at::TensorOptions type_;
  std::vector<Table> tables_;
  std::vector<Highway> highways_;
  Linear projection_;
};

}  // namespace stereosweep::model
