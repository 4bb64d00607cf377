// config.json: defaults of transformers, and a named refusal of everything that would change the numbers.
#include "model/masked/MaskedSpecification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {
namespace {

using ::testing::HasSubstr;

MaskedSpecification read(const std::string& text) {
  base::FileSet files("dir");
  files.add("config.json", base::to_shared(text));
  return read_masked_specification(files);
}

std::string refused_config(const std::string& text) {
  try {
    read(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MaskedSpecification, LeftOutAndNullTakeTheDefaults) {
  const auto bert = read(R"({"model_type":"bert","hidden_act":null,"vocab_size":null})");
  EXPECT_EQ(bert.names.prefixes.front(), "bert.");
  EXPECT_FALSE(bert.skips_padding);
  EXPECT_EQ(bert.vocabulary, 30522);
  EXPECT_EQ(bert.hidden, 768);
  EXPECT_EQ(bert.inner, 3072);
  EXPECT_EQ(bert.layers.size(), 12U);
  EXPECT_EQ(bert.num_heads, 12);
  EXPECT_EQ(bert.max_tokens, 512);
  EXPECT_EQ(bert.token_types, 2);
  EXPECT_EQ(bert.norm_epsilon, 1e-12);
  EXPECT_EQ(bert.activation, Activation::gelu);
  EXPECT_TRUE(bert.tied_head);
  const auto roberta = read(R"({"model_type":"roberta","max_position_embeddings":514,"hidden_act":"gelu_new"})");
  EXPECT_EQ(roberta.names.prefixes.front(), "roberta.");
  EXPECT_TRUE(roberta.skips_padding);
  EXPECT_EQ(roberta.vocabulary, 50265);
  EXPECT_EQ(roberta.max_tokens, 512);
  EXPECT_EQ(roberta.activation, Activation::gelu_tanh);
  EXPECT_EQ(read(R"({"model_type":"xlm-roberta","pad_token_id":0})").max_tokens, 511);
}

TEST(MaskedSpecification, NewerFamiliesTakeTheDefaultsOfTransformers) {
  const auto distilbert = read(R"({"model_type":"distilbert"})");
  EXPECT_EQ(distilbert.layers.size(), 6U);
  EXPECT_EQ(distilbert.token_types, 0);
  EXPECT_EQ(distilbert.names.layers, "transformer.layer.");
  const auto albert =
      read(R"({"model_type":"albert","num_hidden_layers":3,"num_hidden_groups":2,"inner_group_num":2})");
  EXPECT_EQ(albert.embedding_width(), 128);
  EXPECT_EQ(albert.layers.size(), 6U);
  EXPECT_EQ(albert.activation, Activation::gelu_tanh);
  EXPECT_EQ(albert.names.shared_layers[3], "encoder.albert_layer_groups.0.albert_layers.1.");
  EXPECT_EQ(albert.names.shared_layers[4], "encoder.albert_layer_groups.1.albert_layers.0.");
  const auto modern = read(R"({"model_type":"modernbert"})");
  ASSERT_EQ(modern.layers.size(), 22U);
  EXPECT_EQ(modern.layers[0].window, 0);
  EXPECT_EQ(modern.layers[1].window, 64);
  EXPECT_EQ(modern.layers[3].window, 0);
  EXPECT_FLOAT_EQ(modern.rotaries[0].inverse_frequencies[1], std::pow(160000.F, -2.F / 64));
  EXPECT_FLOAT_EQ(modern.rotaries[1].inverse_frequencies[1], std::pow(10000.F, -2.F / 64));
  EXPECT_EQ(modern.max_tokens, 8192);
  const auto deberta = read(R"({"model_type":"deberta-v2","relative_attention":true,"position_buckets":256,
                                "max_relative_positions":-1,"pos_att_type":"p2c|c2p","norm_rel_ebd":"layer_norm"})");
  EXPECT_EQ(deberta.relative.span(), 256);
  EXPECT_EQ(deberta.relative.farthest, 512);
  EXPECT_TRUE(deberta.relative.content_to_position && deberta.relative.position_to_content);
  EXPECT_TRUE(deberta.relative.own_projections && deberta.relative.normed);
  EXPECT_EQ(deberta.norm_epsilon, 1e-7);
}

TEST(MaskedSpecification, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({})", "config.json:model_type: is missing"},
      {R"([])", "no JSON object"},
      {R"({"model_type":"bert",})", "no valid JSON"},
      {R"({"model_type":"bert","model_type":"roberta"})", "appears twice"},
      {R"({"model_type":"gpt2"})", "model_type: \"gpt2\" is a causal model"},
      {R"({"model_type":7})", "model_type: 7"},
      {R"({"model_type":"bert","hidden_act":"tanh"})", "hidden_act: \"tanh\" is not supported"},
      {R"({"model_type":"bert","position_embedding_type":"relative_key"})",
       "position_embedding_type: \"relative_key\""},
      {R"({"model_type":"bert","is_decoder":true})", "is_decoder: true"},
      {R"({"model_type":"bert","add_cross_attention":true})", "add_cross_attention: true"},
      {R"({"model_type":"bert","is_decoder":1})", "is_decoder: 1"},
      {R"({"model_type":"bert","pruned_heads":{"0":[1]}})", "pruned_heads"},
      {R"({"model_type":"bert","quantization_config":{}})", "quantization_config"},
      {R"({"model_type":"bert","hidden_size":0})", "hidden_size: 0"},
      {R"({"model_type":"bert","hidden_size":768.0})", "hidden_size: 768.0"},
      {R"({"model_type":"bert","hidden_size":"768"})", "hidden_size: \"768\""},
      {R"({"model_type":"bert","hidden_size":99999999999})", "hidden_size"},
      {R"({"model_type":"bert","num_attention_heads":7})", "it does not divide hidden_size 768"},
      {R"({"model_type":"bert","layer_norm_eps":-1})", "layer_norm_eps: -1"},
      {R"({"model_type":"roberta","max_position_embeddings":2})", "max_position_embeddings: 2"},
      {R"({"model_type":"roberta","pad_token_id":-1})", "pad_token_id: -1"},
      {R"({"model_type":"distilbert","n_layers":5000})", "n_layers: 5000"},
      {R"({"model_type":"distilbert","dim":50})", "n_heads: 12 (it does not divide dim 50"},
      {R"({"model_type":"albert","num_hidden_groups":13})", "num_hidden_groups: 13"},
      {R"({"model_type":"albert","inner_group_num":5000})", "inner_group_num: 5000"},
      {R"({"model_type":"modernbert","layer_types":["full_attention"]})", "layer_types: 1 entries"},
      {R"({"model_type":"modernbert","num_hidden_layers":1,"layer_types":["chunked"]})",
       "\"chunked\" is not supported"},
      {R"({"model_type":"modernbert","local_attention":1})", "local_attention: 1"},
      {R"({"model_type":"modernbert","rope_scaling":{"factor":2}})", "rope_scaling: is not supported"},
      {R"({"model_type":"modernbert","rope_parameters":{"full_attention":{"rope_type":"yarn"}}})",
       "rope_parameters: full_attention with another rope_type"},
      {R"({"model_type":"deberta-v2"})", "relative_attention: false"},
      {R"({"model_type":"deberta-v2","relative_attention":true,"conv_kernel_size":3})", "conv_kernel_size"},
      {R"({"model_type":"deberta-v2","relative_attention":true,"pos_att_type":"p2p"})", "pos_att_type: \"p2p\""},
      {R"({"model_type":"deberta-v2","relative_attention":true,"pos_att_type":[1]})",
       "pos_att_type[0]: 1 (a text is needed)"},
      {R"({"model_type":"deberta-v2","relative_attention":true,"position_buckets":2})", "position_buckets: 2"},
      {R"({"model_type":"deberta-v2","relative_attention":true,"position_buckets":1.5})", "position_buckets: 1.5"},
      {R"({"model_type":"deberta-v2","relative_attention":true,"embedding_size":128})", "embedding_size: 128"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(refused_config(text), HasSubstr(says)) << text;
    EXPECT_THAT(refused_config(text), HasSubstr("dir/config.json")) << text;
  }
  EXPECT_EQ(refused_config(R"({"model_type":"bert","pruned_heads":{},"is_decoder":false})"), "accepted");
}

}  // namespace
}  // namespace stereosweep::model
