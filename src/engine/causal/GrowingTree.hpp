// The tree of texts that grow: of the prompts of a call the parts in use, and what was added to them. No tensor here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/causal/TokenTree.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// A prompt's beginning is all of it but its last token: that one is added as the first token that grows, so that it
/// runs with whoever reads it.
class GrowingTree {
 public:
  static constexpr std::int32_t root = -1;  ///< the branch of an empty beginning

  /// `prompts`: in lexicographic order, none empty; borrowed for the call alone. Common beginnings of fewer tokens than
  /// `least_shared` are not shared. `kept`: what is there already; of that the beginnings of prompts are in the tree
  /// from the start.
  GrowingTree(std::span<const std::vector<query::TokenId>* const> prompts, std::size_t least_shared,
              const model::TokenTree& kept = {});

  const model::TokenTree& tree() const { return tree_; }
  /// [row] of the tree at the start: the row of `kept`, each once.
  std::span<const std::int32_t> kept_rows() const { return kept_rows_; }
  /// Slots of all different beginnings, each part of them in blocks of its own.
  std::int64_t slots_of_beginnings() const;
  /// Slots of one prompt's beginning.
  std::int64_t slots_of_beginning(std::size_t prompt) const { return slots_of(path_of(prompt)); }
  /// Of the parts that are in the tree.
  std::int64_t planted_slots() const { return slots_of(part_of_); }
  /// Of one prompt's beginning those that the tree lacks.
  std::int64_t missing_slots(std::size_t prompt) const;

  /// Adds what the tree lacks of a prompt's beginning, with `room` behind it; the branch it ends with. Room: as in
  /// TokenTree::Branch.
  std::int32_t plant(std::size_t prompt, std::int32_t room = 0);
  /// A new branch of these tokens, at least one.
  std::int32_t add(std::int32_t branch, std::span<const query::TokenId> ids, std::int32_t room = 0);
  /// Leaves only the paths to these branches, which get new numbers in place, and what there is of the beginning of
  /// `next`. What was added token by token becomes one branch where nothing else leaves it. Returns the rows that
  /// stay, in their new order.
  std::vector<std::int32_t> keep_only(std::span<std::int32_t* const> tips, std::optional<std::size_t> next);

 private:
  std::int32_t put(std::int32_t part, std::int32_t parent, std::int32_t room);  ///< its branch
  std::vector<std::int32_t> path_of(std::size_t prompt) const;                  ///< parts, first one first
  std::int64_t slots_of(std::span<const std::int32_t> parts) const;  ///< of those that are none (-1): no slots

  model::TokenTree beginnings_;          ///< all of them; a branch is a part that stands or falls as a whole
  std::vector<std::int32_t> last_part_;  ///< [prompt] or `root`
  std::vector<std::int32_t> branch_of_;  ///< [part] of the tree; -1: not in it
  model::TokenTree tree_;
  std::vector<std::int32_t> part_of_;  ///< [branch of the tree] -1: added
  std::vector<std::int32_t> kept_rows_;
};

}  // namespace stereosweep::engine
