// The one decoder in every setting against the plain forward pass, sequence by sequence, in float64.
#include "model/causal/CausalModel.hpp"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/CausalReference.hpp"
#include "model/Difference.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/masked/MaskedModel.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::deviation_in_layers;
using stereosweep::testing::most_error;

using testing::PlainForward;
using testing::PlainModel;
using testing::PlainNorms;

constexpr std::int64_t vocabulary = 61;

struct Setting {
  std::string name;
  CausalSpecification specification;
  PlainNorms norms;
};

std::vector<float> frequencies(std::int64_t width) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    out.push_back(1.0F / std::pow(100.0F, static_cast<float>(2 * i) / static_cast<float>(width)));
  }
  return out;
}

CausalSpecification base_specification() {
  CausalSpecification s;
  s.family = "test";
  s.vocabulary = vocabulary;
  s.hidden = 48;
  s.inner = 80;
  s.num_heads = 6;
  s.num_key_heads = 6;
  s.head_width = 8;
  s.max_tokens = 400;
  s.layers.assign(3, LayerKind{});
  s.norm_epsilon = 1e-5;
  s.attention_scale = 1 / std::sqrt(8.0F);
  s.rotaries = {Rotary{8, RotaryPairs::halves, frequencies(8), 1}};
  return s;
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const auto add = [&](const std::string& name, PlainNorms norms, auto change) {
    auto s = base_specification();
    change(s);
    all.push_back({name, s, norms});
  };
  add("learned positions, scores by layer", {}, [](auto& s) {
    s.names.positions = "positions";
    s.rotaries.clear();
    s.first_position = 2;
    s.activation = Activation::gelu_tanh;
    s.scale_by_layer = true;
  });
  add("norms after the sums", {}, [](auto& s) {
    s.names.positions = "positions";
    s.rotaries.clear();
    s.residual = Residual::after_adding;
    s.names.final_norm = "";
    s.activation = Activation::relu;
  });
  add("parallel, two norms, part of a head turns", {}, [](auto& s) {
    s.residual = Residual::parallel;
    s.head_width = 20;
    s.rotaries = {Rotary{6, RotaryPairs::halves, frequencies(6), 1}};
    s.tied_head = false;
  });
  add("parallel, one norm, one key head, neighbours turn", {true, false, false, false}, [](auto& s) {
    s.residual = Residual::parallel;
    s.num_key_heads = 1;
    s.head_width = 40;
    s.rotaries = {Rotary{36, RotaryPairs::neighbours, frequencies(36), 1.25F}};
  });
  add("alibi inside the scale", {}, [](auto& s) {
    s.rotaries.clear();
    s.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.703125F, 0.35351562F};
    s.alibi_scale = s.attention_scale;
  });
  add("alibi after the scale", {}, [](auto& s) {
    s.rotaries.clear();
    s.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.703125F, 0.35351562F};
  });
  PlainNorms embeddings;
  embeddings.embedding = true;
  add("alibi unrounded, a norm of the embeddings", embeddings, [](auto& s) {
    s.rotaries.clear();
    s.alibi_slopes = {0.7071F, 0.25F, 0.1234F, 0.0625F, 0.703125F, 0.3535F};
    s.alibi_rounding = AlibiRounding::model;
    s.activation = Activation::gelu_tanh;
  });
  PlainNorms sinks;
  sinks.sinks = true;
  add("sinks, clipped gates, window", sinks, [](auto& s) {
    s.norm = NormKind::rms_late;
    s.num_key_heads = 2;
    s.gated = true;
    s.activation = Activation::clipped_silu;
    s.layers = {{5, 0}, {0, 0}, {5, 0}};
  });
  add("gated, grouped heads, window", {}, [](auto& s) {
    s.norm = NormKind::rms;
    s.num_key_heads = 2;
    s.gated = true;
    s.activation = Activation::silu;
    s.layers = {{5, 0}, {0, 0}, {5, 0}};
  });
  add("post norms, caps, two rotaries", {true, true, true, true}, [](auto& s) {
    s.norm = NormKind::rms_gemma;
    s.num_key_heads = 3;
    s.gated = true;
    s.activation = Activation::gelu_tanh;
    s.query_key_norm = QueryKeyNorm::per_head;
    s.attention_softcap = 2;
    s.logits_softcap = 3;
    s.embedding_scale = 1.5F;
    s.rotaries.push_back(Rotary{8, RotaryPairs::halves, frequencies(8), 0.5F});
    s.layers = {{7, 1}, {0, 0}, {7, -1}};
  });
  add("norms only after the blocks, whole query norm", {false, true, false, true}, [](auto& s) {
    s.norm = NormKind::rms_late;
    s.gated = true;
    s.activation = Activation::silu;
    s.query_key_norm = QueryKeyNorm::whole;
    s.logits_scale = 0.25F;
  });
  add("experts", {}, [](auto& s) {
    s.norm = NormKind::rms;
    s.gated = true;
    s.activation = Activation::silu;
    s.experts = {5, 2, true};
    s.layers.assign(2, LayerKind{});
  });
  add("experts, weights as they are", {}, [](auto& s) {
    s.norm = NormKind::rms;
    s.gated = true;
    s.activation = Activation::silu;
    s.experts = {4, 1, false};
    s.layers.assign(2, LayerKind{});
  });
  return all;
}

