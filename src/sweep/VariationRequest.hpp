// What `stats` is asked about coefficients of variation. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stereosweep::sweep {

struct VariationRequest {
  static constexpr const char* key_form = "{over: [wording, replicate], measures: [LABEL, LABEL]} or all";
  /// wording: every template in every rephrasing; replicate: the runs.
  enum class Over : std::uint8_t { wording, template_, rephrasing, replicate };
  inline static const std::vector<std::string> over_names = {"wording", "template", "rephrasing", "replicate"};
  std::vector<Over> over = {Over::wording, Over::replicate};
  std::vector<std::string> measures = {};  ///< empty: all
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.choices("over", self.over, over_names);
    keys.unless_default().labels("measures", self.measures);
  }
  bool operator==(const VariationRequest&) const = default;
};

}  // namespace stereosweep::sweep
