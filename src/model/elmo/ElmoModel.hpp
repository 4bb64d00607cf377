// ELMo (peters2018): words in, hidden states out. CPU only.
//   layer 0    the word's own vector by its characters, twice
//   layer l    output of the l-th LSTM of either direction, forwards before backwards; from the second on its input is
//              added (residual connection)
// A sentence stands between a begin and an end mark, which the LSTMs read too, and starts from zeros: the published
// AllenNLP encoder keeps states from batch to batch, so that its vectors depend on what was asked before.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"
#include "query/Compute.hpp"

namespace stereosweep::model {

/// Words of sentences, none empty, no longer one after a shorter one.
using Sentences = std::vector<std::span<const std::string_view>>;

/// Immutable after loading; safe to use from several threads.
class ElmoModel {
 public:
  /// Throws InputError naming file and field or data set, and for the device cuda.
  static std::unique_ptr<ElmoModel> load(const base::FileSet& files, query::Dtype dtype, query::Device device);
  virtual ~ElmoModel() = default;

  virtual int num_layers() const = 0;
  /// Hidden states 0 to `last_layer` of the given words (counted over all sentences): each [words, width] float32, the
  /// width being twice that of a word's vector.
  virtual std::vector<at::Tensor> hidden(const Sentences& sentences, int last_layer,
                                         std::span<const std::int64_t> words) const = 0;
};

}  // namespace stereosweep::model
