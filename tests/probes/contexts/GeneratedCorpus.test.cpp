#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "probes/contexts/vectors/ContextSource.hpp"

namespace stereosweep::probes::contexts {
namespace {

using ::testing::UnorderedElementsAre;

Contexts settings_of(std::int64_t max_contexts = 1000) {
  ContextualVectors vectors;
  vectors.corpus.templates = {{"are", "", "{group} are {trait}.", sweep::NounForm::plural},
                              {"typical", "", "being {trait} is typical of {group}.", sweep::NounForm::plural},
                              {"one", "", "{a group} is {trait}.", sweep::NounForm::singular}};
  vectors.corpus.rephrasings = {{"none", "{prompt}", {}}, {"say", "They say that {prompt}", {}}};
  vectors.corpus.max_contexts = max_contexts;
  Contexts settings;
  settings.vectors = vectors;
  settings.tests = {{"T",
                     "",
                     EmbeddingTest::Kind::wefat,
                     {"groups", {"women", "Black women"}},
                     {},
                     {"A", {"kind", "warm"}},
                     {"B", {"cold"}}}};
  for (const auto* word : {"women", "Black women"}) {
    settings.subjects.push_back({word, sweep::NounForm::plural, word, "", "", word, ""});
  }
  return settings;
}

std::vector<std::string> sentences_of(const corpus::WordSample& word) {
  std::vector<std::string> sentences;
  for (const auto& context : word.contexts) {
    sentences.push_back(context.sentence);
  }
  return sentences;
}

TEST(GeneratedCorpus, a_word_stands_in_every_sentence_of_its_tests) {
  const auto sample = generate_contexts(settings_of(), 3);
  ASSERT_EQ(sample.words.size(), 5u);
  EXPECT_EQ(sample.lines, 2u * 3 * 2 * 2);  // targets, attributes, templates of a plural, rephrasings
  EXPECT_EQ(sample.words[0].occurrences, 12u);
  EXPECT_EQ(sample.words[2].word, "kind");
  EXPECT_THAT(
      sentences_of(sample.words[2]),
      UnorderedElementsAre("Women are kind.", "Black women are kind.", "Being kind is typical of women.",
                           "Being kind is typical of Black women.", "They say that women are kind.",
                           "They say that Black women are kind.", "They say that being kind is typical of women.",
                           "They say that being kind is typical of Black women."));
  for (const auto& word : sample.words) {
    for (const auto& context : word.contexts) {
      auto stands = context.sentence.substr(context.span.begin, context.span.end - context.span.begin);
      stands[0] = word.word[0];  // a capital opens the sentence
      EXPECT_EQ(stands, word.word) << context.sentence;
    }
    EXPECT_TRUE(std::ranges::is_sorted(word.contexts, corpus::comes_before));
  }
}

TEST(GeneratedCorpus, a_word_that_is_no_group_stands_in_all_templates) {
  auto settings = settings_of();
  settings.subjects.clear();
  const auto sample = generate_contexts(settings, 3);
  EXPECT_EQ(sample.words[0].occurrences, 3u * 3 * 2);
  settings = settings_of();
  settings.subjects[0].form = sweep::NounForm::singular;
  settings.subjects[0].article = "a";
  EXPECT_EQ(generate_contexts(settings, 3).words[0].occurrences, 3u * 1 * 2);
}

TEST(GeneratedCorpus, the_sample_depends_on_names_alone) {
  const auto few = generate_contexts(settings_of(5), 3);
  EXPECT_EQ(few.words[0].contexts.size(), 5u);
  EXPECT_EQ(few.words[0].occurrences, 12u);
  auto all = sentences_of(generate_contexts(settings_of(), 3).words[0]);
  all.resize(5);
  EXPECT_EQ(sentences_of(few.words[0]), all);
  auto settings = settings_of(5);
  std::ranges::reverse(settings.tests[0].a.words);
  std::ranges::reverse(std::get<ContextualVectors>(settings.vectors).corpus.templates);
  EXPECT_EQ(sentences_of(generate_contexts(settings, 3).words[0]), sentences_of(few.words[0]));
  EXPECT_NE(sentences_of(generate_contexts(settings, 4).words[0]), sentences_of(few.words[0]));
}

TEST(GeneratedCorpus, a_sample_has_as_many_of_every_template_and_rephrasing) {
  for (const std::int64_t most : {3, 4, 6, 9}) {
    for (const auto& word : generate_contexts(settings_of(most), 3).words) {
      std::map<std::string, std::int64_t> counts;
      for (const auto& context : word.contexts) {
        ++counts[context.file];
      }
      std::int64_t fewest = counts.size() < 4 ? 0 : most;  // 2 templates of a plural in 2 rephrasings
      std::int64_t largest = 0;
      for (const auto& [frame, count] : counts) {
        fewest = std::min(fewest, count);
        largest = std::max(largest, count);
      }
      EXPECT_LE(largest - fewest, 1) << word.word;
    }
  }
}

}  // namespace
}  // namespace stereosweep::probes::contexts
