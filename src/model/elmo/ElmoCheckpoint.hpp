// The options file of an ELMo model (peters2018; the keys of AllenNLP and bilm-tf): what the architecture needs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files/File.hpp"

namespace stereosweep::model {

/// A convolution over a word's characters: `count` filters, each `width` characters wide.
struct CharacterFilters {
  std::int64_t width = 0;
  std::int64_t count = 0;
};

enum class CharacterActivation { relu, tanh };

struct ElmoOptions {
  std::int64_t max_characters = 50;  ///< of a word, the marks at its two ends included
  std::int64_t character_size = 0;   ///< length of a character's vector
  std::vector<CharacterFilters> filters;
  CharacterActivation activation = CharacterActivation::relu;
  std::int64_t num_highways = 0;
  std::int64_t num_layers = 0;  ///< of LSTMs, in either direction
  std::int64_t cell = 0;        ///< cells of one LSTM
  std::int64_t projection = 0;  ///< length of a word's vector and of an LSTM's output
  double cell_clip = 0;         ///< 0: none
  double projection_clip = 0;   ///< 0: none

  /// Filters of all widths: the length of a word's vector before the projection.
  std::int64_t num_filters() const;
};

/// Characters of ELMo: bytes, then the marks of a sentence's begin and end, of a word's begin and end, and the filler.
constexpr std::int64_t num_elmo_characters = 261;

/// Throws InputError naming file and key for what is missing, of a wrong type or size, and for models without residual
/// connections.
ElmoOptions read_elmo_options(const base::FileSet& files);

// The data sets of an ELMo weights file, by name. libhdf5 may hang or crash on a damaged file: it runs in a child
// process with limits, which puts the numbers into memory that both share; this process never opens the file.

/// By path in the file: "CNN/W_cnn_0".
using ElmoTensors = std::map<std::string, at::Tensor>;

/// "RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/": where the weights of one LSTM lie. Direction 0 reads forwards, 1
/// backwards.
std::string elmo_cell_path(int direction, std::int64_t layer);

/// float32, on the CPU. Throws InputError naming the file and the data set: missing, of another shape or type, cut off,
/// damaged, NaN or infinity.
ElmoTensors read_elmo_tensors(const base::FileSet& files, const ElmoOptions& options);

}  // namespace stereosweep::model
