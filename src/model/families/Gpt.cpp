// The older decoders, whose feed-forward layers have no gate and whose norms subtract the mean.
//   GPT-2      its ancestor and GPT-BigCode: learned positions; queries, keys and values in one matrix
//   GPT-NeoX   (Pythia): queries, keys and values of a head side by side, a part of each head turns, and attention and
//              feed-forward layer read the same input
//   GPT-J      neighbouring numbers of a head turn together, one norm serves attention and feed-forward layer, and the
//              head has a bias
//   OPT        learned positions that begin at row 2, ReLU. OPT-350m, whose embeddings are narrower than its layers, is
//              refused
//   Falcon     three designs: 7B has one key head, one norm that serves attention and feed-forward layer, rotary
//              positions; 40B (new_decoder_architecture) a few key heads, a norm for each of the two (11B: one for
//              both); RW alibi, a key for every head, attention and feed-forward layer one after the other
// (source: transformers, modeling_gpt2.py, modeling_openai.py, modeling_gpt_bigcode.py, modeling_gpt_neox.py,
// modeling_gptj.py, modeling_opt.py, modeling_falcon.py)
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/BFloat16.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

const TensorNames conv1d_names = {.prefixes = {"transformer."},
                                  .layers = "h.",
                                  .attention_norm = "ln_1",
                                  .feed_forward_norm = "ln_2",
                                  .order = MatrixOrder::in_out,
                                  .packing = QueryKeyValuePacking::blocks,
                                  .query_key_value = {"attn.c_attn"},
                                  .query_key_value_bias = true,
                                  .attention_output = "attn.c_proj",
                                  .attention_output_bias = true,
                                  .inner = {"mlp.c_fc"},
                                  .outer = "mlp.c_proj",
                                  .feed_forward_bias = true,
                                  .harmless_endings = {".attn.bias", ".attn.masked_bias"}};

void set_gpt2(const base::JsonValue& fields, CausalSpecification& specification) {
  if (!fields["scale_attn_weights"].flag_or(true)) {
    specification.attention_scale = 1;
  }
  specification.scale_by_layer = fields["scale_attn_by_inverse_layer_idx"].flag_or(false);
  specification.names = conv1d_names;
  specification.names.words = "wte";
  specification.names.positions = "wpe";
  specification.names.final_norm = "ln_f";
}

void set_gpt_bigcode(const base::JsonValue& fields, CausalSpecification& specification) {
  set_gpt2(fields, specification);
  specification.scale_by_layer = false;
  specification.names.order = MatrixOrder::out_in;
  if (fields["multi_query"].flag_or(true)) {
    specification.num_key_heads = 1;
  } else {
    specification.names.packing = QueryKeyValuePacking::by_key_head;
  }
}

void set_openai_gpt(const base::JsonValue&, CausalSpecification& specification) {
  if (specification.activation == Activation::gelu) {
    specification.activation = Activation::gelu_tanh;  // what this family has always called gelu
  }
  specification.residual = Residual::after_adding;
  specification.names = conv1d_names;
  specification.names.words = "tokens_embed";
  specification.names.positions = "positions_embed";
  specification.names.final_norm = "";
}

const TensorNames neox_names = {.prefixes = {"gpt_neox."},
                                .words = "embed_in",
                                .final_norm = "final_layer_norm",
                                .heads = {"embed_out", "lm_head"},
                                .packing = QueryKeyValuePacking::by_key_head,
                                .query_key_value = {"attention.query_key_value"},
                                .attention_output = "attention.dense",
                                .inner = {"mlp.dense_h_to_4h"},
                                .outer = "mlp.dense_4h_to_h",
                                .feed_forward_bias = true,
                                .harmless_endings = {".attention.bias", ".attention.masked_bias"}};

void set_gpt_neox(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.residual = fields["use_parallel_residual"].flag_or(true) ? Residual::parallel : Residual::sequential;
  specification.names = neox_names;
  specification.names.query_key_value_bias = fields["attention_bias"].flag_or(true);
  specification.names.attention_output_bias = specification.names.query_key_value_bias;
  read_rotary(
      fields,
      {.part = 0.25, .partial = PartialRotary::supported, .theta_key = "rotary_emb_base", .part_key = "rotary_pct"},
      specification);
}

