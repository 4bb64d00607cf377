// Names of subjects and items as a table from elsewhere may spell them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stereosweep::findings {

/// How names are compared: lower case (ASCII), hyphens and underscores as spaces, no repeated or outer spaces.
std::string normalised(std::string_view name);

/// Places by their normalised names; of two places with one name the first counts.
class NameIndex {
 public:
  NameIndex() = default;
  /// Places in the order of `labels`.
  explicit NameIndex(const std::vector<std::string>& labels);
  void add(std::string_view name, std::size_t place);
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace stereosweep::findings
