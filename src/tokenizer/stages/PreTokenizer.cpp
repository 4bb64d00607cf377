#include "tokenizer/stages/PreTokenizer.hpp"

#include <algorithm>

#include "base/Text.hpp"
#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/unicode/AlignedText.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

/// What becomes of the matches of a split.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(const Field& field) {
  const auto name = field.text();
  if (name == "Removed") {
    return Behavior::removed;
  }
  if (name == "Isolated") {
    return Behavior::isolated;
  }
  if (name == "MergedWithPrevious") {
    return Behavior::merged_with_previous;
  }
  if (name == "MergedWithNext") {
    return Behavior::merged_with_next;
  }
  if (name == "Contiguous") {
    return Behavior::contiguous;
  }
  field.refuse(base::json_quote(name),
               "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous are supported");
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

void split(Pieces& pieces, const Pattern& pattern, Behavior behavior, Sense sense = Sense::matches) {
  std::vector<AlignedText::Range> out;
  out.reserve(pieces.ranges.size());
  std::vector<Match> parts;
  for (const auto& [begin, end] : pieces.ranges) {
    parts.clear();
    pattern.find(pieces.text.text().substr(begin, end - begin), parts);
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

/// Splits at the matches of one pattern.
class Split final : public PreTokenizer {
 public:
  Split(std::unique_ptr<Pattern> pattern, Behavior behavior, Sense sense = Sense::matches)
      : pattern_(std::move(pattern)), behavior_(behavior), sense_(sense) {}
  void apply(Pieces& pieces) const override { split(pieces, *pattern_, behavior_, sense_); }

 private:
  std::unique_ptr<Pattern> pattern_;
  Behavior behavior_;
  Sense sense_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  PreTokenizerSequence() = default;
  explicit PreTokenizerSequence(const Field& field) {
    for (const auto& item : field.at("pretokenizers").items()) {
      add(read_pre_tokenizer(item));
    }
  }
  void add(std::unique_ptr<PreTokenizer> step) { steps_.push_back(std::move(step)); }
  void apply(Pieces& pieces) const override {
    for (const auto& step : steps_) {
      step->apply(pieces);
    }
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(const Field& field)
      : prefix_(field.at("add_prefix_space").flag()),
        words_(field.flag_or("use_regex", true) ? make_gpt2_words() : nullptr) {
    field.flag_or("trim_offsets", true);  // only the post-processor of that name uses it
  }
  void apply(Pieces& pieces) const override {
    if (prefix_) {
      add_prefixes(pieces);
    }
    if (words_) {
      split(pieces, *words_, Behavior::isolated);
    }
    Pieces out;
    out.text.reserve(pieces.text.size() + pieces.text.size() / 4);
    out.ranges.reserve(pieces.ranges.size());
    for (const auto& [begin, end] : pieces.ranges) {
      const auto start = out.text.size();
      append_byte_level(out.text, pieces.text, begin, end);
      out.ranges.push_back({start, out.text.size()});
    }
    pieces = std::move(out);
  }

 private:
  static void add_prefixes(Pieces& pieces) {
    Pieces out;
    out.text.reserve(pieces.text.size() + 1);
    for (const auto& [begin, end] : pieces.ranges) {
      const auto start = out.text.size();
      if (pieces.text.text()[begin] != ' ') {
        out.text.put(' ', pieces.text.alignment(begin));
      }
      out.text.append(pieces.text, begin, end);
      out.ranges.push_back({start, out.text.size()});
    }
    pieces = std::move(out);
  }
  bool prefix_;
  std::unique_ptr<Pattern> words_;
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(const Field& field) : scheme_(read_scheme(field)), splits_(field.flag_or("split", true)) {
    base::append_utf8(replacement_, field.at("replacement").character());
    pattern_ = make_literal(replacement_);
  }
  void apply(Pieces& pieces) const override {
    Pieces out;
    out.text.reserve(pieces.text.size() * 2);
    for (const auto& [begin, end] : pieces.ranges) {
      auto part = pieces.text.part(begin, end);
      replace_spaces(part);
      const bool first = part.alignment(0).begin == 0;
      if (!part.text().starts_with(replacement_) &&
          (scheme_ == Scheme::always || (scheme_ == Scheme::first && first))) {
        part.prepend(replacement_);
      }
      const auto start = out.text.size();
      out.text.append(part, 0, part.size());
      out.ranges.push_back({start, out.text.size()});
    }
    pieces = std::move(out);
    if (splits_) {
      split(pieces, *pattern_, Behavior::merged_with_next);
    }
  }

 private:
  enum class Scheme { always, first, never };
  static Scheme read_scheme(const Field& field) {
    const auto name = field.text_or("prepend_scheme", "always");
    if (name != "always" && name != "first" && name != "never") {
      field.at("prepend_scheme").refuse(base::json_quote(name), "always, first and never are supported");
    }
    if (!field.flag_or("add_prefix_space", true)) {
      return Scheme::never;
    }
    return name == "always" ? Scheme::always : name == "first" ? Scheme::first : Scheme::never;
  }
  void replace_spaces(AlignedText& part) const {
    std::vector<AlignedText::Range> spaces;
    const auto text = part.text();
    for (auto at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
      spaces.push_back({at, at + 1});
    }
    if (!spaces.empty()) {
      part.replace(spaces, replacement_);
    }
  }
  Scheme scheme_;
  bool splits_;
  std::string replacement_;
  std::unique_ptr<Pattern> pattern_;
};

std::unique_ptr<PreTokenizer> make_split(std::unique_ptr<Pattern> pattern, Behavior behavior,
                                         Sense sense = Sense::matches) {
  return std::make_unique<Split>(std::move(pattern), behavior, sense);
}

std::unique_ptr<PreTokenizer> read_split(const Field& field) {
  return make_split(read_pattern(field.at("pattern")), read_behavior(field.at("behavior")),
                    field.flag_or("invert", false) ? Sense::gaps : Sense::matches);
}

std::unique_ptr<PreTokenizer> make_bert() {
  auto steps = std::make_unique<PreTokenizerSequence>();
  steps->add(make_split(make_class_pattern(classes::white_space), Behavior::removed));
  steps->add(make_split(make_class_pattern(classes::punctuation), Behavior::isolated));
  return steps;
}

}  // namespace

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Field& field) {
  const auto type = field.type();
  if (type == "BertPreTokenizer") {
    return make_bert();
  }
  if (type == "ByteLevel") {
    return std::make_unique<ByteLevel>(field);
  }
  if (type == "Whitespace") {
    return make_split(make_words(), Behavior::removed, Sense::gaps);
  }
  if (type == "WhitespaceSplit") {
    return make_split(make_class_pattern(classes::white_space), Behavior::removed);
  }
  if (type == "Punctuation") {
    const auto behavior = field.find("behavior");
    return make_split(make_class_pattern(classes::punctuation),
                      behavior ? read_behavior(*behavior) : Behavior::isolated);
  }
  if (type == "Digits") {
    return make_split(make_class_pattern(classes::numeric),
                      field.flag_or("individual_digits", false) ? Behavior::isolated : Behavior::contiguous);
  }
  if (type == "Split") {
    return read_split(field);
  }
  if (type == "Metaspace") {
    return std::make_unique<Metaspace>(field);
  }
  if (type == "Sequence") {
    return std::make_unique<PreTokenizerSequence>(field);
  }
  field.refuse_type(
      "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Split, Metaspace, Sequence");
}

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
