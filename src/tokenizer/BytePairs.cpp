// Byte-pair encoding: of all neighbours that may join, those of the lowest rank join first, the left ones before.
#include <algorithm>
#include <limits>
#include <queue>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Model.hpp"
#include "tokenizer/PieceNormalizer.hpp"
#include "tokenizer/Unicode.hpp"

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
  std::uint32_t rank = 0;
  std::uint32_t position = 0;
  TokenId result = 0;
  bool operator>(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
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
        ignore_merges_(field.flag_or("ignore_merges", false)) {
    if (const auto dropout = field.find("dropout"); dropout && dropout->json() != 0) {
      dropout->refuse(dropout->json().dump(), "random tokens cannot be repeated");
    }
    if (const auto unknown = field.find("unk_token")) {
      unknown_ = unknown->text();
    }
    read_joins(field.at("merges"));
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

 private:
  static std::uint64_t key(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
  }

  void read_joins(const Field& merges) {
    std::uint32_t rank = 0;
    const auto& list = merges.json();
    if (!list.is_array()) {
      merges.refuse(std::string("is a ") + list.type_name(), "a list is needed");
    }
    joins_.reserve(list.size());
    bool crosses = ignore_merges_ || !prefix_.empty() || !suffix_.empty() || !vocabulary().find(space_mark);
    for (const auto& entry : list) {
      const Field item(entry, merges.file(), merges.path() + "[" + std::to_string(rank) + "]");
      const auto [left, right] = read_pair(item);
      const auto joined = left + (right.starts_with(prefix_) ? right.substr(prefix_.size()) : right);
      crosses = crosses || (right.starts_with(space_mark) && !left.ends_with(space_mark));
      joins_[key(id_of(left, item), id_of(right, item))] = {rank++, id_of(joined, item)};
    }
    cuts_at_marks_ = !crosses;
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
      next_character(piece, i);
      spelled.assign(begin > 0 ? prefix_ : std::string()).append(piece.substr(begin, i - begin));
      spelled += i == piece.size() ? suffix_ : std::string();
      if (const auto id = vocabulary().find(spelled)) {
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

  using Queue = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

  const Join* find_join(const Symbol& left, const Symbol& right) const {
    const auto it = joins_.find(key(left.id, right.id));
    return it == joins_.end() ? nullptr : &it->second;
  }

  void offer(const std::vector<Symbol>& symbols, std::int32_t left, Queue& queue) const {
    const auto& symbol = symbols[static_cast<std::size_t>(left)];
    if (symbol.next < 0) {
      return;
    }
    if (const auto* join = find_join(symbol, symbols[static_cast<std::size_t>(symbol.next)])) {
      queue.push({join->rank, static_cast<std::uint32_t>(left), join->result});
    }
  }

  void join_all(std::vector<Symbol>& symbols) const {
    Queue queue;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      offer(symbols, static_cast<std::int32_t>(i), queue);
    }
    while (!queue.empty()) {
      const auto top = queue.top();
      queue.pop();
      auto& left = symbols[top.position];
      if (left.length == 0 || left.next < 0) {
        continue;
      }
      auto& right = symbols[static_cast<std::size_t>(left.next)];
      const auto* join = find_join(left, right);
      if (join == nullptr || join->result != top.result) {
        continue;  // one of the two has joined another symbol since
      }
      left.id = top.result;
      left.length += right.length;
      left.next = right.next;
      right.length = 0;
      if (left.next >= 0) {
        symbols[static_cast<std::size_t>(left.next)].previous = static_cast<std::int32_t>(top.position);
      }
      if (left.previous >= 0) {
        offer(symbols, left.previous, queue);
      }
      offer(symbols, static_cast<std::int32_t>(top.position), queue);
    }
  }

  ByteTokens bytes_;
  std::string prefix_, suffix_;
  std::optional<std::string> unknown_;
  bool fuse_unknown_, byte_fallback_, ignore_merges_;
  bool cuts_at_marks_ = false;
  std::unordered_map<std::uint64_t, Join> joins_;
};

}  // namespace

std::unique_ptr<Model> make_byte_pairs(const Field& field) { return std::make_unique<BytePairs>(field); }

}  // namespace stereosweep::tokenizer
