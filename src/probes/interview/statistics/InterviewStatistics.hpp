// What only interviews have besides the score table: diversity of their texts, consistency of their ratings, refusals.
// As variables of the statistics file (definitions: README.md) and as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "probes/interview/statistics/Consistency.hpp"
#include "probes/interview/statistics/TextDiversities.hpp"
#include "results/Layout.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::interview {

struct InterviewStatistics {
  TextDiversities diversities;
  Consistency consistency;           ///< without dimensions where nothing is rated
  std::optional<double> confidence;  ///< of intervals; nothing: greedy answers, which are no draws
};

/// `layout` holds the score table. Adds the axes `conversation`, `turn`, `ngram`, `rated_dimension`.
void write_statistics(results::Layout& layout, const results::RawSchema& schema, const InterviewStatistics& statistics);

/// Refusals by form and group, consistency by form and dimension, diversity by form and turn; `top` rows each.
std::string statistics_text(const results::RawSchema& schema, const InterviewStatistics& statistics, std::size_t top);

}  // namespace stereosweep::probes::interview
