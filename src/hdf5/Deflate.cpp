#include "hdf5/Deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/Check.hpp"

namespace stereosweep::hdf5 {

namespace {

constexpr std::size_t num_literals = 286;  ///< literals, the end of a block, lengths (RFC 1951, 3.2.5)
constexpr std::size_t num_distances = 30;
constexpr std::size_t num_length_codes = 19;
constexpr std::uint32_t end_of_block = 256;
constexpr std::size_t longest_match = 258;
constexpr std::size_t window = 32768;
constexpr std::size_t largest_block = 65535;  ///< what one stored block holds

/// Bits from the lowest up, into a buffer that is long enough.
class BitWriter {
 public:
  explicit BitWriter(std::size_t most) : out_(most + sizeof(kept_)) {}

  /// At most 32 bits.
  void put(std::uint64_t bits, unsigned count) {
    kept_ |= bits << num_kept_;
    num_kept_ += count;
    if (num_kept_ >= 32) {
      std::memcpy(out_.data() + size_, &kept_, 4);
      size_ += 4;
      kept_ >>= 32U;
      num_kept_ -= 32;
    }
  }

  void align() {
    std::memcpy(out_.data() + size_, &kept_, 4);
    size_ += (num_kept_ + 7) / 8;
    kept_ = 0;
    num_kept_ = 0;
  }

  void put_aligned(std::span<const std::uint8_t> bytes) {
    std::ranges::copy(bytes, out_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += bytes.size();
  }

  std::vector<std::uint8_t> take() {
    out_.resize(size_);
    return std::move(out_);
  }

 private:
  std::vector<std::uint8_t> out_;
  std::size_t size_ = 0;
  std::uint64_t kept_ = 0;
  unsigned num_kept_ = 0;
};

struct Code {
  std::uint16_t bits = 0;  ///< reversed: the first bit of the code is the lowest
  std::uint8_t length = 0;
};

/// Depths of the leaves of a Huffman tree of `weights`, in ascending order of weight (two queues: leaves, inner nodes).
std::vector<unsigned> depths_of(const std::vector<std::uint64_t>& weights) {
  const auto num_leaves = weights.size();
  auto weight = weights;
  std::vector<std::size_t> parent(2 * num_leaves - 1, 0);
  std::size_t leaf = 0;
  std::size_t inner = num_leaves;
  for (auto node = num_leaves; node < 2 * num_leaves - 1; ++node) {
    weight.push_back(0);
    for (int child = 0; child < 2; ++child) {
      const bool takes_leaf = leaf < num_leaves && (inner >= node || weight[leaf] <= weight[inner]);
      const auto taken = takes_leaf ? leaf++ : inner++;
      weight[node] += weight[taken];
      parent[taken] = node;
    }
  }
  std::vector<unsigned> depth(2 * num_leaves - 1, 0);
  for (auto node = 2 * num_leaves - 2; node-- > 0;) {
    depth[node] = depth[parent[node]] + 1;
  }
  depth.resize(num_leaves);
  return depth;
}

std::uint16_t reversed(std::uint32_t bits, unsigned count) {
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit < count; ++bit) {
    result |= ((bits >> bit) & 1U) << (count - 1 - bit);
  }
  return static_cast<std::uint16_t>(result);
}

/// Canonical codes of at most `longest` bits; none for a symbol that does not occur. A single symbol gets one bit.
template <std::size_t size>
std::array<Code, size> codes_of(const std::array<std::uint32_t, size>& counts, unsigned longest) {
  std::vector<std::size_t> symbols;
  for (std::size_t symbol = 0; symbol < size; ++symbol) {
    if (counts[symbol] > 0) {
      symbols.push_back(symbol);
    }
  }
  std::array<Code, size> codes{};
  if (symbols.size() < 2) {
    codes[symbols.empty() ? 0 : symbols.front()].length = 1;
    return codes;
  }
  std::ranges::sort(symbols, {}, [&](auto symbol) { return std::pair(counts[symbol], symbol); });
  std::vector<std::uint64_t> weights;
  std::ranges::transform(symbols, std::back_inserter(weights), [&](auto symbol) { return counts[symbol]; });
  auto depths = depths_of(weights);
  while (std::ranges::max(depths) > longest) {  // flatter weights, a shallower tree; equal ones always fit
    std::ranges::transform(weights, weights.begin(), [](auto weight) { return weight / 2 + 1; });
    depths = depths_of(weights);
  }
  for (std::size_t index = 0; index < symbols.size(); ++index) {
    codes[symbols[index]].length = static_cast<std::uint8_t>(depths[index]);
  }
  std::array<std::uint32_t, 17> next{};  // of each length
  for (const auto depth : depths) {
    ++next[depth + 1];
  }
  for (std::size_t length = 1; length <= longest; ++length) {
    next[length] = (next[length] + next[length - 1]) << 1U;
  }
  for (auto& code : codes) {
    if (code.length > 0) {
      code.bits = reversed(next[code.length]++, code.length);
    }
  }
  return codes;
}

/// A symbol, and the bits that say which of the numbers that share it is meant.
struct Ranged {
  std::uint32_t symbol = 0;
  std::uint32_t extra = 0;
  unsigned num_extra = 0;
};

/// Numbers from 0 on, in ranges of which `step` (a power of two) share a number of extra bits, twice as many share the
/// first: the scheme of lengths and of distances.
Ranged ranged(std::uint32_t number, unsigned step) {
  if (number < 2 * step) {
    return {number, 0, 0};
  }
  const auto num_extra = static_cast<unsigned>(std::bit_width(number / step)) - 1;
  return {step * num_extra + (number >> num_extra), number & ((1U << num_extra) - 1), num_extra};
}

Ranged length_symbol(std::size_t length) {
  if (length == longest_match) {
    return {285, 0, 0};
  }
  auto found = ranged(static_cast<std::uint32_t>(length) - 3, 4);
  found.symbol += 257;
  return found;
}

Ranged distance_symbol(std::size_t distance) { return ranged(static_cast<std::uint32_t>(distance) - 1, 2); }

/// `num_literals` bytes as they are, then `length` bytes (0: none) from `distance` before.
struct Step {
  std::uint32_t num_literals = 0;
  std::uint16_t length = 0;
  std::uint16_t distance = 0;  ///< minus 1
};

class Encoder {
 public:
  Encoder(std::span<const std::uint8_t> bytes, std::size_t num_blocks)
      : bytes_(bytes), bits_(bytes.size() + 8 * (num_blocks + 1)) {
    places_.fill(nowhere);
    bits_.put(0x0178, 16);  // deflate, a window of 32 KiB
  }

