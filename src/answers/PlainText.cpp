#include "answers/PlainText.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/Text.hpp"

namespace stereosweep::answers {
namespace {

/// What a character stands for; nothing: itself.
std::optional<std::string_view> plain_sign(char32_t sign) {
  static constexpr std::pair<char32_t, std::string_view> signs[] = {
      {0x00A0, " "},  {0x00AD, ""},   {0x2022, "-"},  {0x2023, "-"},  {0x2043, "-"},  {0x25AA, "-"},  {0x25CF, "-"},
      {0x25E6, "-"},  {0x00B7, "-"},  {0x2212, "-"},  {0x2018, "'"},  {0x2019, "'"},  {0x201A, "'"},  {0x201B, "'"},
      {0x2032, "'"},  {0x201C, "\""}, {0x201D, "\""}, {0x201E, "\""}, {0x00AB, "\""}, {0x00BB, "\""}, {0x2026, "..."},
      {0x2044, "/"},  {0x2215, "/"},  {0x3000, " "},  {0x202F, " "},  {0x205F, " "},  {0xFEFF, ""},   {0x00BD, ".5"},
      {0x2248, "~"},  {0x2192, "->"}, {0xFF1A, ":"},  {0xFF0C, ","},  {0x3001, ","},  {0x3002, "."},  {0x2028, "\n"},
      {0x2029, "\n"}, {0x0085, "\n"}};
  if (sign == 0x2014 || sign == 0x2015) {
    return " - ";
  }
  if ((sign >= 0x2600 && sign <= 0x27BF) || (sign >= 0x1F000 && sign <= 0x1FAFF)) {
    return " ";  // pictures
  }
  if (sign >= 0x2010 && sign <= 0x2013) {
    return "-";
  }
  if (sign >= 0x2000 && sign <= 0x200A) {
    return " ";
  }
  if ((sign >= 0x200B && sign <= 0x200F) || (sign >= 0xFE00 && sign <= 0xFE0F) || sign == 0x20E3) {
    return "";
  }
  const auto* found = std::ranges::find(signs, sign, [](const auto& pair) { return pair.first; });
  return found == std::end(signs) ? std::nullopt : std::optional(found->second);
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
    } else if (point->value >= 0xFF10 && point->value <= 0xFF19) {
      plain += static_cast<char>('0' + (point->value - 0xFF10));
    } else {
      plain += text.substr(at, point->length);
    }
    at += point->length;
  }
  return plain;
}

/// Takes out what models write before their answer.
std::string without_thoughts(std::string text) {
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

/// Whether "_" stands inside a word: "a_b".
bool is_inside_word(std::string_view text, std::size_t at) {
  const auto is_part = [](char c) { return is_letter(c) || is_digit(c); };
  return at > 0 && at + 1 < text.size() && is_part(text[at - 1]) && is_part(text[at + 1]);
}

std::string without_markup(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  bool starts_line = true;  // only blanks since the line began
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char sign = text[at];
    const auto end = sign == '<' ? tag_end(text, at) : std::nullopt;
    if (end) {
      const auto name = base::lower_ascii(text.substr(at, *end - at));
      static constexpr std::string_view breaks[] = {"<br", "<li", "</p", "</li", "<tr", "</h"};
      const bool is_break = std::ranges::any_of(breaks, [&](std::string_view one) { return name.starts_with(one); });
      plain += is_break ? "\n" : "";
      starts_line = starts_line || is_break;
      at = *end - 1;
      continue;
    }
    const bool is_bullet = sign == '*' && starts_line && at + 1 < text.size() && text[at + 1] == ' ';
    const bool is_quote = (sign == '#' || sign == '>') && starts_line;
    const bool is_emphasis = sign == '*' || sign == '`' || sign == '\\' || (sign == '_' && !is_inside_word(text, at));
    if (is_bullet) {
      plain += '-';
    } else if (!is_emphasis && !is_quote) {
      plain += sign;
      starts_line = sign == '\n' || (starts_line && (sign == ' ' || sign == '\t'));
    }
  }
  return plain;
}

