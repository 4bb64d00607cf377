// Slots for the rows of a tree that grows token by token: what one text adds lies together, so that attention reads it
// where it lies, however many texts grow in turn.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/causal/TokenTree.hpp"

namespace stereosweep::model {

/// A branch goes on right behind its parent where that is free; else it opens a region of its own, with the room that
/// it asks for behind it. What a region keeps behind its rows when some are forgotten, and a region without a row, are
/// given away again. Only where no region fits is a branch split.
class RegionAllocator {
 public:
  /// `most_rows`: slots to stay within while that is possible; 0: no limit. dense: all rows of the first call are one
  /// region, without room behind them. `unit`: regions are whole multiples of it; with more than 1 (blocks) a text need
  /// not lie in one piece, and no room is kept for it.
  RegionAllocator(std::int64_t most_rows, Placement placement, std::int32_t unit = 1)
      : most_rows_(most_rows), placement_(placement), unit_(unit) {}

  /// Slots for the rows of `tree` from slots().size() on; they form whole branches.
  void grow(const TokenTree& tree);
  /// Row i is from now on what was row rows[i] (each at most once); the others are forgotten.
  void keep_only(std::span<const std::int32_t> rows);

  std::span<const std::int32_t> slots() const { return slots_; }  ///< [row]
  std::int32_t end() const;                                       ///< all slots that are taken or kept free lie before
  std::int64_t slots_in_use() const;                              ///< of units with a row

 private:
  struct Region {
    std::int32_t taken = 0;  ///< end of its rows
    std::int32_t end = 0;
  };
  using Regions = std::map<std::int32_t, Region>;  // by first slot

  std::int32_t whole_units(std::int32_t slots) const { return (slots + unit_ - 1) / unit_ * unit_; }
  void place(std::int32_t previous, std::int32_t length, std::int32_t room);
  Region* goes_on(std::int32_t previous);
  Region& open(std::int32_t length, std::int32_t room);

  std::int64_t most_rows_;
  Placement placement_;
  std::int32_t unit_;
  Regions regions_;
  std::vector<std::int32_t> slots_;
};

}  // namespace stereosweep::model
