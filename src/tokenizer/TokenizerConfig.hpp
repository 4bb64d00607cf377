// tokenizer_config.json and the files beside it, for directories without tokenizer.json: which tokens are special, what
// is put around a text.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/File.hpp"
#include "base/Json.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/Model.hpp"

namespace stereosweep::tokenizer {

class TokenizerConfig {
 public:
  /// A view: `files` outlives it. Throws InputError for malformed files.
  explicit TokenizerConfig(const base::FileSet& files);

  Field field() const { return Field(settings_, path_); }
  /// "model_type" of config.json; "" where there is none.
  std::string model_type() const;
  /// The text that the file names `key` ("bos_token"), or the family's.
  std::string token(const std::string& key, const std::string& otherwise) const;

  enum class Spaces { keep, take_left };
  /// As `token`; it becomes an added special token, with the flags that the file gives.
  std::string add_special(const std::string& key, const std::string& otherwise, Spaces spaces = Spaces::keep);
  void add_token(base::Json token);
  /// The list "added_tokens": what the file lists under "added_tokens_decoder" (by id) and added_tokens.json (by id),
  /// then what was added here. Throws InputError where a token's id in the file is not the one that it will have:
  /// that in `vocabulary`, else the next free one.
  base::Json added_tokens(const Vocabulary& vocabulary) const;

 private:
  std::vector<std::pair<std::size_t, base::Json>> listed_tokens() const;
  bool names_special(const std::string& content) const;

  const base::FileSet& files_;
  std::string path_;
  base::Json settings_;
  std::vector<base::Json> tokens_;
  std::set<std::string> seen_;
};

enum class AddedKind { plain, special };
/// An entry of "added_tokens" without further flags.
base::Json make_added_token(const std::string& content, AddedKind kind);

}  // namespace stereosweep::tokenizer
