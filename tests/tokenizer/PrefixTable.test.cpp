// Against a search through all texts.
#include "tokenizer/algorithms/PrefixTable.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace stereosweep::tokenizer {
namespace {

using Found = std::vector<std::pair<std::size_t, std::int32_t>>;

std::string random_text(std::mt19937& random, std::size_t most) {
  constexpr std::string_view bytes("abc\xE2\x96\x81\0", 7);
  std::string text;
  for (auto length = random() % most + 1; length > 0; --length) {
    text += bytes[random() % bytes.size()];
  }
  return text;
}

TEST(PrefixTable, FindsEveryTextThatAnotherStartsWith) {
  std::mt19937 random(20220710);
  std::set<std::string> different;
  while (different.size() < 400) {
    different.insert(random_text(random, 6));
  }
  for (int byte = 0; byte < 256; ++byte) {  // a root with many children
    different.insert(std::string(1, static_cast<char>(byte)));
  }
  const std::vector<std::string> texts(different.begin(), different.end());
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    entries.emplace_back(texts[i], static_cast<std::int32_t>(i));
  }
  std::shuffle(entries.begin(), entries.end(), random);
  const PrefixTable table(entries);
  for (int i = 0; i < 2000; ++i) {
    const auto text = random_text(random, 9);
    Found found, expected;
    table.visit_prefixes(text, [&](std::size_t length, std::int32_t number) { found.emplace_back(length, number); });
    for (std::size_t length = 1; length <= text.size(); ++length) {
      const auto it = different.find(text.substr(0, length));
      if (it != different.end()) {
        expected.emplace_back(length, static_cast<std::int32_t>(std::distance(different.begin(), it)));
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(table.longest_prefix(text), expected.empty() ? 0 : expected.back().first);
  }
}

TEST(PrefixTable, MayBeEmpty) {
  EXPECT_TRUE(PrefixTable().empty());
  EXPECT_EQ(PrefixTable().longest_prefix("a"), 0U);
  EXPECT_EQ(PrefixTable({{"a", 0}}).longest_prefix(""), 0U);
}

}  // namespace
}  // namespace stereosweep::tokenizer
