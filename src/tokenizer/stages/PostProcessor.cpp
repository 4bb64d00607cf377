#include "tokenizer/Kinds.hpp"
#include "tokenizer/stages/Stages.hpp"
#include "tokenizer/unicode/AlignedText.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

bool is_space(char32_t value) { return value == byte_character(' ') || is_white_space(value); }

// Moves a byte offset by whole characters, not beyond `limit`.
std::size_t forward(std::string_view input, std::size_t offset, std::uint32_t count, std::size_t limit) {
  for (; count > 0 && offset < limit; --count) {
    next_character(input, offset);
  }
  return offset;
}

std::size_t backward(std::string_view input, std::size_t offset, std::uint32_t count, std::size_t limit) {
  for (; count > 0 && offset > limit; --count) {
    offset = previous_character(input, offset);
  }
  return offset;
}

bool at_least(std::string_view input, std::size_t offset, std::uint32_t count) {
  return backward(input, offset, count - 1, 0) > 0;
}

/// Takes white space off both ends of offsets; one leading space of the first token stays where the pre-tokenizer
/// had put it there.
PostProcessor read_trim(const base::JsonValue& field) {
  const bool trims = field["trim_offsets"].flag_or(true);
  const bool added_prefix = field["add_prefix_space"].flag_or(true);
  return [trims, added_prefix](std::string_view input, SpecialTokens, std::vector<Token>& tokens) {
    for (std::size_t i = 0; trims && i < tokens.size(); ++i) {
      auto& [begin, end] = tokens[i].offset;
      const bool first = i == 0 || begin == 0;
      auto [leading, trailing] = tokens[i].spaces;
      if (first && added_prefix && leading == 1) {
        leading = 0;
      }
      begin = forward(input, begin, leading, end);
      // As the wheel has it: an offset with fewer characters before it than there is white space stays.
      if (trailing > 0 && at_least(input, end, trailing)) {
        end = backward(input, end, trailing, begin);
      }
    }
  };
}

/// Fixed tokens before and behind the text.
PostProcessor make_wrap(const std::vector<Token>& before, const std::vector<Token>& behind) {
  return [=](std::string_view, SpecialTokens special, std::vector<Token>& tokens) {
    if (special == SpecialTokens::add) {
      tokens.insert(tokens.begin(), before.begin(), before.end());
      tokens.insert(tokens.end(), behind.begin(), behind.end());
    }
  };
}

// ["[CLS]", 101]
Token read_named(const base::JsonValue& field) {
  const auto items = field.items();
  field.refuse_if(items.size() != 2, "has " + std::to_string(items.size()) + " parts",
                  "a token's text and id are needed");
  items[0].text();
  return {.id = items[1].whole<TokenId>(0)};
}

PostProcessor read_wrap(const base::JsonValue& field) {
  return make_wrap({read_named(field["cls"])}, {read_named(field["sep"])});
}

PostProcessor read_roberta(const base::JsonValue& field) {
  return [trim = read_trim(field), wrap = read_wrap(field)](std::string_view input, SpecialTokens special,
                                                            std::vector<Token>& tokens) {
    trim(input, special, tokens);
    wrap(input, special, tokens);
  };
}

PostProcessor read_template(const base::JsonValue& field) {
  std::vector<Token> before, behind;
  bool found = false;
  for (const auto& piece : field["single"].items()) {
    if (const auto sequence = piece["Sequence"]) {
      sequence.refuse_if(found || sequence["id"].text() != "A", "another sequence than one \"A\"",
                         "a template for one text is needed");
      found = true;
      continue;
    }
    const auto token = piece["SpecialToken"]["id"];
    for (const auto& id : field["special_tokens"][token.text()]["ids"].items()) {
      (found ? behind : before).push_back({.id = id.whole<TokenId>(0)});
    }
  }
  if (!found) {
    field["single"].refuse("no sequence \"A\"", "the text would be lost");
  }
  return make_wrap(before, behind);
}

}  // namespace

OuterSpaces count_outer_spaces(std::string_view token) {
  const auto count = [](std::string_view text) { return static_cast<std::uint32_t>(count_characters(text)); };
  return {count(token.substr(0, end_of_leading(token, is_space))),
          count(token.substr(start_of_trailing(token, is_space)))};
}

PostProcessor read_post_processor(const base::JsonValue& field) {
  static constexpr Kind<PostProcessor> kinds[] = {
      {"BertProcessing", read_wrap},
      {"RobertaProcessing", read_roberta},
      {"TemplateProcessing", read_template},
      {"ByteLevel", read_trim},
      {"Sequence", [](const base::JsonValue& list) { return read_steps(list, "processors", read_post_processor); }}};
  return read_kind(field, kinds);
}

}  // namespace stereosweep::tokenizer
