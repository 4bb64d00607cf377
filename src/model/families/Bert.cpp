// The encoders: BERT and its relatives.
//   RoBERTa      with those that are stored as it is (XLM-RoBERTa, CamemBERT): positions that begin behind padding's
//   DistilBERT   BERT without token types, under names of its own
//   ALBERT       narrow word embeddings, and layers that share their weights group by group
//   ModernBERT   norms before each part, gates, rotaries, windows in two of three layers
//   DeBERTa-v3   (and v2 without its convolution): scores that depend on how far apart two words are
// (source: transformers, modeling_bert.py, modeling_roberta.py, modeling_distilbert.py, modeling_albert.py,
// modeling_modernbert.py, configuration_modernbert.py, modeling_deberta_v2.py)
#include <string>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

const TensorNames bert_names = {
    .prefixes = {"bert."},
    .words = "embeddings.word_embeddings",
    .positions = "embeddings.position_embeddings",
    .embedding_norm = "embeddings.LayerNorm",
    .layers = "encoder.layer.",
    .final_norm = "",
    .head_bias = true,
    .attention_norm = "attention.output.LayerNorm",
    .feed_forward_norm = "output.LayerNorm",
    .query_key_value = {"attention.self.query", "attention.self.key", "attention.self.value"},
    .query_key_value_bias = true,
    .attention_output = "attention.output.dense",
    .attention_output_bias = true,
    .inner = {"intermediate.dense"},
    .outer = "output.dense",
    .feed_forward_bias = true};

// Layers and their names as BERT's.
void set_bert_like(MaskedSpecification& specification) {
  specification.residual = Residual::after_adding;
  specification.names = bert_names;
}

void set_bert(const base::JsonValue& fields, MaskedSpecification& specification) {
  set_bert_like(specification);
  const auto kind = fields["position_embedding_type"].text_or("absolute");
  fields["position_embedding_type"].refuse_if(kind != "absolute", "\"" + kind + "\" is not supported",
                                              "absolute positions are");
  specification.token_types = fields["type_vocab_size"].size_or(2);
}

// The head has a GELU of its own.
void set_roberta(const base::JsonValue& fields, MaskedSpecification& specification) {
  set_bert(fields, specification);
  specification.head_activation = Activation::gelu;
  specification.first_position = fields["pad_token_id"].size_or(1, 0) + 1;
  specification.max_tokens -= specification.first_position;
  specification.skips_padding = true;
  specification.names.prefixes = {"roberta."};
  specification.heads = {{"lm_head.", "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"}};
  fields["max_position_embeddings"].refuse_if(
      specification.max_tokens < 1, std::to_string(specification.positions),
      "positions begin at pad_token_id + 1 = " + std::to_string(specification.first_position));
}

void set_distilbert(const base::JsonValue&, MaskedSpecification& specification) {
  set_bert_like(specification);
  auto& names = specification.names;
  names.prefixes = {"distilbert."};
  names.layers = "transformer.layer.";
  names.query_key_value = {"attention.q_lin", "attention.k_lin", "attention.v_lin"};
  names.attention_output = "attention.out_lin";
  names.attention_norm = "sa_layer_norm";
  names.inner = {"ffn.lin1"};
  names.outer = "ffn.lin2";
  names.feed_forward_norm = "output_layer_norm";
  specification.heads = {{"vocab_", "vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"}};
}

