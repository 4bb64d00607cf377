#include "findings/PairScores.hpp"

#include <algorithm>
#include <limits>

namespace stereosweep::findings {

double RunningMean::value() const {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

std::size_t PairScores::table_index(std::size_t measure, std::size_t prior) const {
  return measure * axes.priors.size() + prior;
}

std::string PairScores::table_name(std::size_t measure, std::size_t prior) const {
  return axes.measures[measure] + " - " + axes.priors[prior];
}

std::size_t PairScores::overall_index(std::size_t measure, std::size_t prior, std::size_t group,
                                      std::size_t pair) const {
  return (table_index(measure, prior) * axes.groups.size() + group) * axes.pairs.size() + pair;
}

std::size_t PairScores::template_index(std::size_t measure, std::size_t prior, std::size_t sentence,
                                       std::size_t detailed, std::size_t pair) const {
  const auto outer = table_index(measure, prior) * axes.templates.size() + sentence;
  return (outer * detailed_groups.size() + detailed) * axes.pairs.size() + pair;
}

}  // namespace stereosweep::findings
