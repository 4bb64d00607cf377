// Which subjects of a score table are intersections of two groups, and where their parts stand in it. Knows no probe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "findings/Scores.hpp"

namespace stereosweep::findings {

/// A subject of kind `intersection` with its coordinates `first` and `second`. Places are on the axis of subjects.
struct Intersection {
  std::size_t subject = 0;
  std::optional<std::size_t> first;     ///< subject of kind `group` that is its first part
  std::optional<std::size_t> second;    ///< and its second
  std::optional<std::size_t> reversed;  ///< the intersection of the same parts in the other order
  bool has_parts() const { return first && second; }
};

struct IntersectionParts {
  std::vector<Intersection> intersections;  ///< in the table's order
  /// The only subject of kind `baseline`: what is scored where no group is named.
  std::optional<std::size_t> baseline;
  std::vector<std::string> domains;  ///< [subject]
};

/// Where several subjects could be a part (one for each place of a marker), the one that shares most of the other
/// coordinates with the intersection is; none where two share as many. Throws InputError where no subject is an
/// intersection.
IntersectionParts parts_of(const results::AxisSchema& subjects);

/// Scores of one measure, replicates averaged: [subject, cell, item], a cell is one (template, rephrasing).
struct CellScores {
  std::size_t num_templates = 0;
  std::size_t num_rephrasings = 0;
  std::size_t num_items = 0;
  std::vector<double> values;              ///< NaN: none
  std::optional<stats::ScaleEnds> ends{};  ///< between which scores lie
  std::size_t num_cells() const { return num_templates * num_rephrasings; }
  double at(std::size_t subject, std::size_t cell, std::size_t item) const {
    return values[(subject * num_cells() + cell) * num_items + item];
  }
};

CellScores cells_of_items(const Scores& scores, std::size_t measure);
/// The same of the poles; `scores.poles` must be there.
CellScores cells_of_poles(const Scores& scores, std::size_t measure);

}  // namespace stereosweep::findings
