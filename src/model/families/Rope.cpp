#include "model/families/Rope.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/Lists.hpp"

namespace stereosweep::model::families {
namespace {

// rope_scaling counts before rope_parameters, unless it is empty.
base::JsonValue rope_object(const base::JsonValue& fields) {
  const auto scaling = fields["rope_scaling"];
  return scaling && !scaling.object().empty() ? scaling : fields["rope_parameters"];
}

// theta^(2 i / dimensions) for i = 0, 1, ...: torch's own power, so that all bits are those of transformers.
std::vector<float> wavelengths(double theta, std::int64_t dimensions) {
  const c10::InferenceMode guard;
  const auto exponents = at::arange(0, dimensions, 2, at::TensorOptions(at::kFloat)).div(dimensions);
  const auto powers = at::pow(at::Scalar(theta), exponents);
  const auto* numbers = powers.const_data_ptr<float>();
  return {numbers, numbers + powers.numel()};
}

// Scales the frequencies of one object `rope` of config.json.
struct RopeReader {
  const base::JsonValue& fields;
  const base::JsonValue& rope;
  double theta;
  std::int64_t dimensions;
  const RopeDefaults& defaults;
  BodySettings& specification;

  void scale(const std::string& type, Rotary& rotary) {
    if (type == "linear") {
      const auto factor = static_cast<float>(needed("factor"));
      for (auto& frequency : rotary.inverse_frequencies) {
        frequency /= factor;
      }
    } else if (type == "dynamic") {
      needed("factor");  // changes nothing up to max_position_embeddings, and longer texts are refused
    } else if (type == "llama3") {
      scale_llama3(rotary);
    } else if (type == "yarn") {
      scale_yarn(rotary);
    } else if (type == "longrope" || type == "su") {
      scale_longrope(rotary);
    } else if (type != "default") {
      rope["rope_type"].refuse("\"" + type + "\" is not supported",
                               "default, linear, dynamic, llama3, yarn and longrope are");
    }
  }

  double needed(const char* key) const {
    rope[key].refuse_if(!rope[key], "is missing", "this rope_type needs it");
    return rope[key].positive();
  }

  std::int64_t original_positions() const {
    const auto inner = rope["original_max_position_embeddings"].size_or(
        defaults.original_positions > 0 ? defaults.original_positions : specification.max_tokens);
    return fields["original_max_position_embeddings"].size_or(
        defaults.original_positions > 0 ? defaults.original_positions : inner);
  }

  void scale_llama3(Rotary& rotary) const {
    const auto factor = static_cast<float>(needed("factor"));
    const auto low = needed("low_freq_factor");
    const auto high = needed("high_freq_factor");
    rope["high_freq_factor"].refuse_if(high <= low, rope["high_freq_factor"].json().dump(),
                                       "it must be above low_freq_factor");
    const auto length = static_cast<double>(original_positions());
    for (auto& frequency : rotary.inverse_frequencies) {
      const auto wave = static_cast<float>(2 * std::numbers::pi) / frequency;
      if (wave > static_cast<float>(length / low)) {
        frequency /= factor;
      } else if (!(wave < static_cast<float>(length / high))) {
        const auto smooth =
            (static_cast<float>(length) / wave - static_cast<float>(low)) / static_cast<float>(high - low);
        frequency = (1 - smooth) * frequency / factor + smooth * frequency;
      }
    }
  }

  void scale_yarn(Rotary& rotary) const {
    // transformers rounds an odd part up here and down there, and fits the two together by chance.
    rope["rope_type"].refuse_if(dimensions % 2 != 0, std::to_string(dimensions) + " numbers of a head turn",
                                "yarn needs an even number");
    const auto original = static_cast<double>(original_positions());
    const auto factor = rope["factor"].positive_or(static_cast<double>(specification.max_tokens) / original);
    const auto magnitude = [&](double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; };
    const bool both = rope["mscale"] && rope["mscale_all_dim"];
    const auto usual = both
                           ? magnitude(rope["mscale"].positive_or(1)) / magnitude(rope["mscale_all_dim"].positive_or(1))
                           : magnitude(1);
    rotary.scaling = static_cast<float>(rope["attention_factor"].positive_or(usual));
    const auto width = static_cast<double>(dimensions);
    const auto border = [&](double turns) {
      return width * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
    };
    auto low = border(rope["beta_fast"].positive_or(32));
    auto high = border(rope["beta_slow"].positive_or(1));
    if (rope["truncate"].flag_or(true)) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, width - 1);
    high += low == high ? 0.001 : 0;
    for (std::size_t i = 0; i < rotary.inverse_frequencies.size(); ++i) {
      auto& frequency = rotary.inverse_frequencies[i];
      const auto ramp =
          std::clamp((static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0F, 1.0F);
      const auto kept = 1 - ramp;
      frequency = frequency / static_cast<float>(factor) * (1 - kept) + frequency * kept;
    }
  }

