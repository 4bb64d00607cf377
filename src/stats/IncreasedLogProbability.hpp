// Association of a group with a word, from raw numbers: every variant that papers or published code use, by name.
// All scores are in nat; a higher score is a stronger association. Score = number(group) - number(prior), except that
// each side is first folded over the word's subwords as the variant says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace stereosweep::stats {

/// ilps_first           ln p of the first subword (Kurita et al. 2019 §2; cao2022 §3.1 and its base_ilps.py)
/// ilps_last            ln p of the last subword (cao2022 §3.2: released code takes "the first or the last")
/// ilps_chain           sum of ln p over subwords, left to right (cao2022 §3.2: ILPS* by the chain rule)
/// ilps_star            the same with each step renormalised (mod_ilps.py): the first by the mass of word-initial
///                      tokens, later ones by the mass of continuation tokens
/// set_code_*           min over subwords of ln(1 - D) (quick_set.py; D: Frobenius norm of the least change of the
///                      decoder)
/// set_paper_*          max over subwords of -ln(D^2): the easiest subword (cao2022 §3.1 and §3.2: "the maximum SeT
///                      score")
/// set_hardest_*        min over subwords of -ln(D^2): the hardest subword, a lower bound of what must change for the
///                      word to win, which is what cao2022 §3.2 means its maximum to be
/// *_augmented          the decoder's bias is one more column and may change (quick_set.py)
/// *_plain              the bias is fixed and left out (cao2022 §3.1: l = A h)
enum class Measure : std::uint8_t {
  ilps_first,
  ilps_last,
  ilps_chain,
  ilps_star,
  set_code_augmented,
  set_code_plain,
  set_paper_augmented,
  set_paper_plain,
  set_hardest_augmented,
  set_hardest_plain,
};

constexpr std::size_t num_measures = 10;

std::string_view name_of(Measure measure);
/// One sentence for tables and files.
std::string_view description_of(Measure measure);

/// Why a score does not exist. The group's reason wins over the prior's.
enum class ScoreStatus : std::uint8_t {
  ok = 0,
  group_not_scored = 1,             ///< a raw number is absent or NaN (unknown token, not certified, not scored)
  prior_not_scored = 2,             ///< the same on the prior's side
  group_distance_at_least_one = 3,  ///< ln(1 - D) does not exist: published code gives NaN there
  prior_distance_at_least_one = 4,
  group_distance_zero = 5,  ///< ln(D^2) does not exist: the word already wins
  prior_distance_zero = 6,
  group_infinite = 7,  ///< the logarithm of a probability of 0
  prior_infinite = 8,
};

constexpr std::array<std::string_view, 9> score_status_names = {
    "ok",
    "group_not_scored",
    "prior_not_scored",
    "group_distance_at_least_one",
    "prior_distance_at_least_one",
    "group_distance_zero",
    "prior_distance_zero",
    "group_infinite",
    "prior_infinite",
};

/// Raw numbers of one word in one sentence, each over the word's subwords; empty where a measure was not taken.
struct WordNumbers {
  std::span<const double> logprob;                ///< nat
  std::span<const double> log_mass_initial;       ///< nat
  std::span<const double> log_mass_continuation;  ///< nat
  std::span<const double> distance_bias;          ///< 1
  std::span<const double> distance_plain;         ///< 1
};

struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< nat; infinite where the status says so
  ScoreStatus status = ScoreStatus::group_not_scored;
};

/// One side of a score: the number folded over the subwords. Its status is one of the group's.
Score fold_subwords(Measure measure, const WordNumbers& numbers);

/// Difference of two folded sides.
Score association(const Score& group, const Score& prior);

}  // namespace stereosweep::stats
