// The rows of the families, and what their readers share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/JsonValue.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "query/Query.hpp"

namespace stereosweep::model::families {

/// What families of a kin have alike: the keys of what all families have, and two parts. "a|b": the first that is there
/// counts. "": no key says it.
struct Kin {
  std::string_view hidden = "hidden_size";
  std::string_view inner = "intermediate_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view positions = "max_position_embeddings";
  std::string_view norm_epsilon = "layer_norm_eps";
  std::string_view activation = "hidden_act";
  std::string_view key_heads = {};
  std::string_view head_width = {};
  NormKind norm = NormKind::layer;
  bool gated = false;
};

/// What counts where config.json says nothing: transformers' defaults.
struct Usual {
  std::int64_t vocabulary;
  std::int64_t hidden;
  std::int64_t inner;  ///< 0: four times hidden
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t positions;
  double norm_epsilon;
  const char* activation;
  bool tied;
  std::int64_t key_heads = 0;   ///< 0: as many as heads
  std::int64_t head_width = 0;  ///< 0: hidden / heads
};

/// One row: what is read as in other families, and `set` for all that is not.
template <class Specification>
struct Family {
  std::string_view model_type;
  Kin kin;
  Usual usual;
  void (*set)(const base::JsonValue& fields, Specification& specification);
  std::optional<query::TokenId> end_token = std::nullopt;  ///< that transformers takes where no file names one
  /// The object of config.json that describes it, but for tied matrices; null: all of it.
  const char* part = nullptr;
};
using CausalFamily = Family<CausalSpecification>;
using MaskedFamily = Family<MaskedSpecification>;

/// A table for each kin of families.
std::span<const CausalFamily> gpt_families();
std::span<const CausalFamily> llama_families();
std::span<const MaskedFamily> bert_families();

/// Refuses what no family may have (cross-attention, pruned heads, weights quantized in ways that are not read, the
/// other kind's direction of attention), heads that do not divide the width, and more than 4096 layers or heads.
/// attention_scale = 1 / sqrt(head_width). A kin without a key for the width of heads refuses another head_dim.
CausalSpecification read_family(const base::JsonValue& whole, const CausalFamily& family);
/// The same; both activations are alike.
MaskedSpecification read_family(const base::JsonValue& fields, const MaskedFamily& family);

/// The first of these keys, "a|b", that is there, else the first of all.
base::JsonValue first_of(const base::JsonValue& fields, std::string_view keys);

/// Refuses a head_dim that is not hidden / num_heads: these families have no other, and transformers takes it for the
/// angles alone.
void refuse_other_head_width(const base::JsonValue& fields, const BodySettings& specification);
/// 1 / sqrt(width) in double, rounded once.
float inverse_root(double width);

/// attention_bias: of all four matrices of attention.
void set_attention_bias(const base::JsonValue& fields, BodySettings& specification);

/// A number whose null means "none", as 0 does here.
std::int64_t size_or_none(const base::JsonValue& value, std::int64_t otherwise);

/// num_key_heads must divide num_heads.
void set_key_heads(const base::JsonValue& field, std::int64_t count, BodySettings& specification);

/// The activation by the name that transformers gives it.
Activation read_activation(const base::JsonValue& name, const char* otherwise);

/// A window (0: none) for each layer that layer_types calls sliding_attention.
void set_layer_types(const base::JsonValue& fields, std::int64_t window, BodySettings& specification);

}  // namespace stereosweep::model::families
