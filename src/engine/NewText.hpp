// What a generate query has got so far, and whether that is all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/File.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Ids after which a text ends: "eos_token_id" (an id or a list) of generation_config.json, else of config.json or its
/// text_config; without the first file and the key, what transformers takes for the family; none otherwise. Throws
/// InputError naming file and field for anything else in its place.
std::vector<query::TokenId> read_end_tokens(const base::FileSet& files);

/// Keys of generation_config.json that are set to something which would make transformers' `generate` choose other
/// tokens and that nobody obeys here, by name: a text follows its query's fields and the end tokens. What a query says
/// itself (temperature, top_k, top_p, lengths) is not among them. Throws InputError where the file is no JSON.
std::vector<std::string> ignored_generation_keys(const base::FileSet& files);

/// Grows by a token at a time. Everything is borrowed.
class NewText {
 public:
  NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
          std::span<const query::TokenId> end_tokens);

  /// Takes the next token; not after the end.
  void add(query::TokenId id);
  /// After an end token, a stop string or max_new_tokens.
  bool is_finished() const { return is_finished_; }
  std::size_t size() const { return answer_.ids.size(); }
  /// `ids`: all new tokens but the end token; with a stop string up to the token that completes it. `text`: what they
  /// decode to, special tokens left out, up to the first stop string. A character that is not complete reads as the
  /// tokenizer's decoder writes it.
  query::GenerateAnswer take();

 private:
  const query::Generate* asked_;
  const tokenizer::Tokenizer* tokenizer_;
  std::span<const query::TokenId> end_tokens_;
  query::GenerateAnswer answer_;
  bool has_text_ = false;
  bool is_finished_ = false;
};

}  // namespace stereosweep::engine
