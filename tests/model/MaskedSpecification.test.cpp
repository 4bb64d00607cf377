// config.json: defaults of transformers, and a named refusal of everything that would change the numbers.
#include "model/masked/MaskedSpecification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(bert.names.body, "bert.");
  EXPECT_FALSE(bert.skips_padding);
  EXPECT_EQ(bert.vocabulary, 30522);
  EXPECT_EQ(bert.hidden, 768);
  EXPECT_EQ(bert.inner, 3072);
  EXPECT_EQ(bert.num_layers, 12);
  EXPECT_EQ(bert.num_heads, 12);
  EXPECT_EQ(bert.max_tokens(), 512);
  EXPECT_EQ(bert.token_types, 2);
  EXPECT_EQ(bert.layer_norm_epsilon, 1e-12);
  EXPECT_EQ(bert.activation, Activation::gelu);
  EXPECT_TRUE(bert.tied_decoder);
  const auto roberta = read(R"({"model_type":"roberta","max_position_embeddings":514,"hidden_act":"gelu_new"})");
  EXPECT_EQ(roberta.names.body, "roberta.");
  EXPECT_TRUE(roberta.skips_padding);
  EXPECT_EQ(roberta.vocabulary, 50265);
  EXPECT_EQ(roberta.max_tokens(), 512);
  EXPECT_EQ(roberta.activation, Activation::gelu_tanh);
  EXPECT_EQ(read(R"({"model_type":"xlm-roberta","pad_token_id":0})").max_tokens(), 511);
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
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(refused_config(text), HasSubstr(says)) << text;
    EXPECT_THAT(refused_config(text), HasSubstr("dir/config.json")) << text;
  }
  EXPECT_EQ(refused_config(R"({"model_type":"bert","pruned_heads":{},"is_decoder":false})"), "accepted");
}

}  // namespace
}  // namespace stereosweep::model