const TensorNames gptj_names = {.prefixes = {"transformer."},
                                .words = "wte",
                                .layers = "h.",
                                .final_norm = "ln_f",
                                .head_bias = true,
                                .attention_norm = "ln_1",
                                .feed_forward_norm = "",
                                .query_key_value = {"attn.q_proj", "attn.k_proj", "attn.v_proj"},
                                .attention_output = "attn.out_proj",
                                .inner = {"mlp.fc_in"},
                                .outer = "mlp.fc_out",
                                .feed_forward_bias = true,
                                .harmless_endings = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions"}};

void set_gptj(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.residual = Residual::parallel;
  specification.names = gptj_names;
  const auto width = fields["rotary_dim"].size_or(64);
  specification.rotaries = {read_plain_rotary(fields, "rotary_dim", width, 10000, specification)};
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
}

const TensorNames opt_names = {.prefixes = {"model.decoder.", "decoder."},
                               .positions = "embed_positions",
                               .final_norm = "final_layer_norm",
                               .attention_norm = "self_attn_layer_norm",
                               .feed_forward_norm = "final_layer_norm",
                               .attention_output = "self_attn.out_proj",
                               .inner = {"fc1"},
                               .outer = "fc2"};

void set_opt(const base::JsonValue& fields, CausalSpecification& specification) {
  const auto width = fields["word_embed_proj_dim"].size_or(specification.hidden);
  fields["word_embed_proj_dim"].refuse_if(
      width != specification.hidden, std::to_string(width) + " is not supported",
      "word embeddings as wide as hidden_size " + std::to_string(specification.hidden) + " are");
  fields["layer_norm_elementwise_affine"].refuse_if(!fields["layer_norm_elementwise_affine"].flag_or(true),
                                                    "false is not supported", "norms with weights are");
  const bool before = fields["do_layer_norm_before"].flag_or(true);
  specification.residual = before ? Residual::sequential : Residual::after_adding;
  specification.first_position = 2;
  specification.names = opt_names;
  auto& names = specification.names;
  names.query_key_value_bias = names.attention_output_bias = names.feed_forward_bias =
      fields["enable_bias"].flag_or(true);
  if (!before || fields["_remove_final_layer_norm"].flag_or(false)) {
    names.final_norm = "";
  }
}

const TensorNames falcon_names = {.prefixes = {"transformer."},
                                  .words = "word_embeddings",
                                  .layers = "h.",
                                  .final_norm = "ln_f",
                                  .packing = QueryKeyValuePacking::by_key_head,
                                  .query_key_value = {"self_attention.query_key_value"},
                                  .attention_output = "self_attention.dense",
                                  .inner = {"mlp.dense_h_to_4h"},
                                  .outer = "mlp.dense_4h_to_h"};

/// 2^-(8 i / n) for n heads where n is a power of two; the others continue with every second one of 2 n. By torch's own
/// power. (source: press2022, their code)
std::vector<float> alibi_slopes(std::int64_t heads) {
  const c10::InferenceMode guard;
  std::vector<float> slopes;
  const auto append = [&](std::int64_t power_of_two, std::int64_t count, std::int64_t step) {
    const auto base = std::exp2(-std::exp2(3 - std::log2(static_cast<double>(power_of_two))));
    const auto some = at::pow(at::full({}, base, at::TensorOptions(at::kFloat)),
                              at::arange(1, 1 + step * count, step, at::TensorOptions(at::kInt)));
    slopes.insert(slopes.end(), some.const_data_ptr<float>(), some.const_data_ptr<float>() + some.numel());
  };
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  append(whole, whole, 1);
  if (whole != heads) {
    append(2 * whole, heads - whole, 2);
  }
  return slopes;
}

void set_norms(const base::JsonValue& fields, CausalSpecification& specification) {
  const bool parallel = fields["parallel_attn"].flag_or(true);
  const bool grouped = fields["new_decoder_architecture"].flag_or(false);
  const auto norms = fields["num_ln_in_parallel_attn"].size_or(grouped ? 2 : 1);
  fields["num_ln_in_parallel_attn"].refuse_if(norms > 2 || (norms == 2 && !grouped),
                                              std::to_string(norms) + " is not supported",
                                              grouped ? "1 and 2 are" : "2 goes with new_decoder_architecture");
  fields["parallel_attn"].refuse_if(grouped && !parallel, "false is not supported",
                                    "new_decoder_architecture is parallel");
  specification.residual = parallel ? Residual::parallel : Residual::sequential;
  specification.names.attention_norm = norms == 2 ? "ln_attn" : "input_layernorm";
  specification.names.feed_forward_norm = norms == 2 ? "ln_mlp" : parallel ? "" : "post_attention_layernorm";
}

void set_falcon_key_heads(const base::JsonValue& fields, CausalSpecification& specification) {
  if (fields["new_decoder_architecture"].flag_or(false)) {
    const auto count = first_of(fields, "num_kv_heads|n_head_kv");
    set_key_heads(count, count.size_or(specification.num_heads), specification);
  } else if (fields["multi_query"].flag_or(true)) {
    specification.num_key_heads = 1;
  }
}

void set_falcon(const base::JsonValue& fields, CausalSpecification& specification) {
  auto& names = specification.names;
  names = falcon_names;
  names.query_key_value_bias = names.attention_output_bias = names.feed_forward_bias = fields["bias"].flag_or(false);
  set_norms(fields, specification);
  set_falcon_key_heads(fields, specification);
  if (fields["alibi"].flag_or(false)) {
    for (const auto slope : alibi_slopes(specification.num_heads)) {  // as the family was trained
      specification.alibi_slopes.push_back(c10::BFloat16(slope));
    }
    specification.alibi_scale = specification.attention_scale;
  } else {
    read_rotary(fields, {}, specification);
  }
}

// BLOOM: alibi behind the scale, a norm of the embeddings, queries, keys and values of a head side by side. No key
// limits its texts; published files say how long those were that it was trained with.
// (source: transformers, modeling_bloom.py, configuration_bloom.py)

void set_bloom(const base::JsonValue& fields, CausalSpecification& specification) {
  fields["apply_residual_connection_post_layernorm"].refuse_if(
      fields["apply_residual_connection_post_layernorm"].flag_or(false), "true is not supported",
      "no published BLOOM has it");
  fields["slow_but_exact"].refuse_if(fields["slow_but_exact"].flag_or(false) && fields["pretraining_tp"].size_or(1) > 1,
                                     "true is not supported", "transformers leaves biases out then");
  specification.alibi_slopes = alibi_slopes(specification.num_heads);
  specification.alibi_rounding = AlibiRounding::model;
  auto& names = specification.names;
  names = falcon_names;
  names.embedding_norm = "word_embeddings_layernorm";
  names.query_key_value_bias = names.attention_output_bias = names.feed_forward_bias = true;
}

constexpr Kin gpt2_kin = {.hidden = "n_embd|hidden_size",
                          .inner = "n_inner",
                          .layers = "n_layer|num_hidden_layers",
                          .heads = "n_head|num_attention_heads",
                          .positions = "n_positions|max_position_embeddings",
                          .norm_epsilon = "layer_norm_epsilon",
                          .activation = "activation_function"};
constexpr Kin openai_kin = {.hidden = gpt2_kin.hidden,
                            .inner = "",
                            .layers = gpt2_kin.layers,
                            .heads = gpt2_kin.heads,
                            .positions = gpt2_kin.positions,
                            .norm_epsilon = gpt2_kin.norm_epsilon,
                            .activation = "afn"};
constexpr Kin opt_kin = {.inner = "ffn_dim", .norm_epsilon = "", .activation = "activation_function"};
constexpr Kin falcon_kin = {.hidden = "n_embed|hidden_size",
                            .inner = "ffn_hidden_size",
                            .layers = "num_hidden_layers|n_layer",
                            .heads = "num_attention_heads|n_head",
                            .norm_epsilon = "layer_norm_epsilon",
                            .activation = "activation"};
constexpr Kin bloom_kin = {.hidden = "n_embed|hidden_size",
                           .inner = "",
                           .layers = "n_layer|num_hidden_layers",
                           .heads = "n_head|num_attention_heads",
                           .positions = "seq_length",
                           .norm_epsilon = "layer_norm_epsilon",
                           .activation = ""};

constexpr CausalFamily gpt_rows[] = {
    // {vocabulary, hidden, inner, layers, heads, positions, norm_epsilon, activation, tied}
    {"gpt2", gpt2_kin, {50257, 768, 0, 12, 12, 1024, 1e-5, "gelu_new", true}, set_gpt2, 50256},
    {"openai-gpt", openai_kin, {40478, 768, 0, 12, 12, 512, 1e-5, "gelu", true}, set_openai_gpt},
    {"gpt_bigcode", gpt2_kin, {50257, 768, 0, 12, 12, 1024, 1e-5, "gelu_pytorch_tanh", true}, set_gpt_bigcode, 50256},
    {"gpt_neox", {}, {50432, 6144, 24576, 44, 64, 2048, 1e-5, "gelu", false}, set_gpt_neox, 2},
    {"gptj", gpt2_kin, {50400, 4096, 0, 28, 16, 2048, 1e-5, "gelu_new", false}, set_gptj, 50256},
    {"opt", opt_kin, {50272, 768, 3072, 12, 12, 2048, 1e-5, "relu", true}, set_opt, 2},
    {"falcon", falcon_kin, {65024, 4544, 0, 32, 71, 2048, 1e-5, "gelu", true}, set_falcon, 11},
    {"bloom", bloom_kin, {250880, 64, 0, 2, 8, 2048, 1e-5, "gelu_new", true}, set_bloom, 2}};

}  // namespace

std::span<const CausalFamily> gpt_families() { return gpt_rows; }

}  // namespace stereosweep::model::families