void add_branch(TokenTree& tree, int parent, int length, std::mt19937& random) {
  TokenTree::Branch branch;
  branch.first = static_cast<std::int32_t>(tree.ids.size());
  branch.length = length;
  branch.parent = parent;
  branch.depth = parent < 0 ? 0 : tree.branches[parent].depth + tree.branches[parent].length;
  tree.branches.push_back(branch);
  for (int i = 0; i < length; ++i) {
    tree.ids.push_back(static_cast<query::TokenId>(random() % vocabulary));
  }
}

// A forest: a long trunk with branches of branches, a lonely sequence, a token alone.
TokenTree forest() {
  std::mt19937 random(7);
  TokenTree tree;
  add_branch(tree, -1, 19, random);
  add_branch(tree, 0, 3, random);
  add_branch(tree, 1, 1, random);
  add_branch(tree, 1, 5, random);
  add_branch(tree, 0, 2, random);
  add_branch(tree, 4, 17, random);
  add_branch(tree, 4, 1, random);
  add_branch(tree, -1, 11, random);
  add_branch(tree, -1, 1, random);
  add_branch(tree, 7, 4, random);
  return tree;
}

std::vector<std::int64_t> all_rows(const TokenTree& tree) {
  std::vector<std::int64_t> rows(tree.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

TEST(CausalModel, EverySettingAgreesWithThePlainForward) {
  const auto tree = forest();
  for (const auto& [name, specification, norms] : settings()) {
    stereosweep::testing::draw_from(3);
    const auto model = testing::random_model(specification, norms);
    const PlainForward plain(model);
    const auto layers = static_cast<int>(specification.layers.size());
    std::vector<at::Tensor> expected;
    for (int layer = 0; layer <= layers; ++layer) {
      expected.push_back(plain.hidden(tree, layer));
    }
    for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
      for (const std::int64_t rows_at_once : {0, 24}) {
        const auto made =
            make_causal_model(specification, testing::weights_of(model, at::kFloat), {rows_at_once, kernels});
        const auto& body = *made;
        for (int layer = 0; layer <= layers; ++layer) {
          const auto states = body.hidden(tree, layer, all_rows(tree));
          ASSERT_EQ(states.sizes(), expected[layer].sizes());
          EXPECT_LT(difference(states, expected[layer]), 2e-5 * expected[layer].abs().max().item<double>())
              << name << ", layer " << layer;
          if (layer == layers) {
            const auto logits = plain.logits(expected[layer]);
            EXPECT_LT(difference(body.logits(states), logits), 2e-5 * logits.abs().max().item<double>()) << name;
          }
        }
      }
    }
  }
}

// The first `branches` branches of a tree.
TokenTree beginning(const TokenTree& tree, std::size_t branches) {
  TokenTree part;
  part.branches.assign(tree.branches.begin(), tree.branches.begin() + static_cast<std::ptrdiff_t>(branches));
  const auto rows = part.branches.back().first + part.branches.back().length;
  part.ids.assign(tree.ids.begin(), tree.ids.begin() + rows);
  return part;
}

// The whole body where CUDA computes it, experts and steps of growth included.
TEST(CausalModelOnGpu, EverySettingAgreesWithThePlainForward) {
  if (!cuda_ready()) {
    GTEST_SKIP() << "no GPU is visible: " << cuda_absence();
  }
  configure_threads(1);
  const auto tree = forest();
  for (const auto& [name, specification, norms] : settings()) {
    stereosweep::testing::draw_from(3);
    const auto model = testing::random_model(specification, norms);
    const PlainForward plain(model);
    const auto layers = static_cast<int>(specification.layers.size());
    const auto made =
        make_causal_model(specification, testing::weights_of(model, at::TensorOptions(at::kCUDA).dtype(at::kFloat)));
    const auto& body = *made;
    ASSERT_EQ(body.shape().kernels, Kernels::operators);
    for (int layer = 0; layer <= layers; ++layer) {
      const auto expected = plain.hidden(tree, layer);
      const auto states = body.hidden(tree, layer, all_rows(tree));
      EXPECT_LT(difference(states.to(at::kCPU), expected), 2e-5 * expected.abs().max().item<double>())
          << name << ", layer " << layer;
      EXPECT_TRUE(body.hidden(tree, layer, all_rows(tree)).equal(states)) << "the bits must repeat";
    }
    const auto memory = body.remember(0);
    at::Tensor last;
    for (const std::size_t end : {4, 5, 9, 10}) {
      const auto part = beginning(tree, end);
      std::vector<std::int64_t> rows(part.ids.size() - static_cast<std::size_t>(memory->rows()));
      std::iota(rows.begin(), rows.end(), memory->rows());
      last = body.extend(*memory, part, rows);
    }
    const auto expected = plain.hidden(tree, layers);
    const auto grown = expected.slice(0, expected.size(0) - last.size(0));
    EXPECT_LT(difference(last.to(at::kCPU), grown), 2e-5 * expected.abs().max().item<double>()) << name << ", grown";
    EXPECT_LT(difference(body.logits(last).to(at::kCPU), plain.logits(grown)),
              2e-5 * plain.logits(expected).abs().max().item<double>())
        << name;
  }
}

TEST(CausalModelOnGpu, SixteenBitsStayNear) {
  if (!cuda_ready()) {
    GTEST_SKIP() << "no GPU is visible: " << cuda_absence();
  }
  const auto tree = forest();
  for (const auto& [name, specification, norms] : settings()) {
    if (specification.experts.count > 0) {
      continue;  // a token that changes its expert is right, too
    }
    stereosweep::testing::draw_from(5);
    const auto model = testing::random_model(specification, norms, 0.1);
    const auto expected = PlainForward(model).hidden(tree, 3);
    for (const auto type : {at::kBFloat16, at::kHalf}) {
      const auto made =
          make_causal_model(specification, testing::weights_of(model, at::TensorOptions(at::kCUDA).dtype(type)));
      const auto& body = *made;
      const auto states = body.hidden(tree, 3, all_rows(tree));
      const auto error = states.to(at::kCPU).to(at::kDouble).sub(expected).square().mean().sqrt().item<double>();
      const auto size = expected.square().mean().sqrt().item<double>();
      EXPECT_LT(error, 2 * deviation_in_layers(type, 3) * size) << name << ", " << at::toString(type);
      EXPECT_EQ(body.logits(states).scalar_type(), at::kFloat);
    }
  }
}

TEST(CausalModel, FewRowsAreThoseOfAll) {
  const auto tree = forest();
  const std::vector<std::int64_t> few = {0, 20, 21, 22, 40, 63};
  const auto index = at::tensor(few);
  for (const auto& [name, specification, norms] : settings()) {
    const auto model = testing::random_model(specification, norms);
    const auto made = make_causal_model(specification, testing::weights_of(model, at::kFloat));
    const auto& body = *made;
    const auto layers = static_cast<int>(specification.layers.size());
    for (int layer = 0; layer <= layers; ++layer) {
      const auto all = body.hidden(tree, layer, all_rows(tree)).index_select(0, index);
      EXPECT_LT(difference(body.hidden(tree, layer, few), all), 1e-5 * all.abs().max().item<double>()) << name;
    }
    EXPECT_EQ(body.hidden(tree, layers, {}).size(0), 0);
  }
}

TEST(CausalModel, SixteenBitsStayNear) {
  const auto tree = forest();
  for (const auto& [name, specification, norms] : settings()) {
    if (specification.experts.count > 0) {
      continue;  // a token that changes its expert is right, too: see ExpertsInBfloat16
    }
    stereosweep::testing::draw_from(5);
    const auto model = testing::random_model(specification, norms, 0.1);
    const auto expected = PlainForward(model).hidden(tree, 3);
    for (const auto type : {at::kBFloat16, at::kHalf}) {
      for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
        const auto made = make_causal_model(specification, testing::weights_of(model, type), {0, kernels});
        const auto& body = *made;
        const auto states = body.hidden(tree, 3, all_rows(tree));
        EXPECT_EQ(states.scalar_type(), type);
        const auto error = states.to(at::kDouble).sub(expected).square().mean().sqrt().item<double>();
        const auto size = expected.square().mean().sqrt().item<double>();
        EXPECT_LT(error, 2 * deviation_in_layers(type, 3) * size) << name << ", " << at::toString(type);
        EXPECT_EQ(body.logits(states).scalar_type(), at::kFloat);
      }
    }
  }
}

