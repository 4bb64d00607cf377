#include "corpus/Sample.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/Error.hpp"
#include "base/Packing.hpp"
#include "base/text/Utf8.hpp"
#include "corpus/Characters.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::string_view magic = "stereosweep corpus sample 1";

BadLines merge_lines(const BadLines& one, const BadLines& other) {
  BadLines both{one.count + other.count, {}};
  std::merge(one.first.begin(), one.first.end(), other.first.begin(), other.first.end(),
             std::back_inserter(both.first));
  both.first.resize(std::min(both.first.size(), BadLines::most_listed));
  return both;
}

void merge_into(WordSample& one, WordSample&& other, std::uint64_t max_contexts) {
  one.occurrences += other.occurrences;
  std::vector<Context> both;
  both.reserve(one.contexts.size() + other.contexts.size());
  std::merge(std::move_iterator(one.contexts.begin()), std::move_iterator(one.contexts.end()),
             std::move_iterator(other.contexts.begin()), std::move_iterator(other.contexts.end()),
             std::back_inserter(both), comes_before);
  if (both.size() > max_contexts) {
    both.resize(max_contexts);
  }
  one.contexts = std::move(both);
}

void refuse_if(bool is_wrong, std::string_view why) {
  if (is_wrong) {
    base::fail("a corpus sample is broken", why);
  }
}

bool is_inside_character(std::string_view text, std::size_t position) {
  return position < text.size() && !base::begins_character(text[position]);
}

void check_text(std::string_view text) {
  refuse_if(base::find_invalid_utf8(text) || text.find('\0') != std::string_view::npos,
            "one of its texts is not valid UTF-8, or has a NUL");
}

void check(const Context& context) {
  check_text(context.sentence);
  check_text(context.file);
  const auto& [begin, end] = context.span;
  refuse_if(begin >= end || end > context.sentence.size() || is_inside_character(context.sentence, begin) ||
                is_inside_character(context.sentence, end),
            "a span is none of its sentence");
}

void check(const WordSample& word, std::uint64_t max_contexts) {
  check_text(word.word);
  const auto count = word.contexts.size();
  refuse_if(count > max_contexts || count > word.occurrences, "'" + word.word + "' has more contexts than it can have");
  for (const auto& context : word.contexts) {
    check(context);
  }
  refuse_if(std::ranges::adjacent_find(word.contexts, std::not_fn(comes_before)) != word.contexts.end(),
            "the contexts of '" + word.word + "' are not in order");
}

void check(const BadLines& lines) {
  refuse_if(lines.first.size() != std::min<std::uint64_t>(lines.count, BadLines::most_listed),
            "its list of lines that were left out has a wrong length");
  for (const auto& line : lines.first) {
    check_text(line.file);
  }
  refuse_if(std::ranges::adjacent_find(lines.first, std::not_fn(std::less())) != lines.first.end(),
            "its list of lines that were left out is not in order");
}

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

// The bytes of `sentence` from the first of the `words` words before `span` to the last of those after it. A word is
// a run without white space; one that the span begins or ends in counts with the span ("well-off" of "not-well-off").
base::Span window(std::string_view sentence, base::Span span, std::int64_t words) {
  STEREOSWEEP_ASSERT(span.begin <= span.end && span.end <= sentence.size(), "span of a context");
  base::Span kept{skip_back(sentence, span.begin, Kind::other), skip_forward(sentence, span.end, Kind::other)};
  for (std::int64_t i = 0; i < words; ++i) {
    const auto before = kept;
    if (const auto border = skip_back(sentence, kept.begin, Kind::white_space); border > 0) {
      kept.begin = skip_back(sentence, border, Kind::other);
    }
    if (const auto border = skip_forward(sentence, kept.end, Kind::white_space); border < sentence.size()) {
      kept.end = skip_forward(sentence, border, Kind::other);
    }
    if (kept == before) {
      break;
    }
  }
  return kept;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto begin = skip_forward(text, 0, Kind::white_space); begin < text.size();) {
    const auto end = skip_forward(text, begin, Kind::other);
    words.push_back(text.substr(begin, end - begin));
    begin = skip_forward(text, end, Kind::white_space);
  }
  return words;
}

}  // namespace

