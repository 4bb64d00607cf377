// Interviews of a causal model about groups (stereomap, appendix D): conversations whose turns are sampled one after
// the other (definitions: README.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "config/axes/AxisSource.hpp"
#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/RatingScale.hpp"
#include "probes/SampledText.hpp"
#include "query/Sampling.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/TextDiversity.hpp"
#include "sweep/Job.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::interview {

// What a job needs besides model and execution: who is asked about, in which conversations, in which forms of a prompt,
// how answers are sampled. Plain values, and how they are read.

/// What is rated.
struct RatedItem {
  enum class Polarity : std::uint8_t { positive, negative };
  inline static const std::vector<std::string> polarity_names = {"positive", "negative"};
  std::string label;                       ///< unique in the job
  std::string text;                        ///< as it stands in a question, and as an answer names it
  std::string dimension;                   ///< "warmth", "competence", "status", ...
  std::string facet;                       ///< "sociability", "morality", ...; may be empty
  Polarity polarity = Polarity::positive;  ///< of the dimension; negative: scores are turned round
  std::string definition;                  ///< may be empty
  std::string question;                    ///< in place of the turn's text; may be empty
  bool operator==(const RatedItem&) const = default;
  static constexpr const char* key_form = "{label: friendly, dimension: warmth}";
  static void each_key(auto& self, auto& keys) {
    keys.required_line("label", self.label, "unique in the job");
    keys.line("text", self.text, "as it stands in a question; else the label");
    keys.required_line("dimension", self.dimension, "warmth, competence, ...");
    keys.line("facet", self.facet, "sociability, morality, ...");
    keys.choice("polarity", self.polarity, polarity_names, "negative: scores are turned round");
    keys.line("definition", self.definition);
    keys.text("question", self.question, "in place of the turn's text");
  }
};

struct Turn {
  /// keywords: a list of words. reasons: one for each of these words. rating:
  /// of one item. ratings: of several items in one answer. text: kept as it is.
  enum class Kind : std::uint8_t { keywords, reasons, rating, ratings, text };
  inline static const std::vector<std::string> kind_names = {"keywords", "reasons", "rating", "ratings", "text"};
  enum class When : std::uint8_t { always, with_steps };
  inline static const std::vector<std::string> when_names = {"always", "with_steps"};
  std::string label;
  Kind kind = Kind::text;
  When when = When::always;   ///< with_steps: only in forms that ask the steps
  std::string ask;            ///< with {group}, {item}, {items}, {scale}
  std::int64_t most = 10;     ///< keywords that are kept
  bool asks_options = false;  ///< the probabilities of the scale's answers, too: a second opinion beside the text
  std::vector<RatedItem> items;
  bool operator==(const Turn&) const = default;
  static constexpr const char* key_form = "{label: keywords, kind: keywords, ask: 'Which words ... {group}?'}";
  static void each_key(auto& self, auto& keys) {
    keys.required_line("label", self.label);
    keys.needed().choice("kind", self.kind, kind_names);
    keys.choice("when", self.when, when_names, "with_steps: only in forms that ask the steps");
    keys.text("ask", self.ask, "with {group}, {item}, {items}, {scale}");
    keys.integer("most", self.most, 1, 100, "keywords that are kept");
    keys.boolean("options", self.asks_options, "whether the probabilities of the scale's answers are asked");
    keys.unless_default().items("items", self.items, "what is rated");
  }
};

/// Numbers, or options in words.
struct RatingScale : NumberScale {
  std::string between = {};                ///< "to": between the numbers where {scale} is written; empty: English
  std::vector<RatingOption> options = {};  ///< in place of numbers
  bool operator==(const RatingScale&) const = default;
  double least() const;
  double greatest() const;
  static void each_key(auto& self, auto& keys) {
    NumberScale::each_key(self, keys);
    keys.line("between", self.between, "between the numbers where {scale} is written, in place of 'to'");
  }
  /// What can be answered, in order.
  std::vector<RatingOption> answers() const { return options.empty() ? numbers() : options; }
};

