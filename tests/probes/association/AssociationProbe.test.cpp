// The association probe against a naive enumeration: one query per cell and subword, each asked alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/Error.hpp"
#include "config/JobLoader.hpp"
#include "engine/FakeEngine.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/SmallJob.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::association {
namespace {

/// Greedy longest match, written independently of the room tokenizer; hyphens stand alone. Empty: unknown.
std::vector<query::TokenId> naive_pieces(std::string word) {
  static const auto vocabulary = testing::word_piece_vocabulary();
  std::map<std::string, query::TokenId> ids;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    ids[vocabulary[i]] = static_cast<query::TokenId>(i);
  }
  for (char& letter : word) {
    letter = static_cast<char>(std::tolower(letter));
  }
  std::vector<query::TokenId> result;
  bool inside = false;
  while (!word.empty()) {
    std::size_t length = word[0] == '-' ? 1 : std::min(word.size(), word.find('-'));
    while (length > 0 && !ids.contains((inside ? "##" : "") + word.substr(0, length))) {
      --length;
    }
    if (length == 0) {
      return {};
    }
    result.push_back(ids.at((inside ? "##" : "") + word.substr(0, length)));
    inside = word[length - 1] != '-' && length < word.size() && word[length] != '-';
    word.erase(0, length);
  }
  return result;
}

Transcript answer_all(const Probe& probe, const sweep::Block& block, query::Engine& engine) {
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  transcript.answers.push_back(engine.answer(transcript.rounds.front().queries));
  EXPECT_FALSE(probe.next(block, transcript).has_value());
  return transcript;
}

template <class T>
const std::vector<T>& column(const results::RawSchema& schema, const results::RawBlock& block,
                             const std::string& name) {
  for (std::size_t i = 0; i < schema.cubes.size(); ++i) {
    if (schema.cubes[i].name == name) {
      return std::get<std::vector<T>>(block.columns[i]);
    }
  }
  throw std::runtime_error("no cube " + name);
}

class AssociationProbeTest : public ::testing::Test {
 protected:
  /// All blocks one after the other, as bytes of one block that holds every context.
  results::RawBlock whole(const sweep::Job& job) {
    const AssociationProbe probe(job, tokenizer_);
    results::RawBlock all;
    for (std::uint64_t i = 0; i < probe.blocks().num_blocks(); ++i) {
      const auto block = probe.blocks().block(i);
      results::RawBlock part = probe.fold(block, answer_all(probe, block, engine_));
      if (all.columns.empty()) {
        all = std::move(part);
        continue;
      }
      for (std::size_t c = 0; c < all.columns.size(); ++c) {
        std::visit(
            [&](auto& values) {
              const auto& more = std::get<std::decay_t<decltype(values)>>(part.columns[c]);
              values.insert(values.end(), more.begin(), more.end());
            },
            all.columns[c]);
      }
    }
    return all;
  }

  static std::vector<std::byte> bytes(const results::RawBlock& block) {
    base::ByteWriter out;
    block.write(out);
    return out.take();
  }

  const tokenizer::Tokenizer tokenizer_ = testing::word_piece();
  engine::FakeEngine engine_{tokenizer_, 5};
};

TEST_F(AssociationProbeTest, SchemaNamesAxesAndPriors) {
  const AssociationProbe probe(testing::small_job(), tokenizer_);
  const auto& schema = probe.schema();
  ASSERT_EQ(schema.outer_axes.size(), 3u);
  EXPECT_EQ(schema.outer_axes[0].labels.size(), 5u);
  EXPECT_EQ(schema.num_priors, 2u);
  EXPECT_THAT(schema.outer_axes[0].coordinates[0].values,
              ::testing::ElementsAre("prior_word", "prior_mask", "group", "group", "group"));
  EXPECT_THAT(schema.inner_axis("word").labels, ::testing::ElementsAre("powerless", "unkind", "powerful", "cold",
                                                                       "zealous", "warm", "self-kindness", "powerful"));
  EXPECT_EQ(schema.inner_axis("subword").labels.size(), 4u) << "self - kind ##ness";
  EXPECT_EQ(probe.blocks().product().num_contexts(), 5u * 4 * 2);
}

