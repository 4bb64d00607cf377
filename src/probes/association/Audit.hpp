// What a job will cost and where its words do not stand as one token, found without a model.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/association/AssociationProbe.hpp"

namespace stereosweep::probes::association {

/// Sums over the contexts that were read; `scale()` carries them to the whole product.
struct Audit {
  std::uint64_t num_contexts = 0;   ///< of the product
  std::uint64_t contexts_read = 0;  ///< all, or blocks spread over the product
  std::uint64_t cells_read = 0;     ///< contexts x words
  std::uint64_t cells_by_status[16] = {};
  std::uint64_t forwards_alone = 0;  ///< one forward pass per cell and subword that a measure reads
  std::uint64_t queries = 0;         ///< distinct masked inputs, each computed once per block
  std::uint64_t numbers = 0;         ///< distinct (masked input, target)
  std::uint64_t tokens = 0;          ///< of the distinct inputs, special tokens included
  std::uint64_t longest = 0;         ///< tokens of the longest input
  std::uint64_t too_long = 0;        ///< inputs beyond the model's positions
  std::uint64_t prompt_bytes = 0;
  std::map<std::string, std::set<std::string>> splits;   ///< word -> "power ##less" where it has several pieces
  std::map<std::string, std::set<std::string>> joins;    ///< word -> text around it
  std::map<std::string, std::set<std::string>> unknown;  ///< word -> pieces with the unknown token
  std::map<std::string, std::uint64_t> problems;         ///< why contexts have no text -> how many
  bool is_exact() const { return contexts_read == num_contexts; }
  double scale() const { return contexts_read == 0 ? 0 : double(num_contexts) / double(contexts_read); }
};

/// `max_tokens`: longest input of the model (0: unknown). Reads whole blocks, all of them if the product has at most
/// `max_contexts` contexts, else one at a fixed random place in each of as many equal parts as that allows.
Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts);

}  // namespace stereosweep::probes::association
