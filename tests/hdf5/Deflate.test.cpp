#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <vector>

#include "hdf5/Chunks.hpp"

namespace stereosweep::hdf5 {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// What zlib makes of a stream; it checks the sum at the end.
Bytes inflated(const Bytes& stream, std::size_t size) {
  Bytes bytes(size + 1);
  uLongf length = bytes.size();
  EXPECT_EQ(uncompress(bytes.data(), &length, stream.data(), stream.size()), Z_OK);
  bytes.resize(length);
  return bytes;
}

std::size_t zlib_size(const Bytes& bytes) {
  Bytes stream(compressBound(bytes.size()));
  uLongf length = stream.size();
  EXPECT_EQ(compress2(stream.data(), &length, bytes.data(), bytes.size(), 4), Z_OK);
  return length;
}

Bytes made(std::size_t size, const std::function<unsigned(const Bytes&)>& next) {
  Bytes bytes;
  while (bytes.size() < size) {
    bytes.push_back(static_cast<std::uint8_t>(next(bytes)));
  }
  return bytes;
}

TEST(Deflate, IsReadByZlibWhateverTheBytesAre) {
  std::mt19937 random(5);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  for (unsigned round = 0; round < 1500; ++round) {
    const auto size = round % 100 == 99 ? 60000 + below(90000) : below(3000);
    const auto period = 1 + below(700);
    const auto repeats = [&](const Bytes& bytes) {
      return bytes.size() >= period ? bytes[bytes.size() - period] : below(256);
    };
    const std::vector<std::function<unsigned(const Bytes&)>> kinds = {
        [&](const Bytes&) { return below(256); },
        [&](const Bytes&) { return below(3); },
        [&](const Bytes&) { return 0U; },
        repeats,
        [&](const Bytes&) { return below(50) == 0 ? below(256) : 7U; },
        [&](const Bytes& bytes) { return bytes.size() % 97 < 50 ? repeats(bytes) : below(256); },
        [&](const Bytes&) { return static_cast<unsigned>(std::countl_zero(random() | 1U)); },
    };
    const auto bytes = made(size, kinds[round % kinds.size()]);
    const auto stream = deflated(bytes, 1 + below(size + 5));
    ASSERT_EQ(inflated(stream, size), bytes) << "round " << round << ", " << size << " bytes";
  }
}

TEST(Deflate, StoresNoiseAtSixBytesABlock) {
  std::mt19937 random(7);
  const auto bytes = made(5 * 30000, [&](const Bytes&) { return static_cast<unsigned>(random() & 255U); });
  EXPECT_LE(deflated(bytes, 30000).size(), bytes.size() + 5 * 6 + 6);
}

/// Three copies of noise, as three variants of a score have them, and of a plane of few values; constants.
TEST(Deflate, FindsTheRepetitionsThatZlibFindsAtLevelFour) {
  std::mt19937 random(9);
  const auto repeated = [&](unsigned limit) {
    Bytes bytes;
    for (int row = 0; row < 10; ++row) {
      const auto once = made(1000, [&](const Bytes&) { return static_cast<unsigned>(random() % limit); });
      for (int copy = 0; copy < 3; ++copy) {
        bytes.insert(bytes.end(), once.begin(), once.end());
      }
    }
    return bytes;
  };
  for (const auto limit : {256U, 100U, 12U}) {
    const auto bytes = repeated(limit);
    EXPECT_LE(static_cast<double>(deflated(bytes, bytes.size()).size()), 1.1 * static_cast<double>(zlib_size(bytes)))
        << limit;
  }
  EXPECT_LE(deflated(Bytes(240000, 255), 240000).size(), 1100U);
}

}  // namespace
}  // namespace stereosweep::hdf5