// One token whose embedding leaves the range in the first product: what sees it is not finite, the rest is as it was.
TEST(CausalModel, WhatLeavesFloat16StaysInItsBranch) {
  for (const auto& [name, specification, norms] : settings()) {
    stereosweep::testing::draw_from(5);
    auto model = testing::random_model(specification, norms, 0.1);
    model.layers[0].value.bias.zero_();
    TokenTree tree = forest();
    std::replace(tree.ids.begin(), tree.ids.end(), 60, 59);
    const std::int64_t damaged = tree.branches[3].first;  // beside branches that share its block of keys
    tree.ids[static_cast<std::size_t>(damaged)] = 60;
    auto large = model;
    large.words = model.words.clone();
    large.words[60].fill_(60000);
    large.words[60][0] = -60000;
    for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
      const auto layers = static_cast<int>(specification.layers.size());
      const auto states = [&](const PlainModel& of) {
        auto weights = testing::weights_of(of, at::kHalf);
        weights.layers[0].attention_norm.reset();  // or it would make the numbers small again
        weights.embedding_norm.reset();
        return make_causal_model(specification, std::move(weights), {0, kernels})->hidden(tree, layers, all_rows(tree));
      };
      const auto before = states(model);
      const auto after = states(large);
      const auto most = most_error(at::kHalf, layers, before.to(at::kDouble).std().item<double>());
      for (std::int64_t row = 0; row < after.size(0); ++row) {
        const bool sees = row >= damaged && row < damaged + tree.branches[3].length;
        if (sees) {
          EXPECT_FALSE(after[row].isfinite().all().item<bool>()) << name << ", row " << row;
        } else {
          EXPECT_LT(difference(after[row], before[row]), most) << name << ", row " << row;  // experts get other rows
        }
      }
    }
  }
}

