// Ratings of groups on traits as multiple-choice questions (stereotype content model; winoidentity §3): the
// probability of every option, and sampled answers (definitions: README.md).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "chat/ChatTemplate.hpp"
#include "probes/Probe.hpp"
#include "probes/SampledText.hpp"
#include "probes/rating/RatingSettings.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::rating {

/// What became of a sampled answer.
enum class AnswerStatus : std::uint8_t {
  ok,
  no_answer,          ///< text that names no option, or only denies some
  several_answers,    ///< more than one option, or a letter and another option's text
  refused,            ///< declines to answer
  empty,              ///< white space only
  too_long,           ///< the prompt is beyond the model's positions
  engine_error,       ///< the engine gave no text
  truncated_thought,  ///< what the model thinks before it answers has no end
};

/// Contexts are [group, trait, template, rephrasing]; everything is asked in one round.
class RatingProbe final : public Probe {
 public:
  explicit RatingProbe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer = nullptr);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override;
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void each_conversation(const sweep::Block& block, const results::RawBlock& raw,
                         const ConversationVisitor& visit) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  /// Who is rated, and pairs of groups that are not.
  const sweep::SubjectList& subjects() const { return subjects_; }
  /// What the model is given, chat format included.
  std::string prompt(std::uint64_t context, OptionOrder order) const;
  /// Continuations of a prompt: all options' words, then all letters, by option.
  const std::vector<std::string>& continuations(OptionOrder order) const {
    return continuations_[static_cast<std::size_t>(order)];
  }
  std::size_t num_runs() const { return static_cast<std::size_t>(settings().sampling.runs); }

 private:
  const Rating& settings() const { return job_.settings<Rating>(); }
  /// `cell`: of context, order and run.
  void fold_answer(results::RawBlock& raw, std::size_t context, std::size_t cell, OptionOrder order,
                   const query::Answer& answer) const;
  /// What is asked, without the chat format.
  std::string question(std::uint64_t context, OptionOrder order) const;
  /// With the system's message, where there is one.
  std::vector<chat::Message> conversation(std::string text) const;
  /// The scale as a prompt lists it.
  std::vector<RatingOption> listed(OptionOrder order) const;
  /// The question of a context: `place` on the outer axes.
  std::string asked(const std::vector<std::uint64_t>& place) const;

  sweep::Job job_;
  const tokenizer::Tokenizer* tokenizer_;
  sweep::SubjectList subjects_;
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
  std::array<std::string, 2> option_lists_;                ///< [order] "A. extremely\nB. very\n..."
  std::array<std::vector<std::string>, 2> continuations_;  ///< [order]
};

/// What a run of these settings writes; inner axes option, order, form, run.
results::RawSchema rating_schema(const Rating& rating, const std::vector<sweep::Subject>& subjects, Thoughts thoughts);

/// Throws InputError with everything that keeps the job from being asked of this tokenizer, which must outlive the
/// probe.
std::unique_ptr<RatingProbe> make_rating(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer);

}  // namespace stereosweep::probes::rating
