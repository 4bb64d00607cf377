#include "answers/text/PlainText.hpp"

#include <cctype>
#include <utility>

#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

/// What a character stands for; nothing: itself.
std::optional<std::string_view> plain_sign(char32_t sign) {
  struct Signs {
    char32_t first;
    char32_t last;
    std::string_view plain;
  };
  static constexpr Signs table[] = {
      {0x2014, 0x2015, " - "}, {0x2610, 0x2610, "[ ]"}, {0x2611, 0x2612, "[x]"}, {0x2600, 0x27BF, " "},
      {0x2B00, 0x2BFF, " "},   {0x1F000, 0x1FAFF, " "}, {0x2010, 0x2013, "-"},   {0x2022, 0x2023, "-"},
      {0x2043, 0x2043, "-"},   {0x25AA, 0x25AA, "-"},   {0x25CF, 0x25CF, "-"},   {0x25E6, 0x25E6, "-"},
      {0x00B7, 0x00B7, "-"},   {0x2212, 0x2212, "-"},   {0x2018, 0x201B, "'"},   {0x2032, 0x2032, "'"},
      {0x201C, 0x201E, "\""},  {0x00AB, 0x00AB, "\""},  {0x00BB, 0x00BB, "\""},  {0x2026, 0x2026, "..."},
      {0x2044, 0x2044, "/"},   {0x2215, 0x2215, "/"},   {0xFF0F, 0xFF0F, "/"},   {0x00A0, 0x00A0, " "},
      {0x2000, 0x200A, " "},   {0x202F, 0x202F, " "},   {0x205F, 0x205F, " "},   {0x3000, 0x3000, " "},
      {0x00AD, 0x00AD, ""},    {0x200B, 0x200F, ""},    {0xFE00, 0xFE0F, ""},    {0xFEFF, 0xFEFF, ""},
      {0x20E3, 0x20E3, ""},    {0x00BD, 0x00BD, ".5"},  {0x2248, 0x2248, "~"},   {0xFF5E, 0xFF5E, "~"},
      {0x2192, 0x2192, "->"},  {0xFF1A, 0xFF1A, ":"},   {0xFF0C, 0xFF0C, ","},   {0x3001, 0x3001, ","},
      {0x3002, 0x3002, "."},   {0xFF08, 0xFF08, "("},   {0xFF09, 0xFF09, ")"},   {0xFF1B, 0xFF1B, ";"},
      {0x00B1, 0x00B1, "+/-"}, {0x00D7, 0x00D7, " x "}, {0x2028, 0x2029, "\n"},  {0x0085, 0x0085, "\n"}};
  const auto* found =
      std::ranges::find_if(table, [sign](const Signs& one) { return sign >= one.first && sign <= one.last; });
  return found == std::end(table) ? std::nullopt : std::optional(found->plain);
}

/// The digit that a sign of another script is.
std::optional<char> plain_digit(char32_t sign) {
  static constexpr char32_t zeros[] = {0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10};
  for (const auto zero : zeros) {
    if (sign >= zero && sign <= zero + 9) {
      return static_cast<char>('0' + (sign - zero));
    }
  }
  const bool is_mathematical = sign >= 0x1D7CE && sign <= 0x1D7FF;
  return is_mathematical ? std::optional(static_cast<char>('0' + (sign - 0x1D7CE) % 10)) : std::nullopt;
}

/// Unicode signs as plain ones, control characters as blanks.
std::string with_plain_signs(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if (text[at] == '\r') {
        plain += at + 1 < text.size() && text[at + 1] == '\n' ? "" : "\n";
      } else {
        plain += (byte < 0x20 && text[at] != '\n') || byte == 0x7F ? ' ' : text[at];
      }
      ++at;
      continue;
    }
    const auto point = base::decode_utf8(text, at);
    if (!point) {
      plain += ' ';
      ++at;
      continue;
    }
    if (const auto sign = plain_sign(point->value)) {
      plain += *sign;
    } else if (const auto digit = plain_digit(point->value)) {
      plain += *digit;
    } else {
      plain += text.substr(at, point->length);
    }
    at += point->length;
  }
  return plain;
}