  void scale_longrope(Rotary& rotary) {
    const auto original = original_positions();
    const auto factor =
        rope["factor"].positive_or(static_cast<double>(specification.max_tokens) / static_cast<double>(original));
    const auto usual = factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original)));
    rotary.scaling = static_cast<float>(rope["attention_factor"].positive_or(usual));
    const auto factors = base::mapped(rope["short_factor"].items(), &base::JsonValue::positive);
    for (const auto* key : {"short_factor", "long_factor"}) {
      const auto count = base::mapped(rope[key].items(), &base::JsonValue::positive).size();
      rope[key].refuse_if(
          count != rotary.inverse_frequencies.size(), std::to_string(count) + " numbers",
          std::to_string(rotary.inverse_frequencies.size()) + " are needed, one for each pair that turns");
    }
    const auto waves = wavelengths(theta, dimensions);
    for (std::size_t i = 0; i < waves.size(); ++i) {
      rotary.inverse_frequencies[i] = 1 / (static_cast<float>(factors[i]) * waves[i]);
    }
    specification.max_tokens = std::min(specification.max_tokens, original);
  }
};

double read_part(const base::JsonValue& fields, const base::JsonValue& rope, const RopeDefaults& defaults) {
  const auto inner = rope["partial_rotary_factor"];
  const auto given = inner ? inner : fields[defaults.part_key];
  const auto part = given.positive_or(defaults.part);
  if (part > 1 || (part < 1 && defaults.partial == PartialRotary::refused)) {
    given.refuse(std::to_string(part), defaults.partial == PartialRotary::refused
                                           ? "all of a head turns in this family"
                                           : "a part of a head is needed, at most 1");
  }
  return part;
}

}  // namespace

Rotary read_plain_rotary(const base::JsonValue& fields, const char* key, std::int64_t dimensions, double theta,
                         const BodySettings& specification) {
  Rotary rotary;
  rotary.width = dimensions + dimensions % 2;  // an odd part is rounded up
  fields[key].refuse_if(rotary.width < 2 || rotary.width > specification.head_width,
                        std::to_string(dimensions) + " numbers of a head turn",
                        "pairs turn, and a head has " + std::to_string(specification.head_width) + " numbers");
  for (const auto wave : wavelengths(theta, dimensions)) {
    rotary.inverse_frequencies.push_back(1 / wave);
  }
  return rotary;
}

Rotary read_rotary_object(const base::JsonValue& fields, const base::JsonValue& rope, double theta,
                          const RopeDefaults& defaults, BodySettings& specification) {
  const auto& object = rope ? rope : fields;
  for (const auto* key : {"full_attention", "sliding_attention"}) {
    if (const auto own = object[key]) {
      own.refuse("is not supported", "all layers of this family turn alike");
    }
  }
  theta = rope["rope_theta"].positive_or(theta);
  const auto width = static_cast<double>(specification.head_width);
  const auto dimensions = static_cast<std::int64_t>(width * read_part(fields, rope, defaults));
  fields[defaults.part_key].refuse_if(dimensions % 2 != 0 && defaults.partial == PartialRotary::even,
                                      std::to_string(dimensions) + " numbers of a head turn",
                                      "pairs turn in this family");
  auto rotary = read_plain_rotary(fields, defaults.part_key, dimensions, theta, specification);
  auto type = rope["rope_type"].text_or(rope["type"].text_or("default"));
  type = type == "yarn" ? defaults.yarn : type;
  RopeReader{fields, object, theta, dimensions, defaults, specification}.scale(type, rotary);
  const auto finite = [](float number) { return std::isfinite(number); };
  object["rope_theta"].refuse_if(
      !std::all_of(rotary.inverse_frequencies.begin(), rotary.inverse_frequencies.end(), finite) ||
          !std::isfinite(rotary.scaling),
      std::to_string(theta), "with these settings a frequency is no finite number");
  return rotary;
}

void read_rotary(const base::JsonValue& fields, const RopeDefaults& defaults, BodySettings& specification) {
  specification.rotaries = {read_rotary_object(
      fields, rope_object(fields), fields[defaults.theta_key].positive_or(defaults.theta), defaults, specification)};
}

}  // namespace stereosweep::model::families
