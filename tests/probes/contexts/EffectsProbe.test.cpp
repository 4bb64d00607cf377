// The store of vectors, and effects against cosines written out.
#include "probes/contexts/effects/EffectsProbe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "base/Error.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::probes::contexts {
namespace {

constexpr std::uint64_t dimension = 37;

/// Vector `context` of word `word`: no two alike.
std::vector<float> vector_of(std::uint64_t word, std::uint64_t context) {
  std::vector<float> vector(dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    vector[i] = static_cast<float>(std::sin(1.0 + 3.0 * double(word) + 0.7 * double(context) + 1.3 * double(i * word)));
  }
  return vector;
}

double cosine(const std::vector<float>& one, const std::vector<float>& other) {
  long double product = 0;
  long double first = 0;
  long double second = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    product += static_cast<long double>(one[i]) * other[i];
    first += static_cast<long double>(one[i]) * one[i];
    second += static_cast<long double>(other[i]) * other[i];
  }
  return static_cast<double>(product / std::sqrt(first * second));
}

class EffectsProbeTest : public ::testing::Test {
 protected:
  EffectsProbeTest() {
    Contexts settings;
    settings.vectors = ContextualVectors{};
    settings.samples = 600;
    settings.tests = {{"T1",
                       "",
                       EmbeddingTest::Kind::weat,
                       {"X", {"p", "q", "r"}},
                       {"Y", {"s", "t"}},
                       {"A", {"u", "v"}},
                       {"B", {"w", "p"}}},
                      {"T2", "", EmbeddingTest::Kind::wefat, {"X", {"p", "z"}}, {}, {"A", {"u"}}, {"B", {"v", "w"}}}};
    job.seed = 77;
    job.probe = settings;
  }

  /// z has no vectors; word number i has i + 2 of them.
  std::vector<WordVectors> write_store() const {
    std::vector<WordVectors> words;
    for (const auto& word : list_words(job.settings<probes::contexts::Contexts>().tests)) {
      words.push_back({word, 9, 9, 0, {}});
    }
    return write_vectors(file, words, dimension, [&](const AddVector& add) {
      for (std::uint64_t word = 0; word + 1 < words.size(); ++word) {
        for (std::uint64_t context = 0; context < word + 2; ++context) {
          add(word, vector_of(word, context));
        }
      }
    });
  }

  std::vector<float> drawn(const EffectsProbe& probe, const std::string& test, std::uint64_t sample,
                           std::uint32_t word) const {
    const auto& known = probe.words()[word];
    return vector_of(word, EffectsProbe::draw(job.seed, draw_name(test), sample, draw_name(known.word), known.usable));
  }

  sweep::Job job;
  testing::TemporaryDirectory temporary;
  std::filesystem::path file = temporary / "vectors.bin";
};

base::Digest content_key(const EffectsProbe& probe, std::uint64_t block) {
  base::Sha256 hash;
  probe.hash_content(probe.blocks().block(block), hash);
  return hash.finish();
}

TEST_F(EffectsProbeTest, SharedDrawsAreTheSameInTestsOfOtherNames) {
  auto settings = job.settings<Contexts>();
  settings.tests[1] = settings.tests[0];
  settings.tests[1].label = "T3";
  std::array<base::Digest, 2> keys;
  for (const auto draws : {SampleDraws::own, SampleDraws::shared}) {
    settings.sample_draws = draws;
    job.probe = settings;
    const auto words = write_store();
    const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
    const auto first = probe.fold(probe.blocks().block(0), {});
    const auto second = probe.fold(probe.blocks().block(3), {});  // of the second test: 600 samples are 3 blocks
    ASSERT_TRUE(std::isfinite(std::get<std::vector<double>>(first.columns[1])[0]));
    EXPECT_EQ(first.columns[1] == second.columns[1], draws == SampleDraws::shared);
    keys[static_cast<std::size_t>(draws)] = content_key(probe, 0);
  }
  EXPECT_NE(keys[0], keys[1]);
}

TEST_F(EffectsProbeTest, AssociationsAndEffectSizeAreThoseOfTheCosines) {
  const auto words = write_store();
  const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto block = probe.blocks().block(1);
  ASSERT_EQ(block.first_context, 250U);
  const auto raw = probe.fold(block, {});
  const auto& association = std::get<std::vector<double>>(raw.columns[0]);
  const auto& effect = std::get<std::vector<double>>(raw.columns[1]);
  const auto& variance = std::get<std::vector<double>>(raw.columns[2]);
  for (std::uint64_t i = 0; i < block.num_contexts; i += 83) {
    const auto& test = probe.tests()[0];
    std::vector<double> expected;
    for (const auto role : {SetRole::x, SetRole::y}) {
      for (const auto target : test.places(role)) {
        const auto own = drawn(probe, "T1", 250 + i, target);
        double sums[2] = {};
        for (const auto side : {SetRole::a, SetRole::b}) {
          for (const auto attribute : test.places(side)) {
            sums[side == SetRole::b ? 1 : 0] += cosine(own, drawn(probe, "T1", 250 + i, attribute)) / 2;
          }
        }
        expected.push_back(sums[0] - sums[1]);
        EXPECT_NEAR(association[i * 5 + expected.size() - 1], expected.back(), 1e-14);
      }
    }
    double mean = 0;
    for (const double value : expected) {
      mean += value / 5;
    }
    double squares = 0;
    for (const double value : expected) {
      squares += (value - mean) * (value - mean) / 4;
    }
    EXPECT_NEAR(variance[i], squares, 1e-14);
    const double size =
        ((expected[0] + expected[1] + expected[2]) / 3 - (expected[3] + expected[4]) / 2) / std::sqrt(squares);
    EXPECT_NEAR(effect[i], size, 1e-12);
  }
}

