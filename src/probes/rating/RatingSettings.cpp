#include <algorithm>

#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/language/LanguageTable.hpp"
#include "probes/rating/Rating.hpp"

namespace stereosweep::probes::rating {
namespace {

using config::Node;

/// `least`: how often it must name the trait.
void check_question(const base::Place& place, const std::string& text, std::size_t least, base::Problems& problems) {
  config::check_places(place, text, {{{"{group}", "{identity}"}, 1}, {{"{trait}"}, least}}, problems);
}

/// A marker is crossed with every word for people.
std::vector<Identity> read_identities(const Node& node, const std::vector<std::string>& people,
                                      const config::Fields& job) {
  return config::read_entries<Identity>(
      node, "identities", "axes.identities", job.pieces(), job.problems(),
      [&](const Node& entry, const std::string& key) {
        Identity written;
        config::read_fields(entry, key, job.problems(), written,
                            "{marker: old, definition: 'Old {people} are {people} who are aged 65 and over.'}");
        config::check_surface(entry, key, written.marker, job.problems());
        if (!written.people.empty()) {  // resolved: a finished identity
          return std::vector{written};
        }
        const std::string& definition = written.definition;
        if (!definition.empty()) {
          config::check_places(entry.place(key + ".definition"), definition, {{{"{people}"}, 1}}, job.problems());
        }
        return base::mapped(people, [&](const auto& word) {
          return Identity{written.marker + " " + word, written.marker, word,
                          base::replace_all(definition, "{people}", word)};
        });
      });
}

std::vector<RatedTrait> read_trait(const Node& entry, const std::string& key, const config::Fields& job) {
  RatedTrait trait;
  config::read_fields(entry, key, job.problems(), trait,
                      "{label: friendly, dimension: warmth, definition: 'Friendly means ...', polarity: positive}");
  config::check_surface(entry, key, trait.label, job.problems());
  job.problems().add_if(!trait.inside.empty() && trait.inside.size() != trait.questions.size(), entry.place(key),
                        "the trait '" + trait.label + "' has " + base::counted(trait.questions.size(), "question") +
                            ", and " + std::to_string(trait.inside.size()) + " texts 'inside'",
                        "each is one question as it stands inside a wrapper");
  for (const auto& text : trait.inside) {
    check_question(entry.place(key + ".inside"), text, 0, job.problems());
  }
  const auto& language = job.pieces().language();
  if (trait.inside.empty() && !job.pieces().holds_language() && !language.is_english()) {
    trait.inside = base::mapped(trait.questions, [&](const auto& text) { return language.inside(text); });
  }
  return {trait};
}

/// A template that is a question.
struct RatingQuestion : sweep::Template {
  static constexpr const char* key_form = "{label: ..., text: 'How {trait} are {group}?'}";
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else the text");
    keys.line("style", self.kind, "for tables only");
    keys.needed().alone().line("text", self.text, "with {group} and {trait}");
    keys.line("inside", self.inside, "as it stands inside a wrapper");
  }
};

std::vector<sweep::Template> read_question(const Node& entry, const std::string& key, const config::Fields& job) {
  RatingQuestion question;
  config::read_fields(entry, key, job.problems(), question, RatingQuestion::key_form);
  question.label = question.label.empty() ? question.text : question.label;
  if (question.inside.empty() && !job.pieces().holds_language()) {
    question.inside = job.pieces().language().inside(question.text);
  }
  check_question(entry.place(key + ".text"), question.text, 1, job.problems());
  return {question};
}

/// What the identities end with where the job does not say.
std::vector<std::string> words_for_people(const Node& identities, const config::Fields& job) {
  const auto& language = job.pieces().language();
  job.problems().add_if(!language.is_english() && language.people().empty() && !job.pieces().holds_language(),
                        identities.place("axes.identities"), "no words for people",
                        "the table of the language '" + language.name() + "' has no 'people'",
                        "Set axes.people: [..., ...].");
  return language.people().empty() ? std::vector<std::string>{"women", "men"} : language.people();
}

void subjects_keys(config::Fields& axes, Rating& settings) {
  const Node* people = axes.optional("people");
  const Node* rule = axes.optional("intersections");
  const auto [subjects, name] = axes.either("groups", "identities");
  if (subjects == nullptr) {
    axes.required("groups");
    return;
  }
  if (name != "axes.groups") {
    if (rule != nullptr) {
      axes.problems().add(rule->place("axes.intersections"), "axes.intersections without axes.groups",
                          "identities are crossed with axes.people", "Give axes.groups.");
    }
    const auto words =
        people == nullptr
            ? words_for_people(*subjects, axes)
            : config::read_lines(*people, "axes.people", axes.problems()).value_or(std::vector<std::string>());
    settings.identities = read_identities(*subjects, words, axes);
    return;
  }
  if (people != nullptr) {
    axes.problems().add(people->place("axes.people"), "axes.people beside axes.groups",
                        "groups have words of their own");
  }
  config::groups_keys(axes, settings.groups, settings.intersections, config::GroupForms::plural);
}

void subjects_keys(config::ShownKeys& axes, const Rating& settings) {
  if (axes.describes()) {
    auto groups = config::ShownKeys::of_schema();
    config::groups_keys(groups, settings.groups, settings.intersections, config::GroupForms::plural);
    for (const auto& entry : groups.schemas().items()) {  // none is needed where there are identities
      axes.describe(entry.key(), entry.value());
    }
  } else if (!settings.groups.empty()) {
    config::groups_keys(axes, settings.groups, settings.intersections, config::GroupForms::plural);
    return;
  }
  axes.sourced("identities", settings.identities, "markers that are crossed with words for people, in place of groups");
  if (axes.describes()) {
    axes.lines("people", {}, config::Emptiness::refused, "words that identities end with");
  }
}

/// Of {from: 1, to: 7, low: "not at all", high: "extremely"} each number is an option.
void scale_key(config::Fields& job, std::vector<RatingOption>& scale) {
  const Node* node = job.optional("scale");
  if (node != nullptr && node->kind == Node::Kind::map) {
    NumberScale range;
    read_numbers(*node, "scale", job.problems(), range);
    scale = range.numbers();
    check_num_options(node->place("scale"), scale.size(), job.problems());
  } else if (node != nullptr) {
    scale = read_options(*node, "scale", job.problems());
  }
}

void scale_key(config::ShownKeys& keys, const std::vector<RatingOption>& scale) {
  keys.own("scale", dump_options(scale), "what can be answered, the options in their order", scale_schema,
           config::fields_schema<NumberScale>);
}

void sampling_key(config::Fields& keys, RatingSampling& sampling) {
  const Node* node = keys.optional("sampling");
  if (node != nullptr && node->kind == Node::Kind::scalar) {
    config::read_choice(*node, "sampling", keys.problems(), std::vector<std::string>{"none"});
    sampling.runs = 0;
    return;
  }
  keys.item("sampling", sampling);
  if (sampling.runs == 0) {  // the rest says nothing then, and a dump does not keep it
    sampling = RatingSampling();
    sampling.runs = 0;
  }
  check_sampling(keys, sampling, sampling.runs, "runs");
}

void orders_key(config::Fields& keys, std::vector<OptionOrder>& orders) {
  keys.choices("orders", orders, option_order_names);
}

/// In quotes, so that dumps of older runs stay what they were.
void orders_key(config::ShownKeys& keys, const std::vector<OptionOrder>& orders) {
  const auto names =
      base::mapped(orders, [](auto order) { return std::string(option_order_names[static_cast<std::size_t>(order)]); });
  keys.own("orders", config::texts(names), "in which a prompt lists the options", config::choices_schema,
           option_order_names);
}

void sampling_key(config::ShownKeys& keys, const RatingSampling& sampling) {
  keys.own("sampling", sampling.runs == 0 ? Node::plain("none") : config::dump_extent(sampling, keys.extent()),
           "answers as text", [] {
             return config::either_schema({config::choice_schema({"none"}), config::fields_schema<RatingSampling>()});
           });
}

/// The words for people, where the job names none, are English: said where the questions are not.
void note_language(const Rating& settings, const Node* people, const config::Fields& job) {
  const auto texts = base::mapped(settings.questions, &sweep::Template::text);
  if (people == nullptr && !settings.identities.empty() && !job.pieces().holds_language() &&
      job.pieces().language().is_english() && !config::seems_english(texts)) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the questions seem not to be English, and the identities end with the English "
                                  "'women' and 'men'",
                                  "", "Set axes.people: [..., ...]."));
  }
}

