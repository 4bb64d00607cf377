#include "model/CheckpointConfig.hpp"

#include <string>

#include "model/ConfigFields.hpp"

namespace stereosweep::model {
namespace {

Family read_family(const ConfigFields& fields) {
  const auto type = fields.text("model_type", "");
  if (type == "bert") {
    return Family::bert;
  }
  if (type == "roberta" || type == "xlm-roberta" || type == "camembert") {
    return Family::roberta;
  }
  fields.refuse("model_type", type.empty() ? "is missing" : "\"" + type + "\" is not supported",
                "bert, roberta, xlm-roberta and camembert are");
}

Activation read_activation(const ConfigFields& fields) {
  const auto name = fields.text("hidden_act", "gelu");
  if (name == "gelu" || name == "gelu_python") {
    return Activation::gelu;
  }
  if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh") {
    return Activation::gelu_tanh;
  }
  if (name == "relu") {
    return Activation::relu;
  }
  fields.refuse("hidden_act", "\"" + name + "\" is not supported",
                "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh and relu are");
}

// Settings that would change the numbers and that no supported model has.
void refuse_variants(const ConfigFields& fields) {
  if (const auto kind = fields.text("position_embedding_type", "absolute"); kind != "absolute") {
    fields.refuse("position_embedding_type", "\"" + kind + "\" is not supported", "absolute positions are");
  }
  for (const auto* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
    if (fields.flag(key, ConfigFields::Flag::off) == ConfigFields::Flag::on) {
      fields.refuse(key, "true is not supported", "a masked model attends in both directions");
    }
  }
  if (const auto* pruned = fields.find("pruned_heads"); pruned != nullptr && !pruned->empty()) {
    fields.refuse("pruned_heads", pruned->dump() + " is not supported", "all heads of all layers are needed");
  }
  if (const auto* quantized = fields.find("quantization_config"); quantized != nullptr) {
    fields.refuse("quantization_config", "quantized weights are not supported", "floating-point weights are needed");
  }
}

}  // namespace

CheckpointConfig read_config(const base::FileSet& files) {
  const ConfigFields fields(files);
  CheckpointConfig config;
  config.family = read_family(fields);
  refuse_variants(fields);
  const bool roberta = config.family == Family::roberta;
  config.vocabulary = fields.size("vocab_size", roberta ? 50265 : 30522);
  config.hidden = fields.size("hidden_size", 768);
  config.inner = fields.size("intermediate_size", 3072);
  config.num_layers = fields.size("num_hidden_layers", 12);
  config.num_heads = fields.size("num_attention_heads", 12);
  config.positions = fields.size("max_position_embeddings", 512);
  config.token_types = fields.size("type_vocab_size", 2);
  config.first_position = roberta ? fields.size("pad_token_id", 1, 0) + 1 : 0;
  config.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-12);
  config.activation = read_activation(fields);
  config.tied_decoder = fields.flag("tie_word_embeddings", ConfigFields::Flag::on) == ConfigFields::Flag::on;
  if (config.hidden % config.num_heads != 0) {
    fields.refuse("num_attention_heads", std::to_string(config.num_heads),
                  "it does not divide hidden_size " + std::to_string(config.hidden));
  }
  if (config.max_tokens() < 1) {
    fields.refuse("max_position_embeddings", std::to_string(config.positions),
                  "positions begin at pad_token_id + 1 = " + std::to_string(config.first_position));
  }
  return config;
}

}  // namespace stereosweep::model
