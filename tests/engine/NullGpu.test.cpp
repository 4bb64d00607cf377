// Engines with torch's real CUDA library on a GPU that runs nothing (support/NullGpu.hpp): torch's host code takes
// every shape of model, type and kind of query, and launches what is written here.
#include "support/NullGpu.hpp"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "engine/CausalTokenizer.hpp"
#include "engine/DecoderShapes.hpp"
#include "engine/DeviceWork.hpp"
#include "engine/EncoderShapes.hpp"
#include "engine/GptOssFiles.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/SideStream.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

using stereosweep::testing::null_gpu_launches;
using stereosweep::testing::null_gpu_stream_calls;
using stereosweep::testing::null_gpu_total;
using stereosweep::testing::null_gpu_waits;
using stereosweep::testing::reset_null_gpu;
using ::testing::IsEmpty;

using Launches = std::map<std::string, std::int64_t>;

const std::vector<at::ScalarType> all_types = {at::kFloat, at::kBFloat16, at::kHalf};

/// Why there is nothing to test with; empty: there is.
std::string absence() {
  static const std::string found = [] {
    ::setenv("PYTORCH_ALLOC_CONF", "expandable_segments:False", 1);  // those are the driver's
    model::configure_threads(1);
    try {
      return std::string(model::cuda_ready() ? "" : "the stand-in for CUDA's runtime was not asked");
    } catch (const base::Error& error) {
      return std::string(error.what());
    }
  }();
  return found;
}

class NullGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = absence(); reason.find("cannot load torch's CUDA library") != std::string::npos) {
      GTEST_SKIP() << "torch's CUDA libraries are not installed: " << reason;
    } else {
      ASSERT_EQ(reason, "");
    }
  }
};

// Numbers are zeros here. An answer may say so, but nothing may throw.
void ask(query::Engine& engine, const std::vector<query::Query>& queries) {
  EXPECT_EQ(engine.answer(queries).size(), queries.size());
}

std::vector<query::Query> every_causal_query() {
  query::Generate text;
  text.prompt = "x the ab";
  text.max_new_tokens = 3;
  std::vector<query::Query> queries = {
      query::Continue{"x the", {" ab", " cd the", " a"}}, query::Continue{"x the ab cd", {" x"}},
      query::Embed{"x ab", {2, 4}, 1, query::Pool::mean, query::VectorSource::hidden_state},
      query::Embed{"x ab the cd", {2, 11}, -1, query::Pool::mean, query::VectorSource::hidden_state},
      query::Embed{"x ab", {2, 4}, 0, query::Pool::last, query::VectorSource::input_embedding}};
  for (const auto& [temperature, top_k, top_p, penalty] :
       {std::tuple(0.0, 0, 1.0, 1.0), std::tuple(0.8, 0, 1.0, 1.0), std::tuple(0.8, 7, 1.0, 1.0),
        std::tuple(0.8, 0, 0.7, 1.0), std::tuple(0.8, 0, 1.0, 1.3), std::tuple(0.8, 7, 1.0, 1.3)}) {
    text.temperature = temperature;
    text.top_k = top_k;
    text.top_p = top_p;
    text.repetition_penalty = penalty;
    queries.emplace_back(text);
  }
  return queries;
}

std::vector<query::Query> every_masked_query() {
  query::Fill fill{"a [MASK] b [MASK] c d e f g h", {}, true, true};
  fill.slots = {{std::nullopt, {7, 8, 9}}, {std::nullopt, {33, 20}}};
  return {fill, query::Embed{"a b c", {0, 3}, -1, query::Pool::mean},
          query::Embed{"d e f g h", {4, 9}, 1, query::Pool::first}};
}

