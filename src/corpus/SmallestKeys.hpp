// Keeps the contexts of the smallest keys: a uniform sample without replacement, whatever the order they come in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "corpus/Sample.hpp"

namespace stereosweep::corpus {

/// Up to twice as many contexts as wanted are held, so that the larger half is dropped in one pass now and then: a heap
/// would move long records at every step.
class SmallestKeys {
 public:
  explicit SmallestKeys(std::uint64_t most) : most_(most) {}
  /// Whether a context of this key may belong to the sample: else its text need not be built.
  bool wants(std::uint64_t key) const { return key <= largest_ && most_ > 0; }
  void add(Context context) {
    bytes_ += size_of(context);
    contexts_.push_back(std::move(context));
    if (contexts_.size() / 2 >= most_) {
      drop();
    }
  }
  /// Memory that the contexts take.
  std::uint64_t bytes() const { return bytes_; }
  std::vector<Context> take() {
    if (contexts_.size() > most_) {
      drop();
    }
    std::sort(contexts_.begin(), contexts_.end(), comes_before);
    return std::move(contexts_);
  }

 private:
  void drop() {
    const auto last = contexts_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
    std::nth_element(contexts_.begin(), last, contexts_.end(), comes_before);
    largest_ = last->key;
    for (auto dropped = last + 1; dropped != contexts_.end(); ++dropped) {
      bytes_ -= size_of(*dropped);
    }
    contexts_.resize(most_);
  }
  static std::uint64_t size_of(const Context& context) {
    return sizeof(Context) + context.sentence.size() + context.file.size();
  }
  std::uint64_t most_;
  std::uint64_t largest_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes_ = 0;
  std::vector<Context> contexts_;
};

}  // namespace stereosweep::corpus
