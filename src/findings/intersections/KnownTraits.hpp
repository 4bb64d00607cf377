// Emergent traits held against a user's table of known stereotypes (cao2022 §5.2: precision and recall against the
// traits that Ghavami and Peplau found). Knows no probe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/intersections/Emergence.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Entries of the table about items, or about poles. The universe: each intersection of an entry with each item of an
/// entry, higher and lower.
struct KnownTraits {
  std::vector<std::size_t> intersections;  ///< places in IntersectionParts, each once
  std::vector<std::size_t> items;          ///< places on the axis of items (poles), each once
  std::vector<bool> higher;                ///< [intersection, item] of these lists: known to be higher
  std::vector<bool> lower;
};

struct KnownTable {
  KnownTraits items;
  KnownTraits poles;
};

/// Columns `intersection` (a subject's label), `item` (an item's or a pole's), `direction`: higher, lower (than of both
/// parts), or none: in the universe, and known for nothing. Names are compared as in a table of human ratings. Throws
/// InputError with every bad row: a name that the score table does not have, a direction twice or beside `none`.
KnownTable read_known_traits(const std::string& path, const Scores& scores, const IntersectionParts& parts);

struct KnownCounts {
  std::int32_t num_universe = 0;   ///< with a score; each (intersection, item) is two, higher and lower
  std::int32_t num_unscored = 0;   ///< of the universe, without: counted nowhere else
  std::int32_t num_known = 0;      ///< in the table
  std::int32_t num_predicted = 0;  ///< emerge: beyond both parts' by more than `emergence`, and p at most `level`
  std::int32_t num_hits = 0;       ///< both
  double precision() const;        ///< hits / predicted; NaN: nothing predicted
  double recall() const;           ///< hits / known; NaN: nothing known
  double prevalence() const;       ///< known / universe: precision of saying yes always (whose recall is 1)
};

/// `rows` [intersection, item] as `emergence_of` gives them.
KnownCounts count_known(std::span<const EmergenceRow> rows, std::size_t num_items, const KnownTraits& known,
                        const sweep::IntersectionQuestions& questions);

}  // namespace stereosweep::findings
