#include "corpus/TokenTable.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace stereosweep::corpus {

void TokenTable::add(TokenKey key, std::uint32_t value) {
  const auto bit = key.hash() >> (64 - filter_power);
  filter_[bit / 64] |= std::uint64_t{1} << bit % 64;
  entries_.push_back({key, value});
}

void TokenTable::build() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.key.head, one.key.length) < std::tie(other.key.head, other.key.length);
  });
  slots_.assign(std::bit_ceil(entries_.size() * 2 + 1), {});
  values_.clear();
  for (std::size_t i = 0; i < entries_.size();) {
    Slot slot{entries_[i].key, static_cast<std::uint32_t>(values_.size()), 0};
    for (; i < entries_.size() && entries_[i].key == slot.key; ++i) {
      values_.push_back(entries_[i].value);
    }
    slot.end = static_cast<std::uint32_t>(values_.size());
    auto at = slot_of(slot.key);
    while (slots_[at].end != 0) {
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = slot;
  }
}

std::span<const std::uint32_t> TokenTable::find(TokenKey key) const {
  for (auto at = slot_of(key); slots_[at].end != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].key == key) {
      return {values_.data() + slots_[at].begin, values_.data() + slots_[at].end};
    }
  }
  return {};
}

}  // namespace stereosweep::corpus