// Each of num_hidden_layers runs all layers of its group, so that there are more hidden states than that.
void share_layers(const base::JsonValue& fields, MaskedSpecification& specification) {
  const auto groups = fields["num_hidden_groups"].size_or(1);
  const auto inner = fields["inner_group_num"].size_or(1);
  const auto rounds = std::ssize(specification.layers);
  constexpr std::int64_t most = 4096;
  fields["num_hidden_groups"].refuse_if(groups > rounds, std::to_string(groups),
                                        "there are num_hidden_layers = " + std::to_string(rounds));
  fields["inner_group_num"].refuse_if(inner > most / rounds, std::to_string(inner),
                                      "at most " + std::to_string(most) + " layers are supported");
  specification.layers.resize(static_cast<std::size_t>(rounds * inner));
  for (std::int64_t round = 0; round < rounds; ++round) {
    // transformers divides in double precision and cuts
    const auto group = static_cast<std::int64_t>(static_cast<double>(round) /
                                                 (static_cast<double>(rounds) / static_cast<double>(groups)));
    for (std::int64_t layer = 0; layer < inner; ++layer) {
      specification.names.shared_layers.push_back("encoder.albert_layer_groups." + std::to_string(group) +
                                                  ".albert_layers." + std::to_string(layer) + ".");
    }
  }
}

void set_albert(const base::JsonValue& fields, MaskedSpecification& specification) {
  set_bert_like(specification);
  share_layers(fields, specification);
  specification.embedding = fields["embedding_size"].size_or(128);
  specification.token_types = fields["type_vocab_size"].size_or(2);
  auto& names = specification.names;
  names.prefixes = {"albert."};
  names.embedding_projection = "encoder.embedding_hidden_mapping_in";
  names.query_key_value = {"attention.query", "attention.key", "attention.value"};
  names.attention_output = "attention.dense";
  names.attention_norm = "attention.LayerNorm";
  names.inner = {"ffn"};
  names.outer = "ffn_output";
  names.feed_forward_norm = "full_layer_layer_norm";
  names.harmless_beginnings = {"sop_classifier."};
  specification.heads = {
      {"predictions.", "predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"}};
}

// layer_types says layer by layer what sees all; else every global_attn_every_n_layers-th does.
void set_reaches(const base::JsonValue& fields, MaskedSpecification& specification) {
  const auto reach = fields["local_attention"].size_or(128) / 2;
  fields["local_attention"].refuse_if(reach == 0, "1", "a window of at least 2 is needed");
  const auto pattern = fields["global_attn_every_n_layers"].size_or(3);
  for (std::int64_t layer = 0; layer < std::ssize(specification.layers); ++layer) {
    specification.layers[static_cast<std::size_t>(layer)].window = layer % pattern == 0 ? 0 : reach;
  }
  if (fields["layer_types"] && !fields["layer_types"].list().empty()) {
    set_layer_types(fields, reach, specification);
  }
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 1 : 0;
  }
}

// Layers with a window turn by another angle than those without.
void set_both_rotaries(const base::JsonValue& fields, MaskedSpecification& specification) {
  if (const auto scaling = fields["rope_scaling"]) {
    scaling.refuse("is not supported", "rope_parameters says how each kind of layer turns");
  }
  const auto rotary = [&](const char* kind, const char* key, double theta) {
    const auto own = fields["rope_parameters"][kind];
    fields["rope_parameters"].refuse_if(own["rope_type"].text_or("default") != "default",
                                        std::string(kind) + " with another rope_type",
                                        "default is supported in this family");
    return read_rotary_object(fields, own, fields[key].positive_or(theta), {}, specification);
  };
  specification.rotaries = {rotary("full_attention", "global_rope_theta", 160000),
                            rotary("sliding_attention", "local_rope_theta", 10000)};
}

void set_modernbert(const base::JsonValue& fields, MaskedSpecification& specification) {
  specification.head_activation = read_activation(fields["classifier_activation"], "gelu");
  specification.head_dense_bias = fields["classifier_bias"].flag_or(false);
  set_reaches(fields, specification);
  set_both_rotaries(fields, specification);
  set_attention_bias(fields, specification);
  auto& names = specification.names;
  names.norm_bias = fields["norm_bias"].flag_or(false);
  names.feed_forward_bias = fields["mlp_bias"].flag_or(false);
  names.head_bias = fields["decoder_bias"].flag_or(true);
  names.words = "embeddings.tok_embeddings";
  names.embedding_norm = "embeddings.norm";
  names.packing = QueryKeyValuePacking::blocks;
  names.query_key_value = {"attn.Wqkv"};
  names.attention_output = "attn.Wo";
  names.attention_norm = "attn_norm";
  names.first_attention_norm = false;
  names.inner = {"mlp.Wi"};
  names.outer = "mlp.Wo";
  names.feed_forward_norm = "mlp_norm";
  names.final_norm = "final_norm";
  specification.heads = {{"head.", "head.dense", "head.norm", "decoder", "decoder.bias"}};
}

