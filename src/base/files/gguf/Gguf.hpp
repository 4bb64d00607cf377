// The GGUF format, read from bytes that nobody vouches for: metadata, and tensors whose numbers lie in blocks.
//   "GGUF", version, number of tensors, of keys; keys with typed values; names, shapes, types, offsets; aligned data
// Every size, count, type and offset is checked before it is used.
// (source: github.com/ggml-org/ggml, docs/gguf.md)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/JsonValue.hpp"

namespace stereosweep::base {

/// How numbers are stored: blocks of `numbers` numbers, `bytes` bytes each.
struct GgufType {
  std::uint32_t id = 0;
  const char* name = "";
  std::uint32_t numbers = 1;
  std::uint32_t bytes = 0;  ///< 0: not supported
};

struct GgufTensor {
  GgufType type;
  std::vector<std::int64_t> shape;  ///< the outermost first; the innermost is a multiple of type.numbers
  std::uint64_t offset = 0;         ///< in the file
  std::uint64_t num_bytes = 0;
};

struct Gguf {
  JsonDocument metadata;  ///< numbers, flags, texts and lists of one kind of these; with the file's name, for messages
  std::map<std::string, GgufTensor> tensors;

  JsonValue operator[](const std::string& key) const { return metadata[key]; }
  /// "210 Q4_1, 61 F32": how many tensors of each type, the most frequent first.
  std::string types() const;
};

/// `name` stands in messages. Throws InputError for what the format forbids or this program does not read: other
/// versions, parts of a split file, types of blocks that `GgufType` has no sizes for.
Gguf read_gguf(const SharedBytes& content, const std::string& name);

// A file as the folder that it was made from: the small files of that folder, written from the metadata, so that
// whatever reads a folder reads it alike. (source of keys: llama.cpp's convert_hf_to_gguf.py)

/// config.json, tokenizer_config.json, and tokenizer.json or tokenizer.model; by name. config.json says
/// `quantization_config: {quant_method: gguf, types: ...}`. Throws InputError for architectures, settings, tokenizers
/// and ways to split words that this program does not know: nothing is guessed.
std::map<std::string, std::string> make_small_files(const Gguf& file, const SharedBytes& content);

}  // namespace stereosweep::base
