#include "tokenizer/algorithms/ByteTrie.hpp"

#include <algorithm>

namespace stereosweep::tokenizer {
namespace {

// Entries [begin, end) share the first `depth` bytes, which lead to `node`.
struct Task {
  std::uint32_t node = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t depth = 0;
};

}  // namespace

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries) {
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

std::uint32_t ByteTrie::child(std::uint32_t node, char byte) const {
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

std::size_t ByteTrie::longest_prefix(std::string_view text) const {
  std::size_t longest = 0;
  visit_prefixes(text, [&](std::size_t length, std::int32_t) { longest = length; });
  return longest;
}

}  // namespace stereosweep::tokenizer
