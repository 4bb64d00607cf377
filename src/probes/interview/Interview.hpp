// What an interview job needs besides model and execution (stereomap, appendix
// D): who is asked about, in which conversations, in which forms of a prompt,
// how answers are sampled. Plain values, and how they are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "probes/SampledText.hpp"
#include "probes/interview/Conversation.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {
class ProbeKind;
}

namespace stereosweep::probes::interview {

/// How the first message of a conversation is put: with or without
/// instructions, with or without the turns before it.
struct PromptForm {
  enum class Steps : std::uint8_t { asked, left_out };
  inline static const std::vector<std::string> steps_names = {"asked", "left_out"};
  std::string label;
  std::string text = "{question}";  ///< one {question}, at most one {instructions}
  Steps steps = Steps::asked;
  bool operator==(const PromptForm&) const = default;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
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
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.integer("rounds", self.rounds, 1, 10'000, "conversations of each prompt");
    keys.integer("max_new_tokens", self.max_new_tokens, 1, 8192);
    keys.unless_default().integer("max_thought_tokens", self.max_thought_tokens, 0, 1'000'000,
                                  "further tokens, for what a model thinks before it answers");
    keys.number("temperature", self.temperature, 0, 100, "0: greedy");
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
  std::vector<Conversation> conversations;  ///< each rates in one turn at most
                                            ///< one item, or several together
  std::vector<PromptForm> forms;            ///< the templates
  std::vector<sweep::Rephrasing> rephrasings = {{"none", "{prompt}", {}}};
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
const ProbeKind& interview_kind();

}  // namespace stereosweep::probes::interview
