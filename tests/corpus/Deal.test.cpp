#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "corpus/Files.hpp"

namespace stereosweep::corpus {
namespace {

TEST(Deal, EveryByteGoesToOneShardAndLoadsAreLevel) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<CorpusFile> files(random() % 12 + 1);
    for (auto& file : files) {
      file.size = random() % 5 == 0 ? 0 : random() % 100000;
      file.compression = random() % 4 == 0 ? Compression::gzip : Compression::none;
    }
    const std::uint64_t count = random() % 9 + 1;
    std::vector<std::vector<Piece>> of_file(files.size());
    std::vector<std::uint64_t> plain(count);
    std::vector<std::uint64_t> packed(count);
    for (std::uint64_t shard = 0; shard < count; ++shard) {
      for (const auto& piece : deal(files, {shard, count})) {
        of_file[piece.file].push_back(piece);
        (files[piece.file].compression == Compression::none ? plain : packed)[shard] += piece.end - piece.begin;
      }
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      auto& pieces = of_file[i];
      std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
      ASSERT_FALSE(pieces.empty());
      ASSERT_EQ(pieces.front().begin, 0U);
      ASSERT_EQ(pieces.back().end, files[i].size);
      for (std::size_t k = 1; k < pieces.size(); ++k) {
        ASSERT_EQ(pieces[k].begin, pieces[k - 1].end);
        ASSERT_LT(pieces[k].begin, pieces[k].end);
      }
      if (files[i].compression != Compression::none) {
        ASSERT_EQ(pieces.size(), 1U);
      }
    }
    // who has plain bytes is, to one byte, no more loaded than anybody else
    for (std::uint64_t a = 0; a < count; ++a) {
      for (std::uint64_t b = 0; b < count && plain[a] > 0; ++b) {
        ASSERT_LE(plain[a] + packed[a] * 8, plain[b] + packed[b] * 8 + 1);
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::corpus
