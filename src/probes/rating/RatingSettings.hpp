// What a rating job needs besides model and execution (stereotype content model; winoidentity §3): who is rated on
// what, how it is asked, which answers there are, how answers are sampled. Plain values, and how they are read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/ProbeFormat.hpp"
#include "probes/RatingScale.hpp"
#include "probes/SampledText.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::rating {

/// Who is rated in the paper: a marker before a word for people, "Black women".
struct Identity {
  std::string label;       ///< unique; as it stands in a question
  std::string marker;      ///< "Black"
  std::string people;      ///< "women"
  std::string definition;  ///< may be empty
  bool operator==(const Identity&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "of a resolved job");
    keys.required_line("marker", self.marker, "before a word for people: Black");
    keys.line("people", self.people, "of a resolved job");
    keys.line("definition", self.definition, "with one {people}");
  }
};

/// `question` of a trait: one text, or a list of them.
void question_key(config::Fields& keys, std::vector<std::string>& questions);
void question_key(config::ShownKeys& keys, const std::vector<std::string>& questions);

struct RatedTrait {
  enum class Polarity { positive, negative };
  inline static const std::vector<std::string> polarity_names = {"positive", "negative"};
  std::string label;                        ///< as it stands in a question: "friendly"
  std::string dimension;                    ///< "warmth", "competence"
  Polarity polarity = Polarity::positive;   ///< of the dimension; negative: the rating is turned round
  std::string definition;                   ///< may be empty
  std::vector<std::string> questions = {};  ///< in place of the templates' texts: none, one for all, or one for each
  std::vector<std::string> inside = {};     ///< each as it stands inside a wrapper; empty: by the rule of English
  bool operator==(const RatedTrait&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("label", self.label, "as it stands in a question");
    keys.required_line("dimension", self.dimension, "warmth, competence, ...");
    keys.choice("polarity", self.polarity, polarity_names, "negative: the rating is turned round");
    keys.line("definition", self.definition);
    question_key(keys, self.questions);
    keys.unless_default().lines("inside", self.inside, config::Emptiness::allowed,
                                "the questions as they stand inside a wrapper");
  }
};

/// In which order the prompt lists the options: as the scale has them, or turned round.
enum class OptionOrder : std::uint8_t { as_listed, reversed };
inline constexpr std::array option_orders = {OptionOrder::as_listed, OptionOrder::reversed};
/// The values of the key `orders`, and labels of the axis.
inline const std::vector<std::string> option_order_names = {"as_listed", "reversed"};

/// Answers as text, beside the options' probabilities; `runs` 0: none.
struct RatingSampling : TextSampling {
  RatingSampling() { max_new_tokens = 16; }
  std::int64_t runs = 2;
  bool operator==(const RatingSampling&) const = default;
  /// There is no penalty.
  static void each_key(auto& self, auto& keys) {
    keys.integer("runs", self.runs, 0, 1000, "answers that are sampled for each prompt; 0: none");
    text_keys(self, keys, 4096);
    keys.integer("top_k", self.top_k, 0, 1'000'000);
    keys.number("top_p", self.top_p, 1e-6, 1);
    keys.texts("stop", self.stop, "texts that end an answer");
  }
};

/// Read by `stats` only.
struct RatingStatistics {
  std::string human_ratings;  ///< path of a table group (or identity), dimension, mean; empty: none
  bool operator==(const RatingStatistics&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.path("human_ratings", self.human_ratings, "a table of people's means: group, dimension, mean");
  }
};

struct Rating {
  static constexpr const char* probe_name = "rating";
  static constexpr const char* default_frame =
      "Please answer this multiple-choice question.\n\n{identity_definition} {trait_definition}\n\n"
      "Question: {question}\n{options}\nAnswer:";
  std::vector<Identity> identities;  ///< these, or groups with their intersections
  std::vector<sweep::Group> groups;
  sweep::IntersectionRule intersections;
  std::vector<RatedTrait> traits;
  std::vector<sweep::Template> questions;  ///< the templates, with one {group} ({identity} means the same) and {trait}
  std::vector<sweep::Rephrasing> rephrasings = {{"none", "{prompt}", {}}};
  std::vector<RatingOption> scale = default_scale();  ///< 2 to 26, lettered A, B, ... as the prompt lists them
  std::vector<OptionOrder> orders = {OptionOrder::as_listed, OptionOrder::reversed};
  std::string frame = default_frame;
  RatingSampling sampling;
  std::optional<sweep::Design> design = std::nullopt;  ///< nothing: all is asked
  RatingStatistics statistics;
  bool operator==(const Rating&) const = default;
  static void each_key(auto& self, auto& keys);
  static std::vector<RatingOption> default_scale();
  /// Greedy answers are no draws.
  bool draws() const { return sampling.runs > 0 && sampling.temperature > 0; }
  static bool needs_model() { return true; }
};

/// Who is rated: identities (intersections of marker and people), or groups and intersections. Questions need plurals.
sweep::SubjectList subjects_of(const Rating& settings);

/// Reports what no single key can tell.
void check_settings(const config::ProbeReading& job, const Rating& settings);

/// The probe for the rest of the program.
const config::ProbeFormat& rating_kind();

}  // namespace stereosweep::probes::rating
