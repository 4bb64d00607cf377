// What of the way through CUDA can be known without a GPU: torch's settings, that nobody asks torch for its devices too
// early, and that each operator that the engines call has a kernel for CUDA in the library that is loaded there. CUDA's
// runtime is made up (support/FakeCuda.cpp).
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_addmm_activation_ops.h>
#include <ATen/ops/_efficient_attention_forward_ops.h>
#include <ATen/ops/_flash_attention_forward_ops.h>
#include <ATen/ops/_fused_rms_norm_ops.h>
#include <ATen/ops/_grouped_mm_ops.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "engine/CausalTokenizer.hpp"
#include "engine/DecoderShapes.hpp"
#include "engine/EngineFactory.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"
#include "support/FakeDevice.hpp"
#include "support/Places.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

const std::filesystem::path root = source_directory();

// Before the first call of kernels_on: what CUDA would take.
const bool operators_chosen = ::setenv("STEREOSWEEP_KERNELS", "operators", 1) == 0;

void use_machine(const char* description) { ::setenv("STEREOSWEEP_FAKE_CUDA", description, 1); }

query::Fill fill(std::string text) {
  query::Fill asked{std::move(text), {}, true, true};
  asked.slots.push_back({std::nullopt, {7, 8, 9}});
  return asked;
}

std::vector<query::Query> causal_queries() {
  query::Generate sampled;
  sampled.prompt = "x the ab";
  sampled.max_new_tokens = 3;
  auto drawn = sampled;
  drawn.temperature = 0.8;
  auto penalized = sampled;
  penalized.repetition_penalty = 1.4;
  return {query::Continue{"x the", {" ab", " cd the", " a"}},
          query::Continue{"x the ab cd", {" x"}},
          query::Embed{"x ab", {2, 4}, 1, query::Pool::mean, query::VectorSource::hidden_state},
          query::Embed{"x ab", {2, 4}, 0, query::Pool::mean, query::VectorSource::input_embedding},
          sampled,
          drawn,
          penalized};
}

void ask_checkpoint(const std::string& name, const std::vector<query::Query>& queries, query::Dtype dtype) {
  const auto files =
      base::read_checkpoint_files((root / "tests/models" / name).string(), base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = make_engine({.dtype = dtype, .device = query::Device::cpu}, files, tokenizer);
  for (const auto& answer : engine->answer(queries)) {
    ASSERT_FALSE(std::holds_alternative<query::QueryError>(answer)) << std::get<query::QueryError>(answer).message;
  }
}

void ask_planted_models(query::Dtype dtype) {
  ask_checkpoint("planted", {fill("[MASK]"), query::Embed{"[MASK]", {0, 6}, -1, query::Pool::first}}, dtype);
  ask_checkpoint("planted_causal", causal_queries(), dtype);
}

void ask_decoders(const at::TensorOptions& options) {
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  for (const auto& specification : testing::decoder_shapes()) {
    auto weights = model::testing::weights_of(testing::drawn_model(specification), options);
    CausalEngine engine(model::make_causal_model(specification, std::move(weights)), tokenizer, CausalSettings{64, {}});
    for (const auto& answer : engine.answer(causal_queries())) {
      ASSERT_FALSE(std::holds_alternative<query::QueryError>(answer)) << std::get<query::QueryError>(answer).message;
    }
  }
}

std::set<std::string>& called() {
  static std::set<std::string> names;
  return names;
}

// "aten::mm", "aten::mm.dtype"
std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  if (const auto name = function.operator_name()) {
    called().insert(name->name + (name->overload_name.empty() ? "" : "." + name->overload_name));
  }
  return nullptr;
}

/// All operators that the engines call in this type, those that others call on their way included.
std::set<std::string> operators_of(at::ScalarType type, query::Dtype dtype) {
  called().clear();
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(&note).scopes({at::RecordScope::FUNCTION}));
  ask_planted_models(dtype);
  ask_decoders(at::TensorOptions(type));
  at::removeCallback(handle);
  return called();
}

/// All operators that reach a device that has CUDA's attention, pinned memory and products with float32 sums.
std::set<std::string> operators_on_device(at::ScalarType type) {
  stereosweep::testing::reset_device_counts();
  const auto options = at::TensorOptions(stereosweep::testing::fake_device()).dtype(type);
  ask_decoders(options);
  const auto directory = (root / "tests/models/planted").string();
  const auto files = base::read_checkpoint_files(directory, base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const c10::InferenceMode guard;
  const auto specification = model::read_masked_specification(files);
  MaskedEngine engine(
      model::make_masked_model(specification, model::load_masked_weights(files, specification, options)), tokenizer,
      64);
  engine.answer(std::vector<query::Query>{fill("[MASK]"), query::Embed{"[MASK]", {0, 6}, -1, query::Pool::first}});
  return stereosweep::testing::device_counts().operators;
}

std::optional<c10::OperatorHandle> find_operator(const std::string& name) {
  const auto dot = name.find('.');
  return c10::Dispatcher::singleton().findSchema(
      {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
}

bool runs_on_cuda(const std::string& name) {
  const auto found = find_operator(name);
  return found && found->hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA);
}

// What the CPU takes inside of an operator where CUDA takes another.
const std::map<std::string, std::vector<std::string>>& inside() {
  static const std::map<std::string, std::vector<std::string>> others = {
      {"aten::_scaled_dot_product_flash_attention_for_cpu",
       {"aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_attention_math"}},
  };
  return others;
}

TEST(CudaPath, SixteenBitProductsAddUpInFloat32AndMayBeSplit) {
  model::configure_threads(1);
  const auto& context = at::globalContext();
  // Without split sums the wheel's cuBLAS helpers throw for every 16-bit product that cuBLASLt does not get.
  EXPECT_EQ(context.allowBF16ReductionCuBLAS(), at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK);
  EXPECT_EQ(context.allowFP16ReductionCuBLAS(), at::CuBLASReductionOption::DisallowReducedPrecisionAllowSplitK);
  EXPECT_FALSE(context.allowTF32CuBLAS());
  EXPECT_TRUE(context.deterministicAlgorithms());
}

// In a process of its own each: torch decides once.
TEST(CudaPathDeathTest, AWholeEngineCallLeavesTheQuestionForDevicesOpen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        use_machine("devices=1");
        ask_planted_models(query::Dtype::bfloat16);
        torch_description(Processor::cpu);
        stereosweep::testing::draw_from(3);
        std::fputs(model::cuda_ready() ? "CUDA is there" : "no CUDA", stderr);
        ::_exit(3);
      },
      ::testing::ExitedWithCode(3), "CUDA is there");
}

