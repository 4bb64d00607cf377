// Sequences in lexicographic order -> one tree of tokens, every shared beginning once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/TokenTree.hpp"

namespace stereosweep::engine {

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
