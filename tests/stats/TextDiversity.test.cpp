#include "stats/TextDiversity.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "base/Random.hpp"

namespace stereosweep::stats {
namespace {

using Texts = std::vector<WordNumbers>;

std::map<WordNumbers, double> ngrams_of(const WordNumbers& text, std::size_t length) {
  std::map<WordNumbers, double> counts;
  for (std::size_t at = 0; at + length <= text.size(); ++at) {
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(at);
    ++counts[WordNumbers(first, first + static_cast<std::ptrdiff_t>(length))];
  }
  return counts;
}

/// BLEU of one text against all others, as its definition reads: every n-gram counts as often as the reference that has
/// it most; the nearest length, of two the shorter, gives the penalty; a count of 0 stands as 0.1.
double bleu_by_definition(const Texts& texts, std::size_t own, std::size_t order) {
  double logarithm = 0;
  for (std::size_t length = 1; length <= order; ++length) {
    double matches = 0;
    double total = 0;
    for (const auto& [ngram, count] : ngrams_of(texts[own], length)) {
      double most = 0;
      for (std::size_t other = 0; other < texts.size(); ++other) {
        if (other != own) {
          auto counts = ngrams_of(texts[other], length);
          most = std::max(most, counts[ngram]);
        }
      }
      matches += std::min(count, most);
      total += count;
    }
    if (length == 1 && matches == 0) {
      return 0;
    }
    logarithm += std::log((matches == 0 ? 0.1 : matches) / total) / static_cast<double>(order);
  }
  const auto size = static_cast<double>(texts[own].size());
  double closest = 1e9;
  for (std::size_t other = 0; other < texts.size(); ++other) {
    const auto length = static_cast<double>(texts[other].size());
    const double distance = std::abs(length - size);
    if (other != own &&
        (distance < std::abs(closest - size) || (distance == std::abs(closest - size) && length < closest))) {
      closest = length;
    }
  }
  return std::exp(logarithm) * (size > closest ? 1 : std::exp(1 - closest / size));
}

Texts random_texts(std::uint64_t seed) {
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(base::random_unit(seed, 1, draw++) * static_cast<double>(most));
  };
  Texts texts(2 + below(7));
  const auto words = 2 + below(6);
  for (auto& text : texts) {
    text.resize(3 + below(9));
    for (auto& word : text) {
      word = below(words);
    }
  }
  return texts;
}

TEST(TextDiversity, agrees_with_its_definition) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto texts = random_texts(seed);
    for (std::size_t order = 1; order <= 3; ++order) {
      const auto found = text_diversity(texts, order);
      double sum = 0;
      std::map<WordNumbers, double> counts;
      double total = 0;
      for (std::size_t text = 0; text < texts.size(); ++text) {
        sum += bleu_by_definition(texts, text, order);
        for (const auto& [ngram, count] : ngrams_of(texts[text], order)) {
          counts[ngram] += count;
          total += count;
        }
      }
      double entropy = 0;
      for (const auto& [ngram, count] : counts) {
        entropy -= count / total * std::log(count / total) / std::log(2.0);
      }
      ASSERT_TRUE(found.self_bleu.defined() && found.entropy.defined());
      EXPECT_NEAR(found.self_bleu.value, sum / static_cast<double>(texts.size()), 1e-12) << seed << " " << order;
      EXPECT_NEAR(found.entropy.value, entropy, 1e-12) << seed << " " << order;
      EXPECT_EQ(found.num_texts, texts.size());
      EXPECT_EQ(static_cast<double>(found.num_ngrams), total);
    }
  }
}

TEST(TextDiversity, equal_texts_are_alike_and_different_ones_are_not) {
  const auto equal = text_diversity(Texts{{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}, 3);
  EXPECT_DOUBLE_EQ(equal.self_bleu.value, 1);
  EXPECT_DOUBLE_EQ(equal.entropy.value, 1);  // two trigrams, as often each
  const auto different = text_diversity(Texts{{1, 2, 3, 4}, {5, 6, 7, 8}}, 3);
  EXPECT_EQ(different.self_bleu.value, 0);
  EXPECT_DOUBLE_EQ(different.entropy.value, 2);  // four
  // the words of one another in another order: 3 of 3 words, 0 of 2 pairs, 0 of 1 triple
  EXPECT_NEAR(text_diversity(Texts{{1, 2, 3}, {3, 2, 1}}, 3).self_bleu.value, std::cbrt(1 * 0.1 / 2 * 0.1), 1e-15);
}

TEST(TextDiversity, says_why_there_is_no_number) {
  const auto nothing = text_diversity({}, 3);
  EXPECT_EQ(nothing.self_bleu.reason, Reason::no_values);
  EXPECT_EQ(nothing.entropy.reason, Reason::no_values);
  EXPECT_TRUE(std::isnan(nothing.self_bleu.value) && std::isnan(nothing.entropy.value));
  const auto one = text_diversity(Texts{{1, 2, 3, 4}}, 3);
  EXPECT_EQ(one.self_bleu.reason, Reason::too_few);
  EXPECT_DOUBLE_EQ(one.entropy.value, 1);
  const auto shorter = text_diversity(Texts{{}, {7}, {7, 7}}, 3);  // no trigram anywhere
  EXPECT_EQ(shorter.self_bleu.reason, Reason::no_values);
  EXPECT_EQ(shorter.entropy.reason, Reason::no_values);
  EXPECT_EQ(shorter.num_texts, 0U);
  const auto left = text_diversity(Texts{{1, 2, 3}, {}, {9}, {1, 2, 3}}, 3);  // the short ones are left out
  EXPECT_EQ(left.num_texts, 2U);
  EXPECT_DOUBLE_EQ(left.self_bleu.value, 1);
  EXPECT_EQ(left.entropy.value, 0);
  EXPECT_THROW(text_diversity({}, 0), std::logic_error);
}

}  // namespace
}  // namespace stereosweep::stats
