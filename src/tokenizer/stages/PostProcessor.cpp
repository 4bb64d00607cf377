#include "tokenizer/stages/PostProcessor.hpp"

#include <algorithm>
#include <limits>

#include "tokenizer/unicode/AlignedText.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

bool is_space(char32_t value) { return value == byte_character(' ') || is(value, classes::white_space); }

// Moves a byte offset by whole characters, not beyond `limit`.
std::size_t forward(std::string_view input, std::size_t offset, std::uint32_t count, std::size_t limit) {
  for (; count > 0 && offset < limit; --count) {
    next_character(input, offset);
  }
  return std::min(offset, std::max(limit, offset));
}

std::size_t backward(std::string_view input, std::size_t offset, std::uint32_t count, std::size_t limit) {
  for (; count > 0 && offset > limit; --count) {
    offset = previous_character(input, offset);
  }
  return offset;
}

/// Takes white space off both ends of offsets; one leading space of the first token stays where the pre-tokenizer
/// had put it there.
class TrimOffsets final : public PostProcessor {
 public:
  explicit TrimOffsets(const Field& field)
      : trims_(field.flag_or("trim_offsets", true)), added_prefix_(field.flag_or("add_prefix_space", true)) {}
  void apply(std::string_view input, SpecialTokens, std::vector<Token>& tokens) const override {
    if (!trims_) {
      return;
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      auto& [begin, end] = tokens[i].offset;
      const bool first = i == 0 || begin == 0;
      auto leading = tokens[i].leading_spaces;
      if (first && added_prefix_ && leading == 1) {
        leading = 0;
      }
      begin = forward(input, begin, leading, end);
      // As the wheel has it: an offset with fewer characters before it than there is white space stays.
      if (const auto trailing = tokens[i].trailing_spaces; trailing > 0 && at_least(input, end, trailing)) {
        end = backward(input, end, trailing, begin);
      }
    }
  }

 private:
  static bool at_least(std::string_view input, std::size_t offset, std::uint32_t count) {
    return backward(input, offset, count - 1, 0) > 0;
  }
  bool trims_, added_prefix_;
};

TokenId read_id(const Field& field) {
  const auto id = field.number();
  if (id > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
    field.refuse(std::to_string(id), "ids go up to 2^31-1");
  }
  return static_cast<TokenId>(id);
}

/// Fixed ids before and behind the text.
class Wrap final : public PostProcessor {
 public:
  Wrap(std::vector<TokenId> before, std::vector<TokenId> behind)
      : before_(std::move(before)), behind_(std::move(behind)) {}
  void apply(std::string_view, SpecialTokens special, std::vector<Token>& tokens) const override {
    if (special == SpecialTokens::leave_out) {
      return;
    }
    std::vector<Token> out;
    out.reserve(tokens.size() + before_.size() + behind_.size());
    append(before_, out);
    out.insert(out.end(), tokens.begin(), tokens.end());
    append(behind_, out);
    tokens = std::move(out);
  }

 private:
  static void append(const std::vector<TokenId>& ids, std::vector<Token>& out) {
    for (const auto id : ids) {
      Token token;
      token.id = id;
      out.push_back(token);
    }
  }
  std::vector<TokenId> before_, behind_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  void add(std::unique_ptr<PostProcessor> step) { steps_.push_back(std::move(step)); }
  void apply(std::string_view input, SpecialTokens special, std::vector<Token>& tokens) const override {
    for (const auto& step : steps_) {
      step->apply(input, special, tokens);
    }
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> steps_;
};

// ["[CLS]", 101]
TokenId read_named_id(const Field& field) {
  const auto items = field.items();
  if (items.size() != 2) {
    field.refuse("has " + std::to_string(items.size()) + " parts", "a token's text and id are needed");
  }
  items[0].text();
  return read_id(items[1]);
}

std::unique_ptr<PostProcessor> read_wrap(const Field& field) {
  return std::make_unique<Wrap>(std::vector{read_named_id(field.at("cls"))},
                                std::vector{read_named_id(field.at("sep"))});
}

std::unique_ptr<PostProcessor> read_template(const Field& field) {
  std::vector<TokenId> before, behind;
  bool found = false;
  for (const auto& piece : field.at("single").items()) {
    if (const auto sequence = piece.find("Sequence")) {
      if (found || sequence->at("id").text() != "A") {
        sequence->refuse("another sequence than one \"A\"", "a template for one text is needed");
      }
      found = true;
      continue;
    }
    const auto token = piece.at("SpecialToken").at("id");
    const auto ids = field.at("special_tokens").at(token.text()).at("ids");
    for (const auto& id : ids.items()) {
      (found ? behind : before).push_back(read_id(id));
    }
  }
  if (!found) {
    field.at("single").refuse("no sequence \"A\"", "the text would be lost");
  }
  return std::make_unique<Wrap>(std::move(before), std::move(behind));
}

}  // namespace

OuterSpaces count_outer_spaces(std::string_view token) {
  OuterSpaces spaces;
  for (std::size_t i = 0; i < token.size() && is_space(next_character(token, i));) {
    ++spaces.leading;
  }
  for (std::size_t end = token.size(); end > 0;) {
    end = previous_character(token, end);
    auto i = end;
    if (!is_space(next_character(token, i))) {
      break;
    }
    ++spaces.trailing;
  }
  return spaces;
}

std::unique_ptr<PostProcessor> read_post_processor(const Field& field) {
  const auto type = field.type();
  if (type == "ByteLevel") {
    return std::make_unique<TrimOffsets>(field);
  }
  if (type == "BertProcessing") {
    return read_wrap(field);
  }
  if (type == "RobertaProcessing") {
    auto steps = std::make_unique<PostProcessorSequence>();
    steps->add(std::make_unique<TrimOffsets>(field));
    steps->add(read_wrap(field));
    return steps;
  }
  if (type == "TemplateProcessing") {
    return read_template(field);
  }
  if (type == "Sequence") {
    auto steps = std::make_unique<PostProcessorSequence>();
    for (const auto& item : field.at("processors").items()) {
      steps->add(read_post_processor(item));
    }
    return steps;
  }
  field.refuse_type("BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel, Sequence");
}

}  // namespace stereosweep::tokenizer
