// Byte-pair encoding: of all neighbours that may join, those of the lowest rank join first, the left ones before.
#include <bit>
#include <functional>
#include <queue>
#include <unordered_map>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

struct Join {
  std::uint32_t rank = 0;
  TokenId result = 0;
};

struct Symbol {
  TokenId id = 0;
  std::uint32_t length = 0;  // 0: joined to another one
  std::int32_t previous = -1;
  std::int32_t next = -1;
};

struct Candidate {
  std::uint64_t order = 0;   // rank, then position: the smallest joins first
  std::uint32_t length = 0;  // of both together: symbols only grow, so it says whether they are still the same two
  TokenId result = 0;
  bool operator>(const Candidate& other) const { return order > other.order; }
};

template <typename Each>
void push(std::vector<Each>& symbols, Each symbol) {
  const auto index = static_cast<std::int32_t>(symbols.size());
  if (index > 0) {
    symbols.back().next = index;
  }
  symbol.previous = index - 1;
  symbols.push_back(symbol);
}

/// `join_of(left, right)`: how two neighbours join (a pointer to it, or optional); nothing where they do not.
template <typename Each, typename JoinOf>
void join_all(std::vector<Each>& symbols, const JoinOf& join_of) {
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  // Adds what the symbol at `position` and the next one may become.
  const auto offer = [&](std::int32_t position) {
    const auto& left = symbols[static_cast<std::size_t>(position)];
    if (left.next < 0) {
      return;
    }
    const auto& right = symbols[static_cast<std::size_t>(left.next)];
    if (const auto join = join_of(left, right)) {
      const auto order = static_cast<std::uint64_t>(join->rank) << 32 | static_cast<std::uint64_t>(position);
      queue.push({order, left.length + right.length, join->result});
    }
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    offer(static_cast<std::int32_t>(i));
  }
  while (!queue.empty()) {
    const auto top = queue.top();
    queue.pop();
    const auto position = static_cast<std::int32_t>(top.order & 0xFFFFFFFF);
    auto& left = symbols[static_cast<std::size_t>(position)];
    if (left.length == 0 || left.next < 0) {
      continue;
    }
    auto& right = symbols[static_cast<std::size_t>(left.next)];
    if (left.length + right.length != top.length) {
      continue;  // one of the two has joined another symbol since
    }
    left.id = top.result;
    left.length = top.length;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0) {
      symbols[static_cast<std::size_t>(left.next)].previous = position;
    }
    for (const auto changed : {left.previous, position}) {
      if (changed >= 0) {
        offer(changed);
      }
    }
  }
}

class BytePairs final : public Model {
 public:
  explicit BytePairs(const base::JsonValue& field)
      : Model(Vocabulary(field["vocab"])),
        bytes_(vocabulary()),
        prefix_(field["continuing_subword_prefix"].text_or("")),
        suffix_(field["end_of_word_suffix"].text_or("")),
        fuse_unknown_(field["fuse_unk"].flag_or(false)),
        byte_fallback_(field["byte_fallback"].flag_or(false)),
        ignore_merges_(field["ignore_merges"].flag_or(false)) {
    if (const auto dropout = field["dropout"]; dropout && dropout.json() != 0) {
      dropout.refuse(dropout.json().dump(), "random tokens cannot be repeated");
    }
    if (const auto unknown = field["unk_token"]) {
      unknown_ = unknown.text();
    }
    traits_.unknown_token = unknown_;
    read_joins(field["merges"]);
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    if (ignore_merges_) {
      if (const auto id = vocabulary().find(piece)) {
        tokens.push_back({*id, static_cast<std::uint32_t>(piece.size())});
        return;
      }
    }
    std::vector<Symbol> symbols;
    spell(piece, symbols);
    join_all(symbols, [this](const Symbol& left, const Symbol& right) {
      const auto found = joins_.find(key(left.id, right.id));
      return found == joins_.end() ? nullptr : &found->second;
    });
    for (const auto& symbol : symbols) {
      if (symbol.length != 0) {
        tokens.push_back({symbol.id, symbol.length});
      }
    }
  }

