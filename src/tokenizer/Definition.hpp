// The files of a model directory that say how it tokenizes.
#pragma once

#include <optional>
#include <string>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"

namespace stereosweep::tokenizer {

/// A document in the form of tokenizer.json, and where it came from (for messages).
struct Definition {
  std::string file;
  base::Json document;
  std::optional<PieceFile> pieces;  ///< of tokenizer.model: in place of the document's model and normalizer
};

/// tokenizer.json as it stands; else one made from vocab.txt (BERT), from vocab.json and merges.txt (RoBERTa, GPT-2 and
/// what follows it, GPT-NeoX, Qwen2, OpenAI-GPT), or from tokenizer.model, with the settings of tokenizer_config.json
/// and the family of config.json, as transformers builds it. Throws InputError naming what is missing or malformed.
Definition read_definition(const base::FileSet& files);

/// The text of a special token ("mask_token") as tokenizer_config.json, else special_tokens_map.json, names it.
std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name);

}  // namespace stereosweep::tokenizer
