#include "corpus/Collect.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/Error.hpp"
#include "corpus/CorpusFiles.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::corpus {
namespace {

using testing::corpus_of;
using testing::to_gzip;
using testing::to_zstd;
using testing::write_text;

const std::vector<std::string> words = {"rose", "oak tree", "spider", "absent"};

// Lines of random length in which the words turn up now and then.
std::string random_text(std::uint64_t seed, int lines) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> pieces = {"rose", "oak tree", "oak  tree", "spider", "roses", "the", "Rose",
                                           "été",  "x",        ",",         "-",      "\t",    ""};
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (auto count = random() % 9; count > 0; --count) {
      text += pieces[random() % pieces.size()] + (random() % 5 == 0 ? "" : " ");
    }
    text += random() % 7 == 0 ? "\r\n" : "\n";
  }
  return text;
}

Sample collect_in(const domain::Corpus& corpus, std::uint64_t shards, std::uint64_t seed = 7) {
  auto sample = collect(corpus, words, seed, {shards - 1, shards});
  for (std::uint64_t i = 0; i + 1 < shards; ++i) {
    sample = merge(std::move(sample), collect(corpus, words, seed, {i, shards}));
  }
  return sample;
}

class CollectTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
};

TEST_F(CollectTest, FindsWordsWithTheirPlaces) {
  write_text(directory_ / "a.txt", "A rose is a rose.\n\nAn oak\t tree, no spider\r\nprimrose");
  const auto sample = collect(corpus_of(directory_.path()), words, 1);
  ASSERT_EQ(sample.words.size(), 4U);
  EXPECT_EQ(sample.words[0].occurrences, 2U);
  EXPECT_EQ(sample.words[3].occurrences, 0U);
  EXPECT_EQ(sample.files, 1U);
  EXPECT_EQ(sample.lines, 4U);
  EXPECT_EQ(sample.bytes, std::filesystem::file_size(directory_ / "a.txt"));
  ASSERT_EQ(sample.words[1].contexts.size(), 1U);
  const auto& oak = sample.words[1].contexts[0];
  EXPECT_EQ(oak.sentence, "An oak\t tree, no spider");
  EXPECT_EQ(oak.span, (base::Span{3, 12}));
  EXPECT_EQ(oak.line_offset, 19U);
  EXPECT_EQ(oak.file, "a.txt");
}

TEST_F(CollectTest, ShardsMakeTheSameSample) {
  write_text(directory_ / "one.txt", random_text(1, 4000));
  write_text(directory_ / "sub/two.txt", random_text(2, 900) + "rose without an end");
  write_text(directory_ / "empty.txt", "");
  write_text(directory_ / "three.txt.gz", to_gzip(random_text(3, 2000)));
  write_text(directory_ / "four.txt.zst", to_zstd(random_text(4, 1500)));
  auto corpus = corpus_of(directory_.path());
  corpus.max_contexts = 40;
  const auto whole = collect_in(corpus, 1);
  EXPECT_EQ(whole.files, 5U);
  EXPECT_GT(whole.words[0].occurrences, 1000U);
  EXPECT_EQ(whole.words[0].contexts.size(), 40U);
  for (std::uint64_t shards = 2; shards <= 7; ++shards) {
    EXPECT_EQ(collect_in(corpus, shards), whole) << shards << " shards";
  }
}

}  // namespace
}  // namespace stereosweep::corpus
