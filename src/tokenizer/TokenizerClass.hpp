// The tokenizer classes of transformers 5: what each puts in the place of what tokenizer.json says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text/Json.hpp"
#include "tokenizer/Field.hpp"

namespace stereosweep::tokenizer {

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
base::Json make_class(const std::string& name, const Field& settings, const base::Json& normalizer);

}  // namespace stereosweep::tokenizer
