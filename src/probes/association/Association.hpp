// Association of groups with traits under a masked model: ILPS, ILPS* and SeT (cao2022 §3; definitions: README.md).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/files/Sha256.hpp"
#include "config/ProbeFormat.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "parallel/Communicator.hpp"
#include "probes/PlanText.hpp"
#include "probes/Probe.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/Glossary.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Composer.hpp"
#include "sweep/Job.hpp"
#include "sweep/Subjects.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes::association {

// What a job needs besides model and execution: axes, measures, priors, statistics.

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

// What has to be asked for a list of words at one place: their subwords where they stand, the chains of these with each
// distinct prefix once, and a cache of such plans, for a sweep has millions of contexts but few neighbourhoods.

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

/// Finds words between `surroundings`. `tokenizer` has a mask token.
std::vector<WordPieces> locate(const tokenizer::Tokenizer& tokenizer, const Surroundings& surroundings,
                               const std::vector<std::string>& words);

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
  PlanCache(const tokenizer::Tokenizer& tokenizer, const std::vector<std::string>& words, const Measures& measures,
            std::uint32_t max_subwords);
  std::shared_ptr<const TargetPlan> find(const Surroundings& surroundings, WordCase word_case) const;
  /// Pieces of every word at a place, always tokenized anew (audits).
  std::vector<WordPieces> pieces(const Surroundings& surroundings, WordCase word_case) const;
  const std::vector<std::string>& words(WordCase word_case) const {
    return words_[static_cast<std::size_t>(word_case)];
  }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  std::string mask_token_;
  std::array<std::vector<std::string>, 2> words_;  ///< [WordCase]
  Measures measures_;
  std::uint32_t max_subwords_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const TargetPlan>> plans_;  ///< null: not local
};

/// A word of a pole: one entry of the word axis. A word that stands for two poles has two entries.
struct WordEntry {
  std::string word;
  std::string pole;
  std::string pair;
  std::string dimension;
  std::string side;  ///< "left", "right"
};

/// In the order of the job: pair, left before right, word.
std::vector<WordEntry> list_words(const std::vector<sweep::TraitPair>& traits);

/// Priors, groups and intersections of the job.
sweep::SubjectList list_subjects(const Association& settings);

/// Cubes over [group, template, rephrasing] and [word, subword]: those that the measures ask for.
results::RawSchema association_schema(const Association& settings, const sweep::SubjectList& subjects,
                                      const std::vector<WordEntry>& words, std::uint32_t max_subwords);

/// One context as it is asked. `targets` is null where the subject lacks the form that the template asks for.
struct ContextView {
  Surroundings text;
  WordCase word_case = WordCase::as_listed;
  std::shared_ptr<const TargetPlan> targets;
  std::size_t masks_before = 0;  ///< masks of the group (prior_mask) on either side of the word's
  std::size_t masks_after = 0;
  std::string problem;  ///< why there are no targets
};

/// One round: the subwords that stand before a target are known beforehand, so nothing depends on an answer.
class AssociationProbe final : public Probe {
 public:
  AssociationProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override;
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  /// For audits: what a context is, its masked text, and who stands in it.
  ContextView view(std::uint64_t context) const;
  /// The text that an ask is about: `num_masks` masks in the word's place.
  std::string masked_text(const ContextView& view, std::uint32_t num_masks) const;
  const sweep::SubjectList& subjects() const { return subjects_; }
  const std::vector<WordEntry>& words() const { return words_; }
  const PlanCache& plans() const { return *plans_; }

 private:
  ContextView view_of(const sweep::Subject& subject, const sweep::Template& sentence,
                      const sweep::Rephrasing& rephrasing) const;
  std::uint32_t longest_word() const;
  /// Throws std::logic_error if its shape is not what was asked.
  const query::SlotAnswer& slot_of(const ContextView& view, const Ask& ask, const query::Answer& answer) const;
  /// `answers`: one per ask of `view.targets`.
  void fold_context(results::RawBlock& raw, std::size_t context, const ContextView& view,
                    std::span<const query::Answer> answers) const;

  Association settings_;
  std::string mask_token_;
  sweep::SubjectList subjects_;
  std::vector<WordEntry> words_;
  std::unique_ptr<PlanCache> plans_;
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
};

/// Throws InputError with everything that keeps the job from being asked of this tokenizer, which must outlive the
/// probe.
std::unique_ptr<AssociationProbe> make_association(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);

// What a job will cost and where its words do not stand as one token, found without a model.

/// Sums over the contexts that were read.
struct Audit : PlanSample {
  std::uint64_t cells_by_status[16] = {};
  std::uint64_t forwards_alone = 0;  ///< one forward pass per cell and subword that a measure reads
  std::uint64_t queries = 0;         ///< distinct masked inputs, each computed once per block
  std::uint64_t numbers = 0;         ///< distinct (masked input, target)
  std::uint64_t tokens = 0;          ///< of the distinct inputs, special tokens included
  std::uint64_t longest = 0;         ///< tokens of the longest input
  std::uint64_t too_long = 0;        ///< inputs beyond the model's positions
  std::uint64_t prompt_bytes = 0;
  std::map<std::string, std::set<std::string>> splits;   ///< word -> "power ##less" where it has several pieces
  std::map<std::string, std::set<std::string>> joins;    ///< word -> text around it
  std::map<std::string, std::set<std::string>> unknown;  ///< word -> pieces with the unknown token
  std::map<std::string, std::uint64_t> problems;         ///< why contexts have no text -> how many
};

/// `max_tokens`: longest input of the model (0: unknown). Reads whole blocks, all of them if the product has at most
/// `max_contexts` contexts, else one at a fixed random place in each of as many equal parts as that allows.
Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts);

/// Sizes that follow from the shapes in config.json alone.
struct ModelCost {
  std::uint64_t parameters = 0;
  double flops_per_token = 0;  ///< products of the layers, attention left out
  double flops_per_row = 0;    ///< head and projection onto the vocabulary
};
ModelCost model_cost(const model::MaskedSpecification& config);

// `stats`: raw numbers -> the table of scores, and why scores are missing.

/// Of the table of scores, by the axes and cubes of the result.
results::ScoreTableAxes score_axes(const results::RawSchema& schema);

/// Streams through `file` and writes `target` (as export_run does): the table of scores (results/ScoreTable.hpp), and
/// pole_score and pole_score_status over the same axes, with poles in the place of items. Throws base::Error for files.
/// Where there are more ranks, they read and fold the file, and rank zero writes. The text says why scores are missing.
std::string write_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                             const results::StatisticsTarget& target, const results::ShownMeasures& shown = {},
                             const parallel::Communicator& world = {});
/// What the other ranks do meanwhile.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world);

/// Cells by status, and scores of words that do not exist by measure and reason.
std::string status_text(const results::ResultFile& file);

/// The probe for the rest of the program.
const config::ProbeFormat& association_kind();

}  // namespace stereosweep::probes::association
