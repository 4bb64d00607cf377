#include "run/checks/MemoryCheck.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "probes/association/Association.hpp"
#include "probes/rating/Rating.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// 6.7 thousand million numbers: 25.1 GiB in float32.
base::FileSet llama_7b() {
  base::FileSet files("/models/llama-7b");
  files.add("config.json", base::to_shared(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000,
    "max_position_embeddings": 4096, "tie_word_embeddings": false})"));
  return files;
}

// The same with a tokenizer of words.
base::FileSet llama_7b_with_words() {
  auto files = llama_7b();
  files.add("tokenizer.json", base::to_shared(R"({"version": "1.0", "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "x": 1, "y": 2, "?": 3}, "unk_token": "?"}})"));
  return files;
}

sweep::Job any_job() {
  sweep::Job job;
  job.probe = probes::association::Association();
  return job;
}

std::string refusal(const sweep::Job& job, const NodeMemory& memory) {
  try {
    require_memory(job, llama_7b_with_words(), memory);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MemoryCheckTest, RefusesANodeThatIsTooSmallWithTheNumbers) {
  EXPECT_EQ(refusal(any_job(), {.ranks = 1, .host = 64 * gib, .gpu = 0, .stored = 13 * gib}), "");
  const auto text = refusal(any_job(), {.ranks = 4, .host = 64 * gib, .gpu = 0, .stored = 13 * gib});
  EXPECT_THAT(text, AllOf(HasSubstr("does not fit the node"), HasSubstr("4 ranks"), HasSubstr("of 64.0 GiB"),
                          HasSubstr("13.0 GiB shared"), HasSubstr("execution.tensor_parallel: 4")));
}

TEST(MemoryCheckTest, SlicesAreReadFromTheFiles) {
  auto job = any_job();
  job.execution.tensor_parallel = 4;
  EXPECT_EQ(refusal(job, {.ranks = 4, .host = 32 * gib, .gpu = 0, .stored = 13 * gib}), "");
  EXPECT_THAT(refusal(job, {.ranks = 4, .host = 16 * gib, .gpu = 0, .stored = 13 * gib}),
              AllOf(HasSubstr("does not fit the node"), ::testing::Not(HasSubstr("shared"))));
}

TEST(MemoryCheckTest, SaysWhetherTheFilesFitBesideTheModel) {
  const auto has_room = [](const sweep::Job& job, const NodeMemory& memory) {
    return require_memory(job, llama_7b_with_words(), memory);
  };
  EXPECT_TRUE(has_room(any_job(), {.ranks = 1, .host = 40 * gib, .gpu = 0, .stored = 13 * gib}));
  EXPECT_FALSE(has_room(any_job(), {.ranks = 1, .host = 38 * gib, .gpu = 0, .stored = 13 * gib}));
  EXPECT_TRUE(has_room(any_job(), {.ranks = 1, .host = 0, .gpu = 0, .stored = 13 * gib}));  // it is not known
  auto sliced = any_job();
  sliced.execution.tensor_parallel = 4;
  EXPECT_TRUE(has_room(sliced, {.ranks = 4, .host = 45 * gib, .gpu = 0, .stored = 13 * gib}));
  EXPECT_FALSE(has_room(sliced, {.ranks = 4, .host = 32 * gib, .gpu = 0, .stored = 13 * gib}));
  const NodeMemory with_gpus{.ranks = 4, .host = 14 * gib, .gpu = 40 * gib, .gpu_ranks = 1, .stored = 13 * gib};
  EXPECT_TRUE(has_room(sliced, with_gpus));
}

TEST(MemoryCheckTest, RefusesAGpuThatIsTooSmallWithTheNumbers) {
  sweep::Job job;
  job.probe = probes::association::Association();
  NodeMemory memory{.ranks = 2, .host = 64 * gib, .gpu = 18 * gib, .gpu_ranks = 1, .stored = 13 * gib};
  EXPECT_THAT(refusal(job, memory), AllOf(HasSubstr("does not fit the GPU"), HasSubstr("of 18.0 GiB free ("),
                                          HasSubstr("weights 25.1 GiB"), HasSubstr("execution.tensor_parallel: 2")));
  job.execution.tensor_parallel = 2;
  EXPECT_EQ(refusal(job, memory), "");
  memory.gpu = 14 * gib;  // weights and batch alone would fit
  EXPECT_THAT(refusal(job, memory), HasSubstr("parts of attention, logits and CUDA's libraries 2.2 GiB"));
  memory.gpu = 15 * gib;
  job.execution.tensor_parallel = 1;
  job.model.dtype = query::Dtype::bfloat16;
  EXPECT_EQ(refusal(job, memory), "");
  memory.gpu_ranks = 2;
  EXPECT_THAT(refusal(job, memory), HasSubstr("of 7.5 GiB free for each of the 2 ranks that share it"));
}

// A block asks one prompt of two words, three answers: a block of 16 rows for the prompt, 3 x 2,048 rows, of 32 layers,
// 2 x 4,096 numbers of 4 bytes.
TEST(MemoryCheckTest, CountsWhatSampledAnswersKeep) {
  sweep::Job job;
  job.probe = probes::association::Association();
  probes::rating::Rating rating;
  rating.identities = {{"x", "", "", ""}, {"y", "", "", ""}};
  rating.traits = {{"kind", "warmth", probes::rating::RatedTrait::Polarity::positive, ""}};
  rating.questions = {{.label = "q", .kind = "formal", .text = "a {identity}"}};
  rating.scale = {{.text = "x", .value = 0}, {.text = "y", .value = 1}};
  rating.frame = "{question}";
  rating.sampling.runs = 3;
  rating.sampling.max_new_tokens = 2048;
  job.probe = rating;
  EXPECT_THAT(refusal(job, {.ranks = 1, .host = 30 * gib, .gpu = 0, .stored = 13 * gib}),
              HasSubstr("12304 rows of sampled answers 12.0 GiB"));  // both identities in one block
  job.execution.contexts_per_block = 1;
  EXPECT_THAT(refusal(job, {.ranks = 1, .host = 30 * gib, .gpu = 0, .stored = 13 * gib}),
              AllOf(HasSubstr("does not fit the node"), HasSubstr("weights 25.1 GiB"),
                    HasSubstr("6160 rows of sampled answers 6.0 GiB")));
  EXPECT_THAT(refusal(job, {.ranks = 1, .host = 0, .gpu = 30 * gib, .stored = 13 * gib}),
              HasSubstr("6160 rows of sampled answers 6.0 GiB"));
  EXPECT_EQ(refusal(job, {.ranks = 1, .host = 64 * gib, .gpu = 0, .stored = 13 * gib}), "");
  job.execution.batch_tokens = 256;  // 4,096 rows: one text and its prompt
  EXPECT_EQ(refusal(job, {.ranks = 1, .host = 30 * gib, .gpu = 0, .stored = 13 * gib}), "");
  rating.sampling.runs = 0;
  job.probe = rating;
  job.execution.batch_tokens = 1024;
  EXPECT_EQ(refusal(job, {.ranks = 1, .host = 30 * gib, .gpu = 0, .stored = 13 * gib}), "");
}

TEST(MemoryCheckTest, RefusesWhatCannotBeCutBeforeWeightsAreRead) {
  sweep::Job job;
  job.probe = probes::association::Association();
  job.execution.tensor_parallel = 3;
  EXPECT_THAT(refusal(job, {.ranks = 3, .host = 0, .gpu = 0, .stored = 0}),
              AllOf(HasSubstr("cannot be cut into 3 slices"), HasSubstr("32 query heads")));
}

TEST(MemoryCheckTest, KnowsThisMachine) {
  EXPECT_GT(node_memory(1, std::filesystem::temp_directory_path()).host, gib / 4);
  EXPECT_EQ(refusal(any_job(), {.ranks = 1, .host = 0, .gpu = 0, .stored = 0}), "");
}

}  // namespace
}  // namespace stereosweep::run