/// The key `scale`: {from: 1, to: 5, low: not at all, high: extremely}, or a list of [text, value].
void scale_key(config::Fields& keys, RatingScale& scale);
void scale_key(config::ShownKeys& keys, const RatingScale& scale);

/// Turns that are asked one after the other, each with the answers so far before it.
struct Conversation {
  std::string label;
  std::string instructions;  ///< may be empty; with {group}
  RatingScale scale;
  std::vector<Turn> turns;
  bool operator==(const Conversation&) const = default;
  bool rates() const {
    return std::ranges::any_of(turns, [](const Turn& turn) { return !turn.items.empty(); });
  }
  /// Of all turns and their items, as the job has them.
  std::vector<std::string> questions() const;
  /// Whether {scale} is written with a word between numbers that the job does not give.
  bool needs_between() const;
  static constexpr const char* key_form = "{label: traits, turns: [...]}";
  static void each_key(auto& self, auto& keys) {
    keys.required_line("label", self.label);
    keys.text("instructions", self.instructions, "before the first question; with {group}");
    scale_key(keys, self.scale);
    keys.needed().items("turns", self.turns, "what is asked, one after the other");
  }
};

/// How the first message of a conversation is put: with or without instructions, with or without the turns before it.
struct PromptForm {
  enum class Steps : std::uint8_t { asked, left_out };
  inline static const std::vector<std::string> steps_names = {"asked", "left_out"};
  std::string label;
  std::string text = "{question}";  ///< one {question}, at most one {instructions}
  Steps steps = Steps::asked;
  bool operator==(const PromptForm&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label);
    keys.text("text", self.text, "with one {question}, at most one {instructions}");
    keys.choice("steps", self.steps, steps_names, "left_out: turns that are asked with steps only are not");
  }
};

/// How texts are drawn; every round is a conversation of its own.
struct InterviewSampling : TextSampling {
  InterviewSampling() { max_new_tokens = 300; }
  std::int64_t rounds = 10;
  bool operator==(const InterviewSampling&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.integer("rounds", self.rounds, 1, 10'000, "conversations of each prompt");
    text_keys(self, keys, 8192);
    keys.number("top_p", self.top_p, 1e-6, 1);
    keys.integer("top_k", self.top_k, 0, 1'000'000);
    keys.number("repetition_penalty", self.repetition_penalty, query::least_repetition_penalty,
                query::largest_repetition_penalty);
    keys.texts("stop", self.stop, "texts that end an answer");
  }
};

struct Interview {
  static constexpr const char* probe_name = "interview";
  std::vector<sweep::Group> groups;
  sweep::IntersectionRule intersections;
  std::vector<Conversation> conversations;  ///< each rates in one turn at most one item, or several together
  std::vector<PromptForm> forms = {{.label = "full", .text = "{instructions}\n\n{question}"}};  ///< the templates
  std::vector<sweep::Rephrasing> rephrasings = {{"none", "{prompt}", {}}};
  std::optional<sweep::Design> design = std::nullopt;  ///< nothing: all is asked
  InterviewSampling sampling;
  bool operator==(const Interview&) const = default;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys);
  /// Greedy answers are no draws.
  bool draws() const { return sampling.temperature > 0; }
  static bool needs_model() { return true; }
};

/// Groups and intersections, by their plurals.
sweep::SubjectList subjects_of(const Interview& settings);

/// Reports what no single key can tell.
void check_settings(const config::ProbeReading& job, const Interview& settings);

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

/// What a run of the job writes.
results::RawSchema interview_schema(const sweep::Job& job);

/// Throws InputError with everything that keeps the job from being asked of this tokenizer.
std::unique_ptr<InterviewProbe> make_interview(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer);

