// What a coreference job needs besides model and execution (winoidentity §2): sentences with two occupations and a
// pronoun, demographic markers, where the markers go, questions, statistics. Plain values, and how they are read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "config/ProbeFormat.hpp"
#include "config/axes/AxesReader.hpp"
#include "stats/OptionProbabilities.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::probes::coreference {

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

/// The probe for the rest of the program.
const config::ProbeFormat& coreference_kind();

}  // namespace stereosweep::probes::coreference
