#include "probes/association/WordPieces.hpp"

#include <algorithm>
#include <utility>

#include "base/Check.hpp"

namespace stereosweep::probes::association {

namespace {

using query::TokenId;

constexpr std::string_view white_space = " \t\n\r\f\v";

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

using Parts = WordLocator::Parts;

Parts split_at(const tokenizer::Encoding& encoding, base::Span span) {
  Parts parts;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const base::Span& token = encoding.offsets[i];
    const bool overlaps = token.begin < span.end && token.end > span.begin;
    const bool earlier = token.end <= span.begin && parts.inside.empty();
    (overlaps ? parts.inside : earlier ? parts.before : parts.after).push_back(encoding.ids[i]);
  }
  return parts;
}

}  // namespace

WordLocator::WordLocator(const tokenizer::Tokenizer& tokenizer, Surroundings surroundings)
    : tokenizer_(tokenizer), surroundings_(std::move(surroundings)) {
  const auto mask = tokenizer_.mask_token();
  STEREOSWEEP_ASSERT(mask.has_value(), "a masked model's tokenizer");
  const std::string text = surroundings_.before + *mask + surroundings_.after;
  const std::size_t begin = surroundings_.before.size();
  auto parts = split_at(tokenizer_.encode(text, tokenizer::SpecialTokens::leave_out), {begin, begin + mask->size()});
  ids_before_ = std::move(parts.before);
  ids_after_ = std::move(parts.after);
}

/// A blank that the mask eats and no token of the word carries is the word's own first piece: byte-level BPE without a
/// merge of the blank and the word's first byte.
void WordLocator::take_blanks(const tokenizer::Encoding& encoding, Parts& parts) const {
  const auto& before = parts.before;
  const std::size_t known = ids_before_.size();
  if (before.size() <= known || !std::equal(ids_before_.begin(), ids_before_.end(), before.begin())) {
    return;
  }
  const auto last = surroundings_.before.find_last_not_of(white_space);
  const std::size_t blank = last == std::string::npos ? 0 : last + 1;
  if (surroundings_.before.size() != blank + 1 || encoding.offsets[known].begin < blank) {
    return;
  }
  parts.inside.insert(parts.inside.begin(), before.begin() + static_cast<std::ptrdiff_t>(known), before.end());
  parts.before.resize(known);
}

WordPieces WordLocator::locate(std::string_view word) const {
  std::string text = surroundings_.before;
  text.append(word).append(surroundings_.after);
  const std::size_t begin = surroundings_.before.size();
  const auto encoding = tokenizer_.encode(text, tokenizer::SpecialTokens::leave_out);
  auto parts = split_at(encoding, {begin, begin + word.size()});
  take_blanks(encoding, parts);
  WordPieces pieces{.ids = std::move(parts.inside), .status = PieceStatus::ok};
  const auto unknown = tokenizer_.unknown_id();
  if (parts.before != ids_before_ || parts.after != ids_after_) {
    pieces.status = PieceStatus::joins;
  } else if (pieces.ids.empty()) {
    pieces.status = PieceStatus::none;
  } else if (unknown && std::find(pieces.ids.begin(), pieces.ids.end(), *unknown) != pieces.ids.end()) {
    pieces.status = PieceStatus::unknown;
  }
  return pieces;
}

Surroundings neighbourhood(const Surroundings& surroundings, std::string_view mask_token) {
  const std::string_view before = surroundings.before;
  const std::string_view after = surroundings.after;
  std::size_t begin = before.find_last_not_of(white_space);
  if (begin == std::string_view::npos) {
    begin = 0;
  } else if (begin + 1 == before.size()) {  // glued to the word: all of it
    begin = before.find_last_of(white_space);
    begin = begin == std::string_view::npos ? 0 : begin;
  } else if (before.substr(0, begin + 1).ends_with(mask_token)) {  // added tokens may strip white space
    begin = begin + 1 - mask_token.size();
  } else {
    while (begin > 0 && is_continuation_byte(before[begin])) {
      --begin;
    }
  }
  const std::size_t end = after.find_first_of(white_space);
  return {.before = std::string(before.substr(begin)),
          .after = std::string(after.substr(0, end == std::string_view::npos ? end : end + 1))};
}

}  // namespace stereosweep::probes::association
