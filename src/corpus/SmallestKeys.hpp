// Keeps the contexts of the smallest keys: a uniform sample without replacement, whatever the order they come in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "corpus/Sample.hpp"

namespace stereosweep::corpus {

class SmallestKeys {
 public:
  explicit SmallestKeys(std::uint64_t most) : most_(most) {}
  /// Whether a context of this key may belong to the sample: else its text need not be built.
  bool wants(std::uint64_t key) const { return heap_.size() < most_ || (most_ > 0 && key <= heap_.front().key); }
  /// Returns by how many bytes the sample grew.
  std::int64_t add(Context context) {
    auto grown = size_of(context);
    heap_.push_back(std::move(context));
    std::push_heap(heap_.begin(), heap_.end(), comes_before);
    if (heap_.size() > most_) {
      std::pop_heap(heap_.begin(), heap_.end(), comes_before);
      grown -= size_of(heap_.back());
      heap_.pop_back();
    }
    return grown;
  }
  std::vector<Context> take() {
    std::sort_heap(heap_.begin(), heap_.end(), comes_before);
    return std::move(heap_);
  }

 private:
  static std::int64_t size_of(const Context& context) {
    return static_cast<std::int64_t>(sizeof(Context) + context.sentence.size() + context.file.size());
  }
  std::uint64_t most_;
  std::vector<Context> heap_;  // the largest key on top
};

}  // namespace stereosweep::corpus