// A text with '|' between the names, or a list of them.
std::vector<std::string> read_names(const base::JsonValue& fields, const char* key) {
  const auto value = fields[key];
  if (!value.json().is_string()) {
    return value ? value.texts() : std::vector<std::string>();
  }
  auto names = base::split(base::lower_ascii(value.text()), '|');
  for (auto& name : names) {
    name = base::trim(name);
  }
  return names;
}

RelativePositions read_relative(const base::JsonValue& fields, std::int64_t positions) {
  fields["relative_attention"].refuse_if(!fields["relative_attention"].flag_or(false), "false is not supported",
                                         "the published models of this family have relative positions");
  RelativePositions relative;
  const auto farthest = fields["max_relative_positions"];
  relative.farthest = farthest.json().is_number_integer() && farthest.json() > 0 ? farthest.size() : positions;
  const auto buckets = fields["position_buckets"];
  relative.buckets = buckets.json() != -1 ? buckets.size_or(0, 0) : 0;
  buckets.refuse_if(relative.buckets > 0 && (relative.buckets < 4 || relative.farthest <= relative.buckets / 2 + 1),
                    std::to_string(relative.buckets),
                    "at least 4 are needed, and max_relative_positions beyond half of them");
  for (const auto& name : read_names(fields, "pos_att_type")) {
    fields["pos_att_type"].refuse_if(name != "c2p" && name != "p2c", "\"" + name + "\" is not supported",
                                     "c2p and p2c are");
    (name == "c2p" ? relative.content_to_position : relative.position_to_content) = true;
  }
  relative.own_projections = !fields["share_att_key"].flag_or(false);
  const auto norms = read_names(fields, "norm_rel_ebd");
  relative.normed = base::contains(norms, "layer_norm");
  return relative;
}

void set_deberta(const base::JsonValue& fields, MaskedSpecification& specification) {
  const auto width = fields["embedding_size"].size_or(specification.hidden);
  fields["embedding_size"].refuse_if(width != specification.hidden, std::to_string(width) + " is not supported",
                                     "it must be hidden_size");
  fields["conv_kernel_size"].refuse_if(fields["conv_kernel_size"].size_or(0, 0) != 0, "a convolution is not supported",
                                       "DeBERTa-v3 has none");
  const auto head_size = fields["attention_head_size"].size_or(specification.head_width);
  fields["attention_head_size"].refuse_if(head_size != specification.head_width, std::to_string(head_size),
                                          "hidden_size / num_attention_heads is supported");
  set_bert_like(specification);
  specification.token_types = fields["type_vocab_size"].size_or(0, 0);
  specification.relative = read_relative(fields, specification.positions);
  auto& names = specification.names;
  names.prefixes = {"deberta."};
  names.query_key_value = {"attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"};
  if (!fields["position_biased_input"].flag_or(true)) {
    names.positions = "";
    names.harmless_beginnings = {"deberta.embeddings.position_embeddings."};
  }
  // The published checkpoints hold the second head, whatever `legacy` says; transformers would draw a random one then.
  const MaskedHeadNames own{"lm_predictions.", "lm_predictions.lm_head.dense", "lm_predictions.lm_head.LayerNorm",
                            "lm_predictions.lm_head.decoder", "lm_predictions.lm_head.bias"};
  const bool is_legacy = fields["legacy"].flag_or(true);
  specification.heads = is_legacy ? std::vector{MaskedHeadNames(), own} : std::vector{own, MaskedHeadNames()};
  for (const auto* beginning : {"mask_predictions.", "lm_predictions.", "cls.predictions."}) {
    names.harmless_beginnings.emplace_back(beginning);
  }
}