/// A trait's own questions stand in place of one template's text each, or one of them in place of all.
void check_own_questions(const Node& node, const Rating& settings, base::Problems& problems) {
  for (const auto& trait : settings.traits) {
    const std::size_t count = trait.questions.size();
    problems.add_if(count > 1 && count != settings.questions.size(), node.place("axes.rated_traits"),
                    "the trait '" + trait.label + "' has " + std::to_string(count) + " questions for " +
                        base::counted(settings.questions.size(), "template"),
                    "each stands in place of one template", "Give one question, or one for each template.");
  }
}

void axes_keys(auto& axes, auto& settings) {
  subjects_keys(axes, settings);
  config::entries_key<RatedTrait>(axes, {"rated_traits"}, "rated_traits", settings.traits, "", read_trait);
  config::entries_key<RatingQuestion>(axes, {"templates", "rating_questions"}, "rating_questions", settings.questions,
                                      "questions with {group} and {trait}", read_question);
  config::rephrasings_key(axes, settings.rephrasings, settings.questions);
}

/// The places of the frame; a definition that it has no place for would be lost.
void check_frame(const config::Fields& job, const Rating& settings) {
  config::check_places(
      job.place("frame"), settings.frame,
      {{{"{identity_definition}"}, 0}, {{"{trait_definition}"}, 0}, {{"{question}"}, 1}, {{"{options}"}, 1}},
      job.problems());
  const auto check = [&](const auto& items, const std::string& name) {
    const bool is_defined = std::ranges::any_of(items, [](const auto& item) { return !item.definition.empty(); });
    job.problems().add_if(is_defined && base::count_of(settings.frame, name) == 0, job.node().place("frame"),
                          "0 times " + name + " in the frame", "definitions are given",
                          "Put " + name + " into the frame, or leave the definitions out.");
  };
  check(settings.identities, "{identity_definition}");
  check(settings.traits, "{trait_definition}");
}

}  // namespace

