// What has to be asked for a list of words at one place: the chains of their subwords, each distinct prefix once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/Sha256.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/WordPieces.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::association {

/// Why a cell's numbers are what they are, in order of severity: a cell gets the largest. Up to `set_not_certified` its
/// log-probabilities are good.
enum class CellStatus : std::uint8_t {
  ok,
  set_distance_reaches_one,
  set_not_certified,
  no_form,
  unknown_token,
  joins,
  no_tokens,
  too_many_subwords,
  too_long,
  not_finite,
  engine_error,
};
/// Names in the order of CellStatus, as the status cube's flag meanings.
const std::vector<std::string>& cell_status_names();

/// A text with `num_masks` masks in the word's place, the first ones filled with `prefix`, numbers wanted at the next.
struct Ask {
  std::uint32_t num_masks = 0;
  std::vector<query::TokenId> prefix;
  std::vector<query::TokenId> targets;  ///< distinct
};

/// Where the number of one subword comes from.
struct Place {
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  ///< no measure needs it
  std::uint32_t ask = nowhere;
  std::uint32_t target = 0;
};

struct WordTargets {
  CellStatus status = CellStatus::ok;  ///< not ok: nothing is asked
  std::int32_t num_subwords = 0;       ///< as tokenized, also where nothing is asked; 0 unknown
  std::vector<Place> places;           ///< one per subword; empty unless ok
};

/// Asks of one place of the words, ordered by number of masks, length of prefix, prefix.
struct TargetPlan {
  std::vector<Ask> asks;
  std::vector<WordTargets> words;  ///< parallel to the words
  base::Digest digest{};           ///< of everything above
};

/// `max_subwords`: length of the subword axis. ILPS reads the first and the last subword, ILPS* and SeT all of them.
TargetPlan plan_targets(const std::vector<WordPieces>& words, const Measures& measures, std::uint32_t max_subwords);

}  // namespace stereosweep::probes::association
