// Falcon, three designs under one name:
//   7B      one key head, one norm serves attention and feed-forward layer, rotary positions
//   40B     new_decoder_architecture: a few key heads, a norm for each of the two (11B: one for both)
//   RW      alibi, a key for every head, attention and feed-forward layer one after the other
// (source: transformers, modeling_falcon.py)
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>

#include <bit>
#include <cmath>
#include <string>

#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes falcon_sizes = {{{"vocab_size"}, 65024},
                            {{"n_embed", "hidden_size"}, 4544},
                            {{"num_hidden_layers", "n_layer"}, 32},
                            {{"num_attention_heads", "n_head"}, 71},
                            {{"max_position_embeddings"}, 2048}};

const CausalNames falcon_names = {.prefixes = {"transformer."},
                                  .words = "word_embeddings",
                                  .layers = "h.",
                                  .final_norm = "ln_f",
                                  .packing = QueryKeyValuePacking::by_key_head,
                                  .query_key_value = {"self_attention.query_key_value"},
                                  .attention_output = "self_attention.dense",
                                  .inner = {"mlp.dense_h_to_4h"},
                                  .outer = "mlp.dense_4h_to_h",
                                  .harmless_endings = {".rotary_emb.inv_freq"}};

// 2^-(8 i / n) for n heads where n is a power of two; the others continue with every second one of 2 n. torch's own
// power, and rounded to bfloat16, as the family was trained.
std::vector<float> alibi_slopes(std::int64_t heads) {
  const c10::InferenceMode guard;
  std::vector<float> slopes;
  const auto append = [&](std::int64_t power_of_two, std::int64_t count, std::int64_t step) {
    const auto base = std::exp2(-std::exp2(3 - std::log2(static_cast<double>(power_of_two))));
    const auto rounded = at::pow(at::full({}, base, at::TensorOptions(at::kFloat)),
                                 at::arange(1, 1 + step * count, step, at::TensorOptions(at::kInt)))
                             .to(at::kBFloat16)
                             .to(at::kFloat);
    slopes.insert(slopes.end(), rounded.const_data_ptr<float>(), rounded.const_data_ptr<float>() + rounded.numel());
  };
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  append(whole, whole, 1);
  if (whole != heads) {
    append(2 * whole, heads - whole, 2);
  }
  return slopes;
}

void set_norms(const ConfigFields& fields, CausalSpecification& specification) {
  const bool parallel = fields.is_on("parallel_attn", ConfigFields::Flag::on);
  const bool grouped = fields.is_on("new_decoder_architecture");
  const auto norms = fields.size("num_ln_in_parallel_attn", grouped ? 2 : 1);
  fields.refuse_if(norms > 2 || (norms == 2 && !grouped), "num_ln_in_parallel_attn",
                   std::to_string(norms) + " is not supported",
                   grouped ? "1 and 2 are" : "2 goes with new_decoder_architecture");
  fields.refuse_if(grouped && !parallel, "parallel_attn", "false is not supported",
                   "new_decoder_architecture is parallel");
  specification.residual = parallel ? Residual::parallel : Residual::sequential;
  specification.names.attention_norm = norms == 2 ? "ln_attn" : "input_layernorm";
  specification.names.feed_forward_norm = norms == 2 ? "ln_mlp" : parallel ? "" : "post_attention_layernorm";
}

void set_falcon_key_heads(const ConfigFields& fields, CausalSpecification& specification) {
  if (fields.is_on("new_decoder_architecture")) {
    const auto* key = fields.first_of({"num_kv_heads", "n_head_kv"});
    set_key_heads(fields, key, fields.size(key, specification.num_heads), specification);
  } else if (fields.is_on("multi_query", ConfigFields::Flag::on)) {
    specification.num_key_heads = 1;
  }
}

CausalSpecification read_falcon(const ConfigFields& fields) {
  auto specification = read_sizes(fields, falcon_sizes);
  set_head_width(fields, falcon_sizes, specification);
  specification.inner = fields.size("ffn_hidden_size", 4 * specification.hidden);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_epsilon", 1e-5);
  specification.activation = read_activation(fields, "activation", "gelu");
  specification.tied_head = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  specification.names = falcon_names;
  const bool biases = fields.is_on("bias");
  specification.names.query_key_value_bias = biases;
  specification.names.attention_output_bias = biases;
  specification.names.feed_forward_bias = biases;
  set_norms(fields, specification);
  set_falcon_key_heads(fields, specification);
  if (fields.is_on("alibi")) {
    specification.position = PositionKind::alibi;
    specification.alibi_slopes = alibi_slopes(specification.num_heads);
    specification.alibi_is_scaled = true;
  } else {
    read_rotary(fields, {}, specification);
  }
  return specification;
}

constexpr CausalFamily falcon_rows[] = {{"falcon", read_falcon, 11}};

}  // namespace

std::span<const CausalFamily> falcon_families() { return falcon_rows; }

}  // namespace stereosweep::model::families
