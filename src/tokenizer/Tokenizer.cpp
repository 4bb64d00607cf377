#include "tokenizer/Tokenizer.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "tokenizer/Definition.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/AddedTokens.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t max_places = std::size_t{1} << 16;

// Empty where the file has no such component.
template <typename Component>
Component read_if_there(const base::JsonValue& root, const std::string& key,
                        Component (*read)(const base::JsonValue&)) {
  const auto field = root[key];
  return field ? read(field) : nullptr;
}

}  // namespace

// Tokens of pieces that were met before. A cache changes no answer: the model is a function of the piece.
class WordCache {
 public:
  /// Tokens of `piece`; valid until the next call.
  std::span<const PieceToken> tokenize(const Model& model, std::string_view piece) {
    if (const auto known = known_.find(piece); known != known_.end()) {
      return known->second;
    }
    last_.clear();
    model.tokenize(piece, last_);
    if (piece.size() <= Model::max_remembered) {
      if (known_.size() >= max_places) {
        known_.clear();
      }
      known_.emplace(piece, last_);
    }
    return last_;
  }

 private:
  TextMap<std::vector<PieceToken>> known_;
  std::vector<PieceToken> last_;
};

struct Tokenizer::Parts {
  explicit Parts(const Definition& definition)
      : Parts(definition, base::JsonValue(definition.document, definition.file)) {}

  Parts(const Definition& definition, const base::JsonValue& root)
      : model(definition.pieces ? make_piece_model(*definition.pieces) : read_model(root["model"])),
        normalizer(definition.pieces ? make_piece_normalizer(*definition.pieces, root.file())
                                     : read_if_there(root, "normalizer", read_normalizer)),
        pre_tokenizer(read_if_there(root, "pre_tokenizer", read_pre_tokenizer)),
        post_processor(read_if_there(root, "post_processor", read_post_processor)),
        decoder(read_if_there(root, "decoder", read_decoder)),
        added(definition.added, model->vocabulary(), normalizer, definition.file),
        size(std::max(model->vocabulary().size(), added.size())),
        splits_words(definition.splits_words),
        warnings(definition.warnings) {
    spaces.resize(size);
    classes.resize(size, TokenClass::continuation);
    for (std::size_t i = 0; i < size; ++i) {
      const auto token = text_of(static_cast<TokenId>(i));
      if (token) {
        spaces[i] = count_outer_spaces(*token);
        classes[i] = class_of(*token);
      }
    }
    read_frame(root);
    for (const auto& [id, token, place] : definition.listed) {
      if (const auto own = id_of(token.content); own != static_cast<TokenId>(id)) {
        base::refuse(place + ": " + base::json_quote(token.content) + " has id " + std::to_string(id),
                     own ? "by the vocabulary and the tokens before it, it is " + std::to_string(*own)
                         : "it is no token of " + definition.file);
      }
    }
    for (const auto& candidate : {definition.mask_token.value_or("[MASK]"), definition.mask_token.value_or("<mask>")}) {
      if (!mask && id_of(candidate)) {
        mask = candidate;
      }
    }
    unknown = model->traits().unknown_token;
    if (!unknown || !id_of(*unknown)) {
      unknown = definition.unknown_token;
    }
  }

  std::optional<TokenId> id_of(std::string_view token) const {
    const auto id = added.find_id(token);
    return id ? id : model->vocabulary().find(token);
  }

  // What the post-processor puts around a text.
  void read_frame(const base::JsonValue& root) {
    constexpr TokenId text = -1;
    std::vector<Token> tokens(1);
    tokens.front().id = text;
    if (post_processor) {
      post_processor("", SpecialTokens::add, tokens);
    }
    for (const auto& token : tokens) {
      if (token.id != text && static_cast<std::size_t>(token.id) >= size) {
        root["post_processor"].refuse("adds id " + std::to_string(token.id),
                                      "the vocabulary ends at " + std::to_string(size - 1));
      }
    }
    last = tokens.back().id != text ? std::optional(tokens.back().id) : std::nullopt;
  }

  std::optional<std::string_view> text_of(TokenId id) const {
    if (const auto* token = added.by_id(id)) {
      return token->content;
    }
    return model->vocabulary().token(id);
  }

  // What it decodes to.
  std::optional<std::string_view> shown(TokenId id) const {
    const auto* token = added.by_id(id);
    return token != nullptr ? std::optional<std::string_view>(token->shown) : model->vocabulary().token(id);
  }

  TokenClass class_of(std::string_view token) const {
    if (const auto& prefix = model->traits().continuation_prefix) {
      return token.starts_with(*prefix) ? TokenClass::continuation : TokenClass::initial;
    }
    // "Ġ" of byte-level vocabularies, or "▁" of those that come from SentencePiece
    return token.starts_with("\xC4\xA0") || token.starts_with("\xE2\x96\x81") ? TokenClass::initial
                                                                              : TokenClass::continuation;
  }

  static Token added_token(const AddedToken& token, std::string_view slice, Alignment where) {
    return {token.id, {where.begin, where.end}, count_outer_spaces(slice)};
  }

  void tokenize_piece(const AlignedText& text, base::Span range, WordCache& cache, std::vector<Token>& tokens) const {
    const auto piece = text.text().substr(range.begin, range.end - range.begin);
    for (std::size_t part = 0; part < piece.size();) {
      auto begin = range.begin + part;
      const auto part_end = model->end_of_part(piece, part);
      for (const auto& [id, length] : cache.tokenize(*model, piece.substr(part, part_end - part))) {
        const auto end = std::min<std::size_t>(begin + length, text.size());
        const auto where = text.original(begin, end);
        const auto outer = model->traits().unknown_keeps_text == id
                               ? count_outer_spaces(text.text().substr(begin, end - begin))
                               : spaces[static_cast<std::size_t>(id)];
        tokens.push_back({id, {where.begin, where.end}, outer});
        begin = end;
      }
      part = part_end;
    }
  }

