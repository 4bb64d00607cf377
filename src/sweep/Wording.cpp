#include "sweep/Wording.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/text/Text.hpp"

namespace stereosweep::sweep {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

/// The first word, lower case: ASCII letters only.
std::string first_word_in_lower_case(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i < text.size() && is_letter(text[i]); ++i) {
    word += lower(text[i]);
  }
  return word;
}

/// Two or more capitals, said letter by letter: "US citizen", "LGBT person", "HIV-positive person".
bool is_spelled_out(std::string_view text) {
  std::size_t length = 0;
  for (; length < text.size() && is_letter(text[length]); ++length) {
    if (text[length] == lower(text[length])) {
      return false;
    }
  }
  return length >= 2;
}

/// Of a letter that begins a word: where two letters are one character, the first alone is a capital. No word begins
/// with a sharp s.
char32_t upper(char32_t c) {
  return c == U'\u00DF' ? c : static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
}

/// Whether the text begins with a vowel of Latin-1 or Latin Extended-A that has a mark or is a ligature: "émigré".
bool opens_with_marked_vowel(std::string_view text) {
  const auto first = base::decode_utf8(text, 0);
  if (!first || first->value < 0xC0 || first->value > 0x17F) {
    return false;
  }
  const auto c = upper(first->value);
  const auto within = [c](char32_t from, char32_t to) { return c >= from && c <= to; };
  return within(0xC0, 0xC6) || within(0xC8, 0xCF) || within(0xD2, 0xD6) || within(0xD8, 0xDC) || within(0x100, 0x104) ||
         within(0x112, 0x11A) || within(0x128, 0x132) || within(0x14C, 0x152) || within(0x168, 0x172);
}

/// Removes one trailing quote or bracket that can stand before a sentence; true if it was an opening quote.
bool drop_opener(std::string_view& text) {
  constexpr std::array<std::string_view, 8> openers = {"\"", "'", "(", "[", "\u201C", "\u2018", "\u00AB", "\u201E"};
  for (const auto opener : openers) {
    if (text.ends_with(opener)) {
      text.remove_suffix(opener.size());
      return true;
    }
  }
  return false;
}

}  // namespace

std::string indefinite_article(std::string_view words) {
  const std::string word = first_word_in_lower_case(words);
  if (word.empty()) {
    return opens_with_marked_vowel(words) ? "an" : "a";
  }
  const auto starts = [&word](std::string_view prefix) { return word.starts_with(prefix); };
  if (starts("hour") || starts("honest") || starts("honor") || starts("honour") || starts("heir")) {
    return "an";
  }
  if (is_spelled_out(words)) {
    return std::string_view("AEFHILMNORSX").find(words.front()) != std::string_view::npos ? "an" : "a";
  }
  const bool you_and_n = starts("uni") && !starts("unin") && !starts("unim") && !starts("unid");
  const bool you_and_t = starts("ut") && !starts("utt") && !starts("utm");
  const bool like_you = you_and_n || you_and_t || starts("eu") || starts("use") || starts("usu") || starts("uga") ||
                        starts("ukr") || starts("uru") || starts("uig") || starts("uyg") || word == "one" ||
                        starts("once");
  return std::string_view("aeiou").find(word.front()) != std::string_view::npos && !like_you ? "an" : "a";
}

std::string article_before(std::string_view words, const ArticleRule& rule) {
  if (rule.by == ArticleRule::By::english) {
    return indefinite_article(words);
  }
  const bool opens_with_vowel =
      opens_with_marked_vowel(words) ||
      (!words.empty() && std::string_view("aeiou").find(lower(words.front())) != std::string_view::npos);
  return opens_with_vowel ? rule.before_vowel : rule.otherwise;
}

std::string capitalise(std::string_view text) {
  const auto first = base::decode_utf8(text, 0);
  if (!first || upper(first->value) == first->value) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  base::append_utf8(out, upper(first->value));
  return out.append(text.substr(first->length));
}

bool opens_sentence(std::string_view text) {
  bool quoted = false;
  while (drop_opener(text)) {
    quoted = true;
  }
  if (text.empty()) {
    return true;
  }
  const bool spaced = text.back() == ' ';
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  if (text.empty() || (quoted && spaced)) {
    return true;
  }
  if (!spaced) {
    return false;
  }
  drop_opener(text);  // here a closing one: He said "no." {prompt}
  return !text.empty() && std::string_view(".!?").find(text.back()) != std::string_view::npos;
}

bool opens_sentence_at(std::string_view before, std::string_view after) {
  constexpr std::array<std::string_view, 7> closers = {"\"", "'", ")", "]", "\u201D", "\u2019", "\u00BB"};
  const auto closes = [after](std::string_view mark) { return after.starts_with(mark); };
  if (std::any_of(closers.begin(), closers.end(), closes)) {
    drop_opener(before);
  }
  return opens_sentence(before);
}

std::string lower_function_word(std::string_view text) {
  static constexpr std::array<std::string_view, 44> words = {
      "a",        "all",    "an",  "another", "any",   "as",   "at",   "both",   "each",    "every", "everybody",
      "everyone", "few",    "for", "from",    "here",  "how",  "if",   "in",     "it",      "many",  "most",
      "no",       "nobody", "of",  "often",   "on",    "one",  "our",  "people", "several", "some",  "someone",
      "such",     "that",   "the", "there",   "these", "they", "this", "those",  "we",      "what",  "why"};
  const std::string word = first_word_in_lower_case(text);
  const bool whole = text.size() == word.size() || text[word.size()] == ' ' || text[word.size()] == ',';
  std::string out(text);
  if (whole && std::find(words.begin(), words.end(), word) != words.end()) {
    out.front() = lower(out.front());
  }
  return out;
}

std::string text_inside(const Template& sentence) {
  return sentence.inside.empty() ? lower_function_word(sentence.text) : sentence.inside;
}

}  // namespace stereosweep::sweep
