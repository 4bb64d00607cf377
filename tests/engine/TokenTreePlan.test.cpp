// Plans against brute force: every read row's path is the text it should be, nothing runs twice within a batch.
#include "engine/causal/TokenTreePlan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "engine/CausalTokenizer.hpp"
#include "engine/QueryInput.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;
using testing::FirstToken;
using Path = std::vector<TokenId>;

constexpr int layers = 3;

class TokenTreePlanTest : public ::testing::Test {
 protected:
  InputPlan plan(std::span<const query::Query> queries) const { return plan_causal(queries, tokenizer, shape); }

  Sequence input_of(const query::Embed& asked) const {
    InputPlan made;
    plan_vector(asked, tokenizer, shape, made);
    return made.sequences.front();
  }

  // Prompts that share beginnings, one to three continuations each, some of several tokens; embeds of two layers.
  static std::vector<query::Query> random_queries(int count, unsigned seed) {
    std::mt19937 rng(seed);
    const auto words = [&](int number) {
      std::string text;
      for (int i = 0; i < number; ++i) {
        const std::vector<std::string> list = {" the", " ab", " cd", " x", " a", "b", "\xC3\xA9"};
        text += list[rng() % list.size()];
      }
      return text;
    };
    std::vector<std::string> beginnings;
    for (int i = 0; i < 4; ++i) {
      beginnings.push_back("x" + words(static_cast<int>(rng() % 8)));
    }
    std::vector<query::Query> queries;
    for (int i = 0; i < count; ++i) {
      const auto prompt = beginnings[rng() % 4] + words(static_cast<int>(rng() % 3)) + (rng() % 4 == 0 ? " " : "");
      if (rng() % 4 == 0) {
        queries.emplace_back(
            query::Embed{prompt,
                         {prompt.size() > 4 ? rng() % 3 : 0, prompt.size() > 4 ? prompt.size() - rng() % 2 : 1},
                         rng() % 2 == 0 ? -1 : 1,
                         static_cast<query::Pool>(rng() % 3)});
      } else {
        query::Continue asked{prompt, {}};
        for (unsigned j = 0; j <= rng() % 3; ++j) {
          asked.continuations.push_back("z" + words(static_cast<int>(rng() % 3)));
        }
        queries.emplace_back(asked);
      }
    }
    return queries;
  }

  static std::span<const Sequence> part(const InputPlan& plan, const BatchRange& batch) {
    return std::span(plan.sequences).subspan(batch.first, batch.last - batch.first);
  }

  // The tokens from a root to every row; checks the branches on the way.
  static std::vector<Path> paths_of(const model::TokenTree& tree) {
    std::vector<Path> paths;
    std::vector<int> children(tree.branches.size());
    std::set<std::pair<std::int32_t, TokenId>> first_tokens;
    for (std::size_t number = 0; number < tree.branches.size(); ++number) {
      const auto& branch = tree.branches[number];
      EXPECT_EQ(branch.first, std::ssize(paths));
      EXPECT_GE(branch.length, 1);
      EXPECT_LT(branch.parent, static_cast<std::int32_t>(number));
      Path path;
      if (branch.parent >= 0) {
        const auto& parent = tree.branches[static_cast<std::size_t>(branch.parent)];
        path = paths[static_cast<std::size_t>(parent.first + parent.length - 1)];
        ++children[static_cast<std::size_t>(branch.parent)];
      }
      EXPECT_EQ(branch.depth, std::ssize(path));
      const auto first = static_cast<std::size_t>(branch.first);
      EXPECT_TRUE(first_tokens.insert({branch.parent, tree.ids[first]}).second) << "siblings share a token";
      for (std::size_t i = 0; i < static_cast<std::size_t>(branch.length); ++i) {
        path.push_back(tree.ids[first + i]);
        paths.push_back(path);
      }
    }
    EXPECT_EQ(paths.size(), tree.ids.size());
    EXPECT_EQ(std::count(children.begin(), children.end(), 1), 0) << "a branch was cut for nothing";
    return paths;
  }

  tokenizer::Tokenizer tokenizer = testing::causal_tokenizer(FirstToken::beginning);
  model::ModelShape shape{layers, 0, 300, 300, 64, true};
};