TEST_F(EffectsProbeTest, CosinesOfAWordWithItsAttributesAreKept) {
  const auto words = write_store();
  const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto& test = probe.tests()[1];
  const auto raw = probe.fold(probe.blocks().block(3), {});
  const auto& cosines = column_named<float>(raw, probe.schema(), "cosine");
  ASSERT_EQ(cosines.size(), 250U * 5 * 3);  // samples, slots of targets (T1 has five), attributes of T2
  for (std::uint64_t i = 0; i < 250; i += 83) {
    const auto own = drawn(probe, "T2", i, test.places(SetRole::x)[0]);
    const std::uint32_t attributes[] = {test.places(SetRole::a)[0], test.places(SetRole::b)[0],
                                        test.places(SetRole::b)[1]};
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(cosines[i * 15 + k], cosine(own, drawn(probe, "T2", i, attributes[k])), 1e-7);
      EXPECT_TRUE(std::isnan(cosines[i * 15 + 3 + k]));  // z has no vector
    }
  }
  const auto of_weat = probe.fold(probe.blocks().block(0), {});
  EXPECT_TRUE(std::isnan(std::get<std::vector<float>>(of_weat.columns.back())[0]));
}

// Rounding alone makes a deviation of about 1e-17: an effect of that size over it would be any number.
TEST_F(EffectsProbeTest, DeviationOfRoundingIsNone) {
  auto settings = job.settings<probes::contexts::Contexts>();
  settings.tests[0].x.words = {"q", "r"};
  settings.tests[0].b.words = {"w"};
  settings.tests[1].x.words = {"q"};
  job.probe = settings;
  std::vector<WordVectors> names;
  for (const auto& word : list_words(settings.tests)) {
    names.push_back({word, 1, 1, 0, {}});
  }
  for (const bool targets_alike : {true, false}) {  // else the attributes are
    const auto words = write_vectors(file, names, dimension, [&](const AddVector& add) {
      for (std::uint64_t word = 0; word < names.size(); ++word) {
        const bool is_target = names[word].word < "u";
        add(word, vector_of(is_target == targets_alike ? 50 : word, 0));
      }
    });
    const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
    const auto raw = probe.fold(probe.blocks().block(0), {});
    EXPECT_EQ(std::get<std::vector<std::uint8_t>>(raw.columns[3])[0],
              static_cast<std::uint8_t>(EffectStatus::zero_deviation));
    EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(raw.columns[1])[0]));
  }
}

TEST_F(EffectsProbeTest, MissingWordsLeaveNoSlotAndNoNumber) {
  const auto words = write_store();
  const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto raw = probe.fold(probe.blocks().block(3), {});
  const auto& association = std::get<std::vector<double>>(raw.columns[0]);
  EXPECT_FALSE(std::isnan(association[0]));
  EXPECT_TRUE(std::isnan(association[1]));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(raw.columns[3])[0], 0);
  EXPECT_TRUE(
      probe.tests()[1].consequence().starts_with("x without z (no vector); contexts without a vector: p 7 of 9"));
  job.probe = [&] {
    auto settings = job.settings<probes::contexts::Contexts>();
    settings.tests[1].x.words = {"z"};
    return settings;
  }();
  const EffectsProbe none(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto empty = none.fold(none.blocks().block(3), {});
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(empty.columns[3])[0],
            static_cast<std::uint8_t>(EffectStatus::missing_words));
}

TEST_F(EffectsProbeTest, AVectorWithoutDirectionIsNamed) {
  std::vector<WordVectors> words;
  for (const auto& word : list_words(job.settings<probes::contexts::Contexts>().tests)) {
    words.push_back({word, 1, 1, 0, {}});
  }
  words = write_vectors(file, words, dimension, [&](const AddVector& add) {
    for (std::uint64_t word = 0; word < words.size(); ++word) {
      add(word, word == 5 ? std::vector<float>(dimension) : std::vector<float>(dimension, 1.0F));
    }
  });
  const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto raw = probe.fold(probe.blocks().block(0), {});
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(raw.columns[3])[0],
            static_cast<std::uint8_t>(EffectStatus::not_finite));
  const auto one_direction = probe.fold(probe.blocks().block(3), {});  // u is word 5: A of T2
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(one_direction.columns[3])[0],
            static_cast<std::uint8_t>(EffectStatus::not_finite));
}