 private:
  static std::uint64_t key(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
  }

  void read_joins(const base::JsonValue& merges) {
    std::uint32_t rank = 0;
    const auto& list = merges.list();
    joins_.reserve(list.size());
    // Without unknown token, unknown characters are dropped, and the offsets behind them in the piece shift, as the
    // wheel has it: such pieces stay whole.
    bool crosses =
        ignore_merges_ || !prefix_.empty() || !suffix_.empty() || !unknown_ || !vocabulary().find(space_mark);
    for (const auto& entry : list) {
      const base::JsonValue item(entry, merges.file(), merges.path() + "[" + std::to_string(rank) + "]");
      const auto [left, right] = read_pair(item);
      const auto joined = left + (right.starts_with(prefix_) ? right.substr(prefix_.size()) : right);
      crosses = crosses || (right.starts_with(space_mark) && !left.ends_with(space_mark));
      joins_.insert_or_assign(key(id_of(left, item), id_of(right, item)), Join{rank++, id_of(joined, item)});
    }
    traits_.cuts_at_marks = !crosses;
  }

  static std::pair<std::string, std::string> read_pair(const base::JsonValue& item) {
    const auto& json = item.json();
    if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
      return {json[0].get<std::string>(), json[1].get<std::string>()};
    }
    if (json.is_string()) {
      const auto text = json.get<std::string>();
      const auto space = text.find(' ');
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
        return {text.substr(0, space), text.substr(space + 1)};
      }
    }
    item.refuse(json.dump(-1, ' ', true, base::Json::error_handler_t::replace), "two tokens are needed");
  }

  TokenId id_of(const std::string& token, const base::JsonValue& item) const {
    const auto id = vocabulary().find(token);
    if (!id) {
      item.refuse(base::json_quote(token) + " is not in \"vocab\"", "what is joined must have an id");
    }
    return *id;
  }

  static Symbol symbol_of(TokenId id, std::size_t length) { return {id, static_cast<std::uint32_t>(length)}; }

  // One symbol for each character; bytes or the unknown token where the vocabulary lacks it.
  void spell(std::string_view piece, std::vector<Symbol>& symbols) const {
    symbols.reserve(piece.size());
    std::size_t unknown_length = 0;  // of an unknown symbol that is not pushed yet
    const auto flush = [&] {
      if (unknown_length > 0) {
        push(symbols, symbol_of(unknown_id("a character"), unknown_length));
        unknown_length = 0;
      }
    };
    std::vector<PieceToken> spelled_bytes;
    for (std::size_t i = 0; i < piece.size();) {
      const auto begin = i;
      next_character(piece, i);
      auto spelled = begin > 0 ? prefix_ : std::string();
      spelled += piece.substr(begin, i - begin);
      spelled += i == piece.size() ? suffix_ : std::string();
      if (const auto id = vocabulary().find(spelled)) {
        flush();
        push(symbols, symbol_of(*id, i - begin));
      } else if (spelled_bytes.clear(); byte_fallback_ && bytes_.spell(spelled, spelled_bytes)) {
        for (const auto& byte : spelled_bytes) {
          push(symbols, symbol_of(byte.id, byte.length));
        }
      } else if (unknown_) {
        if (!fuse_unknown_) {
          flush();
        }
        unknown_length += i - begin;
      }
    }
    flush();
  }

  ByteTokens bytes_;
  std::string prefix_, suffix_;
  std::optional<std::string> unknown_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  std::unordered_map<std::uint64_t, Join> joins_;  // by the ids of both
};

