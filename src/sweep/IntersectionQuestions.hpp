// What `stats` is asked of the intersections of a score table. Plain values.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::sweep {

/// What is said of subjects of the kind `intersection`.
struct IntersectionQuestions {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL], threshold: 0.1} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  double threshold = 0.1;                  ///< difference of mean tau-b from which on a domain dominates another
  double emergence = 0;    ///< a trait emerges where the score is beyond both parts' by more than this, in its unit
  double level = 1;        ///< and its p is at most this; 1: whatever its p
  std::string known = {};  ///< path of a table of known stereotypes; "": none
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.unless_default().labels("measures", self.measures);
    keys.number("threshold", self.threshold, 0, 2);
    keys.number("emergence", self.emergence, 0, 1e9);
    keys.number("level", self.level, 0, 1);
    keys.path("known", self.known, "a table of words that are known to emerge");
  }
  bool operator==(const IntersectionQuestions&) const = default;
};

}  // namespace stereosweep::sweep
