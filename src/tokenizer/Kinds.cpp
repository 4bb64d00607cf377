#include "tokenizer/Kinds.hpp"

#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

std::string read_character(const base::JsonValue& field) {
  auto value = field.text();
  field.refuse_if(count_characters(value) != 1, base::json_quote(value), "one character is needed");
  return value;
}

}  // namespace stereosweep::tokenizer
