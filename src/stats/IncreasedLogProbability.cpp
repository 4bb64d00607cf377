#include "stats/IncreasedLogProbability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

namespace {

struct MeasureTexts {
  std::string_view name;
  std::string_view description;
};

/// In the order of Measure.
constexpr std::array<MeasureTexts, all_measures.size()> measure_texts = {{
    {"ilps_first", "log-probability of the first subword, minus the prior's"},
    {"ilps_last", "log-probability of the last subword, minus the prior's"},
    {"ilps_chain", "sum of the subwords' log-probabilities, minus the prior's"},
    {"ilps_star", "as ilps_chain, each step renormalised over word-initial or continuation tokens (published code)"},
    {"set_code_augmented",
     "ln(1 - D) at the hardest subword, minus the prior's; the decoder's bias may change (published code)"},
    {"set_code_plain", "ln(1 - D) at the hardest subword, minus the prior's; the decoder's bias is left out"},
    {"set_paper_augmented", "-ln(D^2) at the easiest subword, minus the prior's; the decoder's bias may change"},
    {"set_paper_plain", "-ln(D^2) at the easiest subword, minus the prior's; the decoder's bias is left out (paper)"},
    {"set_hardest_augmented", "-ln(D^2) at the hardest subword, minus the prior's; the decoder's bias may change"},
    {"set_hardest_plain", "-ln(D^2) at the hardest subword, minus the prior's; the decoder's bias is left out"},
}};

const MeasureTexts& texts_of(Measure measure) { return measure_texts.at(static_cast<std::size_t>(measure)); }

Score scored(double value) {
  return std::isfinite(value) ? Score{value, ScoreStatus::ok}
         : std::isinf(value)  ? Score{value, ScoreStatus::group_infinite}
                              : Score{.status = ScoreStatus::group_not_scored};
}

Score chain(std::span<const double> logprob) { return scored(std::accumulate(logprob.begin(), logprob.end(), 0.0)); }

Score renormalised_chain(const WordNumbers& numbers) {
  const auto length = numbers.logprob.size();
  if (numbers.log_mass_initial.size() != length || numbers.log_mass_continuation.size() != length) {
    return {};
  }
  double sum = 0;
  for (std::size_t index = 0; index < length; ++index) {
    sum +=
        numbers.logprob[index] - (index == 0 ? numbers.log_mass_initial[index] : numbers.log_mass_continuation[index]);
  }
  return scored(sum);
}

Score set_as_published_code(std::span<const double> distances) {
  if (distances.empty() || !all_finite(distances)) {
    return {};
  }
  const auto largest = *std::max_element(distances.begin(), distances.end());
  if (largest >= 1) {
    return {.status = ScoreStatus::group_distance_at_least_one};
  }
  return scored(std::log1p(-largest));
}

enum class Subword { easiest, hardest };

Score logarithm_of_set(std::span<const double> distances, Subword subword) {
  if (distances.empty() || !all_finite(distances)) {
    return {};
  }
  const auto [smallest, largest] = std::ranges::minmax(distances);
  const auto distance = subword == Subword::easiest ? smallest : largest;
  if (distance <= 0) {
    return {.status = ScoreStatus::group_distance_zero};
  }
  return scored(-2 * std::log(distance));
}

ScoreStatus as_prior(ScoreStatus group_status) {
  switch (group_status) {
    case ScoreStatus::group_distance_at_least_one:
      return ScoreStatus::prior_distance_at_least_one;
    case ScoreStatus::group_distance_zero:
      return ScoreStatus::prior_distance_zero;
    case ScoreStatus::group_infinite:
      return ScoreStatus::prior_infinite;
    case ScoreStatus::ok:
      return ScoreStatus::ok;
    default:
      return ScoreStatus::prior_not_scored;
  }
}

}  // namespace

std::string_view name_of(Measure measure) { return texts_of(measure).name; }

std::string_view description_of(Measure measure) { return texts_of(measure).description; }

Score fold_subwords(Measure measure, const WordNumbers& numbers) {
  switch (measure) {
    case Measure::ilps_first:
      return numbers.logprob.empty() ? Score{} : scored(numbers.logprob.front());
    case Measure::ilps_last:
      return numbers.logprob.empty() ? Score{} : scored(numbers.logprob.back());
    case Measure::ilps_chain:
      return numbers.logprob.empty() ? Score{} : chain(numbers.logprob);
    case Measure::ilps_star:
      return numbers.logprob.empty() ? Score{} : renormalised_chain(numbers);
    case Measure::set_code_augmented:
      return set_as_published_code(numbers.distance_bias);
    case Measure::set_code_plain:
      return set_as_published_code(numbers.distance_plain);
    case Measure::set_paper_augmented:
      return logarithm_of_set(numbers.distance_bias, Subword::easiest);
    case Measure::set_paper_plain:
      return logarithm_of_set(numbers.distance_plain, Subword::easiest);
    case Measure::set_hardest_augmented:
      return logarithm_of_set(numbers.distance_bias, Subword::hardest);
    case Measure::set_hardest_plain:
      break;
  }
  return logarithm_of_set(numbers.distance_plain, Subword::hardest);
}

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
