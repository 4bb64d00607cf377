// The "added_tokens" of a tokenizer file: texts that are one token wherever they stand, found before the model's turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/JsonValue.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/algorithms/PrefixTable.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {

struct AddedToken {
  std::string content;
  bool single_word = false;  ///< not beside a word character
  bool strip_left = false;   ///< takes the white space before it
  bool strip_right = false;  ///< takes the white space behind it
  bool normalized = false;   ///< looked for in the normalized text, in its normalized form
  bool special = false;
  TokenId id = 0;          ///< as `AddedTokens` has it
  std::string shown = {};  ///< what it decodes to there: the normalized content of normalized tokens
  bool operator==(const AddedToken&) const = default;
};
/// An entry of "added_tokens". Left out, flags are those of `token`, and those that are not special are normalized.
AddedToken read_added_token(const base::JsonValue& field, AddedToken token = {});

/// A part of a text: an added token or what lies between.
struct AddedMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  /// A token that the model's vocabulary has keeps its id there, others get the next ids in order. `normalizer` may be
  /// empty. `file` is where the tokens come from (for messages).
  AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& vocabulary, const Normalizer& normalizer,
              const std::string& file);

  enum class Phase { raw, normalized };
  /// Appends parts that cover `text` in order (none for an empty text): leftmost match, the longest of those.
  void find(std::string_view text, Phase phase, std::vector<AddedMatch>& parts) const;
  const AddedToken* by_id(TokenId id) const;
  std::optional<TokenId> find_id(std::string_view content) const;
  bool is_special(std::string_view content) const { return specials_.contains(content); }
  std::size_t size() const { return size_; }  ///< one more than the largest id; 0: none

 private:
  TokenId id_for(const std::string& content, const Vocabulary& vocabulary) const;
  std::vector<AddedToken> tokens_;
  TextMap<TokenId> ids_;
  std::unordered_map<TokenId, std::size_t> by_id_;  // index into tokens_
  TextMap<bool> specials_;
  std::size_t size_ = 0;
  PrefixTable raw_, normalized_;  // of indices into tokens_
};

}  // namespace stereosweep::tokenizer
