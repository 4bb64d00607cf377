// A byte-level tokenizer as GPT-2's with a handful of merges, with or without a token before every text.
#pragma once

#include <string>
#include <vector>

#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine::testing {

/// The character that stands for a byte in byte-level vocabularies.
inline std::string byte_character(int byte) {
  const auto is_printable = [](int value) {
    return (value >= '!' && value <= '~') || (value >= 0xA1 && value <= 0xAC) || (value >= 0xAE && value <= 0xFF);
  };
  char32_t value = static_cast<char32_t>(byte);
  if (!is_printable(byte)) {
    value = 256;
    for (int other = 0; other < byte; ++other) {
      value += is_printable(other) ? 0 : 1;
    }
  }
  std::string text;
  base::append_utf8(text, value);
  return text;
}

enum class FirstToken { none, beginning };

/// Ids: 0 "<s>", 1 "</s>", 2..257 the bytes, then the merged "ab", " a", " ab", "cd", " c", " the".
inline base::FileSet causal_tokenizer_files(FirstToken first) {
  const std::string space = byte_character(' ');
  base::Json vocabulary = {{"<s>", 0}, {"</s>", 1}};
  int id = 2;
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary[byte_character(byte)] = id++;
  }
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"a", "b"}, {space, "a"}, {space, "ab"}, {"c", "d"}, {space, "c"}, {"t", "h"}, {"th", "e"}, {space, "the"}};
  base::Json pairs = base::Json::array();
  for (const auto& [left, right] : merges) {
    vocabulary[left + right] = id++;
    pairs.push_back({left, right});
  }
  base::Json json;
  json["added_tokens"] = base::Json::array();
  for (const auto& [number, content] : {std::pair(0, "<s>"), std::pair(1, "</s>")}) {
    json["added_tokens"].push_back({{"id", number},
                                    {"content", content},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  json["pre_tokenizer"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  json["decoder"] = {{"type", "ByteLevel"}};
  json["model"] = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}};
  if (first == FirstToken::beginning) {
    json["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"pair", base::Json::array()},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}};
  }
  base::FileSet files("tiny");
  files.add("tokenizer.json", base::to_shared(json.dump()));
  return files;
}

inline tokenizer::Tokenizer causal_tokenizer(FirstToken first) {
  return tokenizer::Tokenizer::from_files(causal_tokenizer_files(first));
}

}  // namespace stereosweep::engine::testing