TEST_F(AssociationProbeTest, EveryNumberEqualsTheNaiveEnumeration) {
  const sweep::Job job = testing::small_job();
  const AssociationProbe probe(job, tokenizer_);
  const results::RawBlock all = whole(job);
  const auto& schema = probe.schema();
  const std::size_t num_words = probe.words().size();
  const std::size_t num_subwords = schema.inner_axis("subword").labels.size();
  const auto& logprob = column<double>(schema, all, "logprob");
  const auto& initial = column<double>(schema, all, "log_mass_initial");
  const auto& continuation = column<double>(schema, all, "log_mass_continuation");
  const auto& distance = column<double>(schema, all, "set_distance_bias");
  const auto& active = column<std::int32_t>(schema, all, "set_active_plain");
  const auto& status = column<std::uint8_t>(schema, all, "status");
  const auto& counts = column<std::int32_t>(schema, all, "num_subwords");
  const auto& prompts = column<std::string>(schema, all, "prompt");
  std::size_t scored = 0;
  for (std::size_t context = 0; context < probe.blocks().product().num_contexts(); ++context) {
    const auto place = probe.blocks().product().coordinates(context);
    const auto& subject = probe.subjects().subjects[place[0]];
    const bool has_form =
        !(subject.label == "the old" &&
          job.settings<probes::association::Association>().axes.templates[place[1]].label == "singular");
    sweep::ContextText composed;
    if (has_form) {
      composed = sweep::compose(subject, job.settings<probes::association::Association>().axes.templates[place[1]],
                                job.settings<probes::association::Association>().axes.rephrasings[place[2]], "[MASK]");
    }
    EXPECT_EQ(prompts[context], has_form ? composed.before + "{trait}" + composed.after : "");
    for (std::size_t w = 0; w < num_words; ++w) {
      const std::size_t cell = context * num_words + w;
      const auto ids = naive_pieces(probe.words()[w].word);
      const auto expected = !has_form ? CellStatus::no_form : ids.empty() ? CellStatus::unknown_token : CellStatus::ok;
      ASSERT_EQ(status[cell], static_cast<std::uint8_t>(expected)) << prompts[context] << probe.words()[w].word;
      for (std::size_t k = 0; k < num_subwords; ++k) {
        const std::size_t number = cell * num_subwords + k;
        if (expected != CellStatus::ok || k >= ids.size()) {
          EXPECT_TRUE(std::isnan(logprob[number]) && std::isnan(distance[number]));
          EXPECT_EQ(active[number], -1);
          continue;
        }
        EXPECT_EQ(counts[cell], static_cast<int>(ids.size()));
        query::Fill fill;
        std::string masks;
        for (std::size_t i = 0; i < ids.size(); ++i) {
          masks += "[MASK]";
        }
        fill.text = composed.before + masks + composed.after;
        const bool group_before = composed.before.find("[MASK]") != std::string::npos;
        const bool group_after = composed.after.find("[MASK]") != std::string::npos;
        fill.slots.resize(ids.size() + (group_before ? 1 : 0) + (group_after ? 1 : 0));
        const std::size_t first = group_before ? 1 : 0;
        for (std::size_t i = 0; i < k; ++i) {
          fill.slots[first + i].filled = ids[i];
        }
        fill.slots[first + k].targets = {ids[k]};
        fill.class_masses = fill.set_distances = true;
        const std::vector<query::Query> alone = {fill};
        const auto slot = std::get<query::FillAnswer>(engine_.answer(alone)[0]).slots[first + k];
        EXPECT_EQ(logprob[number], slot.logprob[0]);
        EXPECT_EQ(initial[number], slot.log_mass_initial);
        EXPECT_EQ(continuation[number], slot.log_mass_continuation);
        EXPECT_EQ(distance[number], slot.set[0].distance_bias);
        EXPECT_EQ(active[number], slot.set[0].active_plain);
        ++scored;
      }
    }
  }
  EXPECT_GT(scored, 400u);
}

TEST_F(AssociationProbeTest, NumbersDoNotDependOnTheCutIntoBlocks) {
  sweep::Job job = testing::small_job();
  job.execution.contexts_per_block = 1;
  const auto one = bytes(whole(job));
  for (const int size : {3, 8, 100}) {
    job.execution.contexts_per_block = size;
    EXPECT_EQ(bytes(whole(job)), one) << size;
  }
}

