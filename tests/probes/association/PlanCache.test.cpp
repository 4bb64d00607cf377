// The cache of target plans changes nothing: on random texts it answers as a fresh look at the whole text does.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"

namespace stereosweep::probes::association {
namespace {

const std::vector<std::string> sample_words = {"kind", "warm", "powerless", "self-kind", "in",
                                               "zoo",  "d.",   "'s",        "Old man"};

std::string random_text(std::mt19937& random, const std::string& mask) {
  const std::vector<std::string> parts = {" ", " ", "  ", "un", "kin", "k",   "the", "are", "-",  ".",
                                          "'", ",", "\t", "?",  "war", "ind", "s",   "(",   mask, " " + mask + " "};
  std::string text;
  for (std::size_t count = random() % 6; count > 0; --count) {
    text += parts[random() % parts.size()];
  }
  return text;
}

class PlanCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  PlanCacheTest()
      : tokenizer_(std::string(GetParam()) == "word_piece" ? testing::word_piece() : testing::byte_level()),
        cache_(tokenizer_, sample_words, {}, 8) {}
  base::Digest fresh(const Surroundings& surroundings, WordCase word_case) const {
    return plan_targets(cache_.pieces(surroundings, word_case), {}, 8).digest;
  }
  const tokenizer::Tokenizer tokenizer_;
  const PlanCache cache_;
};

TEST_P(PlanCacheTest, AnswersAsAFreshLookAtTheWholeText) {
  std::mt19937 random(29);
  for (int round = 0; round < 4000; ++round) {
    const Surroundings around{random_text(random, *tokenizer_.mask_token()),
                              random_text(random, *tokenizer_.mask_token())};
    const auto word_case = random() % 4 == 0 ? WordCase::capitalised : WordCase::as_listed;
    ASSERT_EQ(cache_.find(around, word_case)->digest, fresh(around, word_case))
        << "'" << around.before << "' | '" << around.after << "'";
  }
}

TEST_P(PlanCacheTest, EqualNeighbourhoodsShareOnePlan) {
  const auto first = cache_.find({"the doctors are ", "."}, WordCase::as_listed);
  const auto second = cache_.find({"why, the people are ", "."}, WordCase::as_listed);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, cache_.find({"", " are they."}, WordCase::as_listed));
}

TEST_P(PlanCacheTest, ThreadsSeeTheSamePlans) {
  std::vector<base::Digest> digests(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    threads.emplace_back([&, i] {
      base::Sha256 hash;
      for (int group = 0; group < 200; ++group) {
        const Surroundings around{"group " + std::to_string(group % 50) + " is" + std::string(group % 3, ' '), "."};
        hash.update(std::as_bytes(std::span(cache_.find(around, WordCase::as_listed)->digest)));
      }
      digests[i] = hash.finish();
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& digest : digests) {
    EXPECT_EQ(digest, digests.front());
  }
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, PlanCacheTest, ::testing::Values("word_piece", "byte_level"));

}  // namespace
}  // namespace stereosweep::probes::association
