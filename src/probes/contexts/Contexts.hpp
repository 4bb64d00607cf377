// What a contexts job needs besides model and execution (WEAT, WEFAT, CEAT, IBD, EIBD; guo2021): where vectors come
// from, which word sets are tested, how many context samples are drawn, what is derived from them. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "config/axes/AxisSource.hpp"
#include "corpus/Corpus.hpp"
#include "query/Query.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {
class Stage;
}

namespace stereosweep::probes::contexts {

using corpus::StaticVectors;

/// Sentences in which the words of the tests stand: of the user's own, or made of templates and rephrasings.
struct Corpus : corpus::Corpus {
  std::vector<sweep::Template> templates;  ///< in place of files: a target stands for {group}, an attribute for {trait}
  std::vector<sweep::Rephrasing> rephrasings;  ///< not empty beside templates
  bool is_generated() const { return !templates.empty(); }
  bool operator==(const Corpus&) const = default;
};

/// How a word's vector is read off a sentence.
struct ContextualVectors {
  using Pool = query::Pool;
  Corpus corpus;
  /// As hidden_states of transformers: 0 = embeddings' output, -1 = last; nothing: the sum of all, which is ELMo's in
  /// the code of guo2021.
  std::optional<std::int64_t> layer = -1;
  Pool pool = Pool::mean;
  /// Words kept on each side of the word; 0: the whole sentence; nothing: as the code of guo2021
  /// (corpus::cut_as_guo2021).
  std::optional<std::int64_t> window = 0;
  bool operator==(const ContextualVectors&) const = default;
};

/// A named list of words or phrases.
struct WordSet {
  std::string label;
  std::vector<std::string> words;
  bool operator==(const WordSet&) const = default;
};

/// weat: target sets X and Y, attribute sets A and B. wefat: one target set, each of whose words is one number
/// (single-category test; also the group-wise variant of cao2022 and the scores behind IBD and EIBD).
struct EmbeddingTest {
  enum class Kind { weat, wefat };
  std::string label;  ///< unique: "C1"
  std::string title;  ///< "flowers and insects, pleasant and unpleasant"
  Kind kind = Kind::weat;
  WordSet x;
  WordSet y;  ///< empty for wefat
  WordSet a;
  WordSet b;
  std::array<const WordSet*, 4> sets() const { return {&x, &y, &a, &b}; }
  /// The sets whose means an effect size compares: X and Y, of a single word A and B.
  std::array<const WordSet*, 2> compared() const { return is_weat() ? std::array{&x, &y} : std::array{&a, &b}; }
  std::size_t num_targets() const { return x.words.size() + y.words.size(); }
  std::size_t num_attributes() const { return a.words.size() + b.words.size(); }
  bool is_weat() const { return kind == Kind::weat; }
  bool operator==(const EmbeddingTest&) const = default;
};

inline const char* name_of(EmbeddingTest::Kind kind) { return kind == EmbeddingTest::Kind::weat ? "weat" : "wefat"; }

/// A group or an intersection of groups that is a target word of the tests.
struct TargetSubject {
  inline static const std::vector<std::string> form_names = {"singular", "plural"};
  std::string word;  ///< the form that the tests ask for
  sweep::NounForm form = sweep::NounForm::plural;
  std::string label;
  std::string article;                    ///< of a singular form
  std::string domain;                     ///< of an intersection all, joined by " x "
  std::string first;                      ///< label of the group, or of an intersection's first
  std::string second;                     ///< of an intersection's second; empty: a group
  std::vector<std::string> further = {};  ///< of an intersection's other groups
  bool operator==(const TargetSubject&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("word", self.word);
    keys.required_line("label", self.label);
    keys.choice("form", self.form, form_names);
    keys.line("article", self.article);
    keys.line("domain", self.domain);
    keys.line("first", self.first);
    keys.line("second", self.second);
    keys.unless_default().lines("further", self.further);
  }
};

/// What happens where two sets that are compared differ in size.
enum class UnequalSets { keep, trim };  ///< trim: the larger is cut to the smaller by a seeded draw that is recorded

/// Which vector stands for a word in the samples of two tests.
enum class SampleDraws { own, shared };  ///< shared: the same one in samples of one number (guo2021 table 4)

/// One intersectional group of IBD and EIBD (guo2021 §8): which wefat tests say how much a word belongs to it.
struct BiasDetection {
  std::string label;                        ///< "African American females"
  std::vector<std::string> against;         ///< tests: intersectional group against each other one (IBD)
  std::vector<std::string> single_axis;     ///< tests of each of its parts (EIBD)
  std::vector<std::string> intersectional;  ///< words known to belong (validation)
  std::vector<std::string> emergent;        ///< of these, the emergent ones
  bool operator==(const BiasDetection&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("label", self.label);
    keys.required_lines("against", self.against, "tests of this group against each other one");
    keys.lines("single_axis", self.single_axis, config::Emptiness::allowed);
    keys.lines("intersectional", self.intersectional, config::Emptiness::allowed);
    keys.lines("emergent", self.emergent, config::Emptiness::allowed);
  }
};

/// Tests whose p values are adjusted for their number together.
struct TestFamily {
  std::string label;
  std::vector<std::string> tests;
  bool operator==(const TestFamily&) const = default;
};

struct EmbeddingStatistics;
/// `families` and `detections`, which name tests: read when these are known (`check_settings`).
void named_tests_keys(config::Fields& keys, EmbeddingStatistics& statistics);
void named_tests_keys(config::ShownKeys& keys, const EmbeddingStatistics& statistics);

inline const std::vector<std::string> variance_names = {"paper", "cohen", "permutation"};
inline const std::vector<std::string> estimator_names = {"dersimonian_laird", "reml", "paule_mandel"};

/// Read by `stats` only.
struct EmbeddingStatistics {
  enum class Variance { paper, cohen, permutation };
  enum class Estimator { dersimonian_laird, reml, paule_mandel };
  enum class Permutation { automatic, exact, monte_carlo };
  Variance variance = Variance::paper;
  Estimator estimator = Estimator::dersimonian_laird;
  Permutation permutation = Permutation::automatic;
  std::int64_t draws = 1'000'000;  ///< most draws of a Monte Carlo test
  std::int64_t exceedances = 0;    ///< a Monte Carlo test ends at so many; 0: all draws are made
  double confidence = 0.95;
  std::int64_t samples = 0;          ///< only the first so many of each test; 0: all
  std::vector<TestFamily> families;  ///< disjoint; where none has tests of a kind: all of the kind
  std::vector<BiasDetection> detections;
  std::string human_ratings;  ///< path of a table of human means, for wefat tests of trait pairs; empty: none
  std::vector<std::pair<std::string, std::string>> rating_aliases;  ///< name in the table -> target word or test
  bool operator==(const EmbeddingStatistics&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("variance", self.variance, variance_names, "of an effect size");
    keys.choice("estimator", self.estimator, estimator_names, "between samples");
    keys.choice("permutation", self.permutation, {"automatic", "exact", "monte_carlo"}, "how p is counted");
    keys.integer("draws", self.draws, 1, 4'294'967'295, "most draws of a Monte Carlo test");  // numbers of 32 bits
    keys.integer("exceedances", self.exceedances, 0, 1'000'000'000, "a Monte Carlo test ends at so many; 0: never");
    keys.number("confidence", self.confidence, 0.5, 0.999999, "of intervals");
    keys.integer("samples", self.samples, 0, 100'000'000, "only the first so many of each test; 0: all");
    ratings_key(keys, self.human_ratings, self.rating_aliases);
    named_tests_keys(keys, self);
  }
};

struct Contexts;
/// `corpus` and `vectors`.
void vector_keys(config::Fields& keys, Contexts& settings);
void vector_keys(config::ShownKeys& keys, const Contexts& settings);
/// Of the axes: `tests` and `sets`, and `subjects` and `omissions` of a dump.
void test_keys(config::Fields& axes, Contexts& settings);
void test_keys(config::ShownKeys& axes, const Contexts& settings);

struct Contexts {
  /// journal: vectors stay in the run's journal alone, from which `export` writes their file.
  enum class Keep { none, journal, float16, float32 };
  static constexpr const char* probe_name = "contexts";
  std::variant<ContextualVectors, StaticVectors> vectors;
  std::vector<EmbeddingTest> tests;
  std::vector<TargetSubject> subjects;     ///< target words that are groups or intersections
  std::vector<sweep::Omission> omissions;  ///< intersections that are not among them
  UnequalSets unequal_sets = UnequalSets::keep;
  SampleDraws sample_draws = SampleDraws::own;
  std::int64_t samples = 1000;  ///< N context samples per test; with static vectors there is one
  Keep keep = Keep::journal;    ///< whether vectors stay in the result, and as what
  EmbeddingStatistics statistics;

  bool draws() const { return !is_static() || unequal_sets == UnequalSets::trim; }
  bool is_static() const { return std::holds_alternative<StaticVectors>(vectors); }
  bool is_generated() const { return !is_static() && contextual().corpus.is_generated(); }
  /// Throws std::bad_variant_access where the vectors are of the other kind.
  const ContextualVectors& contextual() const { return std::get<ContextualVectors>(vectors); }
  const StaticVectors& from_table() const { return std::get<StaticVectors>(vectors); }
  /// Whether vectors come from a model: all but those of a file.
  bool needs_model() const { return !is_static() || from_table().format == StaticVectors::Format::model; }
  bool operator==(const Contexts&) const = default;
  static void each_key(auto& self, auto& keys) {
    vector_keys(keys, self);
    keys.needed().told_by_block().nested("axes", [&](auto& axes) { test_keys(axes, self); });
    each_draw_key(self, keys);
  }
  static void each_draw_key(auto& self, auto& keys) {
    keys.told_by_block().integer("samples", self.samples, 1, 100'000'000, "of contexts, for each test");
    keys.unless_default().choice("draws", self.sample_draws, {"own", "shared"},
                                 "shared: a word has one vector in the samples of one number");
    keys.told_by_block().choice("unequal_sets", self.unequal_sets, {"keep", "trim"},
                                "trim: the larger set is cut to the smaller");
  }
};

/// Of the settings, what the vectors of a block and the effects of a block depend on: for `hash_content`.
std::string settings_of_vectors(const Contexts& settings);
std::string settings_of_effects(const Contexts& settings);

/// Reads the statistics that name tests, and reports what no single key can tell.
void check_settings(const config::ProbeReading& job, Contexts& settings);

/// The probe for the rest of the program.
const config::ProbeFormat& contexts_kind();

// Parts of it.

/// `vectors` asks the model for the vectors of the words in their contexts, `effects` computes samples of the tests
/// from them.
std::vector<std::unique_ptr<Stage>> make_stages();
}  // namespace stereosweep::probes::contexts