/// Takes out what models write before their answer.
std::string without_thoughts(std::string_view answer) {
  std::string text(answer);
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"<think>", "</think>"},
                                    {"<thinking>", "</thinking>"},
                                    {"<|channel|>analysis", "<|channel|>final"}}) {
    std::string kept;
    std::size_t at = 0;
    for (auto begin = text.find(open); begin != std::string::npos; begin = text.find(open, at)) {
      kept += std::string_view(text).substr(at, begin - at);
      const auto end = text.find(close, begin);
      at = end == std::string::npos ? text.size() : end + close.size();
    }
    // A section whose beginning was part of the prompt.
    const auto stray = kept.empty() && at == 0 ? text.find(close) : std::string::npos;
    at = stray == std::string::npos ? at : stray + close.size();
    kept += std::string_view(text).substr(at);
    text = std::move(kept);
  }
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of a tag "<b>", "</li>", "<br/>" that begins at `at`; nothing: it is none.
std::optional<std::size_t> tag_end(std::string_view text, std::size_t at) {
  constexpr std::size_t longest = 64;
  const auto first = at + (at + 1 < text.size() && text[at + 1] == '/' ? 2 : 1);
  if (first >= text.size() || !is_letter(text[first])) {
    return std::nullopt;
  }
  const auto end = text.substr(first, longest).find_first_of("<>\n");
  return end == std::string_view::npos || text[first + end] != '>' ? std::nullopt : std::optional(first + end + 1);
}

/// What a tag stands for: nothing or a line end in HTML; of another element its name as a label, where it ends behind.
std::string tag_text(std::string_view tag, std::string_view behind) {
  static constexpr auto inline_elements = word_list<"b i em strong u s a span code font sup sub del small mark">;
  static constexpr auto blocks = word_list<"br li p h tr div ul ol td th hr table body pre html">;
  const bool closes = tag[1] == '/';
  const auto begin = closes ? 2U : 1U;
  const auto name = tag.substr(begin, tag.find_first_of(" />0123456789", begin) - begin);
  const auto lower = base::lower_ascii(name);
  if (base::contains(inline_elements, lower)) {
    return "";
  }
  constexpr std::size_t longest = 1000;  // of an element
  const bool is_label = !closes && !base::contains(blocks, lower) &&
                        behind.substr(0, longest).find("</" + std::string(name) + ">") != std::string_view::npos;
  return is_label ? "\n" + lower + ": " : "\n";
}

/// The end of a struck passage "~~3~~" of a line that begins at `at`; nothing: none does.
std::optional<std::size_t> struck_end(std::string_view text, std::size_t at) {
  constexpr std::size_t longest = 200;
  const std::string_view mark = "~~";
  if (!text.substr(at).starts_with(mark)) {
    return std::nullopt;
  }
  const auto rest = text.substr(at + mark.size(), longest);
  const auto end = rest.substr(0, rest.find('\n')).find(mark);
  return end == std::string_view::npos || end == 0 ? std::nullopt : std::optional(at + 2 * mark.size() + end);
}

/// Whether "_" stands inside a word: "a_b".
bool is_inside_word(std::string_view text, std::size_t at) {
  const auto is_part = [](char c) { return is_letter(c) || is_digit(c); };
  return at > 0 && at + 1 < text.size() && is_part(text[at - 1]) && is_part(text[at + 1]);
}

/// "# 3" and "#3" are headings; "#kind" and "#3: kind" are none. What stands behind "#".
bool is_heading_mark(std::string_view behind) {
  const auto next = behind.substr(std::min(behind.find_first_not_of("0123456789"), behind.size()), 1);
  const bool counts = next.data() > behind.data() && !next.empty() && std::string_view(":.)").find(next) != next.npos;
  return !counts && (behind.empty() || !is_letter(behind.front()));
}

