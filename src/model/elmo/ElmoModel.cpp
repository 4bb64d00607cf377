#include "model/elmo/ElmoModel.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "base/Error.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/elmo/Lstm.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/VectorLanes.hpp"

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

// ELMo's word vectors: convolutions over a word's characters, the largest answer of each filter, highway layers, a
// projection (peters2018 §3.4 and its published code). A word's vector depends on its bytes alone.
class CharacterEncoder {
 public:
  /// Rows that `encode` puts before the words: the sentence's two ends.
  static constexpr std::int64_t begin_row = 0;
  static constexpr std::int64_t end_row = 1;
  static constexpr std::int64_t first_word_row = 2;

  CharacterEncoder(const ElmoOptions& options, const ElmoTensors& tensors, at::TensorOptions type)
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
      highways_.emplace_back(
          at::cat({transposed(tensors, group + "W_transform"), transposed(tensors, group + "W_carry")}).to(type),
          at::cat({tensors.at(group + "b_transform"), tensors.at(group + "b_carry")}).to(type));
    }
    projection_ =
        Linear(transposed(tensors, "CNN_proj/W_proj").to(type), tensors.at("CNN_proj/b_proj").clone().to(type));
  }

  /// [2 + words and fillers, projection] in the model's dtype, on its device: sentence begin, sentence end, each word.
  at::Tensor encode(std::span<const std::string_view> words) const {
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
      const auto gates = highway.apply(vectors);
      const auto carry = at::sigmoid(gates.slice(1, filters));  // how much of the new vector is let through
      vectors = at::lerp(vectors, at::relu(gates.slice(1, 0, filters)), carry);
    }
    return projection_.apply(vectors);
  }

 private:
  /// What one filter width says about each character at each of its places: tables [width, character, count].
  struct Table {
    CharacterFilters filters;
    at::Tensor sums;
    at::Tensor bias;
  };

  std::vector<std::int16_t> characters_of(std::string_view word) const {
    std::vector<std::int16_t> characters{word_begin};
    for (const char byte : word.substr(0, static_cast<std::size_t>(options_.max_characters) - 2)) {
      characters.push_back(static_cast<unsigned char>(byte));
    }
    characters.push_back(word_end);
    return characters;
  }

  // Behind the word all places are alike: the first of them is laid on, the others would say the same.
  void convolve(std::span<const std::int16_t> characters, float* out) const {
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

  ElmoOptions options_;
  at::TensorOptions type_;
  std::vector<Table> tables_;
  std::vector<Linear> highways_;  ///< transform, then carry
  Linear projection_;
};

/// Where the words of sentences stand once each has its two marks.
struct Layout {
  std::vector<std::string_view> words;  // distinct
  Sequences sequences;
  std::vector<std::int64_t> rows;    // of the character encoder: one for each token
  std::vector<std::int64_t> places;  // token of each word
};

Layout lay_out(const Sentences& sentences) {
  Layout layout;
  std::map<std::string_view, std::int64_t> row_of;
  for (const auto sentence : sentences) {
    for (const auto word : sentence) {
      row_of.emplace(word, 0);
    }
  }
  for (auto& [word, row] : row_of) {
    row = CharacterEncoder::first_word_row + std::ssize(layout.words);
    layout.words.push_back(word);
  }
  for (const auto sentence : sentences) {
    STEREOSWEEP_ASSERT(!sentence.empty(), "an empty sentence");
    layout.sequences.begins.push_back(std::ssize(layout.rows));
    layout.sequences.lengths.push_back(std::ssize(sentence) + 2);
    layout.rows.push_back(CharacterEncoder::begin_row);
    for (const auto word : sentence) {
      layout.places.push_back(std::ssize(layout.rows));
      layout.rows.push_back(row_of.at(word));
    }
    layout.rows.push_back(CharacterEncoder::end_row);
  }
  layout.sequences.tokens = std::ssize(layout.rows);
  return layout;
}

class BidirectionalModel final : public ElmoModel {
 public:
  BidirectionalModel(const ElmoOptions& options, const ElmoTensors& tensors, at::TensorOptions type)
      : options_(options), encoder_(options, tensors, type) {
    for (const int direction : {0, 1}) {
      for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
        lstms_[direction].emplace_back(options, tensors, elmo_cell_path(direction, layer), type);
      }
    }
  }

  int num_layers() const override { return static_cast<int>(options_.num_layers); }

  std::vector<at::Tensor> hidden(const Sentences& sentences, int last_layer,
                                 std::span<const std::int64_t> words) const override {
    const c10::InferenceMode guard;
    STEREOSWEEP_ASSERT(last_layer >= 0 && last_layer <= num_layers(), "layer " + std::to_string(last_layer));
    const auto layout = lay_out(sentences);
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> rows;
    for (const auto word : words) {
      places.push_back(layout.places.at(static_cast<std::size_t>(word)));
      rows.push_back(layout.rows[static_cast<std::size_t>(places.back())]);
    }
    const auto encoded = encoder_.encode(layout.words);
    const auto read = at::tensor(places);
    const auto vectors = encoded.index_select(0, at::tensor(rows)).to(at::kFloat);
    std::vector<at::Tensor> states{at::cat({vectors, vectors}, 1)};
    std::vector<at::Tensor> forwards;
    for (const auto direction : {Direction::forwards, Direction::backwards}) {
      const auto outputs = run(encoded, layout, direction, last_layer, read);
      for (std::size_t layer = 0; layer < outputs.size(); ++layer) {
        if (direction == Direction::forwards) {
          forwards.push_back(outputs[layer]);
        } else {
          states.push_back(at::cat({forwards[layer], outputs[layer]}, 1));
        }
      }
    }
    return states;
  }

 private:
  /// Outputs of the layers of one direction: the rows that are read, float32.
  std::vector<at::Tensor> run(const at::Tensor& words, const Layout& layout, Direction direction, int num_layers,
                              const at::Tensor& read) const {
    std::vector<at::Tensor> outputs;
    auto inputs = words;
    auto rows = layout.rows;
    for (int layer = 0; layer < num_layers; ++layer) {
      const auto& lstm = lstms_[direction == Direction::forwards ? 0 : 1][static_cast<std::size_t>(layer)];
      auto states = lstm.run(inputs, rows, layout.sequences, direction);
      if (layer > 0) {
        states.add_(inputs);
      }
      outputs.push_back(states.index_select(0, read).to(at::kFloat));
      inputs = std::move(states);
      std::iota(rows.begin(), rows.end(), 0);
    }
    return outputs;
  }

  ElmoOptions options_;
  CharacterEncoder encoder_;
  std::vector<Lstm> lstms_[2];  // by direction
};

}  // namespace

std::unique_ptr<ElmoModel> ElmoModel::load(const base::FileSet& files, query::Dtype dtype, query::Device device) {
  const c10::InferenceMode guard;
  base::refuse_if(device == query::Device::cuda, "an ELMo model on the device cuda", "its LSTMs run on processors only",
                  "use the device cpu or auto");
  base::refuse_if(dtype == query::Dtype::float16, "an ELMo model in float16",
                  "its LSTMs compute in float32 or bfloat16", "use the dtype float32");
  const auto options = read_elmo_options(files);
  const auto type = at::TensorOptions(at::kCPU).dtype(dtype == query::Dtype::float32 ? at::kFloat : at::kBFloat16);
  return std::make_unique<BidirectionalModel>(options, read_elmo_tensors(files, options), type);
}

}  // namespace stereosweep::model
