#include "engine/ContinuationBorder.hpp"

#include <algorithm>

#include "base/Text.hpp"
#include "engine/QueryInput.hpp"

namespace stereosweep::engine {
namespace {

// Python's str.isspace: bidirectional types WS, B and S, and category Zs (Unicode 15).
bool is_python_space(char32_t value) {
  return (value >= 0x09 && value <= 0x0D) || (value >= 0x1C && value <= 0x20) || value == 0x85 || value == 0xA0 ||
         value == 0x1680 || (value >= 0x2000 && value <= 0x200A) || value == 0x2028 || value == 0x2029 ||
         value == 0x202F || value == 0x205F || value == 0x3000;
}

void refuse_invalid(std::string_view text, const std::string& name) {
  if (const auto place = base::find_invalid_utf8(text)) {
    refuse_query("invalid UTF-8 at byte " + std::to_string(*place) + " of the " + name, "texts are UTF-8");
  }
}

}  // namespace

std::size_t size_without_trailing_space(std::string_view text) {
  auto size = text.size();
  while (size > 0) {
    auto start = size - 1;
    while (start > 0 && size - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) {
      --start;
    }
    const auto point = base::decode_utf8(text, start);
    if (!point || start + point->length != size || !is_python_space(point->value)) {
      break;
    }
    size = start;
  }
  return size;
}

ContinuationBorder::ContinuationBorder(std::string_view prompt, const tokenizer::Tokenizer& tokenizer,
                                       query::Framing framing)
    : tokenizer_(tokenizer), special_(special_tokens_of(framing)), prompt_(prompt) {
  refuse_invalid(prompt, "prompt");
  ids_ = tokenizer.encode(prompt.substr(0, size_without_trailing_space(prompt)), special_).ids;
}

JointIds ContinuationBorder::join(std::string_view continuation) const {
  refuse_invalid(continuation, "continuation");
  JointIds joint;
  joint.ids = tokenizer_.encode(std::string(prompt_).append(continuation), special_).ids;
  const auto differ = std::mismatch(joint.ids.begin(), joint.ids.end(), ids_.begin(), ids_.end()).first;
  joint.begin = static_cast<std::size_t>(differ - joint.ids.begin());
  if (differ == joint.ids.end()) {
    refuse_query("the continuation " + base::json_quote(continuation) + " has no token",
                 "the prompt with it has the tokens of the prompt alone");
  }
  if (joint.begin == 0) {
    refuse_query("nothing stands before the continuation's first token",
                 "a token has a probability only after another one, and this tokenizer puts none before a text");
  }
  return joint;
}

}  // namespace stereosweep::engine