std::string without_markup(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  bool starts_line = true;  // only blanks since the line began
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char sign = text[at];
    if (starts_line && text.substr(at).starts_with("```")) {
      at += 2;  // and the name of a language
      const auto line_end = std::min(text.find('\n', at), text.size());
      const auto name = base::trim(text.substr(at + 1, line_end - at - 1));
      at = line_end < text.size() && std::ranges::all_of(name, is_letter) ? line_end - 1 : at;
      continue;
    }
    if (const auto struck = struck_end(text, at)) {
      at = *struck - 1;
      continue;
    }
    if (const auto end = sign == '<' ? tag_end(text, at) : std::nullopt) {
      const auto stands_for = tag_text(text.substr(at, *end - at), text.substr(*end));
      plain += stands_for;
      starts_line = starts_line || stands_for.ends_with('\n');
      at = *end - 1;
      continue;
    }
    const bool is_bullet = sign == '*' && starts_line && at + 1 < text.size() && text[at + 1] == ' ';
    const bool is_quote = (sign == '>' || (sign == '#' && is_heading_mark(text.substr(at + 1)))) && starts_line;
    const bool multiplies = at > 0 && text[at - 1] == ' ' && text.substr(at + 1).starts_with(' ');
    const bool is_emphasis =
        (sign == '*' && !multiplies) || sign == '`' || sign == '\\' || (sign == '_' && !is_inside_word(text, at));
    if (is_bullet) {
      plain += '-';
    } else if (!is_emphasis && !is_quote) {
      plain += sign;
      starts_line = sign == '\n' || (starts_line && (sign == ' ' || sign == '\t'));
    }
  }
  return plain;
}

}  // namespace

bool is_letter(char sign) {
  return std::isalpha(static_cast<unsigned char>(sign)) != 0 || static_cast<unsigned char>(sign) >= 0x80;
}

std::string plain_text(std::string_view answer) {
  const auto text = without_markup(with_plain_signs(with_json_as_lines(without_thoughts(answer))));
  return std::string(base::trim(with_tables_as_lines(text)));
}

TokenizedText::TokenizedText(std::string_view plain) : lower_(base::lower_ascii(plain)) {
  const std::string_view text = lower_;
  bool follows_blank = true;
  for (std::size_t at = 0; at < text.size();) {
    const char first = text[at];
    std::size_t end = at + 1;
    Token token{
        .kind = Token::Kind::mark, .text = {}, .is_capital = plain[at] != first, .follows_blank = follows_blank};
    follows_blank = false;
    if (first == '\n') {
      token.kind = Token::Kind::line_end;
      follows_blank = true;
    } else if (first == ' ' || first == '\t') {
      follows_blank = true;
      ++at;
      continue;
    } else if (is_digit(first) || (first == '.' && end < text.size() && is_digit(text[end]) &&
                                   (at == 0 || !is_digit(text[at - 1])) && token.follows_blank)) {
      token.kind = Token::Kind::number;
      bool has_point = first == '.';
      while (end < text.size() && (is_digit(text[end]) || (!has_point && (text[end] == '.' || text[end] == ',') &&
                                                           end + 1 < text.size() && is_digit(text[end + 1])))) {
        has_point = has_point || text[end] == '.';
        ++end;
      }
    } else if (is_letter(first)) {
      token.kind = Token::Kind::word;
      while (end < text.size() &&
             (is_letter(text[end]) || (text[end] == '\'' && end + 1 < text.size() && is_letter(text[end + 1])))) {
        ++end;
      }
    }
    token.text = text.substr(at, end - at);
    if (token.is_number()) {
      // "1,000" is a thousand, "3,5" three and a half.
      const auto comma = token.text.rfind(',');
      const bool groups = comma != std::string_view::npos && token.text.size() - comma == 4;
      token.value =
          base::parse_double(base::replace_all(std::string(token.text), ",", groups ? "" : ".")).value_or(-1e300);
    }
    tokens_.push_back(token);
    at = end;
  }
  find_list_marks();
}

