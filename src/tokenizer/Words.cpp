#include "tokenizer/Words.hpp"

#include "tokenizer/Unicode.hpp"

namespace stereosweep::tokenizer {

std::vector<base::Span> split_words(std::string_view text) {
  std::vector<base::Span> words;
  std::size_t begin = 0;  // of the word that is open; nothing is open where it equals the place
  const auto close = [&](std::size_t end) {
    if (begin < end) {
      words.push_back({begin, end});
    }
  };
  for (std::size_t next = 0; next < text.size();) {
    const auto place = next;
    const auto character = next_character(text, next);
    if (is(character, classes::white_space)) {
      close(place);
      begin = next;
    } else if (is(character, classes::punctuation)) {
      close(place);
      words.push_back({place, next});
      begin = next;
    }
  }
  close(text.size());
  return words;
}

}  // namespace stereosweep::tokenizer
