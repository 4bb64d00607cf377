// Stage `effects` of a contexts job: each sample of a test draws one vector per word and computes the associations and
// their effect size (definitions: README.md). Asks no engine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/Probe.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/vectors/VectorStore.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::contexts {

/// Why an effect size is NaN. missing_words: a set has no word with a vector (the test's coordinate `consequence` names
/// them; of made sentences also a word without one in the sample's template and rephrasing); zero_deviation: all
/// associations are equal; not_finite: a vector has no direction (all zeros); no_sentence, of made sentences alone: no
/// target of the test stands in the sample's template.
enum class EffectStatus : std::uint8_t { ok, missing_words, zero_deviation, not_finite, no_sentence };

/// A cube of samples of one test: numbers of a sample, of its slots, or of the attributes of its slots. NaN where a
/// number does not exist; a test fills the first slots and attributes.
template <class Number>
struct SampleCube {
  std::span<Number> values;
  std::size_t num_slots = 1;
  std::size_t num_attributes = 1;  ///< of a slot
  Number& operator()(std::size_t sample, std::size_t slot = 0, std::size_t attribute = 0) const {
    return values[(sample * num_slots + slot) * num_attributes + attribute];
  }
};

/// Samples of one test: the cubes of a block. A target: a word of X, then of Y; an attribute: a word of A, then of B.
struct ContextsSamples {
  /// A cube that the schema lacks is empty. Throws InputError where one has numbers of another type.
  ContextsSamples(results::RawBlock samples, const results::RawSchema& schema);
  ContextsSamples(ContextsSamples&&) = default;
  ContextsSamples& operator=(ContextsSamples&&) = default;
  results::RawBlock block;          ///< what the cubes are views of
  SampleCube<std::uint8_t> status;  ///< places in its `flag_meanings`
  SampleCube<double> association;   ///< of targets
  // Of a weat test.
  SampleCube<double> attribute_association;  ///< of attributes
  SampleCube<double> effect_size;
  SampleCube<double> association_variance;
  // Of a wefat test; empty where the result has none.
  SampleCube<double> deviation;  ///< of targets
  SampleCube<float> cosine;      ///< of targets with attributes
  std::size_t size() const { return status.values.size(); }
};

/// Outer axes [test, sample], inner axes target, weat_attribute, word and (with a wefat test) attribute.
/// Coordinates of axis `test`: kind ("weat", "wefat"), title, x, y, a, b (labels of the sets), x_words, y_words,
/// a_words, b_words (JSON arrays: the words that take part), missing (JSON array), trimmed (JSON array), consequence.
/// Slots of axis `target`: x_words, then y_words; of axis `weat_attribute` and (wefat) `attribute`: a_words, then
/// b_words; NaN behind a test's last one. Axis `word` lists all words of the job with what was found of them; no cube
/// runs over it.
results::RawSchema effects_schema(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words,
                                  std::uint64_t samples);

/// Its cubes where all tests are weat ones, or where one is a wefat.
std::vector<results::CubeSchema> sample_cubes(EmbeddingTest::Kind kind);

/// A text coordinate of JSON, back as words. Throws base::Error where it is no array of texts.
std::vector<std::string> words_of_coordinate(const std::string& json);

/// Contexts are [test, sample]. Of made sentences every sample is of one template and rephrasing, in turn: coordinates
/// of its axis. It draws from the sentences of these alone.
class EffectsProbe final : public Probe {
 public:
  /// Samples of one block: a fixed number, since the stage has nothing that a batch budget could mean.
  static constexpr std::uint64_t samples_per_block = 250;

  /// `words`: of the whole job, in the order of list_words. Without a store nothing can be folded; schema and blocks
  /// are known all the same.
  EffectsProbe(const sweep::Job& job, std::vector<WordVectors> words, std::shared_ptr<const VectorStore> store);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  const std::vector<TestInUse>& tests() const { return tests_; }
  const std::vector<WordVectors>& words() const { return words_; }
  /// Which of its vectors stands for a word.
  static std::uint64_t draw(std::uint64_t seed, std::uint32_t test_name, std::uint64_t sample, std::uint32_t word_name,
                            std::uint64_t count);

 private:
  /// Which vector of a word stands for it; nothing where the sample's template and rephrasing have none.
  std::optional<std::uint64_t> drawn(std::uint32_t test_name, std::uint64_t sample, std::uint32_t word) const;

  std::uint64_t seed_;
  SampleDraws draws_;
  std::string said_;  ///< settings_of_effects
  std::vector<WordVectors> words_;
  std::vector<std::uint32_t> word_names_;  ///< draw_name of each word
  std::shared_ptr<const VectorStore> store_;
  std::vector<TestInUse> tests_;
  sweep::BlockPlan blocks_;
  results::RawSchema schema_;
  std::vector<std::uint32_t> frames_;  ///< that have a sentence, ascending; empty: sentences were found
  std::vector<std::map<std::uint32_t, std::vector<std::uint64_t>>> vectors_of_frames_;  ///< of each word
};

}  // namespace stereosweep::probes::contexts
