#include "model/ElmoModel.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <numeric>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "model/CharacterEncoder.hpp"
#include "model/Lstm.hpp"

namespace stereosweep::model {
namespace {

/// Where the words of a batch stand once every sentence has its two marks.
struct Layout {
  Sequences sequences;
  std::vector<std::int64_t> rows;    // of the character encoder: one for each token
  std::vector<std::int64_t> places;  // token of each word
};

Layout lay_out(const WordBatch& batch) {
  Layout layout;
  std::size_t word = 0;
  for (const auto length : batch.lengths) {
    STEREOSWEEP_ASSERT(length > 0 && word + static_cast<std::size_t>(length) <= batch.numbers.size(),
                       "an empty sentence");
    layout.sequences.begins.push_back(std::ssize(layout.rows));
    layout.sequences.lengths.push_back(length + 2);
    layout.rows.push_back(CharacterEncoder::begin_row);
    for (std::int32_t i = 0; i < length; ++i, ++word) {
      layout.places.push_back(std::ssize(layout.rows));
      layout.rows.push_back(CharacterEncoder::first_word_row + batch.numbers[word]);
    }
    layout.rows.push_back(CharacterEncoder::end_row);
  }
  STEREOSWEEP_ASSERT(word == batch.numbers.size(), "lengths do not sum to the words");
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
  std::int64_t width() const override { return 2 * options_.projection; }

  std::vector<at::Tensor> hidden(const WordBatch& batch, int last_layer,
                                 std::span<const std::int64_t> tokens) const override {
    const c10::InferenceMode guard;
    STEREOSWEEP_ASSERT(last_layer >= 0 && last_layer <= num_layers(), "layer " + std::to_string(last_layer));
    const auto layout = lay_out(batch);
    std::vector<std::int64_t> places;
    std::vector<std::int64_t> rows;
    for (const auto token : tokens) {
      places.push_back(layout.places.at(static_cast<std::size_t>(token)));
      rows.push_back(layout.rows[static_cast<std::size_t>(places.back())]);
    }
    const auto words = encoder_.encode(batch.words);
    const auto read = at::tensor(places);
    const auto vectors = words.index_select(0, at::tensor(rows)).to(at::kFloat);
    std::vector<at::Tensor> states{at::cat({vectors, vectors}, 1)};
    std::vector<at::Tensor> forwards;
    for (const auto direction : {Direction::forwards, Direction::backwards}) {
      const auto outputs = run(words, layout, direction, last_layer, read);
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
  if (device == query::Device::cuda) {
    throw base::InputError(base::describe("an ELMo model on the device cuda", "its LSTMs run on processors only",
                                          "use the device cpu or auto"));
  }
  if (dtype == query::Dtype::float16) {
    throw base::InputError(base::describe("an ELMo model in float16", "its LSTMs compute in float32 or bfloat16",
                                          "use the dtype float32"));
  }
  const auto options = read_elmo_options(files);
  const auto type = at::TensorOptions(at::kCPU).dtype(dtype == query::Dtype::float32 ? at::kFloat : at::kBFloat16);
  return std::make_unique<BidirectionalModel>(options, read_elmo_tensors(files, options), type);
}

}  // namespace stereosweep::model
