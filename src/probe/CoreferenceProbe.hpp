// Which of two occupations a causal model takes a pronoun for (winoidentity §2; definitions: README.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/CoreferenceSchema.hpp"
#include "probe/Probe.hpp"

namespace stereosweep::probe {

/// One round: each context is one `continue` query with both occupations.
class CoreferenceProbe final : public Probe {
 public:
  CoreferenceProbe(const domain::Job& job, const tokenizer::Tokenizer& tokenizer);
  const RawSchema& schema() const override { return schema_; }
  const plan::BlockPlan& blocks() const override { return blocks_; }
  Round first(const plan::Block& block) const override;
  std::optional<Round> next(const plan::Block& block, const Transcript& transcript) const override;
  RawBlock fold(const plan::Block& block, const Transcript& transcript) const override;
  void hash_content(const plan::Block& block, base::Sha256& hash) const override;

  const std::vector<prompt::Condition>& conditions() const { return conditions_; }
  const std::vector<RoledSentence>& sentences() const { return sentences_; }
  /// Text that the occupations follow.
  std::string prompt(std::uint64_t context) const;
  const RoledSentence& sentence_of(std::uint64_t context) const { return sentences_[context % sentences_.size()]; }
  std::size_t max_subwords() const { return max_subwords_; }

 private:
  std::size_t longest_occupation(const tokenizer::Tokenizer& tokenizer) const;

  std::vector<prompt::Condition> conditions_;
  std::vector<domain::Question> questions_;
  std::vector<RoledSentence> sentences_;
  plan::BlockPlan blocks_;
  std::size_t max_subwords_;
  RawSchema schema_;
};

/// What follows a prompt.
std::string continuation_of(const std::string& occupation);

}  // namespace stereosweep::probe
