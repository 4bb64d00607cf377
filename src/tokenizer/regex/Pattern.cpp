#include "tokenizer/regex/Pattern.hpp"

namespace stereosweep::tokenizer {

const std::string_view gpt2_expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Adds a match and what lies before it.
void add_match(std::size_t& done, std::size_t begin, std::size_t end, std::vector<Match>& parts) {
  if (done < begin) {
    parts.push_back({done, begin, false});
  }
  parts.push_back({begin, end, true});
  done = end;
}

void add_rest(std::size_t done, std::string_view text, std::vector<Match>& parts) {
  if (done < text.size() || text.empty()) {
    parts.push_back({done, text.size(), false});
  }
}

class ClassPattern final : public Pattern {
 public:
  explicit ClassPattern(Classes wanted) : wanted_(wanted) {}
  void find(std::string_view text, std::vector<Match>& parts) const override {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      const auto begin = i;
      if (is(next_character(text, i), wanted_)) {
        add_match(done, begin, i, parts);
      }
    }
    add_rest(done, text, parts);
  }

 private:
  Classes wanted_;
};

class Literal final : public Pattern {
 public:
  explicit Literal(std::string literal) : literal_(std::move(literal)) {}
  void find(std::string_view text, std::vector<Match>& parts) const override {
    std::size_t done = 0;
    if (!literal_.empty()) {
      for (auto at = text.find(literal_); at != std::string_view::npos; at = text.find(literal_, done)) {
        add_match(done, at, at + literal_.size(), parts);
      }
    }
    add_rest(done, text, parts);
  }

 private:
  std::string literal_;
};

// First byte behind the run of characters from `position` on that satisfy `wanted`.
template <typename Wanted>
std::size_t end_of_run(std::string_view text, std::size_t position, Wanted wanted) {
  while (position < text.size()) {
    auto next = position;
    if (!wanted(next_character(text, next))) {
      break;
    }
    position = next;
  }
  return position;
}

class Words final : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& parts) const override {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      auto next = i;
      const auto found = classes_of(next_character(text, next));
      if ((found & classes::word) != 0) {
        next = end_of_run(text, next, [](char32_t c) { return is(c, classes::word); });
      } else if ((found & classes::white_space) == 0) {
        next = end_of_run(text, next, [](char32_t c) { return !is(c, classes::word | classes::white_space); });
      } else {
        i = next;
        continue;
      }
      add_match(done, i, next, parts);
      i = next;
    }
    add_rest(done, text, parts);
  }
};

class Gpt2Words final : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& parts) const override {
    for (std::size_t i = 0; i < text.size();) {
      const auto end = end_of_word(text, i);
      parts.push_back({i, end, true});
      i = end;
    }
    add_rest(text.size(), text, parts);
  }

 private:
  static constexpr Classes any = classes::regex_letter | classes::regex_number | classes::regex_space;

  static std::size_t end_of_word(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'') {
      if (const auto length = contraction(text.substr(begin + 1)); length > 0) {
        return begin + 1 + length;
      }
    }
    auto start = begin + (text[begin] == ' ' ? 1 : 0);
    if (start < text.size()) {
      auto next = start;
      const Classes kind = classes_of(next_character(text, next)) & any;
      if ((kind & classes::regex_space) == 0) {
        return end_of_run(text, next, [kind](char32_t c) { return (classes_of(c) & any) == kind; });
      }
    }
    return end_of_white_space(text, begin);
  }

  // Length of what follows the apostrophe of 's 't 're 've 'm 'll 'd; 0: nothing of it.
  static std::size_t contraction(std::string_view rest) {
    if (rest.empty()) {
      return 0;
    }
    if (rest[0] == 's' || rest[0] == 't' || rest[0] == 'm' || rest[0] == 'd') {
      return 1;
    }
    return rest.starts_with("re") || rest.starts_with("ve") || rest.starts_with("ll") ? 2 : 0;
  }

  // A run leaves its last character to the word behind it.
  static std::size_t end_of_white_space(std::string_view text, std::size_t begin) {
    const auto end = end_of_run(text, begin, [](char32_t c) { return is(c, classes::regex_space); });
    if (end == text.size()) {
      return end;
    }
    const auto last = previous_character(text, end);
    return last > begin ? last : end;
  }
};

}  // namespace

std::unique_ptr<Pattern> make_class_pattern(Classes wanted) { return std::make_unique<ClassPattern>(wanted); }
std::unique_ptr<Pattern> make_literal(std::string literal) { return std::make_unique<Literal>(std::move(literal)); }
std::unique_ptr<Pattern> make_words() { return std::make_unique<Words>(); }
std::unique_ptr<Pattern> make_gpt2_words() { return std::make_unique<Gpt2Words>(); }

std::unique_ptr<Pattern> read_pattern(const Field& field) {
  if (const auto literal = field.find("String")) {
    return make_literal(literal->text());
  }
  const auto expression = field.find("Regex");
  if (!expression) {
    field.refuse("unknown kind of pattern", "String and Regex are supported");
  }
  if (expression->text() == gpt2_expression) {
    return make_gpt2_words();
  }
  auto compiled = make_compiled_regex(expression->text(), *expression);
  return compiled ? std::move(compiled) : make_regex(expression->text(), *expression);
}

}  // namespace stereosweep::tokenizer
