// Which of two occupations a causal model takes a pronoun for (winoidentity §2; definitions: README.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/Probe.hpp"
#include "probes/coreference/Coreference.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::coreference {

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

}  // namespace stereosweep::probes::coreference
