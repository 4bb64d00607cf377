// A GGUF file as the folder that it was made from: the small files of that folder, written from the metadata, so that
// whatever reads a folder reads it alike. (source of keys: github.com/ggml-org/ggml, docs/gguf.md; llama.cpp's
// convert_hf_to_gguf.py)
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/files/gguf/Gguf.hpp"

namespace stereosweep::base {

/// config.json, tokenizer_config.json, and tokenizer.json or tokenizer.model; by name. config.json says
/// `quantization_config: {quant_method: gguf, types: ...}`. Throws InputError for architectures, settings, tokenizers
/// and ways to split words that this program does not know: nothing is guessed.
std::map<std::string, std::string> make_small_files(const Gguf& file, const SharedBytes& content);

/// What make_small_files is made of.
Json make_gguf_config(const Gguf& file, const SharedBytes& content);
std::map<std::string, std::string> make_gguf_tokenizer(const Gguf& file);

/// The text of the file's chat template, its own or the one with this name (`tokenizer.chat_template.NAME`). Nothing
/// where there is none. Throws InputError for a file that cannot be read.
std::optional<std::string> read_gguf_chat_template(const std::filesystem::path& path, const std::string& name = "");

}  // namespace stereosweep::base
