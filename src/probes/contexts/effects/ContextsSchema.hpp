// The raw cubes of a contexts job (definitions: README.md of this room) and the places of its columns: the vectors of
// words in contexts, and the effects computed from draws of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::contexts {

/// Why a vector is NaN. no_context: the word has fewer contexts than the axis.
enum class VectorStatus : std::uint8_t { ok, no_context, too_long, not_finite, engine_error };

/// Columns of stage `vectors`: vector, span, status, sentence, problem; outer axes [word, context], inner axis
/// dimension. `words` need only names and counts. `contexts`: length of that axis, at least 1.
results::RawSchema vectors_schema(const std::vector<WordVectors>& words, std::uint64_t contexts,
                                  std::uint64_t dimension);

/// Columns of stage `effects`; without a wefat test the last two are not there.
enum class EffectColumn : std::uint8_t {
  association,
  effect_size,
  association_variance,
  status,
  association_deviation,
  cosine
};

/// Why an effect size is NaN. missing_words: a set has no word with a vector (the test's coordinate `consequence` names
/// them); zero_deviation: all associations are equal; not_finite: a vector has no direction (all zeros).
enum class EffectStatus : std::uint8_t { ok, missing_words, zero_deviation, not_finite };

/// Outer axes [test, sample], inner axes target, word and (with a wefat test) attribute.
/// Coordinates of axis `test`: kind ("weat", "wefat"), title, x, y, a, b (labels of the sets), x_words, y_words,
/// a_words, b_words (JSON arrays: the words that take part), missing (JSON array), trimmed (JSON array), consequence.
/// Slots of axis `target`: x_words, then y_words; of axis `attribute` (wefat): a_words, then b_words; NaN behind a
/// test's last one. Axis `word` lists all words of the job with what was found of them; no cube runs over it.
results::RawSchema effects_schema(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words,
                                  std::uint64_t samples);

/// A text coordinate of JSON, back as words. Throws base::Error where it is no array of texts.
std::vector<std::string> words_of_coordinate(const std::string& json);

}  // namespace stereosweep::probes::contexts