// ELECTRA's generator: BERT with narrow word embeddings where embedding_size says so, and a head of its own. Its
// discriminator, which tells replaced words, has no such head: its vectors are what it is good for.
// (source: transformers, modeling_electra.py)

void set_electra(const base::JsonValue& fields, MaskedSpecification& specification) {
  set_bert_like(specification);
  specification.token_types = fields["type_vocab_size"].size_or(2);
  specification.head_activation = Activation::gelu;
  auto& names = specification.names;
  const auto width = fields["embedding_size"].size_or(128);
  if (width != specification.hidden) {
    specification.embedding = width;
    names.embedding_projection = "embeddings_project";
  }
  names.prefixes = {"electra."};
  names.harmless_beginnings = {"discriminator_predictions."};
  specification.heads = {{"generator_", "generator_predictions.dense", "generator_predictions.LayerNorm",
                          "generator_lm_head", "generator_lm_head.bias"}};
}

// EuroBERT: LLaMA that sees both sides. Root-mean-square norms, rotary positions, gates, grouped keys; the head is one
// matrix.
// (source: transformers, modeling_eurobert.py, configuration_eurobert.py)

void set_eurobert(const base::JsonValue& fields, MaskedSpecification& specification) {
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {}, specification);  // of all layers, which see everything
  set_attention_bias(fields, specification);
  specification.names.feed_forward_bias = fields["mlp_bias"].flag_or(false);
  specification.names.head_bias = specification.names.feed_forward_bias;
  specification.heads = {{"lm_head.", "", "", "lm_head", "lm_head.bias"}};
}

constexpr Kin distilbert_kin = {.hidden = "dim",
                                .inner = "hidden_dim",
                                .layers = "n_layers",
                                .heads = "n_heads",
                                .norm_epsilon = "",
                                .activation = "activation"};
constexpr Kin modernbert_kin = {.norm_epsilon = "norm_eps", .activation = "hidden_activation", .gated = true};
constexpr Kin eurobert_kin = {
    .norm_epsilon = "rms_norm_eps", .key_heads = "num_key_value_heads", .norm = NormKind::rms, .gated = true};
constexpr Usual roberta_usual = {50265, 768, 3072, 12, 12, 512, 1e-12, "gelu", true};

constexpr MaskedFamily bert_rows[] = {
    // {vocabulary, hidden, inner, layers, heads, positions, norm_epsilon, activation, tied}
    {"bert", {}, {30522, 768, 3072, 12, 12, 512, 1e-12, "gelu", true}, set_bert},
    {"roberta", {}, roberta_usual, set_roberta},
    {"xlm-roberta", {}, roberta_usual, set_roberta},
    {"camembert", {}, roberta_usual, set_roberta},
    {"distilbert", distilbert_kin, {30522, 768, 3072, 6, 12, 512, 1e-12, "gelu", true}, set_distilbert},
    {"albert", {}, {30000, 4096, 16384, 12, 64, 512, 1e-12, "gelu_new", true}, set_albert},
    {"modernbert", modernbert_kin, {50368, 768, 1152, 22, 12, 8192, 1e-5, "gelu", true}, set_modernbert},
    {"deberta-v2", {}, {128100, 1536, 6144, 24, 24, 512, 1e-7, "gelu", true}, set_deberta},
    {"electra", {}, {30522, 256, 1024, 12, 4, 512, 1e-12, "gelu", true}, set_electra},
    {"eurobert", eurobert_kin, {128256, 768, 3072, 12, 12, 8192, 1e-5, "silu", false}, set_eurobert}};

}  // namespace

std::span<const MaskedFamily> bert_families() { return bert_rows; }

}  // namespace stereosweep::model::families
