// A fixed set of texts, each with a number, walked byte by byte: which of them does a text start with?
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stereosweep::tokenizer {

class ByteTrie {
 public:
  ByteTrie() = default;
  /// No text twice, none empty; numbers from 0 on.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries) {
    std::sort(entries.begin(), entries.end());  // string_view compares bytes as unsigned
    std::vector<Task> tasks = {{0, 0, entries.size(), 0}};
    while (!tasks.empty()) {
      auto task = tasks.back();
      tasks.pop_back();
      if (task.begin < task.end && entries[task.begin].first.size() == task.depth) {
        nodes_[task.node].number = entries[task.begin++].second;
      }
      nodes_[task.node].first = static_cast<std::uint32_t>(nodes_.size());
      while (task.begin < task.end) {
        const char label = entries[task.begin].first[task.depth];
        auto end = task.begin + 1;
        while (end < task.end && entries[end].first[task.depth] == label) {
          ++end;
        }
        Node made;
        made.label = static_cast<unsigned char>(label);
        tasks.push_back({static_cast<std::uint32_t>(nodes_.size()), task.begin, end, task.depth + 1});
        nodes_.push_back(made);
        ++nodes_[task.node].count;
        task.begin = end;
      }
    }
  }
  bool empty() const { return nodes_.size() <= 1; }

  /// Calls `visit(length, number)` for each text that `text` starts with, the shortest first.
  void visit_prefixes(std::string_view text, auto visit) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size() && (node = child(node, text[i])) != 0; ++i) {
      if (nodes_[node].number >= 0) {
        visit(i + 1, nodes_[node].number);
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
  // Entries [begin, end) share the first `depth` bytes, which lead to `node`.
  struct Task {
    std::uint32_t node = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };
  struct Node {
    std::uint32_t first = 0;   // of its children, which lie side by side, ascending by label
    std::uint16_t count = 0;   // of its children
    unsigned char label = 0;   // the byte that leads here
    std::int32_t number = -1;  // of the text that ends here
  };
  // 0: none
  std::uint32_t child(std::uint32_t node, char byte) const {
    constexpr std::uint16_t few = 8;
    const auto label = static_cast<unsigned char>(byte);
    const auto first = nodes_[node].first;
    const auto end = first + nodes_[node].count;
    auto at = first;
    if (nodes_[node].count <= few) {
      while (at < end && nodes_[at].label != label) {
        ++at;
      }
      return at < end ? at : 0;
    }
    const auto begin = nodes_.begin();
    const auto it = std::lower_bound(begin + first, begin + end, label,
                                     [](const Node& each, unsigned char wanted) { return each.label < wanted; });
    at = static_cast<std::uint32_t>(it - begin);
    return at < end && nodes_[at].label == label ? at : 0;
  }
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace stereosweep::tokenizer
