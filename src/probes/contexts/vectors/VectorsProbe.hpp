// Stage `vectors` of a contexts job: the vector of each word in each of its sampled contexts (definitions: README.md).
#pragma once

#include <memory>
#include <vector>

#include "corpus/Sample.hpp"
#include "corpus/StaticVectors.hpp"
#include "probes/Probe.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::contexts {

/// Why a vector is NaN. no_context: the word has fewer contexts than the axis.
enum class VectorStatus : std::uint8_t { ok, no_context, too_long, not_finite, engine_error };

/// The job's words with their vectors from a file.
using StaticTable = std::vector<corpus::WordVector>;

/// Contexts are [word, context]; a block asks for its vectors at once. Length of the axis context: the largest sample,
/// rounded up to whole blocks (at most the largest that the job allows), so that a word added later cuts no other
/// word's contexts differently.
class VectorsProbe final : public Probe {
 public:
  /// `sample`: of the job's words, in the order of list_words. `table`: with vectors of a file, else null.
  VectorsProbe(const sweep::Job& job, std::shared_ptr<const corpus::Sample> sample, std::uint64_t dimension,
               std::shared_ptr<const StaticTable> table = nullptr);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override;
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  std::uint64_t dimension() const { return dimension_; }
  /// Found and stored contexts of each word.
  const std::vector<WordVectors>& words() const { return words_; }
  /// What the model is asked of one cell of the product; nothing where the word has fewer contexts.
  std::optional<query::Embed> query(std::uint64_t cell) const;
  /// Where the sentence of a cell that has one is from.
  const std::string& file_of(std::uint64_t cell) const {
    return sample_->words[cell / contexts_].contexts.at(cell % contexts_).file;
  }

 private:
  std::shared_ptr<const corpus::Sample> sample_;
  std::shared_ptr<const StaticTable> table_;
  std::uint64_t dimension_;
  query::Embed settings_;      ///< layer, pool and source of every query
  std::string said_;           ///< settings_of_vectors
  ContextualVectors reading_;  ///< how sentences are cut; static vectors stand in whole ones
  std::uint64_t contexts_;
  std::vector<WordVectors> words_;
  sweep::BlockPlan blocks_;
  results::RawSchema schema_;
};

/// What every query of a job asks: source, layer and pool; without text and span.
query::Embed asked_of(const Contexts& settings);

/// What the sample of static vectors is: each word once, after a blank, as in running text; none for `table`'s gaps.
corpus::Sample static_sample(const std::vector<std::string>& words, const StaticTable* table);

}  // namespace stereosweep::probes::contexts
