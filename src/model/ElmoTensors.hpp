// The data sets of an ELMo weights file, by name. libhdf5 may hang or crash on a damaged file: it runs in a child
// process with limits, which puts the numbers into memory that both share; this process never opens the file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/File.hpp"
#include "model/ElmoOptions.hpp"

namespace stereosweep::model {

/// By path in the file: "CNN/W_cnn_0".
using ElmoTensors = std::map<std::string, at::Tensor>;

/// Names and shapes that the options ask for.
std::map<std::string, std::vector<std::int64_t>> elmo_tensor_shapes(const ElmoOptions& options);

/// "RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/": where the weights of one LSTM lie. Direction 0 reads forwards, 1
/// backwards.
std::string elmo_cell_path(int direction, std::int64_t layer);

/// float32, on the CPU. Throws InputError naming the file and the data set: missing, of another shape or type, cut off,
/// damaged, NaN or infinity.
ElmoTensors read_elmo_tensors(const base::FileSet& files, const ElmoOptions& options);

}  // namespace stereosweep::model
