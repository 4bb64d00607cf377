// What an association job needs besides model and execution (cao2022): axes, measures, priors, statistics.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::findings {
struct RatingNames;
}
namespace stereosweep::probes {
class ProbeKind;
}

namespace stereosweep::probes::association {

/// What an association job measures. All raw numbers of a measure are kept; variants are derived later.
struct Measures {
  bool ilps = true;       ///< log-probability of the first and of the last subword
  bool ilps_star = true;  ///< chain over subwords, with the class masses
  bool set = true;        ///< sensitivity test: distance of the decoder that makes the word win
  bool operator==(const Measures&) const = default;
};

/// Read by `stats` only: no change here invalidates a score.
struct Statistics {
  enum class Aggregate { median, mean };
  Aggregate word_aggregate = Aggregate::median;  ///< over the words of a pole
  std::string human_ratings;                     ///< path of a table of human means; empty: none
  /// Name in the table (group, pair or pole) -> our label, where spelling rules do not find it.
  std::vector<std::pair<std::string, std::string>> rating_aliases;
  std::vector<std::string> templates;  ///< labels to average over; empty: all
  bool operator==(const Statistics&) const = default;
};

struct Association {
  static constexpr const char* probe_name = "association";
  sweep::Axes axes;
  Measures measures;
  sweep::Priors priors;
  Statistics statistics;
  bool operator==(const Association&) const = default;
  static bool draws() { return false; }
  static bool needs_model() { return true; }
};

/// Keys of the job that are this probe's, in the order of a dump; `statistics` is the last.
std::vector<std::string> setting_names();
/// Reads them all; faults go to the report, and the result is then incomplete.
Association read_settings(const config::ProbeReading& job);
/// What a dump says of one of them.
config::Node dump_setting(const Association& settings, std::string_view name);

/// The probe for the rest of the program.
const ProbeKind& association_kind();
/// What the rows of `statistics.human_ratings` are held against.
findings::RatingNames rating_names(const sweep::Job& job);

}  // namespace stereosweep::probes::association
