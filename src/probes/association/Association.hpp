// What an association job needs besides model and execution (cao2022): axes, measures, priors, statistics.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::probes::association {

/// What an association job measures. All raw numbers of a measure are kept; variants are derived later.
enum class Measure : std::uint8_t {
  ilps,       ///< log-probability of the first and of the last subword
  ilps_star,  ///< chain over subwords, with the class masses
  set,        ///< sensitivity test: distance of the decoder that makes the word win
};
inline const std::vector<std::string> measure_names = {"ilps", "ilps_star", "set"};
using Measures = std::vector<Measure>;

/// Read by `stats` only: no change here invalidates a score.
struct Statistics {
  enum class Aggregate { median, mean };
  Aggregate word_aggregate = Aggregate::median;  ///< over the words of a pole
  std::string human_ratings;                     ///< path of a table of human means; empty: none
  /// Name in the table (group, pair or pole) -> our label, where spelling rules do not find it.
  std::vector<std::pair<std::string, std::string>> rating_aliases;
  std::vector<std::string> templates;  ///< labels whose scores count; empty: all
  bool operator==(const Statistics&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("word_aggregate", self.word_aggregate, {"median", "mean"}, "over the words of a pole");
    ratings_key(keys, self.human_ratings, self.rating_aliases);
    keys.unless_default().lines("templates", self.templates, config::Emptiness::refused, "labels whose scores count");
  }
};

/// What the job's language says of the generic word; a group table or the job may say something else.
void take_generic_word(const config::LanguageTable& language, sweep::Priors& priors);

/// {word: false, [singular, plural] or {singular, plural, article, gender}, mask: true}.
void priors_key(config::Fields& keys, sweep::Priors& priors);
void priors_key(config::ShownKeys& keys, const sweep::Priors& priors);

struct Association {
  static constexpr const char* probe_name = "association";
  sweep::Axes axes;
  Measures measures = {Measure::ilps, Measure::ilps_star, Measure::set};  ///< ascending
  sweep::Priors priors;
  std::optional<sweep::Design> design = std::nullopt;  ///< nothing: all is asked
  Statistics statistics;
  bool operator==(const Association&) const = default;
  static void each_key(auto& self, auto& keys) {
    if constexpr (std::same_as<decltype(keys), config::Fields&>) {
      take_generic_word(keys.pieces().language(), self.priors);
    }
    keys.needed().told_by_block().nested("axes", [&](auto& axes) {
      axes_keys(axes, self.axes, self.priors);
      config::design_key(axes, self.design);
    });
    keys.choices("measures", self.measures, measure_names, "what is measured; else all of them");
    priors_key(keys, self.priors);
  }
  static bool draws() { return false; }
  static bool needs_model() { return true; }
};

/// Reports what no single key can tell.
void check_settings(const config::ProbeReading& job, Association& settings);

/// The probe for the rest of the program.
const config::ProbeFormat& association_kind();

}  // namespace stereosweep::probes::association
