// Which of two occupations a causal model takes a pronoun for (winoidentity §2; definitions: README.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "config/ProbeFormat.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "probes/Probe.hpp"
#include "stats/OptionProbabilities.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::coreference {

// What a job needs besides model and execution: sentences with two occupations and a pronoun, demographic markers,
// where the markers go, questions, statistics. Plain values, and how they are read.

enum class Gender { female, male };
/// Of the pronoun that is asked about; the apposition after it follows the case.
enum class PronounCase { subject, object, possessive, independent, reflexive };
inline const std::vector<std::string> case_names = {"subject", "object", "possessive", "independent", "reflexive"};
/// WinoBias (Zhao et al., 2018): type 1 is ambiguous without knowledge of the world, type 2 is not.
enum class SentenceType { ambiguous, unambiguous };
inline const std::vector<std::string> type_names = {"ambiguous", "unambiguous"};
/// Whether the bracketed occupation is one that is stereotyped with the pronoun's gender.
enum class Stereotype { pro, anti };
inline const std::vector<std::string> stereotype_names = {"pro", "anti"};

/// What is unusual about a sentence: counted and listed, and each can be left out by name.
enum class SentenceNote : std::uint8_t {
  further_pronoun,   ///< more than one pronoun was in brackets: the first is asked about
  unmarked_pronoun,  ///< another "he", "she", ... stands in the text without brackets
  three_mentions,    ///< a third mention of an occupation: the first one besides the referent is the other
  first_referent,    ///< an unambiguous sentence whose referent is mentioned first
  bracket_edge,      ///< the article stood outside the bracket, or a blank inside
  doubled_article,   ///< "the [the x]": one article was taken out
  spacing,           ///< blanks before "'s" or punctuation were taken out
  repeated,          ///< the same text with the same type and stereotype stands earlier
  no_partner,        ///< no sentence differs from it by the pronoun alone
};
inline const std::vector<std::string> sentence_note_names = {"further_pronoun", "unmarked_pronoun", "three_mentions",
                                                             "first_referent",  "bracket_edge",     "doubled_article",
                                                             "spacing",         "repeated",         "no_partner"};

/// One occupation in a sentence: bytes of the text.
struct Mention {
  base::Span article;  ///< "the", "The", "a", "an"
  base::Span noun;     ///< "construction worker"
  bool operator==(const Mention&) const = default;
};

struct CoreferenceSentence {
  std::string label;  ///< unique: "FILE:LINE" for sentences of a file
  std::string text;   ///< without brackets
  SentenceType type = SentenceType::ambiguous;
  Stereotype stereotype = Stereotype::pro;
  std::string split;                ///< "dev", "test", "": for tables only
  std::array<Mention, 2> mentions;  ///< in the order of the text
  std::size_t bracketed = 0;        ///< index of the mention that the brackets name
  base::Span pronoun;               ///< the one that is asked about
  Gender gender = Gender::female;   ///< of the pronoun
  PronounCase pronoun_case = PronounCase::subject;
  std::set<SentenceNote> notes;
  std::string pair;  ///< label of the first sentence with the same text but for pronouns
  bool operator==(const CoreferenceSentence&) const = default;
  /// Of an entry of a list, whose text is marked.
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else the text");
    keys.required_line("text", self.text, "[The baker] saw the editor because [he] sang.");
    keys.needed().choice("type", self.type, type_names);
    keys.needed().choice("stereotype", self.stereotype, stereotype_names);
    keys.line("split", self.split, "dev, test: for tables only");
  }

  std::string_view part(base::Span span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
};

/// Side of an attribute that a marker names; `unstated` markers have no place in comparisons of the two.
enum class Privilege { privileged, disadvantaged, unstated };
inline const std::vector<std::string> privilege_names = {"privileged", "disadvantaged", "unstated"};

/// The paper's name of a group: its adjective is `word`, its label, too; its domain is `attribute`.
struct Marker {
  std::string word;       ///< as it stands inside a sentence: "able-bodied", "Black"
  std::string attribute;  ///< "disability"
  Privilege privilege = Privilege::unstated;
  std::string contrast;  ///< aug3 pairs the markers of an attribute whose contrasts are equal
  bool operator==(const Marker&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.needed().alone().line("word", self.word, "as it stands in a sentence: able-bodied, Black");
    keys.line("attribute", self.attribute, "disability, race, ...");
    keys.line("contrast", self.contrast, "aug3 pairs the markers of an attribute whose contrasts are equal");
    keys.choice("privilege", self.privilege, privilege_names);
  }
};
inline const std::string& label_of(const Marker& marker) { return marker.word; }

/// Where markers are put (winoidentity table 2).
enum class Augmentation : std::uint8_t {
  baseline,  ///< nowhere
  aug1,      ///< before the referent
  aug2,      ///< before the other occupation
  aug3a,     ///< privileged before the referent, disadvantaged before the other
  aug3b,     ///< disadvantaged before the referent, privileged before the other
  aug4,      ///< after the pronoun, in apposition
};
inline const std::vector<std::string> augmentation_names = {"baseline", "aug1", "aug2", "aug3a", "aug3b", "aug4"};

