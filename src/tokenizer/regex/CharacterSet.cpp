#include "tokenizer/regex/CharacterSet.hpp"

#include "base/Text.hpp"
#include "tokenizer/regex/Regex.hpp"

namespace stereosweep::tokenizer {

CharacterSet::CharacterSet(const std::string& expression, const Field& place)
    : pattern_(make_regex(expression, place)), pages_(num_pages), known_(num_pages) {
  for (char32_t value = 0; value < ascii_.size(); ++value) {
    ascii_[value] = ask(value);
  }
}

bool CharacterSet::ask(char32_t value) const {
  std::string character;
  base::append_utf8(character, value);
  std::vector<Match> parts;
  pattern_->find(character, parts);
  return parts.front().is_match;
}

void CharacterSet::read_page(std::size_t page) const {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < page_size; ++i) {
    const auto value = static_cast<char32_t>(page * page_size + i);
    if ((value < 0xD800 || value > 0xDFFF) && ask(value)) {  // surrogates are no characters
      bits |= std::uint64_t{1} << i;
    }
  }
  pages_[page].store(bits, std::memory_order_relaxed);
  known_[page].store(true, std::memory_order_release);
}

}  // namespace stereosweep::tokenizer
