// DeBERTa-v3 (and v2 without its convolution): scores that depend on how far apart two words are.
// (source: transformers, modeling_deberta_v2.py)
#include <algorithm>
#include <string>

#include "base/text/Text.hpp"
#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults deberta_defaults = {
    .vocabulary = 128100, .hidden = 1536, .inner = 6144, .layers = 24, .heads = 24};

// A text with '|' between the names, or a list of them.
std::vector<std::string> read_names(const ConfigFields& fields, const char* key) {
  const auto* value = fields.find(key);
  if (value == nullptr || !value->is_string()) {
    return fields.texts(key);
  }
  auto names = base::split(base::lower_ascii(value->get<std::string>()), '|');
  for (auto& name : names) {
    name = base::trim(name);
  }
  return names;
}

RelativePositions read_relative(const ConfigFields& fields, std::int64_t positions) {
  fields.refuse_if(!fields.is_on("relative_attention"), "relative_attention", "false is not supported",
                   "the published models of this family have relative positions");
  RelativePositions relative;
  const auto* farthest = fields.find("max_relative_positions");
  const bool is_given = farthest != nullptr && farthest->is_number_integer() && *farthest > 0;
  relative.farthest = is_given ? fields.size("max_relative_positions", positions) : positions;
  const auto* buckets = fields.find("position_buckets");
  relative.buckets = buckets != nullptr && *buckets != -1 ? fields.size("position_buckets", 0, 0) : 0;
  fields.refuse_if(relative.buckets > 0 && (relative.buckets < 4 || relative.farthest <= relative.buckets / 2 + 1),
                   "position_buckets", std::to_string(relative.buckets),
                   "at least 4 are needed, and max_relative_positions beyond half of them");
  for (const auto& name : read_names(fields, "pos_att_type")) {
    fields.refuse_if(name != "c2p" && name != "p2c", "pos_att_type", "\"" + name + "\" is not supported",
                     "c2p and p2c are");
    (name == "c2p" ? relative.content_to_position : relative.position_to_content) = true;
  }
  relative.own_projections = !fields.is_on("share_att_key");
  const auto norms = read_names(fields, "norm_rel_ebd");
  relative.normed = std::ranges::find(norms, "layer_norm") != norms.end();
  return relative;
}

MaskedSpecification read_deberta(const ConfigFields& fields) {
  auto specification = read_encoder(fields, deberta_defaults, "encoder.layer.");
  const auto width = fields.size("embedding_size", specification.hidden);
  fields.refuse_if(width != specification.hidden, "embedding_size", std::to_string(width) + " is not supported",
                   "it must be hidden_size");
  fields.refuse_if(fields.size("conv_kernel_size", 0, 0) != 0, "conv_kernel_size", "a convolution is not supported",
                   "DeBERTa-v3 has none");
  const auto head_size = fields.size("attention_head_size", specification.head_width());
  fields.refuse_if(head_size != specification.head_width(), "attention_head_size", std::to_string(head_size),
                   "hidden_size / num_attention_heads is supported");
  specification.token_types = fields.size("type_vocab_size", 0, 0);
  specification.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-7);
  specification.relative = read_relative(fields, specification.positions);
  auto& names = specification.names;
  names.body = "deberta.";
  names.query = "attention.self.query_proj";
  names.key = "attention.self.key_proj";
  names.value = "attention.self.value_proj";
  if (!fields.is_on("position_biased_input", ConfigFields::Flag::on)) {
    names.positions = "";
    names.harmless = {"deberta.embeddings.position_embeddings."};
  }
  // The published checkpoints hold the second head, whatever `legacy` says; transformers would draw a random one then.
  const MaskedHeadNames own{"lm_predictions.", "lm_predictions.lm_head.dense", "lm_predictions.lm_head.LayerNorm",
                            "lm_predictions.lm_head.decoder", "lm_predictions.lm_head.bias"};
  const bool is_legacy = fields.is_on("legacy", ConfigFields::Flag::on);
  names.heads = is_legacy ? std::vector{MaskedHeadNames(), own} : std::vector{own, MaskedHeadNames()};
  for (const auto* beginning : {"mask_predictions.", "lm_predictions.", "cls.predictions."}) {
    names.harmless.emplace_back(beginning);
  }
  return specification;
}

constexpr MaskedFamily deberta_rows[] = {{"deberta-v2", read_deberta}};

}  // namespace

std::span<const MaskedFamily> deberta_families() { return deberta_rows; }

}  // namespace stereosweep::model::families
