// The plan of a large model from its settings, against sizes worked out by hand.
#include "app/ModelPlan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "base/Bytes.hpp"
#include "base/Error.hpp"

namespace stereosweep::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

base::FileSet llama_70b() {
  base::FileSet files("/models/llama-70b");
  files.add("config.json", base::to_shared(R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
    "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256,
    "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": false})"));
  files.add("model.safetensors.index.json",
            base::to_shared(R"({"metadata": {"total_size": 141107412992}, "weight_map": {}})"));
  return files;
}

std::string plan_text(const sweep::Job& job, std::optional<std::uint64_t> gpu_bytes) {
  std::ostringstream out;
  print_model_plan(out, llama_70b(), job, {job.execution.batch_tokens, {}}, gpu_bytes);
  return out.str();
}

sweep::Job half_precision() {
  sweep::Job job;
  job.model.dtype = query::Dtype::bfloat16;
  job.execution.batch_tokens = 16384;
  return job;
}

TEST(ModelPlanTest, TellsMemoryAndTheSmallestGroup) {
  const auto text = plan_text(half_precision(), 80 * gib);
  EXPECT_THAT(text, HasSubstr("llama: 70,552,387,584 numbers (80 layers, 8192 wide, 64 query and 8 key heads)"));
  EXPECT_THAT(text, HasSubstr("131.4 GiB in bfloat16; the index says that 131.4 GiB are stored"));
  auto other = half_precision();
  other.model.dtype = query::Dtype::float16;
  EXPECT_THAT(plan_text(other, 80 * gib), HasSubstr("131.4 GiB in float16;"));
  EXPECT_THAT(text, HasSubstr("tensor_parallel 1: 139.5 GiB (weights 131.4 GiB, batch 4.75 GiB, CUDA 3.38 GiB)"));
  EXPECT_THAT(text, HasSubstr("tensor_parallel 8: "));
  EXPECT_THAT(text, HasSubstr("execution.tensor_parallel: 2 is the smallest that fits GPUs of 80.0 GiB"));
  EXPECT_THAT(text, HasSubstr("too large"));
  EXPECT_THAT(plan_text(half_precision(), 141 * gib), Not(HasSubstr("tensor_parallel: 2 is the smallest")));
}

TEST(ModelPlanTest, SpeaksOfGpusOnlyWhereThereAreSome) {
  EXPECT_THAT(plan_text(half_precision(), 80 * gib), HasSubstr("per GPU"));
  const auto text = plan_text(half_precision(), std::nullopt);
  EXPECT_THAT(text, HasSubstr("per rank   tensor_parallel 1: "));
  EXPECT_THAT(text, Not(HasSubstr("per GPU")));
  EXPECT_THAT(text, Not(HasSubstr("GPUs of")));
  EXPECT_THAT(text, HasSubstr("--gpu-memory GiB"));
}

TEST(ModelPlanTest, NamesAGroupThatDoesNotFit) {
  auto job = half_precision();
  job.execution.tensor_parallel = 3;
  EXPECT_THAT(plan_text(job, 80 * gib), HasSubstr("cannot be cut into 3 slices"));
  EXPECT_THAT(plan_text(half_precision(), gib), HasSubstr("no group fits GPUs of 1.00 GiB"));
}

}  // namespace
}  // namespace stereosweep::app
