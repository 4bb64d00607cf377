// config.json of causal models: what transformers assumes where keys are left out, and named refusals of all else.
#include "model/families/Families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::FileSet files_of(const std::string& config) {
  base::FileSet files("dir");
  files.add("config.json", base::to_shared(config));
  return files;
}

CausalSpecification read(const std::string& config) { return read_causal_specification(files_of(config)); }

std::string refused_family(const std::string& config) {
  try {
    read(config);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::int64_t> windows(const CausalSpecification& specification) {
  std::vector<std::int64_t> windows;
  for (const auto& layer : specification.layers) {
    windows.push_back(layer.window);
  }
  return windows;
}

const std::vector<std::string> families = {
    "gpt2",     "openai-gpt", "gpt_bigcode", "gpt_neox",    "gptj",    "falcon",     "opt",
    "llama",    "mistral",    "mixtral",     "qwen2",       "qwen3",   "phi3",       "olmo2",
    "stablelm", "gemma",      "gemma2",      "gemma3_text", "gemma3",  "starcoder2", "cohere2",
    "glm4",     "granite",    "olmo3",       "qwen3_moe",   "smollm3", "bloom",      "gpt_oss",
};

std::string minimal(const std::string& family) {
  return "{\"model_type\":\"" + family + "\"" + (family == "gemma3" ? ",\"text_config\":{}" : "") + "}";
}

TEST(Families, MostDefaultsAreThoseOfTheFirstReleases) {
  const auto gpt2 = read(minimal("gpt2"));
  EXPECT_EQ(gpt2.vocabulary, 50257);
  EXPECT_EQ(gpt2.hidden, 768);
  EXPECT_EQ(gpt2.inner, 3072);
  EXPECT_EQ(gpt2.layers.size(), 12U);
  EXPECT_EQ(gpt2.head_width, 64);
  EXPECT_EQ(gpt2.max_tokens, 1024);
  EXPECT_EQ(gpt2.activation, Activation::gelu_tanh);
  EXPECT_EQ(gpt2.attention_scale, 0.125F);
  EXPECT_TRUE(gpt2.tied_head);
  const auto openai = read(minimal("openai-gpt"));
  EXPECT_EQ(openai.residual, Residual::after_adding);
  EXPECT_EQ(openai.names.final_norm, "");
  EXPECT_EQ(openai.activation, Activation::gelu_tanh);  // afn "gelu"
  const auto neox = read(minimal("gpt_neox"));
  EXPECT_EQ(neox.rotaries.front().width, 24);  // a quarter of 96
  EXPECT_EQ(neox.residual, Residual::parallel);
  const auto falcon = read(minimal("falcon"));
  EXPECT_EQ(falcon.num_heads, 71);
  EXPECT_EQ(falcon.num_key_heads, 1);
  EXPECT_EQ(falcon.names.feed_forward_norm, "");
  const auto mistral = read(minimal("mistral"));
  EXPECT_EQ(mistral.num_key_heads, 8);
  EXPECT_EQ(mistral.layers.back().window, 4096);
  EXPECT_FLOAT_EQ(mistral.rotaries.front().inverse_frequencies[1], std::pow(10000.F, -2.F / 128));
  const auto mixtral = read(minimal("mixtral"));
  EXPECT_EQ(mixtral.experts.count, 8);
  EXPECT_EQ(mixtral.experts.per_token, 2);
  EXPECT_EQ(mixtral.layers.back().window, 0);
  EXPECT_FLOAT_EQ(mixtral.rotaries.front().inverse_frequencies[1], std::pow(1e6F, -2.F / 128));
  EXPECT_EQ(read(minimal("qwen3")).head_width, 128);
  EXPECT_EQ(read(minimal("opt")).first_position, 2);
}

TEST(Families, LayersWithWindows) {
  EXPECT_THAT(windows(read(R"({"model_type":"mistral","num_hidden_layers":2,"sliding_window":null})")),
              ElementsAre(0, 0));
  EXPECT_THAT(windows(read(R"({"model_type":"mistral","num_hidden_layers":1,"layer_types":["sliding_attention"]})")),
              ElementsAre(4096));
  EXPECT_THAT(windows(read(R"({"model_type":"qwen2","num_hidden_layers":3,"max_window_layers":1,"sliding_window":9})")),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(windows(read(R"({"model_type":"qwen2","num_hidden_layers":3,"max_window_layers":1,"sliding_window":9,
                               "use_sliding_window":true})")),
              ElementsAre(0, 9, 9));
  EXPECT_THAT(windows(read(R"({"model_type":"gemma2","num_hidden_layers":4})")), ElementsAre(4096, 0, 4096, 0));
  const auto gemma3 =
      read(R"({"model_type":"gemma3_text","num_hidden_layers":4,"sliding_window_pattern":3,"sliding_window":512})");
  EXPECT_THAT(windows(gemma3), ElementsAre(512, 512, 0, 512));
  EXPECT_EQ(gemma3.layers[1].rotary, 1);
  EXPECT_EQ(gemma3.layers[2].rotary, 0);
  EXPECT_FLOAT_EQ(gemma3.rotaries[0].inverse_frequencies[1], std::pow(1e6F, -2.F / 256));
  EXPECT_FLOAT_EQ(gemma3.rotaries[1].inverse_frequencies[1], std::pow(1e4F, -2.F / 256));
}

// 2^-(8 i / n), and for heads beyond a power of two every second one of twice as many (Press et al. 2022, their code).
TEST(Families, SlopesOfFalcon) {
  const auto six = read(R"({"model_type":"falcon","alibi":true,"num_attention_heads":6,"hidden_size":48})");
  EXPECT_THAT(six.alibi_slopes, ElementsAre(0.25F, 0.0625F, 0.015625F, 0.00390625F, 0.5F, 0.125F));
  const auto sixteen = read(R"({"model_type":"falcon","alibi":true,"num_attention_heads":16,"hidden_size":64})");
  EXPECT_EQ(sixteen.alibi_slopes[0], 0.70703125F);  // 0.70710678 has no such bfloat16
  EXPECT_TRUE(sixteen.rotaries.empty());
  EXPECT_EQ(sixteen.alibi_scale, sixteen.attention_scale);
}

TEST(Families, LongTextsOfLongropeAreBeyondTheModel) {
  const std::string start = R"({"model_type":"phi3","hidden_size":8,"num_attention_heads":2,)";
  const std::string rope =
      R"("rope_scaling":{"type":"longrope","short_factor":[1,2],"long_factor":[3,4]},"max_position_embeddings":131072,)";
  const auto phi3 = read(start + rope + R"("original_max_position_embeddings":4096})");
  EXPECT_EQ(phi3.max_tokens, 4096);
  EXPECT_FLOAT_EQ(phi3.rotaries.front().scaling, static_cast<float>(std::sqrt(1 + std::log(32) / std::log(4096))));
  EXPECT_FLOAT_EQ(phi3.rotaries.front().inverse_frequencies[1], 0.005F);
}

// transformers reads NeoX's part and angle under their own names, or inside the object.
TEST(Families, NeoxHasItsOwnNames) {
  const auto outer = read(R"({"model_type":"gpt_neox","partial_rotary_factor":1.0,"rope_theta":7})");
  EXPECT_EQ(outer.rotaries.front().width, 24);
  EXPECT_FLOAT_EQ(outer.rotaries.front().inverse_frequencies[1], std::pow(1e4F, -2.F / 24));
  const auto inner =
      read(R"({"model_type":"gpt_neox","rope_parameters":{"partial_rotary_factor":1.0,"rope_theta":7}})");
  EXPECT_EQ(inner.rotaries.front().width, 96);
  EXPECT_FLOAT_EQ(inner.rotaries.front().inverse_frequencies[1], std::pow(7.F, -2.F / 96));
}

TEST(Families, DecidesByModelType) {
  for (const auto& family : families) {
    EXPECT_TRUE(is_causal(files_of(minimal(family)))) << family;
    EXPECT_EQ(read(minimal(family)).family, family);
  }
  for (const auto* family : {"bert", "roberta", "xlm-roberta", "camembert"}) {
    EXPECT_FALSE(is_causal(files_of(minimal(family)))) << family;
    EXPECT_THAT(refused_family(minimal(family)), HasSubstr("is a masked model"));
  }
  try {
    is_causal(files_of(minimal("t5")));
    FAIL() << "t5 is neither";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("dir/config.json:model_type: \"t5\" is not supported"));
    for (const auto& family : families) {
      EXPECT_THAT(error.what(), HasSubstr(" " + family));
    }
    EXPECT_THAT(error.what(), HasSubstr("camembert"));
  }
}

TEST(Families, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("gpt2","n_head":7)", "n_head: 7 (it does not divide n_embd 768)"},
      {R"("gpt2","num_attention_heads":7,"hidden_size":9)",
       "num_attention_heads: 7 (it does not divide hidden_size 9)"},
      {R"("gpt2","n_layer":2147483647)", "n_layer: 2147483647"},
      {R"("gpt2","n_layer":2147483648)", "n_layer: 2147483648"},
      {R"("gpt2","n_embd":-4)", "n_embd: -4"},
      {R"("gpt2","n_embd":18446744073709551615)", "n_embd: 18446744073709551615"},
      {R"("gpt2","n_embd":"768")", "n_embd: \"768\""},
      {R"("gpt2","n_embd":768.0)", "n_embd: 768.0"},
      {R"("gpt2","activation_function":"quick_gelu")", "activation_function: \"quick_gelu\" is not supported"},
      {R"("gpt2","add_cross_attention":true)", "add_cross_attention: true"},
      {R"("gpt2","pruned_heads":{"0":[1]})", "pruned_heads"},
      {R"("gpt2","scale_attn_weights":1)", "scale_attn_weights: 1"},
      {R"("gpt2","layer_norm_epsilon":0)", "layer_norm_epsilon: 0"},
      {R"("llama","quantization_config":{"bits":4})", "quantization_config"},
      {R"("llama","is_causal":false)", "is_causal: false"},
      {R"("llama","num_key_value_heads":5)", "num_key_value_heads: 5 (it does not divide the 32 attention heads)"},
      {R"("llama","num_attention_heads":2147483646)", "num_attention_heads: 2147483646"},
      {R"("llama","head_dim":2147483646)", "head_dim: 2147483646"},
      {R"("llama","head_dim":7)", "partial_rotary_factor: 7 numbers of a head turn"},
      {R"("llama","partial_rotary_factor":0.5)", "partial_rotary_factor: 0.5"},
      {R"("llama","rope_theta":"10000")", "rope_theta: \"10000\""},
      {R"("llama","rope_theta":0)", "rope_theta: 0"},
      {R"("llama","rope_scaling":7)", "rope_scaling: 7"},
      {R"("llama","rope_scaling":{"type":"xpos"})", "rope_scaling.rope_type: \"xpos\" is not supported"},
      {R"("llama","rope_parameters":{"rope_type":"linear"})", "rope_parameters.factor: is missing"},
      {R"("llama","rope_parameters":{"rope_type":"linear","factor":-2})", "rope_parameters.factor: -2"},
      {R"("llama","rope_parameters":{"full_attention":{}})", "rope_parameters.full_attention: is not supported"},
      {R"("llama","rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":1})",
       "rope_scaling.high_freq_factor: 1 (it must be above low_freq_factor)"},
      {R"("llama","rope_scaling":{"rope_type":"yarn","rope_theta":1,"factor":4})", "rope_theta"},
      {R"("phi3","rope_scaling":{"type":"longrope","short_factor":[1],"long_factor":[1]})",
       "rope_scaling.short_factor: 1 numbers"},
      {R"("phi3","rope_scaling":{"type":"longrope","short_factor":["a"],"long_factor":[1]})",
       "rope_scaling.short_factor[0]: \"a\" (a number from 1e-12"},
      {R"("qwen3_moe","mlp_only_layers":[0])", "mlp_only_layers: layers without experts"},
      {R"("qwen3_moe","decoder_sparse_step":2)", "decoder_sparse_step: layers without experts"},
      {R"("smollm3","no_rope_layers":[1,0])", "no_rope_layers: is no list of a number for each layer"},
      {R"("smollm3","no_rope_layers":"1")", "no_rope_layers: is no list of a number for each layer"},
      {R"("cohere2","head_dim":64)", "head_dim: 64"},
      {R"("mixtral","num_experts_per_tok":9)", "num_experts_per_tok: 9"},
      {R"("mixtral","num_local_experts":100000000)", "num_local_experts: 100000000"},
      {R"("qwen2","layer_types":["full_attention"])", "layer_types: 1 entries (there are 32 layers)"},
      {R"("qwen2","num_hidden_layers":1,"layer_types":["chunked_attention"])",
       "\"chunked_attention\" is not supported"},
      {R"("qwen2","num_hidden_layers":1,"layer_types":["sliding_attention"])", "sliding_attention without a window"},
      {R"("mistral","num_hidden_layers":2,"layer_types":["sliding_attention","full_attention"])",
       "layer_types: \"full_attention\" for layer 1 of 2 is not supported"},
      {R"("llama","num_hidden_layers":1,"layer_types":["sliding_attention"])", "layer_types: \"sliding_attention\""},
      {R"("gemma2","sliding_window":null)", "sliding_window: null"},
      {R"("gemma2","use_bidirectional_attention":true)", "use_bidirectional_attention: true"},
      {R"("gemma3")", "text_config: is missing"},
      {R"("gemma3","text_config":{"hidden_size":-1})", "text_config.hidden_size: -1"},
      {R"("gptj","rotary_dim":512)", "rotary_dim: 512 numbers of a head turn"},
      {R"("opt","word_embed_proj_dim":512)", "word_embed_proj_dim: 512 is not supported"},
      {R"("falcon","new_decoder_architecture":true,"parallel_attn":false)", "parallel_attn: false"},
      {R"("falcon","num_ln_in_parallel_attn":2)", "num_ln_in_parallel_attn: 2"},
      {R"("stablelm","qk_layernorm":true)", "qk_layernorm: true"},
      {R"("bloom","slow_but_exact":true,"pretraining_tp":2)", "slow_but_exact: true is not supported"},
      {R"("gpt_neox","head_dim":8)", "head_dim: 8 is not supported"},
      {R"("stablelm","head_dim":8)", "head_dim: 8 is not supported"},
      {R"("stablelm","hidden_size":384)", "partial_rotary_factor: 3 numbers of a head turn"},
      {R"("gpt_neox","hidden_size":768,"rope_scaling":{"type":"yarn","factor":2})",
       "rope_scaling.rope_type: 3 numbers of a head turn"},
      {R"("gemma3_text","rope_scaling":{"type":"linear","factor":8})", "rope_scaling.type: is not supported"},
  };
  for (const auto& [text, says] : cases) {
    const auto message = refused_family(std::string("{\"model_type\":") + text + "}");
    EXPECT_THAT(message, HasSubstr(says)) << text;
    EXPECT_THAT(message, HasSubstr("dir/config.json:")) << text;
  }
}

// Hostile settings: keys of all families with values that fit nowhere, in any combination. Accepted or refused by name,
// and what is accepted is consistent.
TEST(Families, SurvivesMutations) {
  const std::vector<std::string> keys = {"vocab_size",
                                         "hidden_size",
                                         "n_embd",
                                         "num_hidden_layers",
                                         "n_layer",
                                         "num_attention_heads",
                                         "n_head",
                                         "num_key_value_heads",
                                         "num_kv_heads",
                                         "head_dim",
                                         "max_position_embeddings",
                                         "n_positions",
                                         "intermediate_size",
                                         "n_inner",
                                         "sliding_window",
                                         "max_window_layers",
                                         "layer_types",
                                         "rope_theta",
                                         "rope_scaling",
                                         "rope_parameters",
                                         "partial_rotary_factor",
                                         "rotary_pct",
                                         "rotary_dim",
                                         "hidden_act",
                                         "activation_function",
                                         "rms_norm_eps",
                                         "layer_norm_epsilon",
                                         "num_local_experts",
                                         "num_experts_per_tok",
                                         "alibi",
                                         "new_decoder_architecture",
                                         "multi_query",
                                         "tie_word_embeddings",
                                         "text_config",
                                         "sliding_window_pattern",
                                         "query_pre_attn_scalar",
                                         "attn_logit_softcapping",
                                         "use_sliding_window",
                                         "original_max_position_embeddings",
                                         "word_embed_proj_dim",
                                         "quantization_config"};
  const std::vector<std::string> values = {
      "null",
      "0",
      "-1",
      "1",
      "2",
      "3",
      "4",
      "64",
      "2147483647",
      "2147483648",
      "1e308",
      "0.5",
      "1e-320",
      "18446744073709551616",
      "\"gelu\"",
      "\"\"",
      "[]",
      "{}",
      "true",
      "false",
      "[\"sliding_attention\"]",
      "[1,2]",
      R"({"rope_type":"yarn","factor":1e300})",
      R"({"type":"linear","factor":1e-300})",
      R"({"rope_type":"llama3","factor":8,"low_freq_factor":1e-300,"high_freq_factor":4})",
      R"({"rope_type":"longrope","short_factor":[1],"long_factor":[1],"factor":1e300})",
      R"({"rope_type":"default","rope_theta":1e308,"partial_rotary_factor":1e-9})",
      R"({"full_attention":{"rope_type":"dynamic","factor":2}})",
      R"({"hidden_size":64,"head_dim":3})"};
  std::mt19937 random(20220710);
  const auto pick = [&](const std::vector<std::string>& list) -> const std::string& {
    return list[random() % list.size()];
  };
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string config = "{\"model_type\":\"" + families[static_cast<std::size_t>(round) % families.size()] + "\"";
    std::vector<std::string> used;
    for (auto count = random() % 4; count > 0; --count) {
      const auto& key = pick(keys);
      if (std::find(used.begin(), used.end(), key) == used.end()) {
        config += ",\"" + key + "\":" + pick(values);
        used.push_back(key);
      }
    }
    config += "}";
    try {
      const auto specification = read(config);
      ++accepted;
      ASSERT_GT(specification.head_width, 0) << config;
      ASSERT_EQ(specification.num_heads % specification.num_key_heads, 0) << config;
      ASSERT_TRUE(std::isfinite(specification.attention_scale)) << config;
      ASSERT_GE(specification.max_tokens, 1) << config;
      for (const auto& rotary : specification.rotaries) {
        ASSERT_EQ(rotary.width, 2 * static_cast<std::int64_t>(rotary.inverse_frequencies.size())) << config;
        ASSERT_LE(rotary.width, specification.head_width) << config;
        for (const auto frequency : rotary.inverse_frequencies) {
          ASSERT_TRUE(std::isfinite(frequency)) << config;
        }
      }
    } catch (const base::InputError& error) {
      ASSERT_THAT(error.what(), HasSubstr("dir/config.json")) << config;
    }
  }
  EXPECT_GT(accepted, 2000);
}

}  // namespace
}  // namespace stereosweep::model