TEST_F(NullGpu, TakesEveryDecoderTypeAndQuery) {
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  auto shapes = testing::decoder_shapes();
  shapes.push_back(testing::mixtral_like());
  shapes.back().layers.assign(2, model::LayerKind{});
  for (const auto type : all_types) {
    for (std::size_t number = 0; number < shapes.size(); ++number) {
      SCOPED_TRACE(std::string(at::toString(type)) + ", shape " + std::to_string(number));
      auto plain = testing::drawn_model(shapes[number]);
      if (shapes[number].experts.count > 0 && shapes[number].names.sinks.empty()) {
        plain = model::testing::without_biases(std::move(plain));
      }
      CausalEngine engine(
          model::make_causal_model(shapes[number], model::testing::weights_of(plain, testing::on_gpu(type))), tokenizer,
          CausalSettings{64, {}});
      reset_null_gpu();
      EXPECT_NO_THROW(ask(engine, every_causal_query()));
      EXPECT_GT(null_gpu_total(), 100);
    }
  }
}

TEST_F(NullGpu, TakesExpertsInBlocksOfFourBits) {
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  const auto files = testing::gpt_oss_files();
  const auto shape = model::read_causal_specification(files);
  for (const auto type : all_types) {
    SCOPED_TRACE(at::toString(type));
    const c10::InferenceMode guard;
    reset_null_gpu();
    CausalEngine engine(
        model::make_causal_model(shape, model::load_causal_weights(files, shape, testing::on_gpu(type))), tokenizer,
        CausalSettings{64, {}});
    EXPECT_GT(null_gpu_launches()["copy to device"], 30);
    EXPECT_NO_THROW(ask(engine, every_causal_query()));
  }
}

TEST_F(NullGpu, TakesEveryEncoderTypeAndQuery) {
  const auto tokenizer = tokenizer::Tokenizer::from_files(testing::letter_files(2));
  auto shapes = testing::encoder_shapes();
  shapes.push_back(testing::small_encoder());
  for (const auto type : all_types) {
    for (std::size_t number = 0; number < shapes.size(); ++number) {
      SCOPED_TRACE(std::string(at::toString(type)) + ", shape " + std::to_string(number));
      const c10::InferenceMode guard;
      const testing::DrawnEncoder drawn(shapes[number], testing::on_gpu(type));
      MaskedEngine engine(model::make_masked_model(shapes[number], drawn.weights()), tokenizer, 64);
      reset_null_gpu();
      EXPECT_NO_THROW(ask(engine, every_masked_query()));
      EXPECT_GT(null_gpu_total(), 50);
    }
  }
}

// The second call of an engine.
Launches launches_of(query::Engine& engine, const std::vector<query::Query>& queries) {
  ask(engine, queries);
  reset_null_gpu();
  ask(engine, queries);
  return null_gpu_launches();
}

query::Generate at_temperature(double temperature) {
  query::Generate sampling;
  sampling.temperature = temperature;
  return sampling;
}

// What `all` has more than `some`, `times` times.
Launches more_than(Launches all, const Launches& some, std::int64_t times) {
  for (const auto& [name, count] : some) {
    all[name] -= count;
  }
  std::erase_if(all, [](const auto& one) { return one.second == 0; });
  for (auto& [name, count] : all) {
    EXPECT_EQ(count % times, 0) << name;
    count /= times;
  }
  return all;
}

Launches sum(const std::vector<Launches>& parts) {
  Launches all;
  for (const auto& part : parts) {
    for (const auto& [name, count] : part) {
      all[name] += count;
    }
  }
  return all;
}

Launches of_a_layer(const testing::Make& make, const std::vector<query::Query>& queries) {
  return more_than(launches_of(*make(5), queries), launches_of(*make(2), queries), 3);
}

Launches of_a_step(const testing::Make& make, std::int64_t layers, const query::Generate& sampling) {
  const auto engine = make(layers);
  const auto short_ones = launches_of(*engine, testing::growing(64, 2, sampling));
  return more_than(launches_of(*engine, testing::growing(64, 10, sampling)), short_ones, 8);
}

