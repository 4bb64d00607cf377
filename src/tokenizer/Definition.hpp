// The files of a model directory that say how it tokenizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/AddedTokens.hpp"

namespace stereosweep::tokenizer {

/// A token that the directory's files list with its id, and the file and key that do.
struct ListedToken {
  std::size_t id = 0;
  AddedToken token;
  std::string place;
};

/// A document in the form of tokenizer.json, and where it came from (for messages).
struct Definition {
  std::string file;
  base::Json document;
  std::vector<AddedToken> added;    ///< in place of the document's "added_tokens"
  std::optional<PieceFile> pieces;  ///< of tokenizer.model: in place of the document's model and normalizer
  std::vector<ListedToken> listed;  ///< tokens whose ids the files beside it say
  /// Where it differs from what AutoTokenizer makes of the directory, or follows another file than tokenizer.json.
  std::vector<std::string> warnings;
};

/// tokenizer.json as AutoTokenizer of transformers 5 changes it where a key of tokenizer_config.json asks for it; else
/// one made from vocab.txt (BERT), from vocab.json and merges.txt (RoBERTa, GPT-2 and what follows it, GPT-NeoX, Qwen2,
/// OpenAI-GPT), or from tokenizer.model, with the settings of tokenizer_config.json and the family of config.json, as
/// transformers builds it. Throws InputError naming what is missing or malformed.
Definition read_definition(const base::FileSet& files);

/// The text that tokenizer_config.json, else special_tokens_map.json, gives a special token ("mask_token").
std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name);

}  // namespace stereosweep::tokenizer
