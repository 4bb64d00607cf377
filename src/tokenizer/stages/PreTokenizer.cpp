#include <algorithm>
#include <array>
#include <utility>

#include "base/text/Text.hpp"
#include "tokenizer/Kinds.hpp"
#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/stages/Stages.hpp"
#include "tokenizer/unicode/AlignedText.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

/// What becomes of the matches of a split.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(const base::JsonValue& field) {
  constexpr std::array<std::string_view, 5> names = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                                     "Contiguous"};  // in the order of Behavior
  const auto* known = std::ranges::find(names, field.text());
  field.refuse_if(known == names.end(), base::json_quote(field.text()),
                  "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous are supported");
  return static_cast<Behavior>(known - names.begin());
}

// Joins parts as `behavior` says; what is left has is_match = "to be removed".
void arrange(std::vector<Match>& parts, Behavior behavior) {
  if (behavior == Behavior::removed) {
    return;
  }
  const bool backwards = behavior == Behavior::merged_with_next;
  if (backwards) {
    std::reverse(parts.begin(), parts.end());
  }
  std::size_t kept = 0;
  bool previous = false;
  for (const auto part : parts) {
    const bool joins = behavior == Behavior::contiguous ? part.is_match == previous
                       : behavior == Behavior::isolated ? false
                                                        : part.is_match && !previous;
    previous = part.is_match;
    if (joins && kept > 0) {
      (backwards ? parts[kept - 1].begin : parts[kept - 1].end) = backwards ? part.begin : part.end;
    } else {
      parts[kept++] = {part.begin, part.end, false};
    }
  }
  parts.resize(kept);
  if (backwards) {
    std::reverse(parts.begin(), parts.end());
  }
}

enum class Sense { matches, gaps };

void split(Pieces& pieces, const Pattern& pattern, Behavior behavior, Sense sense) {
  std::vector<base::Span> out;
  out.reserve(pieces.ranges.size());
  std::vector<Match> parts;
  for (const auto& [begin, end] : pieces.ranges) {
    parts.clear();
    pattern(pieces.text.text().substr(begin, end - begin), parts);
    if (sense == Sense::gaps) {
      for (auto& part : parts) {
        part.is_match = !part.is_match;
      }
    }
    arrange(parts, behavior);
    for (const auto& part : parts) {
      if (!part.is_match && part.begin < part.end) {
        out.push_back({begin + part.begin, begin + part.end});
      }
    }
  }
  pieces.ranges = std::move(out);
}

PreTokenizer make_split(Pattern pattern, Behavior behavior, Sense sense = Sense::matches) {
  return [=](Pieces& pieces) { split(pieces, pattern, behavior, sense); };
}

PreTokenizer read_split(const base::JsonValue& field) {
  return make_split(read_pattern(field["pattern"]), read_behavior(field["behavior"]),
                    field["invert"].flag_or(false) ? Sense::gaps : Sense::matches);
}

/// Rewrites each piece: `change(text, begin, end, out)` appends what it becomes.
void rewrite_each(Pieces& pieces, std::size_t expected_size, const auto& change) {
  Pieces out;
  out.text.reserve(expected_size);
  out.ranges.reserve(pieces.ranges.size());
  for (const auto& [begin, end] : pieces.ranges) {
    const auto start = out.text.size();
    change(pieces.text, begin, end, out.text);
    out.ranges.push_back({start, out.text.size()});
  }
  pieces = std::move(out);
}

void add_prefix(const AlignedText& text, std::size_t begin, std::size_t end, AlignedText& out) {
  if (text.text()[begin] != ' ') {
    out.put(' ', text.alignment(begin));
  }
  out.append(text, begin, end);
}

PreTokenizer read_byte_level(const base::JsonValue& field) {
  field["trim_offsets"].flag_or(true);  // only the post-processor of that name uses it
  const bool prefix = field["add_prefix_space"].flag();
  const auto words = field["use_regex"].flag_or(true) ? make_expression(gpt2_words, field) : nullptr;
  return [prefix, words](Pieces& pieces) {
    if (prefix) {
      rewrite_each(pieces, pieces.text.size() + 1, add_prefix);
    }
    if (words) {
      split(pieces, words, Behavior::isolated, Sense::matches);
    }
    rewrite_each(pieces, pieces.text.size() + pieces.text.size() / 4, append_byte_level);
  };
}

