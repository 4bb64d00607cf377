// Association of groups with traits under a masked model: ILPS, ILPS* and SeT (cao2022 §3; definitions: README.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probe/AssociationSchema.hpp"
#include "probe/PlanCache.hpp"
#include "probe/Probe.hpp"
#include "prompt/Composer.hpp"
#include "prompt/Subjects.hpp"

namespace stereosweep::probe {

/// One context as it is asked. `targets` is null where the subject lacks the form that the template asks for.
struct ContextView {
  Surroundings text;
  WordCase word_case = WordCase::as_listed;
  std::shared_ptr<const TargetPlan> targets;
  std::size_t masks_before = 0;  ///< masks of the group (prior_mask) on either side of the word's
  std::size_t masks_after = 0;
  std::string problem;  ///< why there are no targets
};

/// One round: the subwords that stand before a target are known beforehand, so nothing depends on an answer.
class AssociationProbe final : public Probe {
 public:
  AssociationProbe(const domain::Job& job, const tokenizer::Tokenizer& tokenizer);
  const RawSchema& schema() const override { return schema_; }
  const plan::BlockPlan& blocks() const override { return blocks_; }
  Round first(const plan::Block& block) const override;
  std::optional<Round> next(const plan::Block& block, const Transcript& transcript) const override;
  RawBlock fold(const plan::Block& block, const Transcript& transcript) const override;
  void hash_content(const plan::Block& block, base::Sha256& hash) const override;

  /// For audits: what a context is, its masked text, and who stands in it.
  ContextView view(std::uint64_t context) const;
  /// The text that an ask is about: `num_masks` masks in the word's place.
  std::string masked_text(const ContextView& view, std::uint32_t num_masks) const;
  const prompt::SubjectList& subjects() const { return subjects_; }
  const std::vector<WordEntry>& words() const { return words_; }
  const PlanCache& plans() const { return *plans_; }
  /// Views of a block and, for each, the first context with the same text (its own place if there is none before).
  struct BlockViews {
    std::vector<ContextView> views;
    std::vector<std::size_t> same_as;
  };
  BlockViews views_of(const plan::Block& block) const;

 private:
  ContextView view_of(const domain::Subject& subject, const domain::Template& sentence,
                      const domain::Rephrasing& rephrasing) const;
  std::uint32_t longest_word() const;

  domain::Job job_;
  std::string mask_token_;
  prompt::Composer composer_;
  prompt::SubjectList subjects_;
  std::vector<WordEntry> words_;
  plan::BlockPlan blocks_;
  std::unique_ptr<PlanCache> plans_;
  RawSchema schema_;
  AssociationColumns columns_;
};

}  // namespace stereosweep::probe
