// What an interview job needs besides model and execution (stereomap, appendix D): who is asked about, in which
// conversations, in which forms of a prompt, how answers are sampled. Plain values, and how they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "config/axes/AxisSource.hpp"
#include "probes/RatingScale.hpp"
#include "probes/SampledText.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::interview {

// A conversation: turns that are asked one after the other, each with the
// answers so far before it. Plain values, and how they are read.

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

/// Reads an entry of `axes.conversations`. One whose `rating` turn has several items becomes one for each, "LABEL
/// ITEM". `items`: labels of the entries before it.
std::vector<Conversation> read_conversation(const config::Node& entry, const std::string& key,
                                            const config::Fields& job, std::set<std::string>& items);

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
    keys.number("repetition_penalty", self.repetition_penalty, 1e-3, 100);
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

/// The probe for the rest of the program.
const config::ProbeFormat& interview_kind();

}  // namespace stereosweep::probes::interview
