// A tree of tokens cut into sections of neighbouring slots, and the attention over it cut into calls. Every row attends
// to the rows of its section up to itself, and to all of the sections above: those at one level in one call. No tensor.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/causal/TokenTree.hpp"
#include "model/kernels/SegmentAttention.hpp"

namespace stereosweep::model {

/// A branch is a section where its slots are neighbours, else several; an only child that lies right behind its parent
/// goes on in its parent's section.
struct TreeSections {
  struct Section {
    std::int32_t first_slot = 0;
    std::int32_t length = 0;
    std::int32_t parent = -1;  ///< number of an earlier section; -1: none
    std::int32_t depth = 0;    ///< position of its first row in the path
    std::int32_t level = 0;    ///< number of sections above it
  };
  std::vector<Section> sections;
  std::vector<std::int32_t> section_of;  ///< [row]
  std::vector<std::int32_t> place_of;    ///< [row] place in its section
};

/// `slots` [row]: where the row's key and value are kept.
TreeSections find_sections(const TokenTree& tree, std::span<const std::int32_t> slots);

/// Sections with the short ones above copied in front of them, so that a path has fewer. `sections` counts places of
/// the copy in place of slots; those that no row needs have no length.
struct JoinedSections {
  TreeSections sections;
  std::vector<std::int32_t> slots;  ///< [place] where the row is kept
};

/// Places that joined sections may have.
struct JoinLimits {
  std::int64_t times = 1;  ///< of what `rows` see as it is
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// What `rows` see, joined. As short as needed to stay within the limits counts: sections of any length, up to 64 rows
/// with what is in front of them, up to 16. Nothing where that leaves as many levels as there were.
std::optional<JoinedSections> join_sections(const TreeSections& tree, std::span<const std::int64_t> rows,
                                            const JoinLimits& limits);

/// One call: keys for every query.
struct SectionCall {
  KeySegments segments;
  std::vector<char> lacks;  ///< [queries] 1: the query has no keys in this call, and is given one of its own; or empty
};

struct SectionLimits {
  std::int32_t most_queries = 128;  ///< of a segment: what an operator computes together
  bool knows_windows = true;        ///< whether segments may have one; else what needs it is cut into single queries
};

/// The first call: each row's own section. Then one for each level, the tops first. `rows` sorted and distinct; with a
/// window a row sees only the last ones of its path, itself included. Nothing depends on keys that a row does not see.
std::vector<SectionCall> cut_calls(const TreeSections& tree, std::span<const std::int64_t> rows, std::int64_t window,
                                   const SectionLimits& limits);

}  // namespace stereosweep::model