/// Numbers that rise by one from line to line; "1." alone only before a number, or before a sentence in front.
void TokenizedText::find_list_marks() {
  std::vector<std::size_t> chain;
  std::vector<std::size_t> starts;         // marks of all chains
  std::vector<std::size_t> chain_lengths;  // of each
  const auto close = [&] {
    constexpr std::size_t few_words = 4;
    for (const auto at : chain) {
      const auto behind = std::span(tokens_).subspan(std::min(at + 2, tokens_.size()));
      const bool leads_to_sentence =
          at == 0 && behind.size() > few_words && std::ranges::all_of(behind.first(few_words), &Token::is_word);
      const auto label = std::ranges::find_if(behind, [](const Token& one) { return !one.is_word() && !one.is("-"); });
      const bool leads_to_label = label != behind.begin() && label != behind.end() && label->is(":");
      const bool leads_to_number = chain.size() == 1 && tokens_[at].value == 1 && tokens_[at + 1].is(".") &&
                                   !behind.empty() &&
                                   (behind.front().is_number() || leads_to_sentence || leads_to_label);
      tokens_[at].is_list_mark = chain.size() > 1 || leads_to_number;
      starts.push_back(at);
      chain_lengths.push_back(chain.size());
    }
    mark_first_before(chain);
    chain.clear();
  };
  bool opens = true;  // the line, but for bullets and brackets
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const auto& token = tokens_[at];
    const auto value = opens ? list_mark_at(at) : std::nullopt;
    if (value) {
      const bool is_dotted = tokens_[at + 1].is(".") || tokens_[at + 1].is(")");
      const double rise = chain.empty() ? 0 : *value - tokens_[chain.back()].value;
      const auto sign = chain.empty() ? std::string_view() : tokens_[chain.back() + 1].text;
      const bool is_same_sign = tokens_[at + 1].is(sign) || (is_dotted && (sign == "." || sign == ")"));
      const bool continues = is_same_sign && (rise == 1 || (rise == 0 && is_dotted));
      const bool begins = !continues && at + 2 < tokens_.size() && (is_dotted || *value == 1);
      if (begins) {
        close();
      }
      if (begins || continues) {
        chain.push_back(at);
      }
    }
    const bool is_bracket = token.is("-") || token.is("+") || token.is("(") || token.is("#") || token.is("\"");
    opens = token.kind == Token::Kind::line_end || (opens && is_bracket);
  }
  if (!chain.empty() && tokens_.back().value == tokens_[chain.back()].value + 1 &&
      tokens_.end()[-2].kind == Token::Kind::line_end) {
    chain.push_back(tokens_.size() - 1);  // "1. They help.\n2", cut off
  }
  close();
  find_marks_in_lines(starts, chain_lengths);
}

/// The 1 of a list from 2 on that ends the line before: "These are five: 1. kind\n2. warm".
void TokenizedText::mark_first_before(std::span<const std::size_t> chain) {
  if (chain.size() < 2 || tokens_[chain.front()].value != 2) {
    return;
  }
  auto at = chain.front();
  for (int line_ends = 0; at-- > 1 && line_ends < 2;) {
    line_ends += tokens_[at].kind == Token::Kind::line_end ? 1 : 0;
    const auto before = tokens_[at - 1].is("(") && at > 1 ? at - 2 : at - 1;
    if (list_mark_at(at) == 1 && tokens_[at + 2].is_word() && tokens_[at + 1].is(tokens_[chain.front() + 1].text) &&
        (ends_sentence(tokens_[before]) || tokens_[before].is(":"))) {
      tokens_[at].is_list_mark = true;
      return;
    }
  }
}

