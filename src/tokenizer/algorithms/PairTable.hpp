// A fixed map from 64-bit keys to values, in one array: looked up a few times for every character of a text.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace stereosweep::tokenizer {

template <typename Value>
class PairTable {
 public:
  /// Any key but the largest; of equal ones the last counts.
  using Entries = std::vector<std::pair<std::uint64_t, Value>>;

  PairTable() : PairTable(Entries()) {}
  explicit PairTable(const Entries& entries)
      : places_(std::bit_ceil(2 * entries.size() + 1), {nothing, Value()}),
        shift_(64 - std::countr_zero(places_.size())) {
    for (const auto& [key, value] : entries) {
      places_[place_of(key)] = {key, value};
    }
  }

  const Value* find(std::uint64_t key) const {
    const auto& [kept, value] = places_[place_of(key)];
    return kept == key ? &value : nullptr;
  }

 private:
  static constexpr auto nothing = std::numeric_limits<std::uint64_t>::max();

  // Where the key is, or the free place where it would be.
  std::size_t place_of(std::uint64_t key) const {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio spreads neighbours
    auto place = shift_ < 64 ? static_cast<std::size_t>((key ^ key >> 32) * golden >> shift_) : 0;
    while (places_[place].first != key && places_[place].first != nothing) {
      place = (place + 1) & (places_.size() - 1);
    }
    return place;
  }

  std::vector<std::pair<std::uint64_t, Value>> places_;
  int shift_;
};

}  // namespace stereosweep::tokenizer
