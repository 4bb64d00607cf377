// The axes of a coreference job; one reader per axis.
#pragma once

#include <string>
#include <vector>

#include "config/AxisSource.hpp"
#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {

/// `sentences`: the name of a piece, a list of {text, type, stereotype, label, split, case, notes}, {file, only}, or
/// {files: [...]}: files of the WinoBias schema whose names say "pro" or "anti" and "type1" or "type2", and folders of
/// such files. `occupations`: where the text does not mark the other occupation, beside those that are marked anywhere.
std::vector<CoreferenceSentence> read_sentences(const config::Node& node, const std::string& key,
                                                const std::vector<std::string>& occupations, config::Pieces& pieces,
                                                base::Problems& problems);
/// Entries {word, attribute, privilege, contrast} or a word.
std::vector<Marker> read_markers(const config::Node& node, const std::string& key, config::Pieces& pieces,
                                 base::Problems& problems);
/// Entries {label, text} or a text, with one {sentence} and at least one {pronoun}.
std::vector<Question> read_questions(const config::Node& node, const std::string& key, config::Pieces& pieces,
                                     base::Problems& problems);
/// Names of notes, ascending in the result.
std::vector<SentenceNote> read_sentence_notes(const config::Node& node, const std::string& key,
                                              base::Problems& problems);

}  // namespace stereosweep::probes::coreference
