// What `stats` is asked of the intersections of a score table. Plain values.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::sweep {

/// What is said of subjects of the kind `intersection`.
struct IntersectionQuestions {
  std::vector<std::string> measures = {};  ///< empty: all
  double threshold = 0.1;                  ///< difference of mean tau-b from which on a domain dominates another
  double emergence = 0;    ///< a trait emerges where the score is beyond both parts' by more than this, in its unit
  double level = 1;        ///< and its p is at most this; 1: whatever its p
  std::string known = {};  ///< path of a table of known stereotypes; "": none
  bool operator==(const IntersectionQuestions&) const = default;
};

}  // namespace stereosweep::sweep