Launches of_a_layer_in_a_step(const testing::Make& make) {
  const auto greedy = at_temperature(0);
  return more_than(of_a_step(make, 5, greedy), of_a_step(make, 2, greedy), 3);
}

// By kernel: a change says what it adds or spares.
TEST_F(NullGpu, ALayerOfAnEncoderLaunchesEightKernels) {
  const Launches expected = {{"product", 4},
                             {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", 1},
                             {"vectorized_layer_norm_kernel", 2},
                             {"Gelu", 1}};
  for (const auto& queries : {testing::fills(false), testing::fills(true), testing::vectors()}) {
    EXPECT_EQ(of_a_layer(testing::bert(testing::on_gpu(at::kBFloat16)), queries), expected);
  }
}

TEST_F(NullGpu, ALayerOfATreeLaunchesTheseKernels) {
  const auto half = testing::on_gpu(at::kBFloat16);
  // A call of attention for each of two levels, what makes the shares of both and adds them up, and the copy of
  // sections that are joined.
  const Launches levels = {{"flash_fwd_kernel", 2},        {"concatenate", 1}, {"masked_fill", 1},
                           {"softmax_warp_forward", 1},    {"Mul", 1},         {"addcmul", 1},
                           {"vectorized_gather_kernel", 1}};
  const Launches norms = {{"vectorized_layer_norm_kernel", 2}};
  const Launches turns = {
      {"flip", 1}, {"Mul", 1}, {"addcmul", 1}, {"direct_copy", 1}};  // the copy is of grouped queries
  const Launches gates = {{"silu", 1}, {"Mul", 1}};
  const Launches products = {{"product", 4}};
  EXPECT_EQ(of_a_layer(testing::decoder(testing::gpt2_like(), half), testing::tree()),
            sum({levels, norms, products, {{"add", 1}}}));
  EXPECT_EQ(of_a_layer(testing::decoder(testing::llama_like(), half), testing::tree()),
            sum({levels, norms, turns, gates, products}));
  // Chances, the best experts of each row and their shares; rows in the order of their experts and back.
  const Launches routes = {{"product", 3},
                           {"softmax_warp_forward", 1},
                           {"radixSortKVInPlace", 1},
                           {"arange", 2},
                           {"copy on device", 3},
                           {"reduce sum", 1},
                           {"Div", 1},
                           {"direct_copy", 3},
                           {"set memory", 3},
                           {"DeviceRadixSortHistogramKernel", 1},
                           {"DeviceRadixSortExclusiveSumKernel", 1},
                           {"DeviceRadixSortOnesweepKernel", 1},
                           {"fill_reverse_indices_kernel", 1},
                           {"searchsorted_cuda_kernel", 1},
                           {"div_floor", 1},
                           {"index_copy", 1},
                           {"vectorized_gather_kernel", 2},
                           {"prepare_grouped_gemm_data", 2},
                           {"product of groups", 2},
                           {"addcmul", 2}};
  EXPECT_EQ(of_a_layer(testing::decoder(testing::mixtral_like(), half), testing::tree()),
            sum({levels, norms, turns, gates, routes}));
}

TEST_F(NullGpu, ALayerOfAStepLaunchesTheseKernels) {
  const auto half = testing::on_gpu(at::kBFloat16);
  const Launches plain = {
      {"product", 4}, {"flash_fwd_kernel", 1}, {"index_copy", 1}, {"vectorized_layer_norm_kernel", 2}};
  EXPECT_EQ(of_a_layer_in_a_step(testing::decoder(testing::gpt2_like(), half)), sum({plain, {{"add", 1}}}));
  // Queries are copied so that the heads of a group are rows, and what attention makes of them is copied back.
  EXPECT_EQ(of_a_layer_in_a_step(testing::decoder(testing::llama_like(), half)),
            sum({plain, {{"flip", 1}, {"Mul", 2}, {"addcmul", 1}, {"silu", 1}, {"direct_copy", 2}}}));
}

// The operator waits for the host where it has no kernel for the card; torch reads its capability once in a process.
class NullGpuOfCapability : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(NullGpu, NullGpuOfCapability, ::testing::Values("90", "100", "103"),
                         [](const auto& tested) { return std::string("Capability") + tested.param; });

TEST_P(NullGpuOfCapability, ExpertsMultiplyInGroupsAndNobodyWaits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("STEREOSWEEP_NULL_GPU_CAPABILITY", GetParam(), 1);
        if (!absence().empty()) {
          std::fprintf(stderr, "nobody waits where torch's CUDA libraries are not installed: %s\n", absence().c_str());
          ::_exit(absence().find("cannot load torch's CUDA library") == std::string::npos ? 4 : 3);
        }
        const auto few =
            launches_of(*testing::decoder(testing::mixtral_like(), testing::on_gpu(at::kBFloat16))(2), testing::tree());
        std::fprintf(stderr, "%ld waits\n", static_cast<long>(null_gpu_waits()));
        ::_exit(few.contains("product of groups") && null_gpu_waits() <= 1 ? 3 : 5);
      },
      ::testing::ExitedWithCode(3), "waits");
}

