#include "probes/rating/Rating.hpp"

#include <algorithm>
#include <tuple>

#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/language/Language.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::rating {
namespace {

using config::Node;

/// How often a place stands in a text.
enum class Times { once, at_most_once };

/// A place in a text, under one of its names.
struct Placeholder {
  std::vector<std::string> names;
  Times times;
};

/// Every placeholder stands in the text as often as it says, and no other brace does.
void check_places(const Node& node, const std::string& key, const std::string& text,
                  const std::vector<Placeholder>& places, base::Problems& problems) {
  std::vector<std::string> known;
  std::size_t total = 0;
  for (const auto& [names, times] : places) {
    std::size_t count = 0;
    for (const auto& name : names) {
      count += base::count_of(text, name);
    }
    if (count > 1 || (count == 0 && times == Times::once)) {
      problems.add(node.place(key),
                   std::to_string(count) + " times " + base::join(names, " or ") + " in '" + text.substr(0, 60) + "'",
                   times == Times::once ? "exactly one is expected" : "at most one is expected");
    }
    total += count;
    known.insert(known.end(), names.begin(), names.end());
  }
  if (base::count_of(text, "{") > total || base::count_of(text, "}") > total) {
    problems.add(node.place(key), "an unknown placeholder in '" + text.substr(0, 60) + "'",
                 "known: " + base::join(known, ", "));
  }
}

void check_question(const Node& node, const std::string& key, const std::string& text, Times trait,
                    base::Problems& problems) {
  check_places(node, key, text, {{{"{group}", "{identity}"}, Times::once}, {{"{trait}"}, trait}}, problems);
}

/// A marker is crossed with every word for people.
std::vector<Identity> read_identities(const Node& node, const std::vector<std::string>& people,
                                      const config::ProbeReading& job) {
  return config::read_entries<Identity>(
      node, "identities", "axes.identities", job.pieces, job.problems, [&](const Node& entry, const std::string& key) {
        Identity written;
        config::read_fields(entry, key, job.problems, written,
                            "{marker: old, definition: 'Old {people} are {people} who are aged 65 and over.'}");
        config::check_surface(entry, key, written.marker, job.problems);
        if (!written.people.empty()) {  // resolved: a finished identity
          return std::vector{written};
        }
        const std::string& definition = written.definition;
        if (!definition.empty()) {
          check_places(entry, key + ".definition", definition, {{{"{people}"}, Times::once}}, job.problems);
        }
        std::vector<Identity> identities;
        for (const auto& word : people) {
          identities.push_back(
              {written.marker + " " + word, written.marker, word, base::replace_all(definition, "{people}", word)});
        }
        return identities;
      });
}

/// One text, or a list of them.
std::vector<std::string> read_own_questions(const Node& node, const std::string& key, base::Problems& problems) {
  std::vector<std::string> texts;
  if (node.kind == Node::Kind::list) {
    texts = config::read_lines(node, key, problems).value_or(texts);
  } else if (auto text = config::read_line(node, key, problems)) {
    texts.push_back(std::move(*text));
  }
  for (const auto& text : texts) {
    check_question(node, key, text, Times::at_most_once, problems);
  }
  return texts;
}

std::vector<RatedTrait> read_rated_traits(const Node& node, const config::ProbeReading& job) {
  return config::read_entries<RatedTrait>(
      node, "rated_traits", "axes.rated_traits", job.pieces, job.problems,
      [&](const Node& entry, const std::string& key) {
        RatedTrait trait;
        config::Fields fields(
            entry, key, job.problems,
            "{label: friendly, dimension: warmth, definition: 'Friendly means ...', polarity: positive}");
        RatedTrait::each_key(trait, fields);
        if (const Node* question = fields.optional("question")) {
          trait.questions = read_own_questions(*question, key + ".question", job.problems);
        }
        fields.finish();
        config::check_surface(entry, key, trait.label, job.problems);
        return std::vector{trait};
      });
}

constexpr auto question_keys = [](auto& keys, auto& question) {
  keys.line("label", question.label);
  keys.line("style", question.kind);
  keys.required_line("text", question.text);
  keys.line("inside", question.inside);
};

std::vector<sweep::Template> read_questions(const Node& node, const std::string& axis,
                                            const config::ProbeReading& job) {
  return config::read_entries<sweep::Template>(
      node, "rating_questions", axis, job.pieces, job.problems, [&](const Node& entry, const std::string& key) {
        sweep::Template question;
        if (entry.kind == Node::Kind::scalar) {
          question.text = config::read_line(entry, key, job.problems).value_or("");
        } else {
          config::Fields fields(entry, key, job.problems, "{label: ..., text: 'How {trait} are {group}?'}");
          question_keys(fields, question);
          fields.finish();
        }
        question.label = question.label.empty() ? question.text : question.label;
        if (question.inside.empty() && !job.pieces.inline_only()) {
          question.inside = job.pieces.language().inside(question.text);
        }
        check_question(entry, key + ".text", question.text, Times::once, job.problems);
        return std::vector{question};
      });
}

/// What the identities end with where the job does not say.
std::vector<std::string> words_for_people(const Node& identities, const config::ProbeReading& job) {
  const auto& language = job.pieces.language();
  if (!language.is_english() && language.people().empty() && !job.pieces.inline_only()) {
    job.problems.add(identities.place("axes.identities"), "no words for people",
                     "the table of the language '" + language.name() + "' has no 'people'",
                     "Set axes.people: [..., ...].");
  }
  return language.people().empty() ? std::vector<std::string>{"women", "men"} : language.people();
}

void read_subjects(config::Fields& axes, const config::ProbeReading& job, Rating& settings) {
  const Node* people = axes.optional("people");
  const Node* rule = axes.optional("intersections");
  const auto [subjects, name] = axes.either("groups", "identities");
  if (subjects == nullptr) {
    axes.required("groups");
  }
  if (name != "axes.groups") {
    if (rule != nullptr) {
      job.problems.add(rule->place("axes.intersections"), "axes.intersections without axes.groups",
                       "identities are crossed with axes.people", "Give axes.groups.");
    }
    const auto words =
        people == nullptr
            ? words_for_people(*subjects, job)
            : config::read_lines(*people, "axes.people", job.problems).value_or(std::vector<std::string>());
    if (subjects != nullptr) {
      settings.identities = read_identities(*subjects, words, job);
    }
    return;
  }
  if (people != nullptr) {
    job.problems.add(people->place("axes.people"), "axes.people beside axes.groups", "groups have words of their own");
  }
  std::vector<sweep::Group> unselected;
  settings.groups = config::read_plural_groups(*subjects, "axes.groups", job.pieces, job.problems, unselected);
  if (rule != nullptr) {
    settings.intersections =
        config::read_intersections(*rule, "axes.intersections", job.pieces, job.problems, settings.groups, unselected);
  }
}

std::vector<RatingOption> default_scale() {
  return {{"extremely", 5}, {"very", 4}, {"average", 3}, {"slightly", 2}, {"not at all", 1}};
}

/// {from: 1, to: 7, low: "not at all", high: "extremely"}: whole numbers.
std::vector<RatingOption> read_range(const Node& node, base::Problems& problems) {
  std::int64_t from = 1;
  std::int64_t to = 0;
  std::string low;
  std::string high;
  config::Fields fields(node, "scale", problems);
  fields.required("from");
  fields.required("to");
  fields.integer("from", from, -1000, 1000);
  fields.integer("to", to, -1000, 1000);
  fields.line("low", low);
  fields.line("high", high);
  fields.finish();
  config::check_surface(node, "scale.low", low, problems);
  config::check_surface(node, "scale.high", high, problems);
  std::vector<RatingOption> scale;
  const std::int64_t step = from < to ? 1 : -1;
  for (std::int64_t value = from; value != to + step; value += step) {
    const bool is_low = value == std::min(from, to);
    const bool is_high = value == std::max(from, to);
    scale.push_back({std::to_string(value), static_cast<double>(value), is_low ? low : is_high ? high : ""});
  }
  return scale;
}

/// [very, 4], a plain number, or {text: very, value: 4, note: ...}.
std::optional<RatingOption> read_option(const Node& node, const std::string& key, base::Problems& problems) {
  RatingOption option;
  std::string value;
  if (node.kind == Node::Kind::scalar) {
    option.text = config::read_line(node, key, problems).value_or("");
    value = option.text;
  } else if (node.kind == Node::Kind::map) {
    config::Fields fields(node, key, problems);
    fields.required_line("text", option.text);
    fields.required_line("value", value);
    fields.line("note", option.note);
    fields.finish();
  } else if (const auto pair = config::read_two(node, key, problems)) {
    std::tie(option.text, value) = *pair;
  }
  if (option.text.empty() || value.empty()) {
    return std::nullopt;
  }
  const auto number = base::parse_double(value);
  if (!number) {
    problems.add(node.place(key), "'" + value.substr(0, 40) + "' is no number",
                 "an option is [text, value] or a plain number");
    return std::nullopt;
  }
  option.value = *number;
  config::check_surface(node, key, option.text, problems);
  config::check_surface(node, key, option.note, problems);
  return option;
}

void read_scale(const Node& node, const config::ProbeReading& job, Rating& settings) {
  auto& scale = settings.scale;
  scale.clear();
  if (node.kind == Node::Kind::map) {
    scale = read_range(node, job.problems);
  } else if (!config::expect_kind(node, Node::Kind::list, "scale", job.problems, config::Emptiness::refused)) {
    return;
  }
  for (std::size_t i = 0; node.kind == Node::Kind::list && i < node.children.size(); ++i) {
    const std::string key = "scale[" + std::to_string(i) + "]";
    auto option = read_option(node.children[i], key, job.problems);
    for (const auto& other : scale) {
      if (option && (other.text == option->text || other.value == option->value)) {
        job.problems.add(node.children[i].place(key), "option '" + option->text + "' repeats a text or a value",
                         "options must differ");
      }
    }
    if (option) {
      scale.push_back(std::move(*option));
    }
  }
  const std::size_t count = node.kind == Node::Kind::list ? node.children.size() : scale.size();
  if (count < 2 || count > 26) {
    job.problems.add(node.place("scale"), std::to_string(count) + " options", "2 to 26 are expected: A to Z");
  }
}

void read_orders(const Node& node, const config::ProbeReading& job, Rating& settings) {
  settings.orders.clear();
  for (const auto index :
       config::read_choices(node, "orders", job.problems, option_order_names, config::Choices::distinct)) {
    settings.orders.push_back(static_cast<OptionOrder>(index));
  }
}

void read_sampling(const Node& node, const config::ProbeReading& job, Rating& settings) {
  auto& sampling = settings.sampling;
  if (node.kind == Node::Kind::scalar) {
    const std::vector<std::string> names = {"none"};
    config::read_choice(node, "sampling", job.problems, names);
    sampling.runs = 0;
    return;
  }
  config::Fields fields(node, "sampling", job.problems);
  RatingSampling::each_key(sampling, fields);
  sampling.stop = read_stops(fields.optional("stop"), job.problems);
  fields.finish();
  if (sampling.runs == 0) {  // the rest says nothing then, and a dump does not keep it
    sampling = RatingSampling();
    sampling.runs = 0;
  } else if (sampling.temperature == 0 && sampling.runs > 1) {
    job.problems.add(node.place("sampling.runs"), std::to_string(sampling.runs) + " runs at temperature 0",
                     "greedy answers are all the same", "Set runs: 1, or a temperature.");
  }
}

void read_statistics(const Node& node, const config::ProbeReading& job, Rating& settings) {
  config::Fields fields(node, "statistics", job.problems);
  if (const Node* path = fields.optional("human_ratings")) {
    settings.statistics.human_ratings =
        job.pieces.resolve_path(config::read_line(*path, "statistics.human_ratings", job.problems, 4000).value_or(""));
  }
  fields.finish();
}

/// The words for people, where the job names none, are English: said where the questions are not.
void note_language(const Rating& settings, const Node* people, const config::ProbeReading& job) {
  std::vector<std::string> texts;
  for (const auto& question : settings.questions) {
    texts.push_back(question.text);
  }
  if (people == nullptr && !settings.identities.empty() && !job.pieces.inline_only() &&
      job.pieces.language().is_english() && !config::seems_english(texts)) {
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
    if (count > 1 && count != settings.questions.size()) {
      problems.add(node.place("axes.rated_traits"),
                   "the trait '" + trait.label + "' has " + std::to_string(count) + " questions for " +
                       base::counted(settings.questions.size(), "template"),
                   "each stands in place of one template", "Give one question, or one for each template.");
    }
  }
}

void read_axes(const Node& node, const config::ProbeReading& job, Rating& settings) {
  config::Fields axes(node, "axes", job.problems);
  read_subjects(axes, job, settings);
  if (const Node* traits = axes.required("rated_traits")) {
    settings.traits = read_rated_traits(*traits, job);
  }
  if (const auto [questions, name] = axes.either("templates", "rating_questions"); questions != nullptr) {
    settings.questions = read_questions(*questions, name, job);
  } else {
    axes.required("templates");
  }
  if (const Node* rephrasings = axes.optional("rephrasings")) {
    settings.rephrasings =
        config::read_rephrasings(*rephrasings, "axes.rephrasings", job.pieces, job.problems, settings.questions);
  }
  const Node* people = axes.optional("people");
  axes.finish();
  check_own_questions(node, settings, job.problems);
  note_language(settings, people, job);
}

void read_frame(const Node& node, const config::ProbeReading& job, Rating& settings) {
  settings.frame = config::read_text(node, "frame", job.problems).value_or("");
  check_places(node, "frame", settings.frame,
               {{{"{identity_definition}"}, Times::at_most_once},
                {{"{trait_definition}"}, Times::at_most_once},
                {{"{question}"}, Times::once},
                {{"{options}"}, Times::once}},
               job.problems);
}

/// A definition that the frame has no place for would be lost.
void check_definitions(const config::ProbeReading& job, const Rating& settings) {
  const auto check = [&](const auto& items, const std::string& name) {
    const bool is_defined =
        std::any_of(items.begin(), items.end(), [](const auto& item) { return !item.definition.empty(); });
    if (is_defined && base::count_of(settings.frame, name) == 0) {
      job.problems.add(job.root.place("frame"), "0 times " + name + " in the frame", "definitions are given",
                       "Put " + name + " into the frame, or leave the definitions out.");
    }
  };
  check(settings.identities, "{identity_definition}");
  check(settings.traits, "{trait_definition}");
}

Node dump_trait(const RatedTrait& trait) {
  Node map = config::dump_fields(trait);
  if (!trait.questions.empty()) {
    map.add("question", config::texts(trait.questions));
  }
  return map;
}

Node dump_question(const sweep::Template& question) {
  config::FieldsDump fields;
  question_keys(fields, question);
  return fields.take();
}

Node dump_axes(const Rating& settings) {
  Node axes = Node::map();
  if (settings.groups.empty()) {
    axes.add("identities", config::list_of(settings.identities, config::dump_fields<Identity>));
  } else {
    axes.add("groups", config::dump(settings.groups));
    axes.add("intersections", config::dump(settings.intersections));
  }
  axes.add("rated_traits", config::list_of(settings.traits, dump_trait));
  axes.add("templates", config::list_of(settings.questions, dump_question));
  axes.add("rephrasings", config::dump(settings.rephrasings));
  return axes;
}

Node dump_option(const RatingOption& option) {
  if (option.note.empty()) {
    return config::texts({option.text, base::format_double(option.value)});
  }
  Node map = Node::map();
  config::add_text(map, "text", option.text);
  config::add_text(map, "value", base::format_double(option.value));
  config::add_text(map, "note", option.note);
  return map;
}

Node dump_orders(const Rating& settings) {
  std::vector<std::string> names;
  for (const auto order : settings.orders) {
    names.push_back(option_order_names[static_cast<std::size_t>(order)]);
  }
  return config::texts(names);
}

Node dump_sampling(const Rating& settings) {
  if (settings.sampling.runs == 0) {
    return Node::plain("none");
  }
  Node map = config::dump_fields(settings.sampling);
  map.add("stop", config::texts(settings.sampling.stop));
  return map;
}

/// A key of the job: how it is read where it is given, and dumped.
struct Key {
  const char* name;
  void (*read)(const Node& node, const config::ProbeReading& job, Rating& settings);
  Node (*dump)(const Rating& settings);
};

const std::array keys = {
    Key{"axes", read_axes, dump_axes},
    Key{"scale", read_scale, [](const Rating& settings) { return config::list_of(settings.scale, dump_option); }},
    Key{"orders", read_orders, dump_orders},
    Key{"frame", read_frame, [](const Rating& settings) { return Node::text(settings.frame); }},
    Key{"sampling", read_sampling, dump_sampling},
    Key{"statistics", read_statistics, dump_statistics},
};

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

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& key : keys) {
    names.emplace_back(key.name);
  }
  return names;
}

Rating read_settings(const config::ProbeReading& job) {
  Rating settings;
  settings.scale = default_scale();
  job.fields.required("axes");
  for (const auto& key : keys) {
    if (const Node* node = job.fields.optional(key.name)) {
      key.read(*node, job, settings);
    }
  }
  check_definitions(job, settings);
  config::check_cells(job, {{settings.identities.size() + sweep::most_subjects(settings.groups, settings.intersections),
                             "groups and intersections"},
                            {settings.traits.size(), "traits"},
                            {settings.questions.size(), "templates"},
                            {settings.rephrasings.size(), "rephrasings"},
                            {settings.scale.size(), "options"}});
  return settings;
}

void dump_settings(const Rating& settings, Node& job) {
  for (const auto& key : keys) {
    if (key.dump != dump_statistics) {
      job.add(key.name, key.dump(settings));
    }
  }
}

Node dump_statistics(const Rating& settings) {
  Node map = Node::map();
  config::add_text(map, "human_ratings", settings.statistics.human_ratings);
  return map;
}

}  // namespace stereosweep::probes::rating
