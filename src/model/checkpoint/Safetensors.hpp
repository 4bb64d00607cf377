// The safetensors format, read from bytes that nobody vouches for.
//   u64 header length, JSON header {name: {dtype, shape, data_offsets}, "__metadata__": {text: text}}, data
// Every rule of the format is checked before a byte of data is touched: sizes, overflow, order, holes, duplicates.
// (source: github.com/huggingface/safetensors, README «Format» and the checks of its reference reader)
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/File.hpp"

namespace stereosweep::model {

/// Whether weights can have the type: float16, bfloat16, float32 or float64.
bool is_floating(at::ScalarType type);
/// As the format writes it: "F32", "BF16", ...
const char* name_of(at::ScalarType type);

/// Numbers of a tensor that no file holds as they are: they are made while they are read, of blocks of few bits, of
/// several stored tensors, of a tensor and what an adapter adds.
class NumberSource {
 public:
  virtual ~NumberSource() = default;
  /// Numbers `first` and the next, in C order. Throws as reading a file does.
  virtual void read(std::int64_t first, std::span<float> out) const = 0;
};

/// Calls `use(row, column, part)` for each part of the numbers `first` and the next that lies in one row.
void by_rows(std::int64_t first, std::span<float> out, std::int64_t columns, const auto& use) {
  while (!out.empty()) {
    const auto column = first % columns;
    const auto part = out.first(std::min(out.size(), static_cast<std::size_t>(columns - column)));
    use(first / columns, column, part);
    first += static_cast<std::int64_t>(part.size());
    out = out.subspan(part.size());
  }
}

/// One tensor inside a file: C order, little-endian, not necessarily aligned.
struct StoredTensor {
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  base::SharedBytes content;  ///< of the whole file
  std::uint64_t offset = 0;   ///< of the tensor in it
  std::uint64_t num_bytes = 0;
  std::string file;                                      ///< plain file name, for messages
  bool absent = false;                                   ///< the index lists it for this file, which lacks it
  std::shared_ptr<const NumberSource> source = nullptr;  ///< makes the numbers, float32; null: the bytes are they
  std::int64_t count() const;                            ///< of its numbers
};

using StoredTensors = std::map<std::string, StoredTensor>;

/// The tensors of a GGUF file under the names, and with the rows, that the folder had from which it was made. Rows of
/// queries and keys that were put in another order go back; Gemma's norms lose the 1 that was added. Throws InputError
/// for tensors without a name in `transformers`.
StoredTensors read_gguf_tensors(const base::SharedBytes& content, const std::string& name);

/// Changes the tensors that the adapter among the files changes (adapter/Adapter.cpp); nothing where there is none.
/// Throws InputError for other kinds of adapters and settings that this program does not merge, each by its name, for
/// what does not fit the model, and for a part of the adapter that would be ignored.
void apply_adapter(const base::FileSet& files, StoredTensors& tensors);

/// All tensors of one file. `name` stands in messages.
/// Throws InputError "name: problem (why)" for everything that the format forbids.
StoredTensors parse_safetensors(const base::SharedBytes& content, const std::string& name);

/// Numbers `first` and the next: into contiguous memory of the tensor's own type, or as float32.
void read_numbers(const StoredTensor& stored, std::int64_t first, const at::Tensor& out);
void read_numbers(const StoredTensor& stored, std::int64_t first, std::span<float> out);
/// All of them, in the tensor's own type.
at::Tensor read_tensor(const StoredTensor& stored);

/// Whether the directory holds weights of any format, also of one that is refused.
bool has_weights(const base::FileSet& files);

/// All tensors of a checkpoint: model.safetensors, or the shards that model.safetensors.index.json lists; also those
/// that a shard lacks, marked as absent: whether they matter depends on the model. Or those of a GGUF file.
/// Throws InputError naming the file, and the tensor where there is one.
StoredTensors read_stored_tensors(const base::FileSet& files);

}  // namespace stereosweep::model