sweep::SubjectList subjects_of(const Rating& settings) {
  auto list = sweep::list_subjects(settings.groups, settings.intersections, {.singular = false, .plural = true});
  for (const auto& identity : settings.identities) {
    sweep::Subject subject;
    subject.kind = sweep::SubjectKind::intersection;
    subject.label = identity.label;
    subject.components = {identity.marker, identity.people};
    subject.domains = {"marker", "people"};
    subject.plural = identity.label;
    list.subjects.push_back(std::move(subject));
  }
  return list;
}

void question_key(config::Fields& keys, std::vector<std::string>& questions) {
  const Node* node = keys.optional("question");
  if (node == nullptr) {
    return;
  }
  const auto key = keys.key_of("question");
  if (node->kind == Node::Kind::list) {
    questions = config::read_lines(*node, key, keys.problems()).value_or(questions);
  } else if (auto text = config::read_line(*node, key, keys.problems())) {
    questions.push_back(std::move(*text));
  }
  for (const auto& text : questions) {
    check_question(node->place(key), text, 0, keys.problems());
  }
}

void question_key(config::ShownKeys& keys, const std::vector<std::string>& questions) {
  keys.own("question", questions.empty() ? Node() : config::texts(questions),
           "in place of the templates' texts: one for all, or one for each", config::text_or_lines_schema);
}

std::vector<RatingOption> Rating::default_scale() {
  return {{"extremely", 5}, {"very", 4}, {"average", 3}, {"slightly", 2}, {"not at all", 1}};
}

void Rating::each_key(auto& self, auto& keys) {
  keys.needed().told_by_block().nested("axes", [&](auto& axes) {
    axes_keys(axes, self);
    if constexpr (std::same_as<decltype(axes), config::Fields&>) {
      check_own_questions(axes.node(), self, axes.problems());
      note_language(self, axes.optional("people"), axes);
    }
    config::design_key(axes, self.design);
  });
  scale_key(keys, self.scale);
  orders_key(keys, self.orders);
  keys.told_by_block().text("frame", self.frame,
                            "with {question}, {options}, {identity_definition}, {trait_definition}");
  sampling_key(keys, self.sampling);
}
template void Rating::each_key(Rating&, config::Fields&);
template void Rating::each_key(const Rating&, config::ShownKeys&);

void check_settings(const config::ProbeReading& job, const Rating& settings) {
  check_frame(job.fields, settings);
  config::check_cells(job, {{settings.identities.size() + sweep::most_subjects(settings.groups, settings.intersections),
                             "groups and intersections"},
                            {settings.traits.size(), "traits"},
                            {settings.questions.size(), "templates"},
                            {settings.rephrasings.size(), "rephrasings"},
                            {settings.scale.size(), "options"}});
}

}  // namespace stereosweep::probes::rating
