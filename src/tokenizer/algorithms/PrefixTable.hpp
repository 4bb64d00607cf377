// A fixed set of texts, each with a number: which of them does a text start with?
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stereosweep::tokenizer {

class PrefixTable {
 public:
  PrefixTable() = default;
  /// No text twice, none empty; numbers from 0 on.
  explicit PrefixTable(const std::vector<std::pair<std::string_view, std::int32_t>>& entries)
      : entries_(entries.begin(), entries.end()) {
    std::ranges::sort(entries_);  // texts compare bytes as unsigned
    for (const auto& [text, number] : entries_) {
      ++ends_[static_cast<unsigned char>(text.front()) + 1U];
    }
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  }
  bool empty() const { return entries_.empty(); }

  /// Calls `visit(length, number)` for each text that `text` starts with, the shortest first.
  void visit_prefixes(std::string_view text, auto visit) const {
    const auto first = static_cast<unsigned char>(text.empty() ? '\0' : text.front());
    auto alike = std::span(entries_).subspan(ends_[first], ends_[first + 1U] - ends_[first]);
    for (std::size_t length = 1; length <= text.size() && !alike.empty(); ++length) {
      if (alike.front().first.size() == length) {  // all others are longer
        visit(length, alike.front().second);
        alike = alike.subspan(1);
      }
      if (length < text.size()) {
        const auto found = std::ranges::equal_range(
            alike, static_cast<unsigned char>(text[length]), {},
            [length](const Entry& entry) { return static_cast<unsigned char>(entry.first[length]); });
        alike = {found.begin(), found.end()};
      }
    }
  }
  /// Length of the longest text that `text` starts with; 0: none.
  std::size_t longest_prefix(std::string_view text) const {
    std::size_t longest = 0;
    visit_prefixes(text, [&](std::size_t length, std::int32_t) { longest = length; });
    return longest;
  }

 private:
  using Entry = std::pair<std::string, std::int32_t>;
  std::vector<Entry> entries_;           // ascending
  std::array<std::size_t, 257> ends_{};  // [byte + 1]: of the entries whose text begins with it; [byte]: their begin
};

}  // namespace stereosweep::tokenizer
