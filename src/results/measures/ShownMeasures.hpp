// Which measures a text prints.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stereosweep::results {

class ShownMeasures {
 public:
  /// All.
  ShownMeasures() = default;
  /// Those of these labels.
  explicit ShownMeasures(std::vector<std::string> labels) : labels_(std::move(labels)) {}

  bool holds(std::string_view label) const { return !labels_ || std::ranges::find(*labels_, label) != labels_->end(); }
  /// These, or all where none of them is among `labels`.
  ShownMeasures or_all_of(std::span<const std::string> labels) const {
    return std::ranges::any_of(labels, [&](const auto& label) { return holds(label); }) ? *this : ShownMeasures();
  }

 private:
  std::optional<std::vector<std::string>> labels_;
};

}  // namespace stereosweep::results
