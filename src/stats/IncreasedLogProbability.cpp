#include "stats/IncreasedLogProbability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

namespace {

Score scored(double value) {
  return std::isfinite(value) ? Score{value, ScoreStatus::ok}
         : std::isinf(value)  ? Score{value, ScoreStatus::group_infinite}
                              : Score{.status = ScoreStatus::group_not_scored};
}

Score chain(const WordNumbers& numbers) {
  return numbers.logprob.empty() ? Score{}
                                 : scored(std::accumulate(numbers.logprob.begin(), numbers.logprob.end(), 0.0));
}

Score renormalised_chain(const WordNumbers& numbers) {
  const auto length = numbers.logprob.size();
  if (length == 0 || numbers.log_mass_initial.size() != length || numbers.log_mass_continuation.size() != length) {
    return {};
  }
  double sum = 0;
  for (std::size_t index = 0; index < length; ++index) {
    sum +=
        numbers.logprob[index] - (index == 0 ? numbers.log_mass_initial[index] : numbers.log_mass_continuation[index]);
  }
  return scored(sum);
}

using Distances = std::span<const double> WordNumbers::*;
constexpr Distances bias = &WordNumbers::distance_bias;
constexpr Distances plain = &WordNumbers::distance_plain;

enum class SetRule { published_code, easiest, hardest };

template <Distances kind, SetRule rule>
Score set_score(const WordNumbers& numbers) {
  const auto distances = numbers.*kind;
  if (distances.empty() || !all_finite(distances)) {
    return {};
  }
  const auto [smallest, largest] = std::ranges::minmax(distances);
  if (rule == SetRule::published_code) {
    return largest >= 1 ? Score{.status = ScoreStatus::group_distance_at_least_one} : scored(std::log1p(-largest));
  }
  const auto distance = rule == SetRule::easiest ? smallest : largest;
  return distance <= 0 ? Score{.status = ScoreStatus::group_distance_zero} : scored(-2 * std::log(distance));
}

struct MeasureRow {
  std::string_view name;
  std::string_view description;
  Score (*fold)(const WordNumbers& numbers);
};

/// In the order of Measure.
constexpr std::array<MeasureRow, num_measures> measure_rows = {{
    {"ilps_first", "log-probability of the first subword, minus the prior's",
     [](const WordNumbers& numbers) { return numbers.logprob.empty() ? Score{} : scored(numbers.logprob.front()); }},
    {"ilps_last", "log-probability of the last subword, minus the prior's",
     [](const WordNumbers& numbers) { return numbers.logprob.empty() ? Score{} : scored(numbers.logprob.back()); }},
    {"ilps_chain", "sum of the subwords' log-probabilities, minus the prior's", chain},
    {"ilps_star", "as ilps_chain, each step renormalised over word-initial or continuation tokens (published code)",
     renormalised_chain},
    {"set_code_augmented",
     "ln(1 - D) at the hardest subword, minus the prior's; the decoder's bias may change (published code)",
     set_score<bias, SetRule::published_code>},
    {"set_code_plain", "ln(1 - D) at the hardest subword, minus the prior's; the decoder's bias is left out",
     set_score<plain, SetRule::published_code>},
    {"set_paper_augmented", "-ln(D^2) at the easiest subword, minus the prior's; the decoder's bias may change",
     set_score<bias, SetRule::easiest>},
    {"set_paper_plain", "-ln(D^2) at the easiest subword, minus the prior's; the decoder's bias is left out (paper)",
     set_score<plain, SetRule::easiest>},
    {"set_hardest_augmented", "-ln(D^2) at the hardest subword, minus the prior's; the decoder's bias may change",
     set_score<bias, SetRule::hardest>},
    {"set_hardest_plain", "-ln(D^2) at the hardest subword, minus the prior's; the decoder's bias is left out",
     set_score<plain, SetRule::hardest>},
}};

const MeasureRow& row_of(Measure measure) { return measure_rows.at(static_cast<std::size_t>(measure)); }

/// The reasons of both sides alternate.
ScoreStatus as_prior(ScoreStatus group_status) {
  static_assert(static_cast<int>(ScoreStatus::prior_infinite) == static_cast<int>(ScoreStatus::group_infinite) + 1);
  return static_cast<ScoreStatus>(static_cast<int>(group_status) + 1);
}

}  // namespace

std::string_view name_of(Measure measure) { return row_of(measure).name; }

std::string_view description_of(Measure measure) { return row_of(measure).description; }

Score fold_subwords(Measure measure, const WordNumbers& numbers) { return row_of(measure).fold(numbers); }

Score association(const Score& group, const Score& prior) {
  const double difference = group.value - prior.value;  // of an infinite side infinite, of two NaN
  if (group.status != ScoreStatus::ok) {
    return {difference, group.status};
  }
  if (prior.status != ScoreStatus::ok) {
    return {difference, as_prior(prior.status)};
  }
  return scored(difference);
}

}  // namespace stereosweep::stats
