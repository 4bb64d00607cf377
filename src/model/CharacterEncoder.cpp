#include "model/CharacterEncoder.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "model/RowCount.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;

// Characters beyond the bytes 0 to 255, as the published files number them.
constexpr std::int16_t sentence_begin = 256;
constexpr std::int16_t sentence_end = 257;
constexpr std::int16_t word_begin = 258;
constexpr std::int16_t word_end = 259;
constexpr std::int16_t filler = 260;

constexpr std::int64_t words_per_thread = 4;

struct Scan {
  const std::int16_t* characters;
  std::int64_t places;  // where a filter is laid on, the first places + width - 1 characters
  const float* sums;
  const float* bias;
  std::int64_t width;
  std::int64_t count;
  float* out;
};

// A filter's answer at one place is a sum over its characters, each taken from a table.
struct LargestAnswers {
  template <class>
  STEREOSWEEP_ALWAYS_INLINE static void run(const Scan& scan) {
    for (std::int64_t i = 0; i < scan.count; i += lanes::width) {
      const auto left = scan.count - i;
      Floats largest = Floats{} - INFINITY;
      for (std::int64_t place = 0; place < scan.places; ++place) {
        Floats sum = {};
        for (std::int64_t k = 0; k < scan.width; ++k) {
          Floats part;
          const auto row = k * num_elmo_characters + scan.characters[place + k];
          lanes::load_some(part, scan.sums + row * scan.count + i, left);
          sum += part;
        }
        largest = sum > largest ? sum : largest;
      }
      Floats bias;
      lanes::load_some(bias, scan.bias + i, left);
      largest += bias;
      lanes::store_some(scan.out + i, largest, left);
    }
  }
};

at::Tensor transposed(const ElmoTensors& tensors, const std::string& name) { return tensors.at(name).t().contiguous(); }

}  // namespace

CharacterEncoder::CharacterEncoder(const ElmoOptions& options, const ElmoTensors& tensors, at::TensorOptions type)
    : options_(options), type_(type) {
  const auto& characters = tensors.at("char_embed");
  for (std::size_t i = 0; i < options.filters.size(); ++i) {
    const auto number = std::to_string(i);
    const auto weight = tensors.at("CNN/W_cnn_" + number).squeeze(0);  // [width, character size, count]
    tables_.push_back(
        {options.filters[i], at::matmul(characters, weight).contiguous(), tensors.at("CNN/b_cnn_" + number).clone()});
  }
  for (std::int64_t i = 0; i < options.num_highways; ++i) {
    const auto group = "CNN_high_" + std::to_string(i) + "/";
    highways_.push_back(
        {Linear(at::cat({transposed(tensors, group + "W_transform"), transposed(tensors, group + "W_carry")}).to(type),
                at::cat({tensors.at(group + "b_transform"), tensors.at(group + "b_carry")}).to(type))});
  }
  projection_ = Linear(transposed(tensors, "CNN_proj/W_proj").to(type), tensors.at("CNN_proj/b_proj").clone().to(type));
}

std::vector<std::int16_t> CharacterEncoder::characters_of(std::string_view word) const {
  std::vector<std::int16_t> characters{word_begin};
  for (const char byte : word.substr(0, static_cast<std::size_t>(options_.max_characters) - 2)) {
    characters.push_back(static_cast<unsigned char>(byte));
  }
  characters.push_back(word_end);
  return characters;
}

// Behind the word all places are alike: the first of them is laid on, the others would say the same.
void CharacterEncoder::convolve(std::span<const std::int16_t> characters, float* out) const {
  std::vector<std::int16_t> filled(characters.begin(), characters.end());
  filled.resize(static_cast<std::size_t>(2 * options_.max_characters), filler);
  for (const auto& table : tables_) {
    const auto& [width, count] = table.filters;
    const auto places = std::min(std::ssize(characters) + 1, options_.max_characters - width + 1);
    lanes::run<LargestAnswers>(Instructions::best, Scan{filled.data(), places, table.sums.const_data_ptr<float>(),
                                                        table.bias.const_data_ptr<float>(), width, count, out});
    for (auto* number = out; number < out + count; ++number) {
      *number = options_.activation == CharacterActivation::tanh ? std::tanh(*number) : std::max(*number, 0.0F);
    }
    out += count;
  }
}

at::Tensor CharacterEncoder::encode(std::span<const std::string_view> words) const {
  const auto rows = first_word_row + std::ssize(words);
  const auto filters = options_.num_filters();
  auto features = at::zeros({filled_rows(rows, type_.device()), filters}, at::kFloat);
  auto* numbers = features.mutable_data_ptr<float>();
  const std::int16_t begin_mark[] = {word_begin, sentence_begin, word_end};
  const std::int16_t end_mark[] = {word_begin, sentence_end, word_end};
  convolve(begin_mark, numbers + begin_row * filters);
  convolve(end_mark, numbers + end_row * filters);
  at::parallel_for(0, std::ssize(words), words_per_thread, [&](std::int64_t first, std::int64_t last) {
    for (auto i = first; i < last; ++i) {
      convolve(characters_of(words[static_cast<std::size_t>(i)]), numbers + (first_word_row + i) * filters);
    }
  });
  auto vectors = features.to(type_);
  for (const auto& highway : highways_) {
    const auto gates = highway.gates.apply(vectors);
    const auto carry = at::sigmoid(gates.slice(1, filters));  // how much of the new vector is let through
    vectors = at::lerp(vectors, at::relu(gates.slice(1, 0, filters)), carry);
  }
  return projection_.apply(vectors);
}

}  // namespace stereosweep::model
