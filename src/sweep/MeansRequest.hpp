// What `stats` is asked about means of a score table, and about the sources of its variance. Plain values.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::sweep {

/// Of every subject and item, with intervals.
struct MeansRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL]} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.labels("measures", self.measures);
  }
  bool operator==(const MeansRequest&) const = default;
};

/// Shares of the variance by subject, item, template, ..., and its components.
struct VarianceRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL]} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.labels("measures", self.measures);
  }
  bool operator==(const VarianceRequest&) const = default;
};

}  // namespace stereosweep::sweep