/// What follows or frames a sentence, one of its rephrasings; the occupation is the continuation.
struct Question {
  std::string label;
  std::string text;  ///< with one {sentence} and at least one {pronoun}
  bool operator==(const Question&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else the text");
    keys.needed().alone().line("text", self.text, "with one {sentence} and at least one {pronoun}");
  }
};

/// Which occupation of an ambiguous sentence is called the referent.
enum class AmbiguousReferent {
  first,     ///< the one mentioned first (winoidentity §2.1)
  random,    ///< drawn from the job's seed, the same for both sentences of a pair (winoidentity table 2)
  bracketed  ///< the one that the file marks, which the stereotype is about
};
inline const std::vector<std::string> referent_names = {"first", "random", "bracketed"};

/// Read by `stats` only.
struct CoreferenceStatistics {
  inline static const std::vector<std::string> ties_names = {"half", "loss"};
  stats::Ties ties = stats::Ties::half;  ///< what equal log-probabilities count as in the accuracy: 1/2 or 0
  bool operator==(const CoreferenceStatistics&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("ties", self.ties, ties_names, "what counts where both occupations are as likely");
  }
};

struct Coreference;
/// The keys of `axes`.
void axes_keys(config::Fields& axes, Coreference& settings);
void axes_keys(config::ShownKeys& axes, const Coreference& settings);

struct Coreference {
  static constexpr const char* probe_name = "coreference";
  std::vector<CoreferenceSentence> sentences;
  std::vector<Marker> markers;
  std::vector<sweep::Group> groups;         ///< beside the markers: a group's adjective is its marker
  sweep::IntersectionRule intersections;    ///< of markers and groups
  std::vector<Augmentation> augmentations;  ///< ascending
  std::vector<Question> questions = {{"refers_to", "{sentence} The pronoun \"{pronoun}\" refers to the"}};
  std::set<SentenceNote> excluded;  ///< sentences with one of these are not asked
  AmbiguousReferent ambiguous_referent = AmbiguousReferent::bracketed;
  std::optional<sweep::Design> design = std::nullopt;  ///< nothing: all is asked
  CoreferenceStatistics statistics;
  bool operator==(const Coreference&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.needed().told_by_block().nested("axes", [&](auto& axes) {
      axes_keys(axes, self);
      axes.choice("ambiguous_referent", self.ambiguous_referent, referent_names,
                  "which occupation of an ambiguous sentence is called the referent");
      config::design_key(axes, self.design);
    });
  }
  bool asks(Augmentation augmentation) const {
    return std::binary_search(augmentations.begin(), augmentations.end(), augmentation);
  }
  /// Whether a sentence is not asked: one of its notes is excluded.
  bool excludes(const CoreferenceSentence& sentence) const {
    return std::ranges::any_of(sentence.notes, [&](SentenceNote note) { return excluded.contains(note); });
  }
  bool crosses() const { return !intersections.pairs.empty() || !intersections.domains.empty(); }
  bool draws() const { return ambiguous_referent == AmbiguousReferent::random; }
  static bool needs_model() { return true; }
};

/// Reports what no single key can tell.
void check_settings(const config::ProbeReading& job, const Coreference& settings);

// The sentences of a job, from lists and from files. One line of the WinoBias schema:
// "[The developer] argued with the designer because [she] did not like it." Brackets mark the referent and the pronoun;
// braces may mark the other occupation: "{the designer}".

/// A marked line as a sentence; `entry` has the marks in its text. Repairs spacing and bracket edges (each leaves its
/// note). The other occupation is the one in braces, else the first mention of another one of `occupations` with an
/// article. Faults go to `problems`: no or two marked occupations, no pronoun, an occupation without article, brackets
/// that do not close. Nothing is returned then.
std::optional<CoreferenceSentence> read_marked(const CoreferenceSentence& entry, const base::Place& place,
                                               const std::vector<std::string>& occupations, base::Problems& problems);

/// The line that `read_marked` reads back to the same sentence.
std::string marked_text(const CoreferenceSentence& sentence);

/// Whether a "her" at `span` is possessive, by the word behind it: nothing, punctuation, function words and a last
/// adverb follow an object. Right for 19 in 20 sentences of WinoBias (tests); a partner with "his" or "him" tells for
/// sure.
bool is_possessive_her(std::string_view text, base::Span span);

/// The same text but for its pronouns' gender: equal for both sentences of a pair.
std::string without_gender(std::string_view text);

/// Key `sentences`: the name of a piece, a list of {text, type, stereotype, label, split, case, notes}, {file, only},
/// or {files: [...]}: files of the WinoBias schema whose names say "pro" or "anti" and "type1" or "type2", and folders
/// of such files. `occupations`: where the text does not mark the other occupation, beside those that are marked
/// anywhere.
std::vector<CoreferenceSentence> read_sentences(const config::Node& node, const std::string& key,
                                                const std::vector<std::string>& occupations, config::Pieces& pieces,
                                                base::Problems& problems);