TEST(CausalModel, ExpertsInBfloat16) {
  const auto tree = forest();
  auto specification = base_specification();
  specification.gated = true;
  specification.experts = {3, 3, true};  // all of them: none can flip
  stereosweep::testing::draw_from(5);
  const auto model = testing::random_model(specification, {}, 0.1);
  const auto expected = PlainForward(model).hidden(tree, 3);
  const auto made = make_causal_model(specification, testing::weights_of(model, at::kBFloat16));
  const auto& body = *made;
  const auto states = body.hidden(tree, 3, all_rows(tree));
  const auto error = states.to(at::kDouble).sub(expected).square().mean().sqrt().item<double>();
  const auto size = expected.square().mean().sqrt().item<double>();
  EXPECT_LT(error, 2 * deviation_in_layers(at::kBFloat16, 3) * size);
}

TEST(CausalModel, GrowingInStepsIsTheWholeTree) {
  const auto tree = forest();
  const std::vector<std::vector<std::size_t>> cuts = {{10}, {1, 10}, {4, 5, 9, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  for (const auto& [name, specification, norms] : settings()) {
    const auto model = testing::random_model(specification, norms);
    for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
      const auto made = make_causal_model(specification, testing::weights_of(model, at::kFloat), {0, kernels});
      const auto& body = *made;
      const auto all = body.hidden(tree, body.shape().num_layers, all_rows(tree));
      for (const auto& ends : cuts) {
        const auto memory = body.remember(0);
        for (const auto end : ends) {
          const auto part = beginning(tree, end);
          const auto first = memory->rows();
          std::vector<std::int64_t> rows(part.ids.size() - static_cast<std::size_t>(first));
          std::iota(rows.begin(), rows.end(), first);
          const auto states = body.extend(*memory, part, rows);
          EXPECT_EQ(memory->rows(), std::ssize(part.ids));
          // Where all is computed by operators, a path is read in other pieces: one setting is 1 % beyond 1e-5.
          const double most = kernels_on(at::kCPU) == Kernels::own_kernels ? 1e-5 : 2e-5;
          EXPECT_LT(difference(states, all.slice(0, first, memory->rows())), most * all.abs().max().item<double>())
              << name;
        }
      }
    }
  }
}

// Several sequences grow by a token each and step, as in generation: past the blocks of sixteen.
TEST(CausalModel, SequencesThatGrowInTurn) {
  auto specification = base_specification();
  specification.num_key_heads = 2;
  const auto model = testing::random_model(specification, {});
  const auto made = make_causal_model(specification, testing::weights_of(model, at::kFloat));
  const auto& body = *made;
  std::mt19937 random(11);
  TokenTree tree;
  add_branch(tree, -1, 21, random);
  add_branch(tree, -1, 3, random);
  const auto memory = body.remember(0);
  body.extend(*memory, tree, {});
  std::vector<int> ends = {0, 0, 1, 1, 1};
  std::vector<at::Tensor> steps;
  for (int step = 0; step < 40; ++step) {
    std::vector<std::int64_t> rows;
    for (auto& end : ends) {
      rows.push_back(std::ssize(tree.ids));
      add_branch(tree, end, 1, random);
      end = static_cast<int>(tree.branches.size()) - 1;
    }
    steps.push_back(body.extend(*memory, tree, rows));
  }
  const auto expected = PlainForward(model).hidden(tree, 3);
  EXPECT_LT(difference(at::cat(steps), expected.slice(0, 24)), 2e-5 * expected.abs().max().item<double>());
}

// Some sequences leave, the others go on in another order, and new ones take the room.
TEST(CausalModel, WhatStaysIsRememberedWhereOthersAreForgotten) {
  for (const auto& [name, specification, norms] : settings()) {
    const auto model = testing::random_model(specification, norms);
    for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
      const auto made = make_causal_model(specification, testing::weights_of(model, at::kFloat), {0, kernels});
      std::mt19937 random(12);
      TokenTree tree;
      add_branch(tree, -1, 18, random);
      add_branch(tree, -1, 5, random);
      const auto memory = made->remember(0);
      made->extend(*memory, tree, {});
      std::vector<int> ends = {0, 0, 1, 1};
      std::vector<std::vector<std::int32_t>> added(4);  // rows of each sequence
      const auto grow = [&](std::vector<std::int64_t>& rows) {
        for (std::size_t i = 0; i < ends.size(); ++i) {
          rows.push_back(std::ssize(tree.ids));
          added[i].push_back(static_cast<std::int32_t>(rows.back()));
          add_branch(tree, ends[i], 1, random);
          ends[i] = static_cast<int>(tree.branches.size()) - 1;
        }
      };
      for (int step = 0; step < 12; ++step) {
        std::vector<std::int64_t> rows;
        grow(rows);
        made->extend(*memory, tree, rows);
      }
      // The fourth sequence stays with its root, then the first one with its own.
      std::vector<std::int32_t> kept = {18, 19, 20, 21, 22};
      kept.insert(kept.end(), added[3].begin(), added[3].end());
      for (std::int32_t row = 0; row < 18; ++row) {
        kept.push_back(row);
      }
      kept.insert(kept.end(), added[0].begin(), added[0].end());
      TokenTree smaller;
      for (const auto row : kept) {
        smaller.ids.push_back(tree.ids[static_cast<std::size_t>(row)]);
      }
      smaller.branches = {{0, 5, -1, 0}, {5, 12, 0, 5}, {17, 18, -1, 0}, {35, 12, 2, 18}};
      const auto before = memory->slots_in_use();
      memory->keep_only(kept);
      EXPECT_EQ(memory->rows(), std::ssize(kept));
      EXPECT_LT(memory->slots_in_use(), before);
      EXPECT_GE(memory->slots_in_use(), memory->rows());
      tree = smaller;
      ends = {1, 3, 0, -1};
      added.assign(4, {});
      std::vector<at::Tensor> states;
      for (int step = 0; step < 12; ++step) {
        std::vector<std::int64_t> rows;
        grow(rows);
        states.push_back(made->extend(*memory, tree, rows));
      }
      const auto expected = PlainForward(model).hidden(tree, static_cast<int>(specification.layers.size()));
      EXPECT_LT(difference(at::cat(states), expected.slice(0, std::ssize(kept))),
                2e-5 * expected.abs().max().item<double>())
          << name;
    }
  }
}

