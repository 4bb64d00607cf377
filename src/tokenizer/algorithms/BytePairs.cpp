// Byte-pair encoding: of all neighbours that may join, those of the lowest rank join first, the left ones before.
#include <algorithm>
#include <functional>
#include <limits>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/algorithms/PairTable.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/Stages.hpp"
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

class BytePairs final : public Model {
 public:
  explicit BytePairs(const Field& field)
      : Model(Vocabulary(field.at("vocab"))),
        bytes_(vocabulary()),
        prefix_(field.text_or("continuing_subword_prefix", "")),
        suffix_(field.text_or("end_of_word_suffix", "")),
        fuse_unknown_(field.flag_or("fuse_unk", false)),
        byte_fallback_(field.flag_or("byte_fallback", false)),
        ignore_merges_(field.flag_or("ignore_merges", false)),
        decorates_(!prefix_.empty() || !suffix_.empty()) {
    if (const auto dropout = field.find("dropout"); dropout && dropout->json() != 0) {
      dropout->refuse(dropout->json().dump(), "random tokens cannot be repeated");
    }
    if (const auto unknown = field.find("unk_token")) {
      unknown_ = unknown->text();
    }
    read_joins(field.at("merges"));
    read_characters();
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
    join_all(symbols);
    for (const auto& symbol : symbols) {
      if (symbol.length != 0) {
        tokens.push_back({symbol.id, symbol.length});
      }
    }
  }
  std::optional<std::string> unknown_token() const override { return unknown_; }
  std::optional<std::string> continuation_prefix() const override { return std::nullopt; }
  bool cuts_at_marks() const override { return cuts_at_marks_; }

  // Between two characters that stand side by side in no joined token nothing ever joins. Unknown characters may fuse.
  std::size_t end_of_part(std::string_view piece, std::size_t from) const override {
    if (!knows_neighbours_) {
      return piece.size();
    }
    auto end = from;
    auto left = next_character(piece, end);
    while (end < piece.size()) {
      auto next = end;
      const auto right = next_character(piece, next);
      if (neighbours_.find(pair_of(left, right)) == nullptr && characters_.find(left) != nullptr &&
          characters_.find(right) != nullptr) {
        break;
      }
      left = right;
      end = next;
    }
    return end;
  }

 private:
  static std::uint64_t key(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
  }

  static std::uint64_t pair_of(char32_t left, char32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
  }

  void read_joins(const Field& merges) {
    std::uint32_t rank = 0;
    const auto& list = merges.json();
    if (!list.is_array()) {
      merges.refuse(std::string("is a ") + list.type_name(), "a list is needed");
    }
    PairTable<Join>::Entries joins;
    PairTable<bool>::Entries neighbours;
    knows_neighbours_ = !ignore_merges_ && !decorates_ && unknown_;
    joins.reserve(list.size());
    // Without unknown token, unknown characters are dropped, and the offsets behind them in the piece shift, as the
    // wheel has it: such pieces stay whole.
    bool crosses = ignore_merges_ || decorates_ || !unknown_ || !vocabulary().find(space_mark);
    for (const auto& entry : list) {
      const Field item(entry, merges.file(), merges.path() + "[" + std::to_string(rank) + "]");
      const auto [left, right] = read_pair(item);
      const auto joined = left + (right.starts_with(prefix_) ? right.substr(prefix_.size()) : right);
      crosses = crosses || (right.starts_with(space_mark) && !left.ends_with(space_mark));
      knows_neighbours_ =
          knows_neighbours_ && !is_byte_token(left) && !is_byte_token(right) && left != unknown_ && right != unknown_;
      add_neighbours(joined, neighbours);
      joins.emplace_back(key(id_of(left, item), id_of(right, item)), Join{rank++, id_of(joined, item)});
    }
    joins_ = PairTable<Join>(joins);
    neighbours_ = PairTable<bool>(neighbours);
    cuts_at_marks_ = !crosses;
  }

  static void add_neighbours(const std::string& token, PairTable<bool>::Entries& neighbours) {
    std::size_t end = 0;
    for (auto left = next_character(token, end); end < token.size();) {
      const auto right = next_character(token, end);
      neighbours.emplace_back(pair_of(left, right), true);
      left = right;
    }
  }