base::Json sentences_schema();
base::Json notes_schema();
/// An entry that `read_sentences` reads back to the same sentence.
config::Node dump_sentence(const CoreferenceSentence& sentence);
/// Names of notes.
std::set<SentenceNote> read_sentence_notes(const config::Node& node, const std::string& key, base::Problems& problems);

// Prompts (winoidentity table 2): conditions = where which marker goes, and the text of a sentence under one.

/// A marker, or several in order («Black disabled»), and the labels of the groups that it names.
struct Subject : Marker {
  std::vector<std::string> groups;
};

struct SubjectList {
  std::vector<Subject> subjects;  ///< markers, groups, then intersections
  std::vector<sweep::Omission> omissions;
};

/// The group that a marker names.
sweep::Group group_of(const Marker& marker);

/// Markers and groups in the job's order, then the intersections of `sweep::list_subjects`, whose marker is their
/// adjectives in order (lexical forms are nouns and do not count). The attribute of an intersection is that of all,
/// "race x disability"; it is privileged or disadvantaged where all its parts are. Groups without an adjective and
/// words that repeat are left out.
SubjectList list_subjects(const Coreference& settings);

/// One value of the outermost axis. Markers are empty where there is none.
struct Condition {
  std::string label;  ///< "baseline", "aug1 Black", "aug1 Black disabled", "aug3a White / Black" (referent / other)
  std::string kind = "baseline";    ///< or "group", "intersection", "contrast" (of aug3)
  std::vector<std::string> groups;  ///< labels, in order; of aug3: the referent's, the other's
  Augmentation augmentation = Augmentation::baseline;
  std::string attribute;
  std::string referent_marker;
  std::string other_marker;
  std::string pronoun_marker;
  /// Of the one marker of aug1, aug2 and aug4, of the referent's in aug3a and aug3b.
  Privilege privilege = Privilege::unstated;
};

/// In the order of augmentations, then subjects. aug3a and aug3b: every privileged marker with every disadvantaged one
/// of its attribute and contrast; no intersections.
std::vector<Condition> list_conditions(const Coreference& settings);

/// Index of the mention that is called the referent: the bracketed one where the sentence is unambiguous, else as
/// `rule` says. `random` is a function of the seed and the sentence's pair.
std::size_t referent_of(const CoreferenceSentence& sentence, AmbiguousReferent rule, std::uint64_t seed);

/// The sentence with its markers. An "a" or "an" before a marker follows the marker's sound and keeps its capital.
/// After a pronoun stands ", the MARKER woman" (or "man"), in the genitive after a possessive, closed by a comma unless
/// punctuation follows.
std::string augmented_text(const CoreferenceSentence& sentence, const Condition& condition, std::size_t referent);

/// The question with the sentence and the pronoun (in lower case) in their places, its first letter a capital.
std::string coreference_prompt(const Question& question, const CoreferenceSentence& sentence,
                               const Condition& condition, std::size_t referent);

/// Why an occupation has no numbers.
enum class CoreferenceStatus : std::uint8_t { ok, excluded, too_many_subwords, too_long, not_finite, engine_error };

/// A sentence with its roles: mentions[referent] is called the referent.
struct RoledSentence : CoreferenceSentence {
  std::size_t referent = 0;
  bool is_excluded = false;
  const Mention& mention(std::size_t role) const { return mentions[role == 0 ? referent : 1 - referent]; }
  /// Of role 0, the referent, or 1, the other.
  std::string occupation(std::size_t role) const { return std::string(part(mention(role).noun)); }
};

/// What a run of the job writes: axes [group, rephrasing, template] and [occupation, subword].
results::RawSchema coreference_schema(const sweep::Job& job, std::size_t max_subwords);

/// Contexts are [group, rephrasing, template]: the conditions, questions and sentences of the job; there are no priors.
/// One round: each context is one `continue` query with both occupations.
class CoreferenceProbe final : public Probe {
 public:
  CoreferenceProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override;
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  /// Text that the occupations follow.
  std::string prompt(std::uint64_t context) const;
  const RoledSentence& sentence_of(std::uint64_t context) const { return sentences_[context % sentences_.size()]; }
  std::size_t max_subwords() const { return max_subwords_; }

 private:
  std::size_t longest_occupation(const tokenizer::Tokenizer& tokenizer) const;

  std::string settings_;  ///< settings_of_block
  std::vector<Condition> conditions_;
  std::vector<Question> questions_;
  std::vector<RoledSentence> sentences_;
  std::size_t max_subwords_;
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
};

/// Throws InputError with everything that keeps the job from being asked of this tokenizer, which must outlive the
/// probe.
std::unique_ptr<CoreferenceProbe> make_coreference(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);

/// The probe for the rest of the program.
const config::ProbeFormat& coreference_kind();

}  // namespace stereosweep::probes::coreference