  void add_block(std::size_t first, std::size_t last) {
    count_bytes(first, last);
    find_steps(first, last);
    bits_.put(last == bytes_.size() ? 1 : 0, 1);
    if (steps_.size() == 1 && literal_bits_ > 7.97) {
      put_stored(first, last);
      return;
    }
    count_symbols(first);
    const auto literals = codes_of(literal_counts_, 15);
    const auto distances = codes_of(distance_counts_, 15);
    std::array<std::uint32_t, num_length_codes> length_counts{};
    for (const auto code : literals) {
      ++length_counts[code.length];
    }
    for (const auto code : distances) {
      ++length_counts[code.length];
    }
    const auto lengths = codes_of(length_counts, 7);
    const auto cost = 17 + 3 * num_length_codes + bits_of(length_counts, lengths) + bits_of(literal_counts_, literals) +
                      bits_of(distance_counts_, distances) + num_extra_;
    if (cost / 8 > last - first + 4) {
      put_stored(first, last);
      return;
    }
    put_codes(literals, distances, lengths);
    put_steps(first, literals, distances);
  }

  std::vector<std::uint8_t> finish() {
    bits_.align();
    const auto sum = adler32_z(adler32_z(0, nullptr, 0), bytes_.data(), bytes_.size());
    for (const auto shift : {24U, 16U, 8U, 0U}) {
      bits_.put((sum >> shift) & 0xffU, 8);
    }
    bits_.align();
    return bits_.take();
  }

