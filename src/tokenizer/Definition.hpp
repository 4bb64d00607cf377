// The files of a model directory that say how it tokenizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "base/text/JsonValue.hpp"
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
  /// The texts that tokenizer_config.json, else special_tokens_map.json, gives these tokens.
  std::optional<std::string> mask_token, unknown_token;
  /// Where it differs from what AutoTokenizer makes of the directory, or follows another file than tokenizer.json.
  std::vector<std::string> warnings;
  bool splits_words = false;  ///< ELMo's: the tokens are the words of `split_words`, and have no ids
};

/// tokenizer.json as AutoTokenizer of transformers 5 changes it where a key of tokenizer_config.json asks for it; else
/// one made from vocab.txt (BERT), from vocab.json and merges.txt (RoBERTa, GPT-2 and what follows it, GPT-NeoX, Qwen2,
/// OpenAI-GPT), or from tokenizer.model, with the settings of tokenizer_config.json and the family of config.json, as
/// transformers builds it; of an ELMo directory one without tokens. Throws InputError naming what is missing or
/// malformed.
Definition read_definition(const base::FileSet& files);

// The tokenizer classes of transformers 5: what each puts in the place of what tokenizer.json says.

/// The class that follows tokenizer.json as it stands.
constexpr auto verbatim_class = "TokenizersBackend";

/// The class that AutoTokenizer takes where config.json says `model_type` and the files name the class `named` ("" for
/// neither); `tokenizer_json` is that file's text. Nothing for a model type that is not known here.
std::optional<std::string> choose_class(const std::string& model_type, std::string named,
                                        std::string_view tokenizer_json);

/// What the class `name` ("BertTokenizer") makes with the settings of tokenizer_config.json; null if it is not known.
/// "normalizer", "pre_tokenizer" and "model" (without vocabulary) have the form of tokenizer.json, and are left out
/// where the class has none; "settings" are the keys that they follow, with their usual values; "tokens" the names of
/// its special tokens, with their usual texts; "frame" the names of the tokens before and behind every text: empty for
/// none, left out where tokenizer.json says it; "trims": the frame leaves white space out of offsets; "decoder" is
/// there for classes that need nothing but a vocabulary. `normalizer` is tokenizer.json's, whose map of characters it
/// keeps.
base::Json make_class(const std::string& name, const base::JsonValue& settings, const base::Json& normalizer);

}  // namespace stereosweep::tokenizer
