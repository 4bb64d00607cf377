// Human ratings of identities per dimension, from a tab-separated table.
#pragma once

#include <string>
#include <vector>

#include "sweep/Job.hpp"

namespace stereosweep::probes::rating {

struct IdentityRatings {
  struct Row {
    std::string identity;  ///< as in the job where it is known, else as in the table
    std::string dimension;
    double mean = 0;
  };
  std::vector<Row> rows;
  std::vector<std::string> unmatched;  ///< identities and dimensions that the job does not have, each once
};

/// Reads `statistics.human_ratings` of a rating job: columns identity, dimension, mean. Names are compared without
/// case, hyphens and repeated spaces. Throws InputError with every bad row: no number, a cell twice.
IdentityRatings read_identity_ratings(const sweep::Job& job);

}  // namespace stereosweep::probes::rating
