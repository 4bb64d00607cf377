// All that a job asks of the intersections of a score table: order, dominance, emergent traits, interaction, known
// stereotypes. Knows no probe.
#pragma once

#include <string>
#include <vector>

#include "findings/Finding.hpp"
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
  results::AxisSchema measures;  ///< all of the score table, or `intersection_measure`
  results::AxisSchema subjects;  ///< of the score table
  std::vector<std::string> items;
  std::vector<std::string> poles;
  IntersectionParts parts;
  std::string known_source;  ///< the table of known stereotypes, with its SHA-256; empty: none
  std::vector<IntersectionsOfMeasure> of_measures;
};

/// Throws InputError for measures that the table does not have, a table without intersections, and for what
/// read_known_traits refuses.
Intersections intersections_of(const Scores& scores, const sweep::Comparison& comparison);

/// Order, dominance, emergent scores, interactions and known stereotypes, of each measure; emergent scores and
/// interactions by p.
std::vector<Finding> findings_of(const Intersections& intersections, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