// The file of an interview -> the score table, and how many answers have which status; and what only interviews have
// besides: diversity of their texts, consistency of their ratings, refusals.

/// The measures of the table, in this order. The last two only where options are asked.
enum class Measure : std::uint8_t { rating, rating_complete_answers, usable, refused, option_rating, option_share };

struct InterviewResult {
  results::ScoreTable table;
  std::vector<std::string> answer_statuses;   ///< that a turn can have in this file
  std::vector<std::uint64_t> answer_counts;   ///< [status of a turn, the file's "not_scored" last]
  std::vector<std::uint64_t> rating_counts;   ///< [status of a rating]; those that were not asked are left out
  std::vector<std::uint64_t> keyword_counts;  ///< [status of a list of keywords]; empty where none is asked
  std::set<std::int32_t> rules;               ///< versions of the rules by which the answers were read
};

/// A turn of a conversation, by their labels.
std::string rating_turn(const std::string& conversation, const std::string& turn);
/// By item of a result's axis: the turn that rates it; nothing where none is rated. Throws InputError where the file is
/// no interview.
std::vector<std::string> rating_turns(const results::RawSchema& schema);

/// Of the score table, by the axes and cubes of the result; `job` adds the ends of the scales.
results::ScoreTableAxes score_axes(const results::RawSchema& schema, const sweep::Job& job);

/// Items of turns that are asked with steps only, in forms without them; where the job is known. No item: nothing.
findings::LeftOut left_out(const results::RawSchema& schema, const sweep::Job& job);

/// What else is made of the contexts: called for each, in order, with its place in the block.
using ContextVisitor = std::function<void(const results::RawBlock& block, std::uint64_t place)>;

/// Reads the whole file once. `again`: reads the texts by the rules of this program, for which it needs the job. Throws
/// InputError if it is no interview, or not one of this job.
InterviewResult compute_scores(const results::ResultFile& file, const sweep::Job& job, StatsRequest::Parsing parsing,
                               const ContextVisitor& visit = {});

/// Words of the n-grams, and of the longest n-grams of Self-BLEU.
inline constexpr std::array<std::size_t, 2> ngram_orders = {2, 3};

/// The lower-case words, numbers and punctuation marks of a text (room answers: without markup and line ends), each
/// word with a number of its own.
class WordNumbering {
 public:
  stats::WordNumbers operator()(std::string_view text);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The words of all texts of a file, whose contexts it takes one after the other, from the first: 4 bytes a word.
class InterviewTexts {
 public:
  /// `schema` is borrowed.
  explicit InterviewTexts(const results::RawSchema& schema);
  /// `place`: of the context in the block. Texts whose answer_status is not ok are left out.
  void add(const results::RawBlock& block, std::uint64_t place);
  /// [kept axes of the contexts, turn, order]: the texts of all rounds and of all that stands on the other axes are
  /// compared with one another.
  std::vector<stats::TextDiversity> diversities(const std::vector<std::size_t>& kept_axes) const;
  const results::RawSchema& schema() const { return schema_; }

 private:
  const results::RawSchema& schema_;
  WordNumbering number_;
  std::vector<std::vector<stats::WordNumbers>> texts_;  ///< [context, turn], each of all rounds
};

/// `subject_refused_share`, `template_refused_share`, `rating_variation` of the measures `rating`, `usable` and
/// `refused`. `turns`: by item of the table, as `rating_turns`. `confidence`: of intervals; nothing: greedy answers,
/// which are no draws.
std::vector<findings::Finding> consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns,
                                              std::optional<double> confidence);

/// The same where something is rated, and `texts_over_...`. `scores`: of the same run.
std::vector<findings::Finding> findings_of(const InterviewTexts& texts, const findings::Scores& scores,
                                           std::optional<double> confidence);

/// The probe for the rest of the program.
const config::ProbeFormat& interview_kind();

}  // namespace stereosweep::probes::interview
