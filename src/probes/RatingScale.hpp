// Scales that a job asks ratings on: whole numbers, or options in words. How they are written, read and described.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::probes {

/// One answer of a scale.
struct RatingOption {
  std::string text;
  double value = 0;
  std::string note = {};  ///< stands in brackets behind the text where options are listed: "1 (not at all)"
  bool operator==(const RatingOption&) const = default;
};

/// Whole numbers, with notes at the ends.
struct NumberScale {
  std::int64_t from = 1;
  std::int64_t to = 5;
  std::string low = {};
  std::string high = {};
  bool operator==(const NumberScale&) const = default;
  /// Each number, the first one first.
  std::vector<RatingOption> numbers() const;
  static constexpr const char* key_form = "{from: 1, to: 5, low: not at all, high: extremely}";
  static void each_key(auto& self, auto& keys) {
    keys.needed().integer("from", self.from, -1000, 1000);
    keys.needed().integer("to", self.to, -1000, 1000);
    keys.line("low", self.low, "what the lowest number means");
    keys.line("high", self.high, "what the highest number means");
  }
};

/// The mapping of a scale of numbers, of this type or one that has more keys.
template <class Scale>
void read_numbers(const config::Node& node, const std::string& key, base::Problems& problems, Scale& scale) {
  config::read_fields(node, key, problems, scale, Scale::key_form);
  config::check_surface(node, key + ".low", scale.low, problems);
  config::check_surface(node, key + ".high", scale.high, problems);
}
/// A list of options: [very, 4], a plain number, or {text: very, value: 4, note: ...}.
std::vector<RatingOption> read_options(const config::Node& node, const std::string& key, base::Problems& problems);
void check_num_options(const base::Place& place, std::size_t count, base::Problems& problems);
config::Node dump_options(const std::vector<RatingOption>& options);
/// Of either form; `numbers`: gives the schema of the mapping.
base::Json scale_schema(base::Json (*numbers)());

}  // namespace stereosweep::probes