TEST_F(TokenTreePlanTest, EveryReadHasItsTextBeforeIt) {
  const auto queries = random_queries(200, 1);
  const auto made = plan(queries);
  for (const std::int64_t budget : {1, 20, 100, 100000}) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::pair<Path, TokenId>> reads;
    std::map<std::uint32_t, std::set<Path>> vectors;
    for (const auto& batch : cut_trees(made.sequences, budget)) {
      const auto packed = pack_tree(part(made, batch));
      const auto paths = paths_of(packed.input);
      std::int64_t last_row = -1;
      for (const auto& [place, uses] : packed.readers) {
        const auto row = packed.rows[static_cast<std::size_t>(place)];
        EXPECT_GT(row, last_row);
        last_row = row;
        const auto& path = paths[static_cast<std::size_t>(row)];
        for (const auto& use : uses) {
          EXPECT_EQ(std::ssize(path), use.position + 1);
          if (use.token == Use::whole_vector) {
            EXPECT_TRUE(vectors[use.query].insert(path).second);
          } else {
            EXPECT_TRUE(reads.try_emplace({use.query, use.part, use.place}, path, use.token).second);
          }
        }
      }
      EXPECT_EQ(last_row, std::ssize(packed.input.ids) - 1) << "a last token that nobody reads";
    }
    std::size_t expected = 0;
    for (std::uint32_t number = 0; number < queries.size(); ++number) {
      if (const auto* embed = std::get_if<query::Embed>(&queries[number])) {
        const auto input = input_of(*embed);
        ASSERT_EQ(vectors[number].size(), input.uses.size());
        for (const auto& use : input.uses) {
          EXPECT_TRUE(vectors[number].contains(Path(input.ids.begin(), input.ids.begin() + use.position + 1)));
        }
        continue;
      }
      const auto& asked = std::get<query::Continue>(queries[number]);
      const ContinuationBorder border(asked.prompt, tokenizer, query::Framing::tokenizer);
      for (std::uint32_t i = 0; i < asked.continuations.size(); ++i) {
        const auto joint = border.join(asked.continuations[i]);
        for (auto place = joint.begin; place < joint.ids.size(); ++place, ++expected) {
          const auto& [path, token] = reads.at({number, i, static_cast<std::uint32_t>(place - joint.begin)});
          EXPECT_EQ(path, Path(joint.ids.begin(), joint.ids.begin() + static_cast<std::ptrdiff_t>(place)));
          EXPECT_EQ(token, joint.ids[place]);
        }
      }
    }
    EXPECT_EQ(reads.size(), expected);
  }
}

TEST_F(TokenTreePlanTest, CountsAreThoseOfWhatRuns) {
  const auto queries = random_queries(300, 2);
  const auto made = plan(queries);
  std::set<std::pair<int, Path>> distinct;
  std::set<Path> projected;
  std::uint64_t naive = 0;
  const auto add = [&](int layer, const Path& ids) {
    naive += ids.size();
    for (std::size_t length = 1; length <= ids.size(); ++length) {
      distinct.insert({layer, Path(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(length))});
    }
  };
  for (const auto& asked : queries) {
    if (const auto* embed = std::get_if<query::Embed>(&asked)) {
      auto input = input_of(*embed);
      input.ids.resize(static_cast<std::size_t>(input.uses.back().position) + 1);
      add(input.layer, input.ids);
      continue;
    }
    const auto& continued = std::get<query::Continue>(asked);
    for (const auto& continuation : continued.continuations) {
      auto joint = ContinuationBorder(continued.prompt, tokenizer, query::Framing::tokenizer).join(continuation);
      joint.ids.pop_back();
      add(layers, joint.ids);
      for (auto length = joint.begin; length <= joint.ids.size(); ++length) {
        projected.insert(Path(joint.ids.begin(), joint.ids.begin() + static_cast<std::ptrdiff_t>(length)));
      }
    }
  }
  for (const std::int64_t budget : {1, 40, 100000}) {
    const auto counts = count_causal(made, budget);
    EXPECT_EQ(counts.tokens - counts.repeated_tokens, distinct.size());
    EXPECT_EQ(counts.naive_tokens, naive);
    EXPECT_EQ(counts.head_rows, projected.size());
    std::uint64_t run = 0;
    const auto batches = cut_trees(made.sequences, budget);
    for (const auto& batch : batches) {
      const auto packed = pack_tree(part(made, batch));
      run += packed.input.ids.size();
      EXPECT_TRUE(std::ssize(packed.input.ids) <= budget || batch.last == batch.first + 1);
    }
    EXPECT_EQ(counts.tokens, run);
    EXPECT_EQ(counts.batches, batches.size());
  }
  EXPECT_EQ(count_causal(made, 100000).repeated_tokens, 0U);
}

TEST_F(TokenTreePlanTest, OrderAndRepeatsDoNotShow) {
  const auto queries = random_queries(150, 3);
  auto mixed = queries;
  mixed.insert(mixed.end(), queries.begin(), queries.begin() + 70);
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(4));
  const auto first = plan(queries);
  const auto second = plan(mixed);
  ASSERT_EQ(first.sequences.size(), second.sequences.size());
  for (std::size_t i = 0; i < first.sequences.size(); ++i) {
    EXPECT_EQ(first.sequences[i].ids, second.sequences[i].ids);
    EXPECT_EQ(first.sequences[i].layer, second.sequences[i].layer);
    EXPECT_EQ(first.sequences[i].shared, second.sequences[i].shared);
    const auto rows = [](const Sequence& sequence) {
      std::set<std::pair<std::int32_t, TokenId>> found;
      for (const auto& use : sequence.uses) {
        found.insert({use.position, use.token});
      }
      return found;
    };
    EXPECT_EQ(rows(first.sequences[i]), rows(second.sequences[i]));
  }
}

