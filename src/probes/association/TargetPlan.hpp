// What has to be asked for a list of words at one place: their subwords where they stand, the chains of these with each
// distinct prefix once, and a cache of such plans, for a sweep has millions of contexts but few neighbourhoods.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files/Sha256.hpp"
#include "probes/association/Association.hpp"
#include "sweep/Job.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes::association {

/// Text around the place of a word.
struct Surroundings {
  std::string before;
  std::string after;
  bool operator==(const Surroundings&) const = default;
};

/// Why a cell's numbers are what they are, in order of severity: a cell gets the largest. Up to `set_not_certified` its
/// log-probabilities are good.
enum class CellStatus : std::uint8_t {
  ok,
  set_distance_reaches_one,
  set_not_certified,
  no_form,
  unknown_token,  ///< a piece is the unknown token
  joins,          ///< the tokens around the word are not those around a mask: a token covers it and a neighbour
  no_tokens,      ///< the tokenizer makes nothing of the word
  too_many_subwords,
  too_long,
  not_finite,
  engine_error,
};
/// Names in the order of CellStatus, as the status cube's flag meanings.
inline const std::vector<std::string> cell_status_names = {
    "ok",        "set_distance_reaches_one", "set_not_certified", "no_form",    "unknown_token", "joins",
    "no_tokens", "too_many_subwords",        "too_long",          "not_finite", "engine_error"};

struct WordPieces {
  std::vector<query::TokenId> ids;
  CellStatus status = CellStatus::ok;  ///< else unknown_token, joins or no_tokens
  bool operator==(const WordPieces&) const = default;
};

/// Finds words between `surroundings` (copied). `tokenizer` must outlive it and have a mask token.
class WordLocator {
 public:
  WordLocator(const tokenizer::Tokenizer& tokenizer, Surroundings surroundings);
  WordPieces locate(std::string_view word) const;

 private:
  const tokenizer::Tokenizer& tokenizer_;
  Surroundings surroundings_;
  std::vector<query::TokenId> ids_before_;  ///< around one mask
  std::vector<query::TokenId> ids_after_;
};

/// The part of the surroundings that decides a word's ids where tokenizers split at white space (WordPiece, byte-level
/// BPE): what is glued to the word, the white space before it and the one character (or mask token) before that.
Surroundings neighbourhood(const Surroundings& surroundings, std::string_view mask_token);

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

/// How the words of a place are written: as listed, or with a capital at the start of a sentence.
enum class WordCase : std::uint8_t { as_listed, capitalised };

/// Safe to use from several threads. Answers are a function of the arguments alone; the cache only saves time.
class PlanCache {
 public:
  /// `tokenizer` must outlive it.
  PlanCache(const tokenizer::Tokenizer& tokenizer, std::vector<std::string> words, const Measures& measures,
            std::uint32_t max_subwords);
  std::shared_ptr<const TargetPlan> find(const Surroundings& surroundings, WordCase word_case) const;
  /// Pieces of every word at a place, always tokenized anew (audits).
  std::vector<WordPieces> pieces(const Surroundings& surroundings, WordCase word_case) const;
  const std::vector<std::string>& words(WordCase word_case) const;
  std::uint32_t max_subwords() const { return max_subwords_; }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  std::string mask_token_;
  std::vector<std::string> words_;
  std::vector<std::string> capitalised_;
  Measures measures_;
  std::uint32_t max_subwords_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const TargetPlan>> plans_;  ///< null: not local
};

}  // namespace stereosweep::probes::association
