// From queries to the trees of tokens that a causal model runs: no tensor here.
//   continue, embed -> token ids and the rows that are read -> distinct sequences in lexicographic order, so that
//   neighbours share prefixes -> runs of neighbours that make a tree of at most so many tokens
// What comes out is a function of the set of queries: neither their order nor their repeats show in the sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/QueryInput.hpp"
#include "model/causal/TokenTree.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Tokens at the beginning that both have.
std::size_t common_prefix(std::span<const query::TokenId> left, std::span<const query::TokenId> right);

/// Sequences by layer, then lexicographically. Each is a leaf of the trie: no other one of its layer begins with it,
/// and its last token is read. A row that several have is read in the first of them.
InputPlan plan_causal(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                      const model::ModelShape& shape);

/// Runs of sequences of one layer whose trees have at most `budget` tokens; a longer sequence is a batch of its own.
/// Of all such cuts one with the least repetition of shared beginnings, a batch counting as some tokens more.
std::vector<BatchRange> cut_trees(std::span<const Sequence> sequences, std::int64_t budget);

/// One tree of consecutive sequences of a plan, every shared prefix once.
ForwardBatch<model::TokenTree> pack_tree(std::span<const Sequence> sequences);

/// What running costs, known without a model.
struct CausalCounts {
  std::uint64_t sequences = 0;        ///< leaves of the trie
  std::uint64_t tokens = 0;           ///< that run: EngineCounts::distinct_tokens
  std::uint64_t repeated_tokens = 0;  ///< of them: beginnings that run again because a batch ended
  std::uint64_t naive_tokens = 0;     ///< of a forward pass for every continuation and embed query
  std::uint64_t head_rows = 0;        ///< projected onto the vocabulary
  std::uint64_t batches = 0;
};

/// Of a plan's sequences; openings grow with what is generated and are not counted.
CausalCounts count_causal(const InputPlan& plan, std::int64_t budget);

// Sequences in lexicographic order -> one tree of tokens, every shared beginning once.

class TreeBuilder {
 public:
  /// The next sequence; its first `shared` tokens are those of the sequence added before.
  void add(std::span<const query::TokenId> ids, std::size_t shared);
  /// Rows of the sequence that was added last.
  std::span<const std::int32_t> path() const { return path_; }
  /// Lets a branch end with the last token of that sequence, so that others can be appended to it.
  void end_branch() { ends_branch_[static_cast<std::size_t>(path_.back())] = 1; }

  /// Branches as long as possible.
  model::TokenTree take();
  /// [row] number of the branch; after `take`.
  std::span<const std::int32_t> branches_of_rows() const { return branch_of_; }

 private:
  std::vector<query::TokenId> ids_;
  std::vector<std::int32_t> parents_;  ///< [row] -1: none
  std::vector<char> ends_branch_;      ///< [row]
  std::vector<std::int32_t> path_;
  std::vector<std::int32_t> branch_of_;
};

}  // namespace stereosweep::engine