/// Numbers that rise in one line, before words, from the mark of the line or from 1: "1. kind: 2. warm", "so: 1. kind
/// 2. warm". Two in a line whose mark belongs to a chain of lines are mark and rating: "1. kind: 2. They ...".
void TokenizedText::find_marks_in_lines(std::span<const std::size_t> starts,
                                        std::span<const std::size_t> chain_lengths) {
  constexpr double longest_step = 2;
  std::vector<std::size_t> chain;
  std::size_t least = 2;
  std::size_t next_start = 0;
  const auto close = [&] {
    for (const auto at : chain) {
      tokens_[at].is_list_mark = tokens_[at].is_list_mark || chain.size() >= least;
    }
    chain.clear();
  };
  for (std::size_t at = 0; at + 2 < tokens_.size(); ++at) {
    if (tokens_[at].kind == Token::Kind::line_end) {
      close();
    }
    if (next_start < starts.size() && starts[next_start] == at) {
      least = chain_lengths[next_start++] > 1 ? 3 : 2;
      chain.assign(1, at);
      continue;
    }
    const auto value = list_mark_at(at);
    const bool is_before_word = tokens_[at + 2].is_word() || tokens_[at + 2].is("\"");
    if (!value || !is_before_word || !(tokens_[at + 1].is(".") || tokens_[at + 1].is(")"))) {
      continue;
    }
    const double rise = chain.empty() ? -1 : *value - tokens_[chain.back()].value;
    const bool continues = rise >= 0 && rise <= longest_step;
    if (!continues && *value == 1 && at > 0) {
      const auto before = tokens_[at - 1].is("(") && at > 1 ? at - 2 : at - 1;
      const bool is_announced = !chain.empty() || ends_sentence(tokens_[before]) || tokens_[before].is(":");
      close();
      least = is_announced ? 2 : 3;
    }
    // "Kind: 1. Warm: 2." are values, "1. kind: 2. warm:" marks.
    const bool is_value =
        continues && tokens_[at - 1].is(":") && chain.front() > 0 && tokens_[chain.front() - 1].is(":");
    if (is_value) {
      chain.clear();
    } else if (continues || *value == 1) {
      chain.push_back(at);
    }
  }
  close();
}

/// The number of "1.", "(1)", "1:" or "1 -" with something behind it in its line.
std::optional<double> TokenizedText::list_mark_at(std::size_t at) const {
  constexpr double greatest = 999;
  const auto& token = tokens_[at];
  const bool is_whole = token.is_number() && std::ranges::all_of(token.text, is_digit) && token.value <= greatest;
  const bool is_last = at + 2 == tokens_.size();
  if (!is_whole || at + 1 >= tokens_.size() || (!is_last && tokens_[at + 2].kind == Token::Kind::line_end)) {
    return std::nullopt;
  }
  const auto& sign = tokens_[at + 1];
  const bool is_apart = is_last || tokens_[at + 2].follows_blank;
  const bool marks =
      ((sign.is(".") || sign.is(")")) && !sign.follows_blank && (is_apart || tokens_[at + 2].is_word())) ||
      ((sign.is(":") || sign.is("-")) && is_apart && !is_last);
  return marks ? std::optional(token.value) : std::nullopt;
}

bool ends_sentence(const Token& token) {
  return token.kind == Token::Kind::line_end || base::contains(word_list<". ! ? ;">, token.text);
}

std::size_t count_sentences(std::span<const Token> tokens) {
  std::size_t count = 0;
  bool has_word = false;
  for (const auto& token : tokens) {
    has_word = has_word || token.is_word();
    count += ends_sentence(token) && has_word ? 1 : 0;
    has_word = has_word && !ends_sentence(token);
  }
  return count + (has_word ? 1 : 0);
}