 private:
  static constexpr unsigned hash_bits = 13;
  static constexpr std::uint64_t hash_factor = 0x9e3779b97f4a7c15;
  static constexpr auto nowhere = std::numeric_limits<std::uint32_t>::max();

  /// Entropy of the block's bytes, in bits a byte, but at least the one bit that any code takes.
  void count_bytes(std::size_t first, std::size_t last) {
    std::array<std::array<std::uint32_t, 256>, 2> counts{};  // two: a byte that repeats need not wait for itself
    auto place = first;
    for (; place + 1 < last; place += 2) {
      ++counts[0][bytes_[place]];
      ++counts[1][bytes_[place + 1]];
    }
    if (place < last) {
      ++counts[0][bytes_[place]];
    }
    const auto size = static_cast<double>(last - first);
    double entropy = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto count = static_cast<double>(counts[0][byte] + counts[1][byte]);
      entropy -= count > 0 ? count * std::log2(count / size) : 0;
    }
    literal_bits_ = std::max(1.0, entropy / size);
  }

  std::uint64_t load(std::size_t place) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + place, sizeof(value));
    return value;
  }

  /// Equal bytes from two places on, at most to `last`.
  std::size_t equal_bytes(std::size_t earlier, std::size_t later, std::size_t last) const {
    const auto start = later;
    while (later + sizeof(std::uint64_t) <= last) {
      const auto different = load(earlier) ^ load(later);
      if (different != 0) {
        return later - start + static_cast<std::size_t>(std::countr_zero(different)) / 8;
      }
      earlier += sizeof(std::uint64_t);
      later += sizeof(std::uint64_t);
    }
    while (later < last && bytes_[earlier] == bytes_[later]) {
      ++earlier;
      ++later;
    }
    return later - start;
  }

  /// From `place` on the first whose byte ends in four zero bits, eight at a time; `end` where there is none.
  std::size_t next_looked_at(std::size_t place, std::size_t end) const {
    constexpr std::uint64_t ones = 0x0101010101010101;
    for (; place < end; place += sizeof(std::uint64_t)) {
      const auto low = load(place) & (15 * ones);
      const auto zeros = (low - ones) & ~low & (128 * ones);  // the lowest bit that is set is right
      if (zeros != 0) {
        return std::min(end, place + static_cast<std::size_t>(std::countr_zero(zeros)) / 8);
      }
    }
    return end;
  }

  void find_steps(std::size_t first, std::size_t last) {
    steps_.clear();
    const bool is_noise = literal_bits_ > 6.5;
    const auto end = last - first < sizeof(std::uint64_t) ? first : last - sizeof(std::uint64_t) + 1;
    auto place = first;
    auto done = first;  // before it all bytes belong to steps
    while ((place = is_noise ? next_looked_at(place, end) : place) < end) {
      const auto hash = (load(place) * hash_factor) >> (64 - hash_bits);
      const auto earlier = std::exchange(places_[hash], static_cast<std::uint32_t>(place));
      if (earlier == nowhere || load(earlier) != load(place) || place - earlier > window) {
        ++place;
        continue;
      }
      std::size_t before = 0;
      while (before < place - done && before < earlier && bytes_[earlier - before - 1] == bytes_[place - before - 1]) {
        ++before;
      }
      const auto length = before + equal_bytes(earlier, place, last);
      const auto distance = place - earlier;
      if (static_cast<double>(length) * literal_bits_ < static_cast<double>(14 + std::bit_width(distance))) {
        place += length - before - (sizeof(std::uint64_t) - 1);
        continue;
      }
      add_match(place - before - done, length, distance);
      place += length - before;
      done = place;
    }
    steps_.push_back({static_cast<std::uint32_t>(last - done), 0, 0});
  }

  /// In pieces of at most 258 bytes, none below 3.
  void add_match(std::size_t num_before, std::size_t length, std::size_t distance) {
    while (length > 0) {
      auto piece = std::min(length, longest_match);
      if (length > piece && length - piece < 3) {
        piece -= 3;
      }
      steps_.push_back({static_cast<std::uint32_t>(num_before), static_cast<std::uint16_t>(piece),
                        static_cast<std::uint16_t>(distance - 1)});
      num_before = 0;
      length -= piece;
    }
  }

  void count_symbols(std::size_t place) {
    literal_counts_.fill(0);
    distance_counts_.fill(0);
    num_extra_ = 0;
    for (const auto& step : steps_) {
      for (const auto end = place + step.num_literals; place < end; ++place) {
        ++literal_counts_[bytes_[place]];
      }
      if (step.length > 0) {
        const auto length = length_symbol(step.length);
        const auto distance = distance_symbol(step.distance + std::size_t{1});
        ++literal_counts_[length.symbol];
        ++distance_counts_[distance.symbol];
        num_extra_ += length.num_extra + distance.num_extra;
        place += step.length;
      }
    }
    literal_counts_[end_of_block] = 1;
  }

  template <std::size_t size>
  static std::uint64_t bits_of(const std::array<std::uint32_t, size>& counts, const std::array<Code, size>& codes) {
    std::uint64_t bits = 0;
    for (std::size_t symbol = 0; symbol < size; ++symbol) {
      bits += std::uint64_t{counts[symbol]} * codes[symbol].length;
    }
    return bits;
  }

  void put_stored(std::size_t first, std::size_t last) {
    const auto size = static_cast<std::uint32_t>(last - first);
    bits_.put(0, 2);
    bits_.align();
    bits_.put(size | (~size << 16U), 32);
    bits_.put_aligned(bytes_.subspan(first, size));
  }

  void put_codes(const std::array<Code, num_literals>& literals, const std::array<Code, num_distances>& distances,
                 const std::array<Code, num_length_codes>& lengths) {
    static constexpr std::array<std::uint8_t, num_length_codes> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
    bits_.put(2, 2);
    bits_.put(num_literals - 257, 5);
    bits_.put(num_distances - 1, 5);
    bits_.put(num_length_codes - 4, 4);
    for (const auto symbol : order) {
      bits_.put(lengths[symbol].length, 3);
    }
    const auto put_length = [&](Code code) { bits_.put(lengths[code.length].bits, lengths[code.length].length); };
    std::ranges::for_each(literals, put_length);
    std::ranges::for_each(distances, put_length);
  }

  void put_steps(std::size_t place, const std::array<Code, num_literals>& literals,
                 const std::array<Code, num_distances>& distances) {
    for (const auto& step : steps_) {
      for (const auto end = place + step.num_literals; place < end; ++place) {
        const auto code = literals[bytes_[place]];
        bits_.put(code.bits, code.length);
      }
      if (step.length > 0) {
        const auto length = length_symbol(step.length);
        const auto distance = distance_symbol(step.distance + std::size_t{1});
        bits_.put(literals[length.symbol].bits, literals[length.symbol].length);
        bits_.put(length.extra, length.num_extra);
        bits_.put(distances[distance.symbol].bits, distances[distance.symbol].length);
        bits_.put(distance.extra, distance.num_extra);
        place += step.length;
      }
    }
    bits_.put(literals[end_of_block].bits, literals[end_of_block].length);
  }

  std::span<const std::uint8_t> bytes_;
  BitWriter bits_;
  std::array<std::uint32_t, std::size_t{1} << hash_bits> places_{};
  std::vector<Step> steps_;
  std::array<std::uint32_t, num_literals> literal_counts_{};
  std::array<std::uint32_t, num_distances> distance_counts_{};
  std::uint64_t num_extra_ = 0;
  double literal_bits_ = 8;
};

}  // namespace

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, std::size_t plane) {
  STEREOSWEEP_ASSERT(plane > 0 && bytes.size() <= std::numeric_limits<std::uint32_t>::max(), "planes of a chunk");
  std::vector<std::size_t> ends;
  for (std::size_t first = 0; first < bytes.size() || ends.empty(); first = ends.back()) {
    ends.push_back(std::min(bytes.size(), first + std::min(plane - first % plane, largest_block)));
  }
  Encoder encoder(bytes, ends.size());
  std::size_t first = 0;
  for (const auto end : ends) {
    encoder.add_block(first, end);
    first = end;
  }
  return encoder.finish();
}

}  // namespace stereosweep::hdf5
