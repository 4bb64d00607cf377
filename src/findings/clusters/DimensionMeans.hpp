// Human ratings of subjects on dimensions (warmth, competence), from a table, with the names of a job.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::findings {

/// One mean of the table, in its unit.
struct DimensionMean {
  std::string subject;  ///< as in the job where it is known, else as in the table
  std::string dimension;
  double mean = 0;
};

struct DimensionMeans {
  std::vector<DimensionMean> rows;
  std::vector<std::string> unmatched;  ///< subjects and dimensions that the job does not have, each once
  /// [subject, dimension] of these labels; NaN: not rated.
  std::vector<double> table(const std::vector<std::string>& subjects, const std::vector<std::string>& dimensions) const;
};

/// Reads a table with the columns group (or identity), dimension, mean. Names are compared without case, hyphens and
/// repeated spaces. Throws InputError with every bad row: no number, a cell twice.
DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions);

}  // namespace stereosweep::findings
