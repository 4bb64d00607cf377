// Coreference prompts (winoidentity table 2): conditions = where which marker goes, and the text of a sentence under
// one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {

/// One value of the outermost axis. Markers are empty where there is none.
struct Condition {
  std::string label;  ///< "baseline", "aug1 Black", "aug3a White / Black" (referent / other)
  Augmentation augmentation = Augmentation::baseline;
  std::string attribute;
  std::string referent_marker;
  std::string other_marker;
  std::string pronoun_marker;
  /// Of the one marker of aug1, aug2 and aug4, of the referent's in aug3a and aug3b.
  Privilege privilege = Privilege::unstated;
};

/// In the order of augmentations, then markers. aug3a and aug3b: every privileged marker with every disadvantaged one
/// of its attribute and contrast.
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

}  // namespace stereosweep::probes::coreference
