// Which of two occupations a causal model takes a pronoun for (winoidentity §2; definitions: README.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/Probe.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferencePrompts.hpp"

namespace stereosweep::probes::coreference {

/// Why an occupation has no numbers.
enum class CoreferenceStatus : std::uint8_t { ok, excluded, too_many_subwords, too_long, not_finite, engine_error };

/// Columns of RawBlock, in the order of the schema's cubes.
enum class CoreferenceColumn : std::size_t { logprob, num_subwords, status, prompt, problem };

/// A sentence with its roles: mentions[referent] is called the referent.
struct RoledSentence {
  CoreferenceSentence sentence;
  std::size_t referent = 0;
  bool is_excluded = false;
  const Mention& mention(std::size_t role) const { return sentence.mentions[role == 0 ? referent : 1 - referent]; }
  /// Of role 0, the referent, or 1, the other.
  std::string occupation(std::size_t role) const { return std::string(sentence.part(mention(role).noun)); }
};

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

  std::vector<Condition> conditions_;
  std::vector<Question> questions_;
  std::vector<RoledSentence> sentences_;
  sweep::BlockPlan blocks_;
  std::size_t max_subwords_;
  results::RawSchema schema_;
};

/// Throws InputError with everything that keeps the job from being asked of this tokenizer, which must outlive the
/// probe.
std::unique_ptr<Probe> make_coreference(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer);

}  // namespace stereosweep::probes::coreference