std::string_view reason_of(LineFault fault) {
  constexpr std::array<std::string_view, num_line_faults> reasons = {"not valid UTF-8, or with a NUL", "too long",
                                                                     "not valid JSON", "without the field"};
  return reasons[static_cast<std::size_t>(fault)];
}

Sample merge(Sample one, Sample other) {
  const auto same_word = [](const WordSample& a, const WordSample& b) { return a.word == b.word; };
  if (one.identity != other.identity || one.max_contexts != other.max_contexts ||
      !std::equal(one.words.begin(), one.words.end(), other.words.begin(), other.words.end(), same_word)) {
    base::fail("two parts of a corpus sample do not belong together", "their files, words, options or seeds differ",
               "did the corpus change?");
  }
  for (std::size_t i = 0; i < one.words.size(); ++i) {
    merge_into(one.words[i], std::move(other.words[i]), one.max_contexts);
  }
  one.files += other.files;
  one.bytes += other.bytes;
  one.lines += other.lines;
  for (std::size_t i = 0; i < num_line_faults; ++i) {
    one.bad_lines[i] = merge_lines(one.bad_lines[i], other.bad_lines[i]);
  }
  return one;
}

auto fields_of(base::Either<Context> auto& context) {
  return std::tie(context.sentence, context.span, context.key, context.file, context.line_offset);
}
auto fields_of(base::Either<WordSample> auto& word) { return std::tie(word.word, word.occurrences, word.contexts); }
auto fields_of(base::Either<BadLine> auto& line) { return std::tie(line.file, line.line_offset); }
auto fields_of(base::Either<BadLines> auto& lines) { return std::tie(lines.count, lines.first); }
auto fields_of(base::Either<Sample> auto& sample) {
  return std::tie(sample.identity, sample.max_contexts, sample.files, sample.bytes, sample.lines, sample.bad_lines,
                  sample.words);
}

std::vector<std::byte> encode(const Sample& sample) { return base::packed(std::tie(magic, sample)); }

Sample decode_sample(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  refuse_if(reader.text() != magic, "it does not begin as one of this version");
  Sample sample;
  base::unpack(reader, sample);
  refuse_if(!reader.done(), "there are bytes behind its end");
  for (const auto& lines : sample.bad_lines) {
    check(lines);
  }
  for (const auto& word : sample.words) {
    check(word, sample.max_contexts);
  }
  return sample;
}

Context cut_to_window(Context context, std::int64_t words) {
  if (words <= 0) {
    return context;
  }
  const auto kept = window(context.sentence, context.span, words);
  return cut(std::move(context), kept);
}

Context cut_as_guo2021(Context context) {
  constexpr std::size_t most = 9;
  constexpr std::size_t side = 4;
  const std::string_view sentence = context.sentence;
  const auto word = window(sentence, context.span, 0);
  const auto before = words_of(sentence.substr(0, word.begin));
  const auto behind = words_of(sentence.substr(word.end));
  if (before.size() + 1 + behind.size() < most) {
    return context;
  }
  auto first = before.size() - std::min(before.size(), side);
  auto last = side - 1;  // one less than before the word: the published slice ends before i + 4
  if (before.size() < side) {
    last = most - 1 - before.size();
  } else if (behind.size() < side) {
    last = behind.size();
    first = before.size() - (most - 1 - last);
  }
  std::string text;
  for (; first < before.size(); ++first) {
    text.append(before[first]).append(" ");
  }
  const auto begin = text.size() + context.span.begin - word.begin;
  text.append(sentence.substr(word.begin, word.end - word.begin));
  for (std::size_t i = 0; i < last; ++i) {
    text.append(" ").append(behind[i]);
  }
  context.span = {begin, begin + context.span.end - context.span.begin};
  context.sentence = std::move(text);
  return context;
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
