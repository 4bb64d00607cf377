// The "added_tokens" of a tokenizer file: texts that are one token wherever they stand, found before the model's turn.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/Field.hpp"
#include "tokenizer/Model.hpp"
#include "tokenizer/Normalizer.hpp"

namespace stereosweep::tokenizer {

struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool single_word = false;  ///< not beside a word character
  bool strip_left = false;   ///< takes the white space before it
  bool strip_right = false;  ///< takes the white space behind it
  bool normalized = false;   ///< looked for in the normalized text, in its normalized form
  bool special = false;
  std::string shown;  ///< what it decodes to: the normalized content of normalized tokens
};

/// A part of a text: an added token or what lies between.
struct AddedMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  const AddedToken* token = nullptr;
};

class AddedTokens {
 public:
  /// `field`: the list; nothing where the file has none. A token that the model's vocabulary has keeps its id there,
  /// others get the next ids in order (the file's "id" does not count).
  AddedTokens(const std::optional<Field>& field, const Vocabulary& vocabulary, const Normalizer* normalizer);

  enum class Phase { raw, normalized };
  /// Appends parts that cover `text` in order (none for an empty text): leftmost match, the longest of those.
  void find(std::string_view text, Phase phase, std::vector<AddedMatch>& parts) const;
  const AddedToken* by_id(TokenId id) const;
  std::optional<TokenId> find_id(std::string_view content) const;
  bool is_special(std::string_view content) const { return specials_.contains(content); }
  std::size_t size() const { return size_; }  ///< one more than the largest id; 0: none

 private:
  // Patterns as a trie over bytes; each node's children are few.
  class Matcher {
   public:
    void add(std::string_view pattern, const AddedToken* token);
    /// The longest pattern at `position`, and its length.
    const AddedToken* match(std::string_view text, std::size_t position, std::size_t& length) const;
    bool may_start(char byte) const { return starts_[static_cast<unsigned char>(byte)]; }
    bool empty() const { return nodes_.size() == 1; }

   private:
    struct Node {
      std::vector<std::pair<char, std::uint32_t>> children;
      const AddedToken* token = nullptr;
    };
    const std::uint32_t* child(const Node& node, char byte) const;
    std::vector<Node> nodes_ = std::vector<Node>(1);
    std::array<bool, 256> starts_{};
  };

  void read(const Field& field, const Vocabulary& vocabulary);
  TokenId id_for(const std::string& content, const Vocabulary& vocabulary) const;
  std::vector<AddedToken> tokens_;
  TextMap<TokenId> ids_;
  std::unordered_map<TokenId, std::size_t> by_id_;  // index into tokens_
  TextMap<bool> specials_;
  std::size_t size_ = 0;
  Matcher raw_, normalized_;
};

}  // namespace stereosweep::tokenizer