// Least repetition of all cuts, by trying them.
std::int64_t least_cost(std::span<const Sequence> sequences, std::int64_t budget) {
  auto least = std::numeric_limits<std::int64_t>::max();
  const auto n = sequences.size();
  for (std::uint32_t cuts = 0; cuts < (1U << (n - 1)); ++cuts) {
    std::int64_t cost = 16;
    std::int64_t tokens = std::ssize(sequences[0].ids);
    bool allowed = true;
    for (std::size_t i = 1; i < n; ++i) {
      const auto shared = static_cast<std::int64_t>(sequences[i].shared);
      if ((cuts >> (i - 1) & 1U) != 0) {
        cost += 16 + shared;
        tokens = std::ssize(sequences[i].ids);
      } else {
        tokens += std::ssize(sequences[i].ids) - shared;
        allowed = allowed && tokens <= budget;
      }
    }
    least = allowed ? std::min(least, cost) : least;
  }
  return least;
}

TEST_F(TokenTreePlanTest, CutsAreTheCheapest) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    auto made = plan(random_queries(12, seed)).sequences;
    std::erase_if(made, [](const auto& sequence) { return sequence.layer != layers; });
    made.resize(std::min<std::size_t>(made.size(), 12));
    for (const std::int64_t budget : {8, 24, 40, 64}) {
      std::int64_t cost = 0;
      for (const auto& batch : cut_trees(made, budget)) {
        cost += 16 + static_cast<std::int64_t>(made[batch.first].shared);
      }
      EXPECT_EQ(cost, least_cost(made, budget)) << seed << " " << budget;
    }
  }
}

TEST_F(TokenTreePlanTest, OneTokenContinuationsCostNoRowOfTheirOwn) {
  const std::vector<query::Query> queries = {query::Continue{"x the", {"!", "?", "."}}};
  const auto made = plan(queries);
  ASSERT_EQ(made.sequences.size(), 1U);
  EXPECT_EQ(made.sequences[0].ids.size(), 3U);  // <s> x " the"
  EXPECT_EQ(count_causal(made, 100).head_rows, 1U);
  EXPECT_EQ(made.sequences[0].uses.size(), 3U);
}

TEST_F(TokenTreePlanTest, AQueryAtFaultSpoilsNoOther) {
  std::string longest = "x";
  for (int i = 0; i < 61; ++i) {
    longest += " the";  // with the first token and "!": 64
  }
  shape.vocabulary = 100;
  const std::vector<query::Query> queries = {query::Fill{"x", {}, false, false},
                                             query::Continue{"x", {""}},
                                             query::Continue{longest + " the", {"!"}},
                                             query::Continue{"x", {"z", "\xC3\xA9"}},
                                             query::Embed{"x", {0, 1}, layers + 1, query::Pool::mean},
                                             query::Generate{longest, 2, 0, 0, 1, 0, {}},
                                             query::Continue{longest, {"!"}},
                                             query::Generate{longest, 1, 0, 0, 1, 0, {}},
                                             query::Continue{"x", {}}};
  const std::vector<std::string> reasons = {"causal", "no token", "too long", "id", "layer", "too long"};
  const auto made = plan(queries);
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const auto* error = std::get_if<query::QueryError>(&made.answers[i]);
    ASSERT_NE(error, nullptr) << i;
    EXPECT_THAT(error->message, ::testing::HasSubstr(reasons[i]));
    EXPECT_EQ(error->fault == query::QueryFault::too_long, reasons[i] == "too long");
  }
  ASSERT_EQ(made.sequences.size(), 1U);
  EXPECT_EQ(made.sequences[0].ids.size(), 63U);
  ASSERT_EQ(made.openings.size(), 1U);
  EXPECT_EQ(made.openings[0].query, 7U);
  EXPECT_TRUE(std::get<query::ContinueAnswer>(made.answers[8]).logprob.empty());
  shape.has_head = false;
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(plan(queries).answers[6]));
}

TEST_F(TokenTreePlanTest, DeepAndWideTriesArePackedWithoutRecursion) {
  shape.max_tokens = 300000;
  std::vector<query::Query> queries;
  queries.emplace_back(query::Embed{std::string(200000, 'q'), {199999, 200000}, -1, query::Pool::mean});
  for (int i = 1; i <= 300; ++i) {  // every beginning of a long text branches off
    queries.emplace_back(query::Continue{std::string(static_cast<std::size_t>(i), 'q'), {"zz"}});
  }
  const auto made = plan(queries);
  const auto packed = pack_tree(made.sequences);
  EXPECT_EQ(packed.input.ids.size(), 200001U + 300);
  EXPECT_EQ(packed.input.branches.size(), 301U + 300);
}

}  // namespace
}  // namespace stereosweep::engine
