#include "tokenizer/regex/ExpressionScanner.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "tokenizer/regex/CharacterSet.hpp"
#include "tokenizer/regex/Regex.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
constexpr std::size_t max_items = 1000;
constexpr int max_depth = 20;

enum class Kind : std::uint8_t { set, choice, ahead, not_ahead, line_end, accept };

struct Item;
using Sequence = std::vector<Item>;

/// What an expression says, in its order.
struct Item {
  Kind kind = Kind::set;
  const CharacterSet* set = nullptr;
  std::size_t least = 1;
  std::size_t most = 1;
  std::vector<Sequence> alternatives;  // of a choice
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads an expression; gives up, by returning false, at everything that it does not know for certain.
class Parser {
 public:
  using Sets = std::map<std::string, std::unique_ptr<CharacterSet>>;

  Parser(std::string_view expression, const Field& place, Sets& sets) : rest_(expression), place_(place), sets_(sets) {}

  bool read(std::vector<Sequence>& alternatives) { return read_choice(alternatives) && rest_.empty(); }

 private:
  bool read_choice(std::vector<Sequence>& alternatives) {
    if (++depth_ > max_depth) {
      return false;
    }
    alternatives.emplace_back();
    while (!rest_.empty() && rest_.front() != ')') {
      if (rest_.front() == '|') {
        rest_.remove_prefix(1);
        alternatives.emplace_back();
        folded_.clear();
      } else if (!read_item(alternatives.back()) || ++items_ > max_items) {
        return false;
      }
    }
    --depth_;
    return true;
  }

  bool read_item(Sequence& sequence) {
    Item item;
    if (!(rest_.front() == '(' ? read_group(item) : rest_.front() == '$' ? read_line_end(item) : read_set(item))) {
      return false;
    }
    if (!read_count(item)) {
      return false;
    }
    sequence.push_back(std::move(item));
    return true;
  }

  bool take(std::string_view text) {
    const bool found = rest_.starts_with(text);
    rest_.remove_prefix(found ? text.size() : 0);
    return found;
  }

  bool read_line_end(Item& item) {
    rest_.remove_prefix(1);
    item.kind = Kind::line_end;
    return true;
  }

  bool read_group(Item& item) {
    if (take("(?!") || take("(?=")) {
      // one set, looked at and not taken
      item.kind = rest_.data()[-1] == '!' ? Kind::not_ahead : Kind::ahead;
      Item inner;
      if (rest_.empty() || !read_set(inner) || !take(")")) {
        return false;
      }
      item.set = inner.set;
      return true;
    }
    item.kind = Kind::choice;
    const bool folds = folds_;
    if (take("(?i:")) {
      folds_ = true;
    } else if (!take("(?:") && (rest_.starts_with("(?") || !take("("))) {
      return false;
    }
    folded_.clear();
    const bool good = read_choice(item.alternatives) && take(")");
    folds_ = folds;
    folded_.clear();
    return good;
  }

  // A character, an escape or a bracket; Oniguruma says what it means.
  bool read_set(Item& item) {
    std::size_t length = 0;
    const char first = rest_.front();
    if (first == '\\') {
      length = length_of_escape(rest_);
    } else if (first == '[') {
      length = length_of_bracket();
    } else if (std::string_view(".^*+?{}])|(").find(first) == std::string_view::npos) {
      next_character(rest_, length);
    }
    if (length == 0 || (folds_ && !may_fold(rest_.substr(0, length)))) {
      return false;
    }
    const auto source = std::string(rest_.substr(0, length));
    rest_.remove_prefix(length);
    auto& set = sets_[folds_ ? "(?i:" + source + ")" : source];
    if (!set) {
      set = std::make_unique<CharacterSet>(folds_ ? "(?i:" + source + ")" : source, place_);
    }
    item.set = set.get();
    return true;
  }

  // Without regard to case a few pairs of letters are also one character (ss, st, ff, fi, fl); these are left alone.
  bool may_fold(std::string_view source) {
    if (source.size() != 1 || static_cast<unsigned char>(source.front()) >= 0x80) {
      return false;
    }
    const char small = is_letter(source.front()) ? static_cast<char>(source.front() | 0x20) : source.front();
    const auto pair = folded_ + small;
    folded_ = small;
    return pair != "ss" && pair != "st" && pair != "ff" && pair != "fi" && pair != "fl";
  }