TEST_F(AssociationProbeTest, EqualTextsOfABlockHaveEqualNumbers) {
  sweep::Job job = testing::small_job();
  job.settings<probes::association::Association>().axes.templates.push_back(
      job.settings<probes::association::Association>().axes.templates.front());
  job.settings<probes::association::Association>().axes.templates.back().label = "again";
  job.execution.contexts_per_block = 100;
  const AssociationProbe probe(job, tokenizer_);
  const results::RawBlock folded =
      probe.fold(probe.blocks().block(2), answer_all(probe, probe.blocks().block(2), engine_));
  const auto& logprob = column<double>(probe.schema(), folded, "logprob");
  const std::size_t per_context = logprob.size() / 10;
  for (std::size_t i = 0; i < 2 * per_context; ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(logprob[i]), std::bit_cast<std::uint64_t>(logprob[8 * per_context + i]));
  }
}

TEST_F(AssociationProbeTest, OnlyWhatIsMeasuredIsAskedAndKept) {
  sweep::Job job = testing::small_job();
  job.settings<probes::association::Association>().measures = {probes::association::Measure::ilps};
  const AssociationProbe probe(job, tokenizer_);
  for (const auto& asked : probe.first(probe.blocks().block(0)).queries) {
    EXPECT_FALSE(std::get<query::Fill>(asked).class_masses || std::get<query::Fill>(asked).set_distances);
  }
  std::vector<std::string> names;
  for (const auto& cube : probe.schema().cubes) {
    names.push_back(cube.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("logprob", "num_subwords", "status", "prompt", "problem"));
  const results::RawBlock all = whole(job);
  const auto& logprob = column<double>(probe.schema(), all, "logprob");
  const std::size_t self_kindness = 6 * 4;  // first context (the word prior), word 6, axis of 4 subwords
  EXPECT_FALSE(std::isnan(logprob[self_kindness]));
  EXPECT_TRUE(std::isnan(logprob[self_kindness + 1]) && std::isnan(logprob[self_kindness + 2]));
  EXPECT_FALSE(std::isnan(logprob[self_kindness + 3]));
}

using Spoil = std::function<void(const query::Fill&, query::Answer&)>;

class SpoiltCall : public query::Call {
 public:
  SpoiltCall(std::unique_ptr<query::Call> good, std::span<const query::Query> queries, const Spoil& spoil)
      : good_(std::move(good)), queries_(queries), spoil_(spoil) {}
  void run() override { good_->run(); }
  std::vector<query::Answer> read() override {
    auto answers = good_->read();
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      spoil_(std::get<query::Fill>(queries_[i]), answers[i]);
    }
    return answers;
  }
  query::EngineCounts cost() const override { return good_->cost(); }

 private:
  std::unique_ptr<query::Call> good_;
  std::span<const query::Query> queries_;
  const Spoil& spoil_;
};

/// Answers as the fake engine does, but spoils some.
class SpoiltEngine : public query::Engine {
 public:
  SpoiltEngine(engine::FakeEngine& good, Spoil spoil) : good_(good), spoil_(std::move(spoil)) {}
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    return std::make_unique<SpoiltCall>(good_.plan(queries), queries, spoil_);
  }

 private:
  engine::FakeEngine& good_;
  Spoil spoil_;
};

/// Statuses of the first block's words in its first context, all of whose answers were spoilt.
std::vector<std::uint8_t> statuses_after(const tokenizer::Tokenizer& tokenizer, engine::FakeEngine& engine,
                                         Spoil spoil) {
  const AssociationProbe probe(testing::small_job(), tokenizer);
  SpoiltEngine spoilt(engine, std::move(spoil));
  const auto block = probe.blocks().block(0);
  const results::RawBlock folded = probe.fold(block, answer_all(probe, block, spoilt));
  const auto& status = column<std::uint8_t>(probe.schema(), folded, "status");
  return {status.begin(), status.begin() + static_cast<long>(probe.words().size())};
}

void expect_all(const std::vector<std::uint8_t>& statuses, CellStatus expected) {
  for (std::size_t word = 0; word < statuses.size(); ++word) {
    const bool is_unknown = word == 4;  // zealous
    EXPECT_EQ(statuses[word], static_cast<std::uint8_t>(is_unknown ? CellStatus::unknown_token : expected)) << word;
  }
}