// Of the whole batch beside its layers.
TEST_F(NullGpu, LogitsAreReadByFewKernels) {
  const auto half = testing::on_gpu(at::kBFloat16);
  const auto outside = [](const Launches& of_call, const Launches& of_layer) {
    std::int64_t count = 0;
    for (const auto& [name, times] : of_call) {
      count += times;
    }
    for (const auto& [name, times] : of_layer) {
      count -= 2 * times;
    }
    return count;
  };
  const auto masked = testing::bert(half);
  EXPECT_EQ(outside(launches_of(*masked(2), testing::fills(false)), of_a_layer(masked, testing::fills(false))), 42);
  const auto llama = testing::decoder(testing::llama_like(), half);
  EXPECT_EQ(outside(of_a_step(llama, 2, at_temperature(0)), of_a_layer_in_a_step(llama)), 38);
}

TEST_F(NullGpu, AStepOfTextsWaitsOnce) {
  const auto make = testing::decoder(testing::llama_like(), testing::on_gpu(at::kBFloat16));
  const auto engine = make(2);
  const auto waits = [&](int tokens) {
    ask(*engine, testing::growing(64, tokens, at_temperature(0)));
    reset_null_gpu();
    ask(*engine, testing::growing(64, tokens, at_temperature(0)));
    return null_gpu_waits();
  };
  EXPECT_EQ(waits(10) - waits(2), 8);
}

// Work beside torch's kernels: behind what its stream was given, in front of what comes after wait(); the host goes on.
TEST_F(NullGpu, ASecondStreamIsHeldByEvents) {
  if (!model::SideStream::runs_beside) {
    GTEST_SKIP() << "torch 2.10 does not tell the handle of a stream";
  }
  const model::SideStream side(at::Device(at::kCUDA, 0));
  reset_null_gpu();
  void* second = nullptr;
  std::size_t calls_before = 0;
  {
    auto work = side.run([&](void* stream) {
      second = stream;
      calls_before = null_gpu_stream_calls().size();
    });
    work.reset();
    EXPECT_EQ(null_gpu_stream_calls().size(), 4);
  }
  const auto calls = null_gpu_stream_calls();
  ASSERT_EQ(calls.size(), 4);
  EXPECT_NE(second, nullptr);
  const auto* const event = calls[0].event;
  const std::vector<stereosweep::testing::StreamCall> expected = {
      {false, nullptr, event}, {true, second, event}, {false, second, event}, {true, nullptr, event}};
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(calls_before, 2);
  EXPECT_EQ(null_gpu_waits(), 0);
}

}  // namespace
}  // namespace stereosweep::engine
