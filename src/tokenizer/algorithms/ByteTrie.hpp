// A fixed set of texts, each with a number, walked byte by byte: which of them does a text start with?
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stereosweep::tokenizer {

class ByteTrie {
 public:
  ByteTrie() = default;
  /// No text twice, none empty; numbers from 0 on.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries);
  bool empty() const { return nodes_.size() <= 1; }

  /// Calls `visit(length, number)` for each text that `text` starts with, the shortest first.
  template <typename Visit>
  void visit_prefixes(std::string_view text, Visit visit) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size() && (node = child(node, text[i])) != 0; ++i) {
      if (nodes_[node].number >= 0) {
        visit(i + 1, nodes_[node].number);
      }
    }
  }
  /// Length of the longest text that `text` starts with; 0: none.
  std::size_t longest_prefix(std::string_view text) const;

 private:
  struct Node {
    std::uint32_t first = 0;   // of its children, which lie side by side, ascending by label
    std::uint16_t count = 0;   // of its children
    unsigned char label = 0;   // the byte that leads here
    std::int32_t number = -1;  // of the text that ends here
  };
  std::uint32_t child(std::uint32_t node, char byte) const;  // 0: none
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace stereosweep::tokenizer
