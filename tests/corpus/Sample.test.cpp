#include "corpus/Sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/Error.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::uint64_t most_contexts = 8;

// A part of a sample with keys that repeat, so that ties are met.
Sample random_part(std::mt19937_64& random) {
  Sample sample;
  sample.identity = 3;
  sample.max_contexts = most_contexts;
  sample.files = random() % 3;
  sample.lines = random() % 100;
  for (const std::string word : {"rose", "été"}) {
    WordSample found{word, 0, {}};
    for (auto count = random() % 12; count > 0; --count) {
      found.contexts.push_back(
          {"a " + word, {2, 2 + word.size()}, random() % 20, "f" + std::to_string(random() % 2), random()});
    }
    found.occurrences = found.contexts.size();
    std::sort(found.contexts.begin(), found.contexts.end(), comes_before);
    found.contexts.resize(std::min<std::size_t>(found.contexts.size(), most_contexts));
    sample.words.push_back(found);
  }
  for (auto& lines : sample.bad_lines) {
    for (lines.count = 0; lines.count < random() % 9; ++lines.count) {
      lines.first.push_back({"f" + std::to_string(random() % 2), random()});
    }
    std::sort(lines.first.begin(), lines.first.end());
    lines.first.resize(std::min(lines.first.size(), BadLines::most_listed));
  }
  return sample;
}

TEST(Sample, MergeIsAssociativeAndCommutative) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const auto a = random_part(random);
    const auto b = random_part(random);
    const auto c = random_part(random);
    EXPECT_EQ(merge(a, b), merge(b, a));
    EXPECT_EQ(merge(merge(a, b), c), merge(a, merge(b, c)));
    const auto all = merge(merge(a, b), c);
    for (std::size_t word = 0; word < 2; ++word) {  // the truth: sort everything, take the first
      std::vector<Context> contexts;
      for (const auto* part : {&a, &b, &c}) {
        contexts.insert(contexts.end(), part->words[word].contexts.begin(), part->words[word].contexts.end());
      }
      std::sort(contexts.begin(), contexts.end(), comes_before);
      contexts.resize(std::min<std::size_t>(contexts.size(), most_contexts));
      EXPECT_EQ(all.words[word].contexts, contexts);
    }
  }
}

TEST(Sample, MergeRefusesPartsOfOtherRequests) {
  std::mt19937_64 random(1);
  const auto one = random_part(random);
  auto other = random_part(random);
  other.identity = 4;
  EXPECT_THROW(merge(one, other), base::Error);
}

TEST(Sample, IsReadAsWritten) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50; ++i) {
    const auto sample = random_part(random);
    const auto bytes = encode(sample);
    EXPECT_EQ(decode_sample(bytes), sample);
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_THROW(decode_sample(longer), base::Error);
  }
}

TEST(Sample, ReadRefusesEveryCutAndSurvivesEveryChange) {
  std::mt19937_64 random(4);
  const auto bytes = encode(random_part(random));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_sample(std::span(bytes).first(size)), base::Error) << size;
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = static_cast<std::byte>(~static_cast<unsigned>(changed[i]) & 0xFF);
    try {
      const auto sample = decode_sample(changed);
      for (const auto& word : sample.words) {
        EXPECT_LE(word.contexts.size(), std::min(sample.max_contexts, word.occurrences));
        for (const auto& context : word.contexts) {
          EXPECT_LT(context.span.begin, context.span.end);
          EXPECT_LE(context.span.end, context.sentence.size());
        }
      }
    } catch (const base::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

TEST(Sample, ReadRefusesHugeCounts) {
  Sample sample;
  sample.max_contexts = ~std::uint64_t{0};
  sample.words.push_back({"rose", ~std::uint64_t{0}, {}});
  auto bytes = encode(sample);
  for (std::size_t i = bytes.size() - 8; i < bytes.size(); ++i) {
    bytes[i] = std::byte{0x7F};  // contexts that are not there
  }
  EXPECT_THROW(decode_sample(bytes), base::Error);
}

}  // namespace
}  // namespace stereosweep::corpus
