// Human ratings of subjects on dimensions (warmth, competence), from a table.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::findings {

struct DimensionMeans {
  std::vector<double> means;           ///< [subject, dimension], in the table's unit; NaN: not rated
  std::vector<std::string> unmatched;  ///< subjects and dimensions of the table that were not asked for, each once
};

/// Of these subjects and dimensions, from a table with the columns group (or identity), dimension, mean. Names are
/// compared without case, hyphens and repeated spaces. Throws InputError with every bad row: no number, a cell twice.
DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions);

}  // namespace stereosweep::findings
