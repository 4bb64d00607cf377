// Stage `effects` of a contexts job: each sample of a test draws one vector per word and computes the associations and
// their effect size (definitions: README.md). Asks no engine.
#pragma once

#include <memory>
#include <vector>

#include "probes/Probe.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/ContextsSchema.hpp"
#include "probes/contexts/vectors/VectorStore.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::contexts {

/// Contexts are [test, sample].
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
  /// Samples per test: one with static vectors.
  static std::uint64_t samples_of(const Contexts& settings);
  /// Which of its vectors stands for a word.
  static std::uint64_t draw(std::uint64_t seed, std::uint32_t test_name, std::uint64_t sample, std::uint32_t word_name,
                            std::uint64_t count);

 private:
  std::uint64_t seed_;
  std::vector<WordVectors> words_;
  std::vector<std::uint32_t> word_names_;  ///< draw_name of each word
  std::shared_ptr<const VectorStore> store_;
  std::vector<TestInUse> tests_;
  sweep::BlockPlan blocks_;
  results::RawSchema schema_;
  std::size_t num_attributes_ = 0;  ///< slots of the axis attribute; 0: no wefat test
};

}  // namespace stereosweep::probes::contexts
