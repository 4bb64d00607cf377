// What only interviews have besides the score table: diversity of their texts, consistency of their ratings, refusals
// (definitions: README.md).
#pragma once

#include <optional>
#include <vector>

#include "findings/Finding.hpp"
#include "probes/interview/statistics/Consistency.hpp"
#include "probes/interview/statistics/TextDiversities.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::interview {

struct InterviewStatistics {
  TextDiversities diversities;
  Consistency consistency;           ///< without dimensions where nothing is rated
  std::optional<double> confidence;  ///< of intervals; nothing: greedy answers, which are no draws
};

/// `template_refused_share`, `subject_refused_share`, `rating_variation`, `texts_over_...`. `scores`: of the same run.
std::vector<findings::Finding> findings_of(const results::RawSchema& schema, const findings::Scores& scores,
                                           const InterviewStatistics& statistics);

}  // namespace stereosweep::probes::interview
