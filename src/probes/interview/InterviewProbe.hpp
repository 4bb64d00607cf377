// Interviews of a causal model about groups: conversations whose turns are
// sampled one after the other (definitions: README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/Probe.hpp"
#include "probes/interview/Interview.hpp"
#include "query/Query.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::interview {

// What the texts of a conversation say: its ratings, keywords and reasons, by the rules of the room answers. Used when
// a block is folded, and again by `stats --reparse`.

/// What ended a text; `none`: there is no text.
enum class AnswerEnding : std::uint8_t { end_token, stop, length, none };
inline const std::vector<std::string> ending_names = {"end_token", "stop", "length", "none"};

/// Reads the sampled texts of one round of a context, which stand in the block, and puts what they say into its cubes
/// of ratings, keywords and reasons. `row`: of [context, round].
void read_texts(results::RawBlock& block, const results::RawSchema& schema, const Conversation& conversation,
                std::size_t row);

// The texts of an interview: what the user's side says at each turn, and a conversation so far as one prompt.

/// One cell of the product, as indices into the settings.
struct Cell {
  std::size_t subject = 0;
  std::size_t conversation = 0;
  std::size_t form = 0;
  std::size_t rephrasing = 0;
};

/// Turns of a conversation that a form asks, as indices, in order.
std::vector<std::size_t> asked_turns(const Conversation& conversation, const PromptForm& form);

/// What the user's side says at these turns (README.md, «What is said»).
std::vector<std::string> messages_of(const Interview& settings, const sweep::Subject& subject, const Cell& cell);

/// A conversation as the model's prompt: `asked` has one message more than there are `answers`. With the job's chat
/// template, or as plain text (README.md).
std::string prompt_of(const sweep::Job& job, std::span<const std::string> asked, std::span<const std::string> answers);

/// Asks how likely each answer of the scale to one item of a rating turn is, after the turn's own prompt: as the whole
/// answer, or of several items as though the answer began with "ITEM:".
query::Query ask_options(const sweep::Job& job, const std::string& prompt, const Turn& turn, std::size_t item,
                         const RatingScale& scale);

/// What became of a turn. truncated_thought: what the model thinks before it answers has no end. not_written: the chat
/// template looks for something that an answer before holds, and its pieces do not write the conversation.
enum class AnswerStatus : std::uint8_t {
  ok,
  too_long,
  engine_error,
  not_reached,
  not_asked,
  truncated_thought,
  not_written
};
inline const std::vector<std::string> answer_status_names = {
    "ok", "too_long", "engine_error", "not_reached", "not_asked", "truncated_thought", "not_written"};

/// Contexts are [group, conversation, template, rephrasing]; each has `rounds` conversations. Step s of a block asks
/// the s-th asked turn of every conversation that has come so far.
class InterviewProbe final : public Probe {
 public:
  /// `tokenizer`, which counts the tokens of thoughts, is borrowed.
  explicit InterviewProbe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer = nullptr);
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  Round first(const sweep::Block& block) const override { return next(block, {}).value_or(Round()); }
  bool asks_again() const override { return true; }
  std::optional<Round> next(const sweep::Block& block, const Transcript& transcript) const override;
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override;
  void each_conversation(const sweep::Block& block, const results::RawBlock& raw,
                         const ConversationVisitor& visit) const override;
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override;

  const sweep::SubjectList& subjects() const { return subjects_; }
  Cell cell(std::uint64_t context) const;
  /// What the user's side says in a context.
  std::vector<std::string> messages(std::uint64_t context) const;
  std::size_t num_rounds() const { return static_cast<std::size_t>(settings().sampling.rounds); }

 private:
  /// A conversation of a block: its context there, its round, and the answers to the turns that were asked.
  struct Course {
    std::size_t context = 0;
    std::size_t round = 0;
    std::vector<std::span<const query::Answer>> answers;  ///< of a turn: its text, then the options of each item
    std::vector<std::string> said;  ///< the answers as later turns hold them; one less where the last ends it all
  };
  const Interview& settings() const { return job_.settings<Interview>(); }
  std::vector<std::size_t> turns_of(std::uint64_t context) const;
  /// All conversations of the block with what they were answered.
  std::vector<Course> courses(const sweep::Block& block, const Transcript& transcript) const;
  /// As later turns hold it; nothing: the conversation cannot go on behind it.
  std::optional<std::string> said(const query::Answer& answer) const;
  void fold_course(results::RawBlock& raw, std::uint64_t context, const Course& course) const;

  sweep::Job job_;
  const tokenizer::Tokenizer* tokenizer_;
  sweep::SubjectList subjects_;
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
  std::vector<std::size_t> first_items_;  ///< [conversation] on the axis `item`; behind them the axis's length
};

/// What a run of these settings writes.
results::RawSchema interview_schema(const sweep::Job& job, const std::vector<sweep::Subject>& subjects);

/// Throws InputError with everything that keeps the job from being asked of this tokenizer.
std::unique_ptr<InterviewProbe> make_interview(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer);

}  // namespace stereosweep::probes::interview
