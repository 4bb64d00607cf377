// A score table of rank zero's file, for all ranks.
#pragma once

#include <optional>

#include "findings/Scores.hpp"

namespace stereosweep::findings {

/// Collective where it is made and read: rank zero reads its file and sends what it read to the others.
class SharedScores {
 public:
  /// `own`: rank zero's table, which is borrowed; null on all other ranks.
  SharedScores(const Scores* own, const Workers& ranks);
  SharedScores(const SharedScores&) = delete;
  SharedScores& operator=(const SharedScores&) = delete;
  const Scores& scores() const { return scores_; }

 private:
  std::array<results::AxisSchema, 6> axes_;
  std::optional<results::AxisSchema> poles_;
  Scores scores_;
};

}  // namespace stereosweep::findings
