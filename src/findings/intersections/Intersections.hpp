// All that a job asks of the intersections of a score table: order, dominance, emergent traits, interaction, known
// stereotypes. Knows no probe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "findings/intersections/Emergence.hpp"
#include "findings/intersections/KnownTraits.hpp"
#include "findings/intersections/Order.hpp"
#include "findings/intersections/Parts.hpp"

namespace stereosweep::findings {

struct IntersectionsOfMeasure {
  std::string measure;
  Order order;
  std::vector<DominanceRow> dominance;
  std::vector<EmergenceRow> items;  ///< [intersection, item]
  std::vector<EmergenceRow> poles;  ///< [intersection, pole]; empty: poles are not scored
  KnownCounts known_items;
  KnownCounts known_poles;
};

struct Intersections {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  results::AxisSchema subjects;       ///< of the score table
  std::vector<std::string> items;
  std::vector<std::string> poles;
  IntersectionParts parts;
  std::string known_source;  ///< the table of known stereotypes, with its SHA-256; empty: none
  std::vector<IntersectionsOfMeasure> of_measures;
};

/// Throws InputError for measures that the table does not have, a table without intersections, and for what
/// read_known_traits refuses.
Intersections intersections_of(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// Variables over the axes intersection, domain_pair, order_comparison, item and pole.
void write_intersections(results::Layout& layout, const Intersections& intersections,
                         const sweep::Comparison& comparison);

/// Of each measure: means of the order's tau-b, which domain dominates which, and the `top` emergent traits and
/// interactions with the smallest p.
std::string intersections_text(const Intersections& intersections, const sweep::Comparison& comparison,
                               std::size_t top);

}  // namespace stereosweep::findings