  static std::size_t length_of_escape(std::string_view text) {
    if (text.size() < 2 || static_cast<unsigned char>(text[1]) >= 0x80 || is_digit(text[1])) {
      return 0;
    }
    if (text[1] == 'p' || text[1] == 'P') {
      const auto end = text.find('}');
      return text.size() > 2 && text[2] == '{' && end != std::string_view::npos ? end + 1 : 0;
    }
    const bool known = !is_letter(text[1]) || std::string_view("sSdDwWrnt").find(text[1]) != std::string_view::npos;
    return known ? 2 : 0;
  }

  std::size_t length_of_bracket() const {
    std::size_t i = rest_.starts_with("[^") ? 2 : 1;
    if (i < rest_.size() && rest_[i] == ']') {
      return 0;
    }
    while (i < rest_.size() && rest_[i] != ']') {
      if (rest_[i] == '[' || rest_.substr(i).starts_with("&&")) {
        return 0;
      }
      if (rest_[i] != '\\') {
        ++i;
        continue;
      }
      const auto length = length_of_escape(rest_.substr(i));
      if (length == 0) {
        return 0;
      }
      i += length;
    }
    return i < rest_.size() ? i + 1 : 0;
  }

  bool read_count(Item& item) {
    if (take("?")) {
      item.least = 0;
    } else if (take("*")) {
      item.least = 0;
      item.most = unbounded;
    } else if (take("+")) {
      item.most = unbounded;
    } else if (take("{")) {
      if (!read_number(item.least)) {
        return false;
      }
      item.most = item.least;
      if (take(",") && !read_number(item.most)) {
        item.most = unbounded;
      }
      if (!take("}") || item.least > item.most) {
        return false;
      }
    } else {
      return true;
    }
    folded_.clear();
    const bool counted_twice = !rest_.empty() && std::string_view("?*+{").find(rest_.front()) != std::string_view::npos;
    const bool countable = item.kind == Kind::set || (item.kind == Kind::choice && item.most == 1);
    return !counted_twice && countable;
  }

  bool read_number(std::size_t& number) {
    std::size_t digits = 0;
    for (number = 0; !rest_.empty() && is_digit(rest_.front()) && digits < 4; ++digits) {
      number = number * 10 + static_cast<std::size_t>(rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return digits > 0;
  }

  std::string_view rest_;
  const Field& place_;
  Sets& sets_;
  bool folds_ = false;
  std::string folded_;  // the letter before, where case does not count
  int depth_ = 0;
  std::size_t items_ = 0;
};

/// An item and what comes behind it.
struct Node {
  Kind kind = Kind::accept;
  const CharacterSet* set = nullptr;
  std::size_t least = 1;
  std::size_t most = 1;
  std::size_t next = 0;
  std::vector<std::size_t> targets;  // of a choice, the first that leads to a match counts
};

/// A text that is searched, and how much may still be tried.
struct Attempt {
  std::string_view text;
  std::size_t steps_left = 0;
};

bool spend(Attempt& attempt, std::size_t steps) {
  attempt.steps_left -= std::min(steps, attempt.steps_left);
  return attempt.steps_left > 0;
}

class ExpressionScanner final : public Pattern {
 public:
  ExpressionScanner(Parser::Sets sets, const std::vector<Sequence>& alternatives, std::unique_ptr<Pattern> regex)
      : sets_(std::move(sets)), nodes_(1), regex_(std::move(regex)) {
    Item whole;
    whole.kind = Kind::choice;
    whole.alternatives = alternatives;
    start_ = add(whole, 0);
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      starts_[i] = may_start(start_, static_cast<unsigned char>(i));
    }
  }

  // Whether a match takes a character at least.
  static bool takes_something(const std::vector<Sequence>& alternatives) {
    for (const auto& sequence : alternatives) {
      bool takes = false;
      for (const auto& item : sequence) {
        takes = takes || (item.least > 0 && (item.kind == Kind::set ||
                                             (item.kind == Kind::choice && takes_something(item.alternatives))));
      }
      if (!takes) {
        return false;
      }
    }
    return true;
  }

  void find(std::string_view text, std::vector<Match>& parts) const override {
    const auto kept = parts.size();
    std::size_t done = 0;
    Attempt attempt{text, 1000 + 100 * text.size()};
    for (std::size_t i = 0; i < text.size();) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const auto end = lead >= 0x80 || starts_[lead] ? match(start_, i, attempt) : nowhere;
      if (attempt.steps_left == 0) {  // an expression that tries many ways: Oniguruma has limits for these
        parts.resize(kept);
        regex_->find(text, parts);
        return;
      }
      if (end == nowhere) {
        next_character(text, i);
        continue;
      }
      if (done < i) {
        parts.push_back({done, i, false});
      }
      parts.push_back({i, end, true});
      done = i = end;
    }
    if (done < text.size() || text.empty()) {
      parts.push_back({done, text.size(), false});
    }
  }