constexpr std::string_view refusals[] = {"i cannot",
                                         "i can't",
                                         "i can not",
                                         "i could not",
                                         "i couldn't",
                                         "i am unable",
                                         "i'm unable",
                                         "i am not able",
                                         "i'm not able",
                                         "unable to provide",
                                         "unable to rate",
                                         "unable to assign",
                                         "unable to give",
                                         "unable to answer",
                                         "unable to offer",
                                         "i won't",
                                         "i will not",
                                         "i'm not going to",
                                         "i am not going to",
                                         "i must decline",
                                         "i have to decline",
                                         "i decline",
                                         "i refuse",
                                         "i must refuse",
                                         "i'd rather not",
                                         "i would rather not",
                                         "i prefer not",
                                         "i'd prefer not",
                                         "i would prefer not",
                                         "as an ai",
                                         "as a language",
                                         "as an artificial",
                                         "as a large language",
                                         "as a responsible ai",
                                         "i'm just an ai",
                                         "i'm sorry",
                                         "i am sorry",
                                         "sorry, but",
                                         "i apologize",
                                         "i apologise",
                                         "my apologies",
                                         "not appropriate",
                                         "inappropriate",
                                         "isn't appropriate",
                                         "not comfortable",
                                         "uncomfortable",
                                         "not ethical",
                                         "unethical",
                                         "do not have an opinion",
                                         "don't have an opinion",
                                         "don't have opinions",
                                         "do not have opinions",
                                         "don't have personal",
                                         "do not have personal",
                                         "no personal opinion",
                                         "don't hold personal",
                                         "do not hold personal",
                                         "don't hold opinions",
                                         "decline to answer",
                                         "decline to rate",
                                         "decline to provide",
                                         "not possible to rate",
                                         "not possible to assign",
                                         "not possible to give",
                                         "impossible to rate",
                                         "impossible to assign",
                                         "not able to provide",
                                         "cannot provide",
                                         "can't provide",
                                         "cannot be rated",
                                         "cannot assign",
                                         "can't assign",
                                         "cannot rate",
                                         "can't rate",
                                         "won't provide",
                                         "won't rate",
                                         "won't assign",
                                         "not something i can",
                                         "against my guidelines",
                                         "against my programming",
                                         "goes against",
                                         "can't help with",
                                         "cannot help with",
                                         "can't assist",
                                         "cannot assist",
                                         "not going to rate",
                                         "no comment",
                                         "think it's appropriate",
                                         "think it is appropriate",
                                         "believe it's appropriate",
                                         "believe it is appropriate",
                                         "be appropriate to rate",
                                         "refrain from",
                                         "shouldn't be rated",
                                         "should not be rated",
                                         "don't feel comfortable",
                                         "do not feel comfortable"};

}  // namespace

bool is_letter(char sign) {
  return std::isalpha(static_cast<unsigned char>(sign)) != 0 || static_cast<unsigned char>(sign) >= 0x80;
}

std::string plain_text(std::string_view answer) {
  return std::string(base::trim(without_markup(without_thoughts(with_plain_signs(answer)))));
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
}

bool ends_sentence(const Token& token) {
  return token.kind == Token::Kind::line_end ||
         (token.kind == Token::Kind::mark && (token.is(".") || token.is("!") || token.is("?") || token.is(";")));
}

std::vector<std::string_view> lines_of(std::string_view plain) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= plain.size();) {
    const auto end = std::min(plain.find('\n', at), plain.size());
    lines.push_back(base::trim(plain.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

ListMark list_mark(std::string_view line) {
  line = base::trim(line);
  const auto rest_after = [&](std::size_t count) { return base::trim(line.substr(count)); };
  if (line.starts_with("- ") || line.starts_with("+ ") ||
      (line.starts_with("-") && line.size() > 1 && is_letter(line[1]))) {
    return {ListMark::Kind::bullet, 0, rest_after(1)};
  }
  std::size_t digits = 0;
  const auto first = line.starts_with("(") ? std::size_t{1} : std::size_t{0};
  while (first + digits < line.size() && digits < 4 && is_digit(line[first + digits])) {
    ++digits;
  }
  const auto after = first + digits;
  if (digits > 0 && after < line.size() &&
      (line[after] == ')' || (first == 0 && (line[after] == '.' || line[after] == ':'))) &&
      (after + 1 == line.size() || !is_digit(line[after + 1]))) {
    return {ListMark::Kind::number, static_cast<long>(base::parse_integer(line.substr(first, digits)).value_or(0)),
            rest_after(after + 1)};
  }
  return {ListMark::Kind::none, 0, line};
}

bool has_refusal(std::string_view whole) {
  constexpr std::size_t looked_at = 20'000;  // bytes at each end
  if (whole.size() > 2 * looked_at) {
    return has_refusal(whole.substr(0, looked_at)) || has_refusal(whole.substr(whole.size() - looked_at));
  }
  return std::ranges::any_of(refusals,
                             [&](std::string_view phrase) { return whole.find(phrase) != std::string_view::npos; });
}

}  // namespace stereosweep::answers