TEST_F(AssociationProbeTest, FailuresOfTheEngineBecomeStatuses) {
  const auto spoil_slots = [](auto change) {
    return [change](const query::Fill& fill, query::Answer& answer) {
      auto& slots = std::get<query::FillAnswer>(answer).slots;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!fill.slots[i].targets.empty()) {
          change(slots[i]);
        }
      }
    };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [&](auto spoil) { return statuses_after(tokenizer_, engine_, spoil); };
  expect_all(with([](const auto&, auto& answer) { answer = query::QueryError{"broken"}; }), CellStatus::engine_error);
  expect_all(with([](const auto&, auto& answer) {
               answer = query::QueryError{"long", query::QueryFault::too_long};
             }),
             CellStatus::too_long);
  expect_all(with(spoil_slots([&](auto& slot) { slot.logprob[0] = slot.logprob.back() = nan; })),
             CellStatus::not_finite);
  expect_all(with(spoil_slots([&](auto& slot) { slot.log_mass_continuation = nan; })), CellStatus::not_finite);
  expect_all(with(spoil_slots([](auto& slot) {
               for (auto& set : slot.set) {
                 set.distance_plain = 1;
               }
             })),
             CellStatus::set_distance_reaches_one);
  expect_all(with(spoil_slots([&](auto& slot) {
               for (auto& set : slot.set) {
                 set.distance_bias = nan;
                 set.status_bias = query::SetStatus::not_certified;
               }
             })),
             CellStatus::set_not_certified);
}

TEST_F(AssociationProbeTest, AnswersOfAnotherShapeAreOurBug) {
  const AssociationProbe probe(testing::small_job(), tokenizer_);
  const auto block = probe.blocks().block(0);
  Transcript transcript = answer_all(probe, block, engine_);
  transcript.answers[0].pop_back();
  EXPECT_THROW(probe.fold(block, transcript), std::logic_error);
  transcript = answer_all(probe, block, engine_);
  std::get<query::FillAnswer>(transcript.answers[0][0]).slots.clear();
  EXPECT_THROW(probe.fold(block, transcript), std::logic_error);
}

TEST_F(AssociationProbeTest, KeysFollowContentNotPlace) {
  const sweep::Job job = testing::small_job();
  sweep::Job more = job;
  more.settings<probes::association::Association>().axes.groups.insert(
      more.settings<probes::association::Association>().axes.groups.begin() + 1,
      testing::group("men", "gender", "man", "men"));
  sweep::Job other = job;
  other.settings<probes::association::Association>().axes.traits[0].left.words[0] = "warm";
  const AssociationProbe probe(job, tokenizer_);
  const AssociationProbe with_more(more, tokenizer_);
  const AssociationProbe with_other(other, tokenizer_);
  const base::Digest fingerprint{};
  const auto keys = [&](const AssociationProbe& of) {
    std::vector<base::Digest> result;
    for (std::uint64_t i = 0; i < of.blocks().num_blocks(); ++i) {
      result.push_back(block_key(of, of.blocks().block(i), fingerprint));
    }
    return result;
  };
  const auto before = keys(probe);
  EXPECT_EQ(std::set(before.begin(), before.end()).size(), before.size());
  const auto after = keys(with_more);
  for (const auto& key : before) {
    EXPECT_THAT(after, ::testing::Contains(key)) << "a group added later changes no other block";
  }
  for (const auto& key : keys(with_other)) {
    EXPECT_THAT(before, ::testing::Not(::testing::Contains(key)));
  }
}

TEST_F(AssociationProbeTest, RefusesJobsThatCannotBeProbed) {
  sweep::Job job = testing::small_job();
  EXPECT_NE(make_probe(job, tokenizer_), nullptr);
  job.settings<probes::association::Association>().axes.groups[0].plural = "wo[MASK]men";
  EXPECT_THROW(make_probe(job, tokenizer_), base::InputError);
  job = testing::small_job();
  job.settings<probes::association::Association>().axes.groups.clear();
  job.settings<probes::association::Association>().priors = {.word = false, .mask = false};
  try {
    make_probe(job, tokenizer_);
    FAIL() << "an empty product was accepted";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no group and no prior"));
  }
}

TEST(AssociationJob, averaged_templates_are_those_of_the_job) {
  const auto load = [] {
    config::load_jobs(source_directory() + "/jobs/00_smoke.yaml", {"statistics.templates=[nowhere]"});
  };
  EXPECT_THAT(load, ::testing::ThrowsMessage<base::InputError>(::testing::HasSubstr("unknown template 'nowhere'")))
      << "a run would score all of the job before stats refuses it";
}

}  // namespace
}  // namespace stereosweep::probes::association