 private:
  static constexpr auto nowhere = std::numeric_limits<std::size_t>::max();

  std::size_t add(const Item& item, std::size_t next) {
    Node node{item.kind, item.set, item.least, item.most, next, {}};
    for (const auto& sequence : item.alternatives) {
      auto target = next;
      for (auto it = sequence.rbegin(); it != sequence.rend(); ++it) {
        target = add(*it, target);
      }
      node.targets.push_back(target);
    }
    if (item.kind == Kind::choice && item.least == 0) {
      node.targets.push_back(next);
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  bool may_start(std::size_t at, unsigned char character) const {
    const auto& node = nodes_[at];
    if (node.kind == Kind::set) {
      return (node.most > 0 && node.set->contains_ascii(character)) ||
             (node.least == 0 && may_start(node.next, character));
    }
    if (node.kind != Kind::choice) {
      return true;
    }
    for (const auto target : node.targets) {
      if (may_start(target, character)) {
        return true;
      }
    }
    return false;
  }

  // End of the match from `position` on; nowhere: none.
  std::size_t match(std::size_t at, std::size_t position, Attempt& attempt) const {
    const auto& node = nodes_[at];
    const auto text = attempt.text;
    if (!spend(attempt, 1)) {
      return nowhere;
    }
    switch (node.kind) {
      case Kind::accept:
        return position;
      case Kind::set:
        return match_set(node, position, attempt);
      case Kind::choice:
        for (const auto target : node.targets) {
          if (const auto end = match(target, position, attempt); end != nowhere) {
            return end;
          }
        }
        return nowhere;
      case Kind::ahead:
      case Kind::not_ahead: {
        auto next = position;
        const bool there = position < text.size() && node.set->take(text, next);
        return there == (node.kind == Kind::ahead) ? match(node.next, position, attempt) : nowhere;
      }
      case Kind::line_end:
        return position == text.size() || text[position] == '\n' ? match(node.next, position, attempt) : nowhere;
    }
    return nowhere;
  }

  // As many characters as there are; then, one by one, fewer.
  std::size_t match_set(const Node& node, std::size_t position, Attempt& attempt) const {
    const auto text = attempt.text;
    std::size_t count = 0;
    auto end = position;
    while (count < node.most && end < text.size() && node.set->take(text, end)) {
      ++count;
    }
    spend(attempt, count);
    for (; count >= node.least; --count) {
      if (const auto found = match(node.next, end, attempt); found != nowhere || count == 0) {
        return found;
      }
      end = previous_character(text, end);
    }
    return nowhere;
  }

  Parser::Sets sets_;
  std::vector<Node> nodes_;  // the first accepts
  std::size_t start_ = 0;
  std::array<bool, 128> starts_{};  // ASCII characters that a match may begin with
  std::unique_ptr<Pattern> regex_;
};

}  // namespace

std::unique_ptr<Pattern> make_scanner(const std::string& expression, const Field& place) {
  auto regex = make_regex(expression, place);
  Parser::Sets sets;
  std::vector<Sequence> alternatives;
  if (!Parser(expression, place, sets).read(alternatives) || !ExpressionScanner::takes_something(alternatives)) {
    return nullptr;
  }
  return std::make_unique<ExpressionScanner>(std::move(sets), alternatives, std::move(regex));
}

}  // namespace stereosweep::tokenizer
