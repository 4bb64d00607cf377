// Cuts a context down to the neighbourhood of its word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/Text.hpp"
#include "corpus/Sample.hpp"

namespace stereosweep::corpus {

/// The bytes of `sentence` from the first of the `words` words before `span` to the last of those after it. A word is
/// a run without white space; one that the span begins or ends in counts with the span ("well-off" of "not-well-off").
base::Span window(std::string_view sentence, base::Span span, std::int64_t words);

/// `context` with its sentence cut to the window and its span moved along; 0 words: unchanged (the whole sentence).
Context cut_to_window(Context context, std::int64_t words);

/// `context` with its sentence cut to about `most` bytes, as many on each side of the word as there are, at white space
/// where there is some (else between characters). A word that is longer than that stays whole.
Context cut_to_size(Context context, std::size_t most);

}  // namespace stereosweep::corpus