enum class Scheme { always, first, never };

Scheme read_scheme(const base::JsonValue& field) {
  constexpr std::array<std::string_view, 3> names = {"always", "first", "never"};  // in the order of Scheme
  const auto name = field["prepend_scheme"].text_or("always");
  const auto* known = std::ranges::find(names, name);
  field["prepend_scheme"].refuse_if(known == names.end(), base::json_quote(name),
                                    "always, first and never are supported");
  return field["add_prefix_space"].flag_or(true) ? static_cast<Scheme>(known - names.begin()) : Scheme::never;
}

PreTokenizer read_metaspace_words(const base::JsonValue& field) {
  const auto scheme = read_scheme(field);
  const bool splits = field["split"].flag_or(true);
  const auto mark = read_character(field["replacement"]);
  const auto change = [=](const AlignedText& text, std::size_t begin, std::size_t end, AlignedText& out) {
    const auto until_end = text.text().substr(0, end);
    const auto piece = until_end.substr(begin);
    const bool is_first = text.alignment(begin).begin == 0;
    if (!piece.starts_with(' ') && !piece.starts_with(mark) &&
        (scheme == Scheme::always || (scheme == Scheme::first && is_first))) {
      out.put(mark, text.alignment(begin));
    }
    const auto start = out.size();
    for (auto done = begin; done < end;) {
      const auto space = std::min(until_end.find(' ', done), end);
      out.append(text, done, space);
      if (space < end) {
        out.put(mark, text.alignment(space));
        AlignedText::check_growth(out.size() - start, end - begin);
      }
      done = space + 1;
    }
  };
  return [=, pattern = make_literal(mark)](Pieces& pieces) {
    rewrite_each(pieces, pieces.text.size() * 2, change);
    if (splits) {
      split(pieces, pattern, Behavior::merged_with_next, Sense::matches);
    }
  };
}

void split_like_bert(Pieces& pieces) {
  split(pieces, make_class_pattern(classes::white_space), Behavior::removed, Sense::matches);
  split(pieces, make_class_pattern(classes::punctuation), Behavior::isolated, Sense::matches);
}

// Runs of word characters, and runs of what is neither word character nor white space.
void split_words_apart(Pieces& pieces) {
  split(pieces, make_class_pattern(classes::white_space), Behavior::removed, Sense::matches);
  split(pieces, make_class_pattern(classes::word), Behavior::contiguous, Sense::matches);
}

PreTokenizer read_punctuation(const base::JsonValue& field) {
  const auto behavior = field["behavior"];
  return make_split(make_class_pattern(classes::punctuation), behavior ? read_behavior(behavior) : Behavior::isolated);
}

PreTokenizer read_digits(const base::JsonValue& field) {
  return make_split(make_class_pattern(classes::numeric),
                    field["individual_digits"].flag_or(false) ? Behavior::isolated : Behavior::contiguous);
}

PreTokenizer read_white_space(const base::JsonValue& /*field*/) {
  return make_split(make_class_pattern(classes::white_space), Behavior::removed);
}

}  // namespace

PreTokenizer read_pre_tokenizer(const base::JsonValue& field) {
  static constexpr Kind<PreTokenizer> kinds[] = {
      {"BertPreTokenizer", [](const base::JsonValue&) -> PreTokenizer { return split_like_bert; }},
      {"ByteLevel", read_byte_level},
      {"Whitespace", [](const base::JsonValue&) -> PreTokenizer { return split_words_apart; }},
      {"WhitespaceSplit", read_white_space},
      {"Punctuation", read_punctuation},
      {"Digits", read_digits},
      {"Split", read_split},
      {"Metaspace", read_metaspace_words},
      {"Sequence", [](const base::JsonValue& list) { return read_steps(list, "pretokenizers", read_pre_tokenizer); }}};
  return read_kind(field, kinds);
}

std::vector<base::Span> split_words(std::string_view text) {
  Pieces pieces{AlignedText(text, 0), {{0, text.size()}}};
  split_like_bert(pieces);
  return pieces.ranges;
}

}  // namespace stereosweep::tokenizer
