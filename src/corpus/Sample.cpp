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

// Of two ascending lists the `most` first of both.
template <class Item>
void merge_into(std::vector<Item>& one, std::vector<Item>&& other, std::size_t most, auto order) {
  const auto middle = one.insert(one.end(), std::move_iterator(other.begin()), std::move_iterator(other.end()));
  std::inplace_merge(one.begin(), middle, one.end(), order);
  one.resize(std::min(one.size(), most));
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

Context cut(Context context, base::Span kept) {
  context.sentence = context.sentence.substr(kept.begin, kept.end - kept.begin);
  context.span = {context.span.begin - kept.begin, context.span.end - kept.begin};
  return context;
}

// The words of a sentence, runs without white space: those on both sides of a span, and the span with the words that it
// begins or ends in ("well-off" of "not-well-off").
struct Words {
  std::vector<base::Span> before;
  base::Span own;
  std::vector<base::Span> behind;
};

Words words_around(std::string_view sentence, base::Span span) {
  STEREOSWEEP_ASSERT(span.begin <= span.end && span.end <= sentence.size(), "span of a context");
  Words words{{}, span, {}};
  const auto add = [&](base::Span word) {
    if (word.end <= span.begin) {
      words.before.push_back(word);
    } else if (word.begin >= span.end) {
      words.behind.push_back(word);
    } else {
      words.own = {std::min(words.own.begin, word.begin), std::max(words.own.end, word.end)};
    }
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < sentence.size();) {
    const auto position = at;
    if (kind_of(next_character(sentence, at)) != Kind::white_space) {
      continue;
    }
    if (position > begin) {
      add({begin, position});
    }
    begin = at;
  }
  if (sentence.size() > begin) {
    add({begin, sentence.size()});
  }
  return words;
}

}  // namespace

Sample merge(Sample one, Sample other) {
  const auto same_word = [](const WordSample& a, const WordSample& b) { return a.word == b.word; };
  if (one.identity != other.identity || one.max_contexts != other.max_contexts ||
      !std::equal(one.words.begin(), one.words.end(), other.words.begin(), other.words.end(), same_word)) {
    base::fail("two parts of a corpus sample do not belong together", "their files, words, options or seeds differ",
               "did the corpus change?");
  }
  for (std::size_t i = 0; i < one.words.size(); ++i) {
    one.words[i].occurrences += other.words[i].occurrences;
    merge_into(one.words[i].contexts, std::move(other.words[i].contexts), one.max_contexts, comes_before);
  }
  one.files += other.files;
  one.bytes += other.bytes;
  one.lines += other.lines;
  for (std::size_t i = 0; i < num_line_faults; ++i) {
    one.bad_lines[i].count += other.bad_lines[i].count;
    merge_into(one.bad_lines[i].first, std::move(other.bad_lines[i].first), BadLines::most_listed, std::less());
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
  const auto& [before, own, behind] = words_around(context.sentence, context.span);
  const auto side = static_cast<std::size_t>(words);
  return cut(std::move(context),
             {before.empty() ? own.begin : before[before.size() - std::min(side, before.size())].begin,
              behind.empty() ? own.end : behind[std::min(side, behind.size()) - 1].end});
}

Context cut_as_guo2021(Context context) {
  constexpr std::size_t most = 9;
  constexpr std::size_t side = 4;
  const auto& [before, own, behind] = words_around(context.sentence, context.span);
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
  const auto text_of = [&](base::Span word) { return context.sentence.substr(word.begin, word.end - word.begin); };
  std::string text;
  for (; first < before.size(); ++first) {
    text += text_of(before[first]) + " ";
  }
  const auto begin = text.size() + context.span.begin - own.begin;
  text += text_of(own);
  for (std::size_t i = 0; i < last; ++i) {
    text += " " + text_of(behind[i]);
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
  const auto behind_span = text.size() - end;
  const auto left = std::min(begin, std::max(room / 2, room - std::min(room, behind_span)));
  base::Span kept{begin - left, end + std::min(behind_span, room - left)};
  const bool is_cut_before = kept.begin > 0;
  const bool is_cut_behind = kept.end < text.size();
  while (is_inside_character(text, kept.begin)) {
    ++kept.begin;
  }
  while (is_inside_character(text, kept.end)) {
    --kept.end;
  }
  context = cut(std::move(context), kept);
  const auto& [before, own, behind] = words_around(context.sentence, context.span);
  kept = {0, context.sentence.size()};
  if (is_cut_before) {  // at the first word that begins behind white space
    const auto next = std::ranges::find_if(before, [](base::Span word) { return word.begin > 0; });
    kept.begin = next == before.end() ? own.begin : next->begin;
  }
  if (is_cut_behind) {
    const auto last =
        std::find_if(behind.rbegin(), behind.rend(), [&](base::Span word) { return word.end < kept.end; });
    kept.end = last == behind.rend() ? own.end : last->end;
  }
  return cut(std::move(context), kept);
}

}  // namespace stereosweep::corpus
