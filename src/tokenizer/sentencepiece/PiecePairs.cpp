// SentencePiece's pairs: of all neighbours that together are a piece, those of the highest score join first, the left
// ones before. Joins are by text, so that the file needs no list of them.
#include <limits>
#include <queue>

#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

struct PieceSymbol {
  std::size_t begin = 0;
  std::size_t length = 0;  // 0: joined to another one
  std::int32_t previous = -1;
  std::int32_t next = -1;
  bool whole = false;  // a user-defined piece, which joins nothing
};

struct PieceCandidate {
  float score = 0;
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::size_t length = 0;
  bool operator<(const PieceCandidate& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

std::vector<std::string> texts_of(const PieceFile& file) {
  std::vector<std::string> texts;
  texts.reserve(file.pieces.size());
  for (const auto& piece : file.pieces) {
    texts.push_back(piece.text);
  }
  return texts;
}

class PiecePairs final : public Model {
 public:
  explicit PiecePairs(const PieceFile& file)
      : Model(Vocabulary(texts_of(file))),
        bytes_(vocabulary()),
        byte_fallback_(file.byte_fallback),
        unknown_(static_cast<TokenId>(file.unknown)),
        user_defined_(user_defined_pieces(file)) {
    bool crosses = file.marks == PieceFile::Marks::behind || !vocabulary().find(space_mark);
    for (const auto& piece : file.pieces) {
      scores_.push_back(piece.score);
      kinds_.push_back(piece.kind);
      const auto mark = piece.text.find(space_mark, piece.text.find_first_not_of(space_mark));
      crosses = crosses || (piece.is_plain() && mark != std::string::npos);
    }
    cuts_at_marks_ = !crosses;
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    std::vector<PieceSymbol> symbols = spell(piece);
    Parts parts;
    join_all(piece, symbols, parts);
    bool fuses = false;  // the token before is unknown
    for (const auto& symbol : symbols) {
      if (symbol.length != 0) {
        append(piece.substr(symbol.begin, symbol.length), parts, fuses, tokens);
      }
    }
  }
  std::optional<std::string> unknown_token() const override { return std::string(*vocabulary().token(unknown_)); }
  std::optional<std::string> continuation_prefix() const override { return std::nullopt; }
  bool cuts_at_marks() const override { return cuts_at_marks_; }

 private:
  /// What an unused piece was joined from.
  using Parts = std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>>;
  using Queue = std::priority_queue<PieceCandidate>;

  std::vector<PieceSymbol> spell(std::string_view piece) const {
    std::vector<PieceSymbol> symbols;
    for (std::size_t i = 0; i < piece.size();) {
      PieceSymbol symbol;
      symbol.begin = i;
      symbol.length = user_defined_.longest_prefix(piece.substr(i));
      symbol.whole = symbol.length > 0;
      if (!symbol.whole) {
        auto next = i;
        next_character(piece, next);
        symbol.length = next - i;
      }
      i += symbol.length;
      const auto index = static_cast<std::int32_t>(symbols.size());
      symbol.previous = index - 1;
      symbol.next = i < piece.size() ? index + 1 : -1;
      symbols.push_back(symbol);
    }
    return symbols;
  }

  void offer(std::string_view piece, const std::vector<PieceSymbol>& symbols, std::int32_t left, std::int32_t right,
             Parts& parts, Queue& queue) const {
    if (left < 0 || right < 0) {
      return;
    }
    const auto& first = symbols[static_cast<std::size_t>(left)];
    const auto& second = symbols[static_cast<std::size_t>(right)];
    if (first.whole || second.whole) {
      return;
    }
    const auto joined = piece.substr(first.begin, first.length + second.length);
    const auto id = vocabulary().find(joined);
    if (!id || !is_plain(*id)) {
      return;
    }
    queue.push({scores_[static_cast<std::size_t>(*id)], left, right, joined.size()});
    if (kind(*id) == Piece::Kind::unused) {
      parts[joined] = {joined.substr(0, first.length), joined.substr(first.length)};
    }
  }

  void join_all(std::string_view piece, std::vector<PieceSymbol>& symbols, Parts& parts) const {
    Queue queue;
    for (std::int32_t i = 1; i < static_cast<std::int32_t>(symbols.size()); ++i) {
      offer(piece, symbols, i - 1, i, parts, queue);
    }
    while (!queue.empty()) {
      const auto top = queue.top();
      queue.pop();
      auto& left = symbols[static_cast<std::size_t>(top.left)];
      auto& right = symbols[static_cast<std::size_t>(top.right)];
      if (left.length == 0 || right.length == 0 || left.length + right.length != top.length) {
        continue;  // one of the two has joined another symbol since
      }
      left.length = top.length;
      left.next = right.next;
      right.length = 0;
      if (right.next >= 0) {
        symbols[static_cast<std::size_t>(right.next)].previous = top.left;
      }
      offer(piece, symbols, left.previous, top.left, parts, queue);
      offer(piece, symbols, top.left, left.next, parts, queue);
    }
  }

  // Unused pieces come apart again; what is no piece is spelled in bytes, or unknown together with its neighbours.
  void append(std::string_view text, const Parts& parts, bool& fuses, std::vector<PieceToken>& tokens) const {
    std::vector<std::string_view> open = {text};
    while (!open.empty()) {
      const auto part = open.back();
      open.pop_back();
      const auto id = vocabulary().find(part).value_or(unknown_);
      if (const auto it = kind(id) == Piece::Kind::unused ? parts.find(part) : parts.end(); it != parts.end()) {
        open.push_back(it->second.second);
        open.push_back(it->second.first);
        continue;
      }
      const bool is_unknown = id == unknown_;
      if (is_unknown && byte_fallback_) {
        bytes_.spell(part, tokens);
      } else if (is_unknown && fuses) {
        tokens.back().length += static_cast<std::uint32_t>(part.size());
      } else {
        tokens.push_back({id, static_cast<std::uint32_t>(part.size())});
      }
      fuses = is_unknown;
    }
  }

  Piece::Kind kind(TokenId id) const { return kinds_[static_cast<std::size_t>(id)]; }
  bool is_plain(TokenId id) const {
    return kind(id) == Piece::Kind::normal || kind(id) == Piece::Kind::user_defined || kind(id) == Piece::Kind::unused;
  }

  ByteTokens bytes_;
  bool byte_fallback_;
  bool cuts_at_marks_ = false;
  TokenId unknown_;
  ByteTrie user_defined_;
  std::vector<float> scores_;       // [id]
  std::vector<Piece::Kind> kinds_;  // [id]
};

}  // namespace

std::unique_ptr<Model> make_piece_model(const PieceFile& file) {
  if (file.algorithm == PieceFile::Algorithm::unigram) {
    return make_piece_unigram(file);
  }
  return std::make_unique<PiecePairs>(file);
}

}  // namespace stereosweep::tokenizer
