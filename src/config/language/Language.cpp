#include "config/language/Language.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_set>

namespace stereosweep::config {
namespace {

using Words = std::unordered_set<std::string_view>;

// Of either list words that are common in the other one's languages are left out ("is", "in", "was", "die", "no").
const Words english = {"the",  "are",   "of",     "and",     "to",    "that",   "than",   "be",   "been",  "being",
                       "were", "they",  "their",  "them",    "this",  "these",  "those",  "with", "have",  "has",
                       "had",  "would", "will",   "can",     "could", "should", "people", "most", "many",  "very",
                       "more", "often", "always", "who",     "what",  "which",  "how",    "when", "think", "say",
                       "said", "known", "for",    "because", "you",   "your",   "our",    "she",  "his",   "her",
                       "it",   "its",   "from",   "by",      "not"};
const Words others = {
    "der",    "das",    "und",  "ist",   "sind", "ein",    "eine", "sehr",   "nicht",  "wie",   "viele", "dass",
    "werden", "les",    "sont", "une",   "est",  "des",    "et",   "tres",   "pas",    "que",   "qui",   "dans",
    "pour",   "du",     "los",  "las",   "el",   "una",    "unos", "muy",    "es",     "del",   "con",   "como",
    "todos",  "suelen", "gli",  "sono",  "il",   "lo",     "di",   "che",    "molto",  "della", "ogni",  "os",
    "sao",    "uma",    "um",   "muito", "dos",  "het",    "een",  "zijn",   "heel",   "niet",  "erg",   "och",
    "ett",    "mycket", "som",  "og",    "er",   "meget",  "jest", "nie",    "bardzo", "sie",   "bir",   "ve",
    "cok",    "olarak", "ovat", "hyvin", "egy",  "nagyon", "sunt", "foarte", "je",     "su",    "jsou",  "velmi"};

}  // namespace

bool seems_english(std::span<const std::string> texts) {
  std::size_t num_words = 0;
  std::size_t num_english = 0;
  std::size_t num_others = 0;
  for (const auto& text : texts) {
    std::string word;
    bool has_other_letter = false;
    int depth = 0;
    for (const char c : text + " ") {
      const auto byte = static_cast<unsigned char>(c);
      const bool is_capital = c >= 'A' && c <= 'Z';
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 0 && (is_capital || (c >= 'a' && c <= 'z') || byte >= 0x80)) {
        word += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
        has_other_letter = has_other_letter || (byte >= 0xC3 && byte != 0xE2);  // E2: dashes and quotes
        continue;
      }
      if (!word.empty()) {
        ++num_words;
        num_english += english.contains(word) ? 1 : 0;
        num_others += has_other_letter || others.contains(word) ? 1 : 0;
      }
      word.clear();
      has_other_letter = false;
    }
  }
  constexpr std::size_t enough_words = 6;
  return num_others == 0 ? num_english > 0 || num_words < enough_words : num_english >= num_others;
}

}  // namespace stereosweep::config
