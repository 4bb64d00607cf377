// The sentences of a coreference job, from lists and from files. One line of the WinoBias schema:
// "[The developer] argued with the designer because [she] did not like it." Brackets mark the referent and the pronoun;
// braces may mark the other occupation: "{the designer}".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "config/axes/AxisSource.hpp"
#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {

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

}  // namespace stereosweep::probes::coreference