  // Tokens of one character, which start most texts' spelling.
  void read_characters() {
    PairTable<TokenId>::Entries characters;
    for (std::size_t id = 0; id < vocabulary().size() && !decorates_; ++id) {
      const auto token = vocabulary().token(static_cast<TokenId>(id));
      std::size_t end = 0;
      if (token && !token->empty() && !base::find_invalid_utf8(*token)) {
        const auto value = next_character(*token, end);
        if (end == token->size()) {
          characters.emplace_back(value, static_cast<TokenId>(id));
        }
      }
    }
    characters_ = PairTable<TokenId>(characters);
  }

  static std::pair<std::string, std::string> read_pair(const Field& item) {
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

  TokenId id_of(const std::string& token, const Field& item) const {
    const auto id = vocabulary().find(token);
    if (!id) {
      item.refuse(base::json_quote(token) + " is not in \"vocab\"", "what is joined must have an id");
    }
    return *id;
  }

  static void push(std::vector<Symbol>& symbols, TokenId id, std::size_t length) {
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (index > 0) {
      symbols.back().next = index;
    }
    symbols.push_back({id, static_cast<std::uint32_t>(length), index - 1, -1});
  }

  // One symbol for each character; bytes or the unknown token where the vocabulary lacks it.
  void spell(std::string_view piece, std::vector<Symbol>& symbols) const {
    symbols.reserve(piece.size());
    std::size_t unknown_length = 0;  // of an unknown symbol that is not pushed yet
    const auto flush = [&] {
      if (unknown_length > 0) {
        push(symbols, unknown_id(), unknown_length);
        unknown_length = 0;
      }
    };
    std::string spelled;
    std::vector<PieceToken> spelled_bytes;
    for (std::size_t i = 0; i < piece.size();) {
      const auto begin = i;
      const auto value = next_character(piece, i);
      if (const auto* id = characters_.find(value)) {
        flush();
        push(symbols, *id, i - begin);
        continue;
      }
      spelled = piece.substr(begin, i - begin);
      if (decorates_) {
        spelled = (begin > 0 ? prefix_ : "") + spelled + (i == piece.size() ? suffix_ : "");
      }
      if (const auto id = decorates_ ? vocabulary().find(spelled) : std::nullopt) {
        flush();
        push(symbols, *id, i - begin);
      } else if (spelled_bytes.clear(); byte_fallback_ && bytes_.spell(spelled, spelled_bytes)) {
        for (const auto& byte : spelled_bytes) {
          push(symbols, byte.id, byte.length);
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

  TokenId unknown_id() const {
    const auto id = vocabulary().find(*unknown_);
    if (!id) {
      throw base::InputError(
          base::describe("the text has a character without token",
                         "the tokenizer's unk_token " + base::json_quote(*unknown_) + " is not in its vocabulary"));
    }
    return *id;
  }

  using Candidates = std::vector<Candidate>;

  // Appends what the symbol at `position` and the next one may become; false: nothing.
  bool offer(const std::vector<Symbol>& symbols, std::int32_t position, Candidates& candidates) const {
    const auto& left = symbols[static_cast<std::size_t>(position)];
    if (left.next < 0) {
      return false;
    }
    const auto& right = symbols[static_cast<std::size_t>(left.next)];
    const auto* join = joins_.find(key(left.id, right.id));
    if (join == nullptr) {
      return false;
    }
    const auto order = static_cast<std::uint64_t>(join->rank) << 32 | static_cast<std::uint64_t>(position);
    candidates.push_back({order, left.length + right.length, join->result});
    return true;
  }

  void join_all(std::vector<Symbol>& symbols) const {
    Candidates queue;
    queue.reserve(symbols.size() + 2);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      offer(symbols, static_cast<std::int32_t>(i), queue);
    }
    std::make_heap(queue.begin(), queue.end(), std::greater<>());
    while (!queue.empty()) {
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      const auto top = queue.back();
      queue.pop_back();
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
        if (changed >= 0 && offer(symbols, changed, queue)) {
          std::push_heap(queue.begin(), queue.end(), std::greater<>());
        }
      }
    }
  }

  ByteTokens bytes_;
  std::string prefix_, suffix_;
  std::optional<std::string> unknown_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  bool cuts_at_marks_ = false;
  PairTable<Join> joins_;  // by the ids of both
  bool knows_neighbours_ = false;
  PairTable<bool> neighbours_;     // characters side by side in a joined token, by both
  bool decorates_;                 // symbols of characters have a prefix or suffix
  PairTable<TokenId> characters_;  // by code point; unless there is a prefix or suffix
};

}  // namespace

std::unique_ptr<Model> make_byte_pairs(const Field& field) { return std::make_unique<BytePairs>(field); }

}  // namespace stereosweep::tokenizer
