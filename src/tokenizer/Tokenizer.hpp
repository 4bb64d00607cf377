// Text <-> token ids with byte offsets, driven by tokenizer.json exactly as Hugging Face's tokenizers does.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Text.hpp"
#include "query/Query.hpp"

namespace stereosweep::tokenizer {

using query::TokenId;

struct Encoding {
  std::vector<TokenId> ids;         ///< empty where the tokens are words without a vocabulary (ELMo)
  std::vector<base::Span> offsets;  ///< bytes of the input text; (0,0) for tokens that the post-processor added
};

enum class SpecialTokens { add, leave_out };

/// Whether a token starts a word, for ILPS* (cao2022's code: "##" or no "Ġ" = continuation).
enum class TokenClass : std::uint8_t { initial, continuation };

/// Immutable; safe to use from several threads.
class Tokenizer {
 public:
  /// From tokenizer.json, else vocab.txt (WordPiece), else vocab.json + merges.txt (BPE), else tokenizer.model
  /// (SentencePiece). An ELMo directory has none of them: its tokens are the words of `split_words`, without ids.
  /// tokenizer_config.json / special_tokens_map.json name the mask token. Truncation and padding sections are ignored.
  /// Throws InputError naming file and field for anything malformed or unsupported (component named).
  static Tokenizer from_files(const base::FileSet& files);

  /// Throws InputError with the byte offset if `text` is no valid UTF-8.
  Encoding encode(std::string_view text, SpecialTokens special) const;
  enum class Special { keep, skip };
  /// Text of ids, with the special tokens or without.
  std::string decode(std::span<const TokenId> ids, Special special) const;

  /// One more than the largest id, added tokens included.
  std::size_t size() const;
  std::optional<TokenId> id_of(std::string_view token) const;
  /// The token's text as the vocabulary writes it ("##ing", "Ġthe"); nothing for ids without a token.
  std::optional<std::string_view> token_of(TokenId id) const;
  /// The mask token's text and id; nothing for models without one.
  std::optional<std::string> mask_token() const;
  std::optional<TokenId> mask_id() const;
  std::optional<TokenId> unknown_id() const;
  /// What SpecialTokens::add puts behind every text ("[SEP]"); nothing for most causal families.
  std::optional<TokenId> last_token() const;
  /// Sentences on where the directory's files disagree: what is followed, and what AutoTokenizer would do.
  const std::vector<std::string>& warnings() const;
  void log_warnings() const;
  /// Class of every id in [0, size()).
  const std::vector<TokenClass>& classes() const;

 private:
  struct Parts;
  Tokenizer() = default;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace stereosweep::tokenizer