/// Of tokenizer.model: pairs join by text, those of the highest score first, so that the file needs no list of them.
class PiecePairs final : public Model {
 public:
  explicit PiecePairs(const PieceFile& file)
      : Model(Vocabulary(file.texts())),
        bytes_(vocabulary()),
        byte_fallback_(file.byte_fallback),
        unknown_(static_cast<TokenId>(file.unknown)),
        user_defined_(user_defined_pieces(file)) {
    traits_.unknown_token = file.pieces[file.unknown].text;
    bool crosses = file.marks == PieceFile::Marks::behind || !vocabulary().find(space_mark);
    for (const auto& piece : file.pieces) {
      rules_.push_back({rank_of(static_cast<float>(piece.score)), piece.is_plain(), piece.kind == Piece::Kind::unused});
      const auto mark = piece.text.find(space_mark, piece.text.find_first_not_of(space_mark));
      crosses = crosses || (piece.is_plain() && mark != std::string::npos);
    }
    traits_.cuts_at_marks = !crosses;
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    auto symbols = spell(piece);
    Parts parts;
    join_all(symbols, [&](const PieceSymbol& first, const PieceSymbol& second) -> std::optional<Join> {
      const auto joined = piece.substr(first.begin, first.length + second.length);
      const auto id = first.whole || second.whole ? std::nullopt : vocabulary().find(joined);
      if (!id || !rule(*id).is_plain) {
        return std::nullopt;
      }
      if (rule(*id).is_unused) {
        parts[joined] = {joined.substr(0, first.length), joined.substr(first.length)};
      }
      return Join{rule(*id).rank, *id};
    });
    bool fuses = false;  // the token before is unknown
    for (const auto& symbol : symbols) {
      if (symbol.length != 0) {
        append(piece.substr(symbol.begin, symbol.length), parts, fuses, tokens);
      }
    }
  }

 private:
  struct PieceSymbol : Symbol {
    std::size_t begin = 0;
    bool whole = false;  // a user-defined piece, which joins nothing
  };
  struct Rule {
    std::uint32_t rank = 0;
    bool is_plain = false;
    bool is_unused = false;
  };
  /// What an unused piece was joined from.
  using Parts = std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>>;

  // Ascending where finite scores fall.
  static std::uint32_t rank_of(float score) {
    constexpr std::uint32_t sign = 0x80000000;
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 is 0
    return (bits & sign) != 0 ? bits : ~(bits | sign);
  }

  std::vector<PieceSymbol> spell(std::string_view piece) const {
    std::vector<PieceSymbol> symbols;
    for (std::size_t begin = 0; begin < piece.size();) {
      auto end = begin + user_defined_.longest_prefix(piece.substr(begin));
      const bool whole = end > begin;
      if (!whole) {
        next_character(piece, end);
      }
      push(symbols, PieceSymbol{{0, static_cast<std::uint32_t>(end - begin)}, begin, whole});
      begin = end;
    }
    return symbols;
  }

  // Unused pieces come apart again; what is no piece is spelled in bytes, or unknown together with its neighbours.
  void append(std::string_view text, const Parts& parts, bool& fuses, std::vector<PieceToken>& tokens) const {
    std::vector<std::string_view> open = {text};
    while (!open.empty()) {
      const auto part = open.back();
      open.pop_back();
      const auto id = vocabulary().find(part).value_or(unknown_);
      if (const auto it = rule(id).is_unused ? parts.find(part) : parts.end(); it != parts.end()) {
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

  const Rule& rule(TokenId id) const { return rules_[static_cast<std::size_t>(id)]; }

  ByteTokens bytes_;
  bool byte_fallback_;
  TokenId unknown_;
  PrefixTable user_defined_;
  std::vector<Rule> rules_;  // [id]
};

}  // namespace

std::unique_ptr<Model> make_byte_pairs(const base::JsonValue& field) { return std::make_unique<BytePairs>(field); }

std::unique_ptr<Model> make_piece_model(const PieceFile& file) {
  if (file.algorithm == PieceFile::Algorithm::unigram) {
    return make_piece_unigram(file);
  }
  return std::make_unique<PiecePairs>(file);
}

}  // namespace stereosweep::tokenizer