  void tokenize_plain(AlignedText text, WordCache& cache, std::vector<Token>& tokens) const {
    Pieces pieces;
    pieces.ranges.push_back({0, text.size()});
    pieces.text = std::move(text);
    if (pre_tokenizer) {
      pre_tokenizer(pieces);
    }
    for (const auto& range : pieces.ranges) {
      tokenize_piece(pieces.text, range, cache, tokens);
    }
  }

  void tokenize_gap(std::string_view gap, std::size_t offset, WordCache& cache, std::vector<Token>& tokens) const {
    AlignedText text(gap, offset);
    if (normalizer) {
      normalizer(text);
    }
    std::vector<AddedMatch> parts;
    added.find(text.text(), AddedTokens::Phase::normalized, parts);
    for (const auto& [begin, end, token] : parts) {
      if (token != nullptr) {
        tokens.push_back(added_token(*token, text.text().substr(begin, end - begin), text.original(begin, end)));
      } else if (begin == 0 && end == text.size()) {
        tokenize_plain(std::move(text), cache, tokens);
      } else {
        tokenize_plain(text.part(begin, end), cache, tokens);
      }
    }
  }

  std::vector<Token> tokenize(std::string_view text) const {
    auto cache = take_cache();
    std::vector<Token> tokens;
    std::vector<AddedMatch> parts;
    added.find(text, AddedTokens::Phase::raw, parts);
    for (const auto& [begin, end, token] : parts) {
      const auto slice = text.substr(begin, end - begin);
      if (token != nullptr) {
        tokens.push_back(
            added_token(*token, slice, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}));
      } else {
        tokenize_gap(slice, begin, *cache, tokens);
      }
    }
    const std::lock_guard lock(mutex);
    free_caches.push_back(std::move(cache));
    return tokens;
  }

  // Each concurrent user has one of its own.
  std::unique_ptr<WordCache> take_cache() const {
    const std::lock_guard lock(mutex);
    if (free_caches.empty()) {
      return std::make_unique<WordCache>();
    }
    auto cache = std::move(free_caches.back());
    free_caches.pop_back();
    return cache;
  }

  std::unique_ptr<Model> model;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  PostProcessor post_processor;
  Decoder decoder;
  AddedTokens added;
  std::size_t size;
  bool splits_words;                // and does nothing else
  std::vector<OuterSpaces> spaces;  // [id]
  std::vector<TokenClass> classes;  // [id]
  std::optional<std::string> mask, unknown;
  std::optional<TokenId> last;
  std::vector<std::string> warnings;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<WordCache>> free_caches;
};

Tokenizer Tokenizer::from_files(const base::FileSet& files) {
  Tokenizer made;
  made.parts_ = std::make_shared<const Parts>(read_definition(files));
  return made;
}

Encoding Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  if (const auto bad = base::find_invalid_utf8(text)) {
    base::refuse("no valid UTF-8 at byte " + std::to_string(*bad), "a text is needed");
  }
  if (text.size() >= std::numeric_limits<std::uint32_t>::max() / 4) {
    base::refuse(std::to_string(text.size()) + " bytes of text", "at most 1 GB is taken");
  }
  if (parts_->splits_words) {
    return {{}, split_words(text)};
  }
  auto tokens = parts_->tokenize(text);
  if (parts_->post_processor) {
    parts_->post_processor(text, special, tokens);
  }
  Encoding encoding;
  encoding.ids.reserve(tokens.size());
  encoding.offsets.reserve(tokens.size());
  for (const auto& token : tokens) {
    encoding.ids.push_back(token.id);
    encoding.offsets.push_back(token.offset);
  }
  return encoding;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, Special special) const {
  std::vector<std::string> tokens;
  for (const auto id : ids) {
    const auto token = parts_->shown(id);
    if (token && !(special == Special::skip && parts_->added.is_special(*token))) {
      tokens.emplace_back(*token);
    }
  }
  if (!parts_->decoder) {
    return base::join(tokens, " ");
  }
  parts_->decoder(tokens);
  return base::join(tokens, "");
}

std::size_t Tokenizer::size() const { return parts_->size; }

std::optional<TokenId> Tokenizer::id_of(std::string_view token) const { return parts_->id_of(token); }
std::optional<std::string_view> Tokenizer::token_of(TokenId id) const { return parts_->text_of(id); }
std::optional<std::string> Tokenizer::mask_token() const { return parts_->mask; }
std::optional<TokenId> Tokenizer::mask_id() const { return parts_->mask ? id_of(*parts_->mask) : std::nullopt; }
std::optional<TokenId> Tokenizer::unknown_id() const {
  return parts_->unknown ? id_of(*parts_->unknown) : std::nullopt;
}
std::optional<TokenId> Tokenizer::last_token() const { return parts_->last; }
const std::vector<std::string>& Tokenizer::warnings() const { return parts_->warnings; }
void Tokenizer::log_warnings() const {
  for (const auto& warning : parts_->warnings) {
    base::log_once(base::LogLevel::warning, warning);
  }
}
const std::vector<TokenClass>& Tokenizer::classes() const { return parts_->classes; }

}  // namespace stereosweep::tokenizer
