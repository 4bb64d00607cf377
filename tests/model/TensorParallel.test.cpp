// Slices of a model on 1, 2 and 4 ranks together against the whole model on each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/Error.hpp"
#include "model/SlicedModels.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/families/Families.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::model {
namespace {

using ::testing::HasSubstr;

class TensorParallelTest : public ::testing::Test {
 protected:
  void expect_same(const base::FileSet& files, query::Dtype dtype, at::ScalarType type) const {
    auto group = std::make_shared<parallel::TensorGroup>(session.world(), session.world());
    const auto sliced = CausalModel::load(files, dtype, query::Device::cpu, group);
    testing::expect_same(*sliced, *CausalModel::load(files, dtype, query::Device::cpu), type);
  }
  parallel::MpiSession session;
};

TEST_F(TensorParallelTest, LlamaEqualsTheWholeModel) {
  expect_same(testing::llama(), query::Dtype::float32, at::kFloat);
  expect_same(testing::llama(), query::Dtype::bfloat16, at::kBFloat16);
  expect_same(testing::llama(), query::Dtype::float16, at::kHalf);
}

TEST_F(TensorParallelTest, EveryWayToAddWhatALayerPutsOut) {
  for (const auto& files : {testing::granite(), testing::cohere2(), testing::gemma2()}) {
    expect_same(files, query::Dtype::float32, at::kFloat);
  }
}

TEST_F(TensorParallelTest, ExpertsEqualTheWholeModel) {
  expect_same(testing::mixtral(), query::Dtype::float32, at::kFloat);
  expect_same(testing::gpt_oss(), query::Dtype::float32, at::kFloat);
}

TEST_F(TensorParallelTest, BiasesCountOnce) { expect_same(testing::gpt2(), query::Dtype::float32, at::kFloat); }

TEST_F(TensorParallelTest, RefusesACutThatDoesNotFit) {
  const auto specification = read_causal_specification(testing::llama());
  try {
    slice_of(specification, {0, 3});
    FAIL() << "three slices of four heads";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be cut into 3 slices"));
    EXPECT_THAT(error.what(), HasSubstr("4 query heads"));
  }
}

}  // namespace
}  // namespace stereosweep::model