std::vector<std::string_view> parts_between(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(base::trim(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

std::vector<std::string_view> sentences_of(std::string_view plain) {
  const auto is_any = [&](std::size_t at, std::string_view signs) { return signs.find(plain[at]) != signs.npos; };
  const auto ends = [&](std::size_t at) {  // "kind.", "\"kind.\""
    return is_any(at + 1, " \t\n") && is_any(at - (at > 0 && plain[at] == '"' ? 1 : 0), ".!?");
  };
  std::vector<std::string_view> sentences;
  for (std::size_t first = 0; first < plain.size();) {
    auto last = first;
    while (last + 1 < plain.size() && plain[last] != '\n' && !ends(last)) {
      ++last;
    }
    const auto sentence = base::trim(plain.substr(first, last + 1 - first));
    if (!sentence.empty()) {
      sentences.push_back(sentence);
    }
    first = last + 1;
  }
  return sentences;
}

std::size_t indent_of(std::string_view line, std::string_view plain) {
  const auto before = plain.substr(0, static_cast<std::size_t>(line.data() - plain.data()));
  return before.size() - (before.rfind('\n') + 1);
}

bool is_same_stem(std::string_view left, std::string_view right) {
  constexpr std::size_t shortest = 3;
  static constexpr std::pair<std::string_view, std::string_view> irregular[] = {
      {"proud", "pride"}, {"strong", "strength"}, {"wise", "wisdom"}, {"poor", "poverty"}, {"young", "youth"}};
  const auto is_pair = [&](const auto& pair) {
    return (pair.first == left && pair.second == right) || (pair.first == right && pair.second == left);
  };
  if (std::ranges::any_of(irregular, is_pair)) {
    return true;
  }
  static constexpr std::string_view endings[] = {
      "",     "s",       "y",    "ly",    "ness", "iness",   "ity",     "ility", "le",  "t",    "ce",
      "cy",   "e",       "ed",   "ing",   "ful",  "fulness", "th",      "ive",   "ion", "ism",  "al",
      "ably", "ability", "able", "fully", "ve",   "veness",  "iveness", "ily",   "ent", "ence", "ant",
      "ance", "alism",   "ery",  "us",    "sity", "ous",     "on",      "ety"};
  auto common = static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
  for (; common >= shortest; --common) {
    if (base::contains(endings, left.substr(common)) && base::contains(endings, right.substr(common))) {
      return true;
    }
  }
  return false;
}

std::string with_marks_at_lines(std::string_view plain) {
  const TokenizedText text(plain);
  std::string lines;
  std::size_t written = 0;
  for (const auto& token : text.tokens()) {
    if (token.is_list_mark) {
      auto at = static_cast<std::size_t>(token.text.data() - text.lower().data());
      at -= at > 0 && plain[at - 1] == '(' ? 1 : 0;
      const auto before = base::trim(plain.substr(0, at).substr(plain.substr(0, at).rfind('\n') + 1));
      lines += plain.substr(written, at - written);
      lines += before.find_first_not_of("-+# ") == std::string_view::npos ? "" : "\n";
      written = at;
    }
  }
  return lines + std::string(plain.substr(written));
}

bool has_word(std::string_view lower, Words words) {
  return std::ranges::any_of(parts_between(lower, " \t,.:;!?()|_-/"),
                             [&](std::string_view word) { return base::contains(words, word); });
}

bool has_part(std::string_view text, Words parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool TokenReader::has_any(std::size_t first, std::size_t last, Words words) const {
  return std::ranges::any_of(tokens_.subspan(first, last - first),
                             [&](const Token& token) { return base::contains(words, token.text); });
}

ListMark list_mark(std::string_view line) {
  line = base::trim(line);
  if (line.starts_with("- ") || line.starts_with("+ ") ||
      (line.starts_with("-") && line.size() > 1 && is_letter(line[1]))) {
    return {ListMark::Kind::bullet, base::trim(line.substr(1))};
  }
  constexpr std::size_t most_digits = 4;
  const bool is_enclosed = line.starts_with('(');
  const auto number = line.substr(is_enclosed ? 1 : 0);
  const auto digits = std::min(number.find_first_not_of("0123456789"), number.size());
  const auto behind = number.substr(digits);
  const bool is_dash = behind.starts_with("- ") || behind.starts_with(" - ");
  const bool is_sign = behind.starts_with(')') || behind.starts_with('.') || behind.starts_with(':');
  const bool is_apart = behind.size() < 2 || !is_digit(behind[1]);
  const bool marks = is_enclosed ? behind.starts_with(')') && is_apart : is_dash || (is_sign && is_apart);
  if (digits > 0 && digits <= most_digits && marks) {
    return {ListMark::Kind::number, base::trim(behind.substr(behind.find_first_of("-.:)") + 1))};
  }
  return {ListMark::Kind::none, line};
}

}  // namespace stereosweep::answers