TEST_F(EffectsProbeTest, KeysFollowTheVectors) {
  const auto words = write_store();
  auto other = words;
  other[0].digest[0] ^= 1U;
  const EffectsProbe one(job, words, nullptr);
  const EffectsProbe two(job, other, nullptr);
  const auto key = [](const EffectsProbe& probe, std::uint64_t block) {
    return block_key(probe, probe.blocks().block(block), {});
  };
  EXPECT_EQ(key(one, 0), key(EffectsProbe(job, words, nullptr), 0));
  EXPECT_NE(key(one, 0), key(one, 1));
  EXPECT_NE(key(one, 0), key(two, 0));
}

TEST_F(EffectsProbeTest, AStoreOfAnotherSizeOrOfOtherWordsIsRefused) {
  const auto words = write_store();
  const auto content = base::read_file(file);
  for (const auto& changed : {content.substr(1), content.substr(0, content.size() - 1), "x" + content, std::string()}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << changed;
    EXPECT_THROW(VectorStore(file, words, dimension), base::InputError) << changed.size();
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  EXPECT_EQ(VectorStore(file, words, dimension).count(0), words[0].usable);
  auto others = words;
  others[1].word = "another";
  EXPECT_THROW(VectorStore(file, others, dimension), base::InputError);
}

/// Words whose vectors are of three templates in turn; p and q lack the second.
TEST_F(EffectsProbeTest, SamplesOfMadeSentencesKeepToOneTemplate) {
  auto settings = job.settings<Contexts>();
  auto& corpus = std::get<ContextualVectors>(settings.vectors).corpus;
  corpus.templates = {{"one", "", "", sweep::NounForm::plural},
                      {"two", "", "", sweep::NounForm::plural},
                      {"three", "", "", sweep::NounForm::plural}};
  corpus.rephrasings = {{"none", "{prompt}", {}}};
  settings.tests[1] = {"T2", "", EmbeddingTest::Kind::wefat, {"X", {"p", "q"}}, {}, {"A", {"u"}}, {"B", {"v", "r"}}};
  job.probe = settings;
  auto words = write_store();
  for (auto& word : words) {
    for (std::uint64_t vector = 0; vector < word.usable; ++vector) {
      word.frames.push_back(static_cast<std::uint32_t>(vector % 3));
    }
    if (word.word == "q") {
      std::ranges::replace(word.frames, 1U, 0U);
    } else if (word.word == "p") {
      word.frames = {0, 2};
    }
  }
  const EffectsProbe probe(job, words, std::make_shared<VectorStore>(file, words, dimension));
  const auto& samples = probe.schema().outer_axes[1];
  EXPECT_EQ(samples.coordinates[0].values[1], "two");
  EXPECT_EQ(samples.coordinates[0].values[5], "three");
  EXPECT_EQ(samples.coordinates[1].values[5], "none");
  const auto weat = probe.fold(probe.blocks().block(0), {});
  const auto& status = std::get<std::vector<std::uint8_t>>(weat.columns[3]);
  // r, of X too, has the second template
  EXPECT_EQ(status[0], static_cast<std::uint8_t>(EffectStatus::ok));
  EXPECT_EQ(status[1], static_cast<std::uint8_t>(EffectStatus::missing_words));
  EXPECT_EQ(status[2], static_cast<std::uint8_t>(EffectStatus::ok));
  const auto wefat = probe.fold(probe.blocks().block(3), {});
  const auto& of_words = std::get<std::vector<std::uint8_t>>(wefat.columns[3]);
  const auto slots = probe.schema().inner_axis("target").labels.size();
  const auto& association = std::get<std::vector<double>>(wefat.columns[0]);
  EXPECT_EQ(of_words[1], static_cast<std::uint8_t>(EffectStatus::no_sentence));  // neither p nor q
  EXPECT_TRUE(std::isnan(association[slots]));
  // p has one vector of the third template, its second one
  const auto place = [&](const char* word) {
    return static_cast<std::uint32_t>(std::ranges::find(words, word, &WordVectors::word) - words.begin());
  };
  const auto drawn_of = [&](const char* word, std::uint64_t sample) {
    std::vector<std::uint64_t> own;
    const auto at = place(word);
    for (std::uint64_t vector = 0; vector < words[at].frames.size(); ++vector) {
      if (words[at].frames[vector] == sample % 3) {
        own.push_back(vector);
      }
    }
    return vector_of(at, own[EffectsProbe::draw(job.seed, draw_name("T2"), sample, draw_name(word), own.size())]);
  };
  for (const std::uint64_t sample : {2U, 8U, 30U}) {
    const auto p = drawn_of("p", sample);
    const double expected =
        cosine(p, drawn_of("u", sample)) - (cosine(p, drawn_of("v", sample)) + cosine(p, drawn_of("r", sample))) / 2;
    EXPECT_NEAR(association[sample * slots], expected, 1e-12);
  }
  const auto bytes = encode(WordsFile{"", dimension, {}, words});
  EXPECT_EQ(encode(decode_words(bytes)), bytes);
  EXPECT_EQ(decode_words(bytes).words[1].frames, words[1].frames);
}

}  // namespace
}  // namespace stereosweep::probes::contexts
