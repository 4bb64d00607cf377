// A causal model whose numbers are plain formulas of the tokens from the root to a row: packing is checked exactly.
#pragma once

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/Random.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/RegionAllocator.hpp"

namespace stereosweep::engine::testing {

using Path = std::vector<query::TokenId>;

class PathModel : public model::CausalModel {
 public:
  static constexpr int layers = 3;
  static constexpr int input_layer = -1;
  static constexpr std::int64_t width = 4;
  static constexpr query::TokenId poison = 2 + 'Q';  ///< its row and all after it are NaN; never chosen

  explicit PathModel(model::ModelShape shape) : shape_(shape) {}

  static model::ModelShape usual_shape() { return {layers, width, 270, 270, 64, true}; }

  static std::uint64_t hash(const Path& path, int layer) {
    std::uint64_t state = static_cast<std::uint64_t>(layer);
    for (const auto id : path) {
      state = base::mix_bits(state ^ base::mix_bits(static_cast<std::uint64_t>(id) + 1));
    }
    return state;
  }

  /// What `hidden` holds for a path: three parts of its hash, which float32 holds exactly.
  static std::vector<float> state_of(const Path& path, int layer) {
    const auto bits = hash(path, layer);
    constexpr std::uint64_t mask = (1U << 21U) - 1;
    std::vector<float> state = {static_cast<float>(bits & mask), static_cast<float>(bits >> 21U & mask),
                                static_cast<float>(bits >> 42U & mask), 1};
    for (const auto id : path) {
      if (id == poison) {
        state.assign(4, std::numeric_limits<float>::quiet_NaN());
      }
    }
    return state;
  }

  static std::vector<float> logits_of_state(const float* state, std::int64_t vocabulary) {
    std::vector<float> logits(static_cast<std::size_t>(vocabulary), std::numeric_limits<float>::quiet_NaN());
    if (!std::isnan(state[0])) {
      const auto bits = static_cast<std::uint64_t>(state[0]) | static_cast<std::uint64_t>(state[1]) << 21U |
                        static_cast<std::uint64_t>(state[2]) << 42U;
      for (std::size_t j = 0; j < logits.size(); ++j) {
        logits[j] = static_cast<float>(8 * base::random_unit(bits, 0, j) * base::random_unit(bits, 1, j));
      }
      logits[poison] = -1024;
    }
    return logits;
  }

  std::vector<float> logits_of_path(const Path& path) const {
    return logits_of_state(state_of(path, layers).data(), shape_.vocabulary);
  }

  const model::ModelShape& shape() const override { return shape_; }

  at::Tensor hidden(const model::TokenTree& tree, int layer, std::span<const std::int64_t> rows) const override {
    return states(tree, layer, rows);
  }

  /// A token's row: the state of a path of nothing else, of a layer that there is not.
  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override {
    auto rows = at::empty({std::ssize(ids), width}, at::kFloat);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto state = state_of({ids[i]}, input_layer);
      std::copy(state.begin(), state.end(), rows.mutable_data_ptr<float>() + static_cast<std::int64_t>(i) * width);
    }
    return rows;
  }

  at::Tensor logits(const at::Tensor& hidden) const override {
    auto logits = at::empty({hidden.size(0), shape_.vocabulary}, at::kFloat);
    largest_product = std::max(largest_product, logits.numel());
    for (std::int64_t row = 0; row < hidden.size(0); ++row) {
      const auto values = logits_of_state(hidden.const_data_ptr<float>() + row * width, shape_.vocabulary);
      std::copy(values.begin(), values.end(), logits.mutable_data_ptr<float>() + row * shape_.vocabulary);
    }
    return logits;
  }

  std::unique_ptr<Memory> remember(std::int64_t most_rows) const override {
    auto memory = std::make_unique<Remembered>();
    memory->most_rows = most_rows;
    memory->allocator = {model::whole_blocks(most_rows), model::Placement::by_branch, model::slots_per_block};
    return memory;
  }

  at::Tensor extend(Memory& memory, const model::TokenTree& tree, std::span<const std::int64_t> rows) const override {
    auto& remembered = dynamic_cast<Remembered&>(memory);
    const auto first = remembered.rows();
    EXPECT_TRUE(std::equal(remembered.ids.begin(), remembered.ids.end(), tree.ids.begin()));
    EXPECT_GT(std::ssize(tree.ids), first);
    for (const auto row : rows) {
      EXPECT_GE(row, first);
    }
    for (const auto& branch : tree.branches) {
      EXPECT_TRUE(branch.first >= first || branch.first + branch.length <= first) << "a remembered branch grew";
    }
    ++passes;
    remembered.ids = tree.ids;
    remembered.allocator.grow(tree);
    const std::int64_t slots = remembered.allocator.end();
    EXPECT_LE(slots, model::whole_blocks(remembered.most_rows)) << "more than was announced";
    largest_memory = std::max(largest_memory, slots);
    return states(tree, layers, rows);
  }

  mutable std::int64_t largest_memory = 0;   ///< slots of rows
  mutable std::int64_t largest_product = 0;  ///< logits
  mutable int passes = 0;                    ///< of texts that grow

 private:
  struct Remembered : Memory {
    std::vector<query::TokenId> ids;
    std::int64_t most_rows = 0;
    model::RegionAllocator allocator{0, model::Placement::by_branch, model::slots_per_block};
    std::int64_t rows() const override { return std::ssize(ids); }
    void keep_only(std::span<const std::int32_t> rows) override {
      std::vector<query::TokenId> kept;
      for (const auto row : rows) {
        kept.push_back(ids.at(static_cast<std::size_t>(row)));
      }
      ids = std::move(kept);
      allocator.keep_only(rows);
    }
    std::int64_t slots_in_use() const override { return allocator.slots_in_use(); }
  };

  at::Tensor states(const model::TokenTree& tree, int layer, std::span<const std::int64_t> rows) const {
    auto states = at::empty({std::ssize(rows), width}, at::kFloat);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_TRUE(i == 0 || rows[i] > rows[i - 1]);
      const auto state = state_of(path_of(tree, rows[i]), layer);
      std::copy(state.begin(), state.end(), states.mutable_data_ptr<float>() + static_cast<std::int64_t>(i) * width);
    }
    return states;
  }

  static Path path_of(const model::TokenTree& tree, std::int64_t row) {
    std::size_t number = 0;
    while (tree.branches[number].first + tree.branches[number].length <= row) {
      ++number;
    }
    Path path(tree.ids.begin() + tree.branches[number].first, tree.ids.begin() + row + 1);
    for (auto parent = tree.branches[number].parent; parent >= 0;) {
      const auto& branch = tree.branches[static_cast<std::size_t>(parent)];
      path.insert(path.begin(), tree.ids.begin() + branch.first, tree.ids.begin() + branch.first + branch.length);
      parent = branch.parent;
    }
    return path;
  }

  model::ModelShape shape_;
};

}  // namespace stereosweep::engine::testing
