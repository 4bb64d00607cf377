#include "corpus/Window.hpp"

#include <algorithm>
#include <utility>

#include "base/Check.hpp"
#include "corpus/Characters.hpp"

namespace stereosweep::corpus {
namespace {

// Start of the run of characters before `position` that are white space, or that are none.
std::size_t skip_back(std::string_view text, std::size_t position, Kind kind) {
  while (position > 0) {
    const auto before = previous_character(text, position);
    if ((kind_of(character_at(text, before)) == Kind::white_space) != (kind == Kind::white_space)) {
      break;
    }
    position = before;
  }
  return position;
}

std::size_t skip_forward(std::string_view text, std::size_t position, Kind kind) {
  while (position < text.size()) {
    auto behind = position;
    if ((kind_of(next_character(text, behind)) == Kind::white_space) != (kind == Kind::white_space)) {
      break;
    }
    position = behind;
  }
  return position;
}

bool is_inside_character(std::string_view text, std::size_t position) {
  return position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80;
}

// The first place from `position` to `limit` where a word begins after white space; else the first between characters.
std::size_t next_border(std::string_view text, std::size_t position, std::size_t limit) {
  while (is_inside_character(text, position)) {
    ++position;
  }
  const auto space = skip_forward(text.substr(0, limit), position, Kind::other);
  return space < limit ? skip_forward(text.substr(0, limit), space, Kind::white_space) : position;
}

// The last place from `position` back to `limit` where a word ends before white space; else between characters.
std::size_t last_border(std::string_view text, std::size_t position, std::size_t limit) {
  while (is_inside_character(text, position)) {
    --position;
  }
  const auto rest = text.substr(limit, position - limit);
  const auto word = skip_back(rest, rest.size(), Kind::other);
  return word > 0 ? limit + skip_back(rest, word, Kind::white_space) : position;
}

Context cut(Context context, base::Span kept) {
  context.sentence = context.sentence.substr(kept.begin, kept.end - kept.begin);
  context.span = {context.span.begin - kept.begin, context.span.end - kept.begin};
  return context;
}

}  // namespace

base::Span window(std::string_view sentence, base::Span span, std::int64_t words) {
  STEREOSWEEP_ASSERT(span.begin <= span.end && span.end <= sentence.size(), "span of a context");
  base::Span kept{skip_back(sentence, span.begin, Kind::other), skip_forward(sentence, span.end, Kind::other)};
  for (std::int64_t i = 0; i < words && kept.begin > 0; ++i) {
    const auto border = skip_back(sentence, kept.begin, Kind::white_space);
    if (border > 0) {
      kept.begin = skip_back(sentence, border, Kind::other);
    } else {
      break;
    }
  }
  for (std::int64_t i = 0; i < words && kept.end < sentence.size(); ++i) {
    const auto border = skip_forward(sentence, kept.end, Kind::white_space);
    if (border < sentence.size()) {
      kept.end = skip_forward(sentence, border, Kind::other);
    } else {
      break;
    }
  }
  return kept;
}

Context cut_to_window(Context context, std::int64_t words) {
  if (words <= 0) {
    return context;
  }
  const auto kept = window(context.sentence, context.span, words);
  return cut(std::move(context), kept);
}

Context cut_to_size(Context context, std::size_t most) {
  const auto& text = context.sentence;
  if (text.size() <= most) {
    return context;
  }
  const auto& [begin, end] = context.span;
  const auto room = most - std::min(most, end - begin);
  const auto behind = text.size() - end;
  const auto left = std::min(begin, std::max(room / 2, room - std::min(room, behind)));
  base::Span kept{begin - left, end + std::min(behind, room - left)};
  if (kept.begin > 0) {
    kept.begin = next_border(text, kept.begin, begin);
  }
  if (kept.end < text.size()) {
    kept.end = last_border(text, kept.end, end);
  }
  return cut(std::move(context), kept);
}

}  // namespace stereosweep::corpus
