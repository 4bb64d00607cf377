// The rows of the families, and what their readers share.
#pragma once

#include <cstdint>
#include <initializer_list>
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

struct CausalFamily {
  std::string_view model_type;
  CausalSpecification (*read)(const base::JsonValue& fields);
  std::optional<query::TokenId> end_token;  ///< that transformers takes where no file names one
};

struct MaskedFamily {
  std::string_view model_type;
  MaskedSpecification (*read)(const base::JsonValue& fields);
};

/// A table for each kin of families.
std::span<const CausalFamily> gpt_families();
std::span<const CausalFamily> llama_families();
std::span<const MaskedFamily> bert_families();

/// One size and the names that configurations have for it.
struct SizeKey {
  std::initializer_list<const char*> keys;
  std::int64_t otherwise = 0;
};

/// The first of these keys that is there, else the first of all.
base::JsonValue first_of(const base::JsonValue& fields, std::initializer_list<const char*> keys);

struct Sizes {
  SizeKey vocabulary;
  SizeKey hidden;
  SizeKey layers;
  SizeKey heads;
  SizeKey positions;
};

/// Refuses what no family may have: cross-attention, pruned heads, weights quantized in ways that are not read.
void refuse_variants(const base::JsonValue& fields);

/// Keys of an encoder, and what they are where config.json leaves them out.
struct EncoderDefaults {
  std::int64_t vocabulary = 30522;
  std::int64_t hidden = 768;
  std::int64_t inner = 3072;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t positions = 512;
  const char* activation = "gelu";
  const char* hidden_key = "hidden_size";
  const char* inner_key = "intermediate_size";
  const char* layers_key = "num_hidden_layers";
  const char* heads_key = "num_attention_heads";
  const char* activation_key = "hidden_act";
};

/// Sizes, both activations and whether the decoder is tied; names.layers is NAME 0., NAME 1., ... Refuses variants,
/// decoders, heads that do not divide the width, and more than 4096 layers or heads.
MaskedSpecification read_encoder(const base::JsonValue& fields, const EncoderDefaults& defaults,
                                 const std::string& layer_name);

/// Vocabulary, hidden, num_heads (= num_key_heads), max_tokens and plain layers. Refuses variants, and
/// more than 4096 layers or heads.
CausalSpecification read_sizes(const base::JsonValue& fields, const Sizes& sizes);

/// head_width = hidden / num_heads, which must divide; attention_scale = 1 / sqrt(head_width). Refuses another
/// head_dim.
void set_head_width(const base::JsonValue& fields, const Sizes& sizes, CausalSpecification& specification);
/// Refuses a head_dim that is not hidden / num_heads: these families have no other, and transformers takes it for the
/// angles alone.
void refuse_other_head_width(const base::JsonValue& fields, const BodySettings& specification);
/// 1 / sqrt(width) in double, rounded once.
float inverse_root(double width);

/// num_key_heads must divide num_heads.
void set_key_heads(const base::JsonValue& field, std::int64_t count, BodySettings& specification);

/// The activation by the name that transformers gives it.
Activation read_activation(const base::JsonValue& fields, const char* key, const char* otherwise);

/// 2^-(8 i / n) for n heads where n is a power of two; the others continue with every second one of 2 n. By torch's own
/// power. (source: press2022, their code)
std::vector<float> alibi_slopes(std::int64_t heads);

/// A window (0: none) for each layer that layer_types calls sliding_attention.
void set_layer_types(const base::JsonValue& fields, std::int64_t window, BodySettings& specification);

/// Every layer sees `window` tokens (0: all).
void set_window(std::int64_t window, CausalSpecification& specification);

}  // namespace stereosweep::model::families