TEST(CausalModel, BitsRepeat) {
  const auto tree = forest();
  const auto specification = settings()[6].specification;
  const auto model = testing::random_model(specification, {});
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const auto made = make_causal_model(specification, testing::weights_of(model, type));
    const auto& body = *made;
    const auto first = body.hidden(tree, 3, all_rows(tree));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(body.hidden(tree, 3, all_rows(tree)).equal(first));
    }
  }
}

TEST(CausalModel, WrongTreesAreContracts) {
  const auto specification = base_specification();
  const auto made =
      make_causal_model(specification, testing::weights_of(testing::random_model(specification, {}), at::kFloat));
  const auto& body = *made;
  const std::vector<std::int64_t> rows = {0};
  auto tree = forest();
  tree.ids[3] = vocabulary;
  EXPECT_THROW(body.hidden(tree, 3, rows), std::logic_error);
  tree = forest();
  tree.branches[4].depth = 18;
  EXPECT_THROW(body.hidden(tree, 3, rows), std::logic_error);
  tree = forest();
  tree.branches[2].parent = 2;
  EXPECT_THROW(body.hidden(tree, 3, rows), std::logic_error);
  EXPECT_THROW(body.hidden(forest(), 4, rows), std::logic_error);
  EXPECT_THROW(body.hidden(forest(), 3, std::vector<std::int64_t>{5, 5}), std::logic_error);
  EXPECT_THROW(body.hidden(forest(), 3, std::vector<std::int64_t>{64}), std::logic_error);
  std::mt19937 random(1);
  TokenTree deep;
  add_branch(deep, -1, 401, random);
  EXPECT_THROW(body.hidden(deep, 3, rows), std::logic_error);
}

}  // namespace
}  // namespace stereosweep::model