TEST(CudaPathDeathTest, AQuestionThatCameTooEarlyIsSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        use_machine("devices=1");
        at::hasCUDA();  // before its library is loaded
        try {
          model::cuda_ready();
        } catch (const base::Error& error) {
          std::fputs(error.what(), stderr);
          ::_exit(3);
        }
        ::_exit(0);
      },
      ::testing::ExitedWithCode(3), "torch sees none of 1 GPUs");
}

TEST(CudaPath, EveryOperatorThatAnEngineCallsHasAKernelForCuda) {
  ASSERT_NO_THROW(model::load_cuda_library());
  for (const auto& [type, dtype] :
       {std::pair(at::kFloat, query::Dtype::float32), std::pair(at::kBFloat16, query::Dtype::bfloat16),
        std::pair(at::kHalf, query::Dtype::float16)}) {
    const auto names = operators_of(type, dtype);
    EXPECT_GT(names.size(), 60U) << "the operators are not recorded";
    std::set<std::string> lacking;
    for (const auto& name : names) {
      const auto others = inside().find(name);
      if (others == inside().end() ? !runs_on_cuda(name) : !std::ranges::all_of(others->second, runs_on_cuda)) {
        lacking.insert(name);
      }
    }
    EXPECT_THAT(lacking, IsEmpty()) << at::toString(type);
    // Deterministic algorithms are asked for: these throw on CUDA then.
    for (const auto* forbidden : {"aten::put_", "aten::histc", "aten::bincount", "aten::kthvalue", "aten::median.dim",
                                  "aten::cumsum", "aten::scatter_reduce.two", "aten::scatter_add_"}) {
      EXPECT_FALSE(names.contains(forbidden)) << forbidden;
    }
  }
}

TEST(CudaPath, EveryOperatorThatReachesADeviceHasAKernelForCuda) {
  ASSERT_NO_THROW(model::load_cuda_library());
  std::set<std::string> names;
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    names.merge(operators_on_device(type));
  }
  EXPECT_GT(names.size(), 40U);
  EXPECT_THAT(names, IsSupersetOf({"aten::_flash_attention_forward", "aten::mm.dtype"}));
  std::set<std::string> lacking;
  std::ranges::remove_copy_if(names, std::inserter(lacking, lacking.end()), runs_on_cuda);
  EXPECT_THAT(lacking, IsEmpty());
}

// What only CUDA takes: with the very arguments that the headers were compiled with.
TEST(CudaPath, WhatOnlyCudaTakesIsThereAsItIsCalled) {
  ASSERT_NO_THROW(model::load_cuda_library());
  for (const std::string text :
       {at::_ops::_flash_attention_forward::schema_str, at::_ops::mm_dtype::schema_str,
        at::_ops::_addmm_activation::schema_str, at::_ops::_grouped_mm::schema_str,
        at::_ops::_fused_rms_norm::schema_str, at::_ops::_efficient_attention_forward::schema_str,
        at::_ops::_scaled_dot_product_efficient_attention::schema_str}) {
    const auto compiled = torch::jit::parseSchema("aten::" + text);
    const auto name = compiled.name() + (compiled.overload_name().empty() ? "" : "." + compiled.overload_name());
    const auto found = find_operator(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(c10::toString(found->schema()), c10::toString(compiled));
    EXPECT_TRUE(runs_on_cuda(name)) << name;
  }
}

// Also what no query above reaches.
TEST(CudaPath, EveryOperatorThatASourceIncludesHasAKernelForCuda) {
  ASSERT_NO_THROW(model::load_cuda_library());
  std::set<std::string> on_cuda;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (runs_on_cuda(name.name + (name.overload_name.empty() ? "" : "." + name.overload_name))) {
      on_cuda.insert(name.name);
    }
  }
  const std::set<std::string> no_operators = {"from_blob", "tensor"};
  const std::regex include("#include <ATen/ops/(\\w+)\\.h>");
  std::set<std::string> lacking;
  int included = 0;
  for (const auto* room : {"model", "engine"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / "src" / room)) {
      std::ifstream lines(file.path());
      for (std::string text; std::getline(lines, text);) {
        if (std::smatch match; std::regex_search(text, match, include) && !no_operators.contains(match[1])) {
          ++included;
          if (!on_cuda.contains("aten::" + match[1].str())) {
            lacking.insert(match[1].str() + " in " + file.path().filename().string());
          }
        }
      }
    }
  }
  EXPECT_GT(included, 50);
  EXPECT_THAT(lacking, IsEmpty());
}

}  // namespace
}  // namespace stereosweep::engine
