// Two small tokenizers written out by hand: WordPiece as BERT's, byte-level BPE as RoBERTa's.
#pragma once

#include <string>
#include <vector>

#include "base/text/Json.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes::testing {

inline base::Json added_token(int id, const char* content, bool strips_left) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", strips_left},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

inline tokenizer::Tokenizer from_json(const base::Json& json, const char* mask_token) {
  base::FileSet files("tiny");
  files.add("tokenizer.json", base::to_shared(json.dump()));
  files.add("tokenizer_config.json", base::to_shared(base::Json{{"mask_token", mask_token}}.dump()));
  return tokenizer::Tokenizer::from_files(files);
}

/// Vocabulary of the WordPiece tokenizer, in the order of the ids.
inline std::vector<std::string> word_piece_vocabulary() {
  std::vector<std::string> tokens = {"[PAD]",   "[UNK]",  "[CLS]",  "[SEP]", "[MASK]", ".",      "?",      "-",
                                     "the",     "are",    "is",     "why",   "people", "warm",   "kind",   "cold",
                                     "un",      "##kind", "##warm", "power", "##ful",  "##less", "##ness", "doctor",
                                     "doctors", "person", "women",  "woman", "a",      "an",     "old",    "self"};
  for (char letter = 'a'; letter <= 'y'; ++letter) {  // no z: a word with one is unknown
    tokens.push_back(letter == 'a' ? "##a" : std::string(1, letter));
    if (letter != 'a') {
      tokens.push_back("##" + std::string(1, letter));
    }
  }
  return tokens;
}

/// tokenizer.json of the WordPiece tokenizer.
inline base::Json word_piece_json() {
  base::Json vocabulary = base::Json::object();
  int id = 0;
  for (const auto& token : word_piece_vocabulary()) {
    vocabulary[token] = id++;
  }
  base::Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = {added_token(0, "[PAD]", false), added_token(1, "[UNK]", false),
                          added_token(2, "[CLS]", false), added_token(3, "[SEP]", false),
                          added_token(4, "[MASK]", false)};
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", true},
                        {"strip_accents", nullptr},
                        {"lowercase", true}};
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  json["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  json["model"] = {{"type", "WordPiece"},
                   {"unk_token", "[UNK]"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100},
                   {"vocab", vocabulary}};
  return json;
}

inline tokenizer::Tokenizer word_piece() { return from_json(word_piece_json(), "[MASK]"); }

inline tokenizer::Tokenizer byte_level() {
  base::Json vocabulary = base::Json::object();
  int id = 0;
  for (const char* special : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    vocabulary[special] = id++;
  }
  const std::string space = "\xC4\xA0";  // Ġ, the byte-level alphabet's space
  vocabulary[space] = id++;
  vocabulary["\xC4\x89"] = id++;  // ĉ: the tab
  for (char byte = '!'; byte <= '~'; ++byte) {
    vocabulary[std::string(1, byte)] = id++;
  }
  base::Json merges = base::Json::array();
  const auto merge = [&](const std::string& left, const std::string& right) {
    vocabulary[left + right] = id++;
    merges.push_back(left + " " + right);
  };
  merge("i", "n");
  merge("k", "in");
  merge("kin", "d");
  merge(space, "kind");
  merge(space, "w");
  merge("a", "r");
  merge(space + "w", "ar");
  merge(space + "war", "m");
  merge("e", "r");
  merge(space, "p");
  base::Json json;
  json["version"] = "1.0";
  json["added_tokens"] = {added_token(0, "<s>", false), added_token(1, "<pad>", false), added_token(2, "</s>", false),
                          added_token(3, "<unk>", false), added_token(4, "<mask>", true)};
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  json["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", {"</s>", 2}},
                            {"cls", {"<s>", 0}},
                            {"trim_offsets", true},
                            {"add_prefix_space", false}};
  json["decoder"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", ""},
                   {"end_of_word_suffix", ""},
                   {"fuse_unk", false},
                   {"vocab", vocabulary},
                   {"merges", merges}};
  return from_json(json, "<mask>");
}

}  // namespace stereosweep::probes::testing
