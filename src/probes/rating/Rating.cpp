#include "probes/rating/Rating.hpp"

#include <algorithm>
#include <tuple>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/DumpNodes.hpp"
#include "config/Language.hpp"

namespace stereosweep::probes::rating {
namespace {

using config::Node;

const std::vector<std::string> polarity_names = {"positive", "negative"};
const std::vector<std::string> start_names = {"plus_plus", "random"};

/// How often a place stands in a text.
enum class Times { once, at_most_once };

void check_place(const Node& node, const std::string& key, const std::string& text,
                 const std::vector<std::string>& names, Times times, base::Problems& problems) {
  std::size_t count = 0;
  for (const auto& name : names) {
    count += base::count_of(text, name);
  }
  if (count > 1 || (count == 0 && times == Times::once)) {
    problems.add(node.place(key),
                 std::to_string(count) + " times " + base::join(names, " or ") + " in '" + text.substr(0, 60) + "'",
                 times == Times::once ? "exactly one is expected" : "at most one is expected");
  }
}

/// No other brace than those of the places.
void check_braces(const Node& node, const std::string& key, const std::string& text,
                  const std::vector<std::string>& known, base::Problems& problems) {
  std::size_t count = 0;
  for (const auto& name : known) {
    count += base::count_of(text, name);
  }
  if (base::count_of(text, "{") > count || base::count_of(text, "}") > count) {
    problems.add(node.place(key), "an unknown placeholder in '" + text.substr(0, 60) + "'",
                 "known: " + base::join(known, ", "));
  }
}

void check_question(const Node& node, const std::string& key, const std::string& text, Times trait,
                    base::Problems& problems) {
  check_place(node, key, text, {"{group}", "{identity}"}, Times::once, problems);
  check_place(node, key, text, {"{trait}"}, trait, problems);
  check_braces(node, key, text, {"{group}", "{identity}", "{trait}"}, problems);
}

/// `kind` is the folder of its pieces.
template <class Item, class Read>
std::vector<Item> read_axis(const Node& node, const std::string& kind, const std::string& key,
                            const config::ProbeReading& job, Read read) {
  config::AxisSource source = config::find_source(node, kind, key, job.pieces, job.problems);
  if (!source.table.empty()) {
    job.problems.add(node.place(key), "no table can be read here", "this axis is a list");
  }
  std::vector<Item> items;
  config::LabelCheck labels(job.problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    for (auto& item : read(entry, entry_key)) {
      labels.add(entry, entry_key, item.label);
      items.push_back(std::move(item));
    }
  }
  return config::select(std::move(items), source, job.problems);
}

/// A marker is crossed with every word for people.
std::vector<Identity> read_identities(const Node& node, const std::vector<std::string>& people,
                                      const config::ProbeReading& job) {
  return read_axis<Identity>(
      node, "identities", "axes.identities", job, [&](const Node& entry, const std::string& key) {
        Identity written;
        config::Fields fields(entry, key, job.problems,
                              "{marker: old, definition: 'Old {people} are {people} who are aged 65 and over.'}");
        fields.line("label", written.label);
        fields.required_line("marker", written.marker);
        fields.line("people", written.people);
        fields.line("definition", written.definition);
        fields.finish();
        config::check_surface(entry, key, written.marker, job.problems);
        if (!written.people.empty()) {  // resolved: a finished identity
          return std::vector{written};
        }
        const std::string& definition = written.definition;
        if (!definition.empty()) {
          check_place(entry, key + ".definition", definition, {"{people}"}, Times::once, job.problems);
          check_braces(entry, key + ".definition", definition, {"{people}"}, job.problems);
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
  return read_axis<RatedTrait>(
      node, "rated_traits", "axes.rated_traits", job, [&](const Node& entry, const std::string& key) {
        RatedTrait trait;
        config::Fields fields(
            entry, key, job.problems,
            "{label: friendly, dimension: warmth, definition: 'Friendly means ...', polarity: positive}");
        fields.required_line("label", trait.label);
        fields.required_line("dimension", trait.dimension);
        fields.line("definition", trait.definition);
        if (const Node* polarity = fields.optional("polarity")) {
          trait.polarity = static_cast<RatedTrait::Polarity>(
              config::read_choice(*polarity, key + ".polarity", job.problems, polarity_names).value_or(0));
        }
        if (const Node* question = fields.optional("question")) {
          trait.questions = read_own_questions(*question, key + ".question", job.problems);
        }
        fields.finish();
        config::check_surface(entry, key, trait.label, job.problems);
        return std::vector{trait};
      });
}

std::vector<RatingQuestion> read_questions(const Node& node, const std::string& axis, const config::ProbeReading& job) {
  return read_axis<RatingQuestion>(node, "rating_questions", axis, job, [&](const Node& entry, const std::string& key) {
    RatingQuestion question;
    if (entry.kind == Node::Kind::scalar) {
      question.text = config::read_line(entry, key, job.problems).value_or("");
    } else {
      config::Fields fields(entry, key, job.problems, "{label: ..., text: 'How {trait} are {group}?'}");
      fields.line("label", question.label);
      fields.line("style", question.style);
      fields.required_line("text", question.text);
      fields.finish();
    }
    question.label = question.label.empty() ? question.text : question.label;
    check_question(entry, key + ".text", question.text, Times::once, job.problems);
    return std::vector{question};
  });
}

/// The value of one of two keys that name the same axis; none or both are a fault.
const Node* either(config::Fields& axes, const std::string& name, const std::string& other,
                   const config::ProbeReading& job) {
  const Node* first = axes.optional(name);
  const Node* second = axes.optional(other);
  if (first != nullptr && second != nullptr) {
    job.problems.add(second->place("axes." + other), "both axes." + name + " and axes." + other + " are given",
                     "they name the same axis", "Leave one of them out.");
  }
  return first != nullptr ? first : second != nullptr ? second : axes.required(name);
}

std::vector<sweep::Group> read_plural_groups(const Node& node, const config::ProbeReading& job,
                                             std::vector<sweep::Group>& unselected) {
  sweep::Priors unused = sweep::no_priors;
  auto groups = config::read_groups(node, "axes.groups", job.pieces, job.problems, unused, unselected);
  for (const auto& group : groups) {
    if (group.plural.empty() && !group.label.empty()) {
      job.problems.add(node.place("axes.groups"), "'" + group.label + "' has no plural", "questions ask of plurals",
                       "Give the group its plural.");
    }
  }
  return groups;
}

void read_subjects(config::Fields& axes, const config::ProbeReading& job, Rating& settings) {
  const Node* people = axes.optional("people");
  const Node* rule = axes.optional("intersections");
  const Node* subjects = either(axes, "groups", "identities", job);
  if (axes.optional("groups") == nullptr) {
    if (rule != nullptr) {
      job.problems.add(rule->place("axes.intersections"), "axes.intersections without axes.groups",
                       "identities are crossed with axes.people", "Give axes.groups.");
    }
    const auto words =
        people == nullptr
            ? std::vector<std::string>{"women", "men"}
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
  settings.groups = read_plural_groups(*subjects, job, unselected);
  if (rule != nullptr) {
    settings.intersections =
        config::read_intersections(*rule, "axes.intersections", job.pieces, job.problems, settings.groups, unselected);
  }
}

/// Rephrasings name questions by their labels.
std::vector<sweep::Rephrasing> read_rephrased(const Node& node, const Rating& settings,
                                              const config::ProbeReading& job) {
  std::vector<sweep::Template> templates;
  for (const auto& question : settings.questions) {
    templates.push_back({question.label, question.style, question.text, sweep::NounForm::plural});
  }
  return config::read_rephrasings(node, "axes.rephrasings", job.pieces, job.problems, templates);
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

std::vector<RatingOption> read_scale(const Node& node, base::Problems& problems) {
  std::vector<RatingOption> scale;
  if (node.kind == Node::Kind::map) {
    scale = read_range(node, problems);
  } else if (!config::expect_kind(node, Node::Kind::list, "scale", problems, config::Emptiness::refused)) {
    return scale;
  }
  for (std::size_t i = 0; node.kind == Node::Kind::list && i < node.children.size(); ++i) {
    const std::string key = "scale[" + std::to_string(i) + "]";
    auto option = read_option(node.children[i], key, problems);
    for (const auto& other : scale) {
      if (option && (other.text == option->text || other.value == option->value)) {
        problems.add(node.children[i].place(key), "option '" + option->text + "' repeats a text or a value",
                     "options must differ");
      }
    }
    if (option) {
      scale.push_back(std::move(*option));
    }
  }
  const std::size_t count = node.kind == Node::Kind::list ? node.children.size() : scale.size();
  if (count < 2 || count > 26) {
    problems.add(node.place("scale"), std::to_string(count) + " options", "2 to 26 are expected: A to Z");
  }
  return scale;
}

std::vector<OptionOrder> read_orders(const Node& node, base::Problems& problems) {
  std::vector<OptionOrder> orders;
  if (!config::expect_kind(node, Node::Kind::list, "orders", problems, config::Emptiness::refused)) {
    return orders;
  }
  for (const auto& entry : node.children) {
    const auto index = config::read_choice(entry, "orders", problems, option_order_names());
    if (!index) {
      continue;
    }
    orders.push_back(static_cast<OptionOrder>(*index));
    if (std::count(orders.begin(), orders.end(), orders.back()) > 1) {
      problems.add(entry.place("orders"), "'" + entry.value + "' stands twice", "each order is asked once");
    }
  }
  return orders;
}

/// Reads each key that it is shown.
class KeyReader {
 public:
  KeyReader(config::Fields& fields, base::Problems& problems) : fields_(fields), problems_(problems) {}
  void integer(const char* name, std::int64_t& target, std::int64_t smallest, std::int64_t largest) {
    fields_.integer(name, target, smallest, largest);
  }
  void number(const char* name, double& target, double smallest, double largest) {
    const Node* node = fields_.optional(name);
    const auto text = node != nullptr ? config::read_text(*node, fields_.key_of(name), problems_) : std::nullopt;
    const auto value = text ? base::parse_double(*text) : std::nullopt;
    if (text && (!value || *value < smallest || *value > largest)) {
      problems_.add(
          node->place(fields_.key_of(name)), "'" + text->substr(0, 40) + "' is out of range",
          "a number from " + base::format_double(smallest) + " to " + base::format_double(largest) + " is expected");
    }
    target = value.value_or(target);
  }
  template <class Choice>
  void choice(const char* name, Choice& target, const std::vector<std::string>& names) {
    if (const Node* node = fields_.optional(name)) {
      target = static_cast<Choice>(config::read_choice(*node, fields_.key_of(name), problems_, names).value_or(0));
    }
  }
  void stops(const char* name, std::vector<std::string>& target) {
    const Node* node = fields_.optional(name);
    if (node == nullptr || !config::expect_kind(*node, Node::Kind::list, fields_.key_of(name), problems_)) {
      return;
    }
    for (const auto& entry : node->children) {
      target.push_back(config::read_text(entry, fields_.key_of(name), problems_).value_or(""));
      if (target.back().empty()) {
        problems_.add(entry.place(fields_.key_of(name)), "an empty stop text", "it would end every answer at once");
      }
    }
  }

 private:
  config::Fields& fields_;
  base::Problems& problems_;
};

/// Writes each key that it is shown.
class KeyDump {
 public:
  explicit KeyDump(Node& map) : map_(map) {}
  void integer(const char* name, std::int64_t value, std::int64_t /*smallest*/, std::int64_t /*largest*/) {
    map_.add(name, config::integer(value));
  }
  void number(const char* name, double value, double /*smallest*/, double /*largest*/) {
    map_.add(name, config::number(value));
  }
  template <class Choice>
  void choice(const char* name, Choice value, const std::vector<std::string>& names) {
    map_.add(name, Node::plain(names[static_cast<std::size_t>(value)]));
  }
  void stops(const char* name, const std::vector<std::string>& values) { map_.add(name, config::texts(values)); }

 private:
  Node& map_;
};

/// The keys of `sampling`.
template <class Sampling, class Visitor>
void each_sampling_key(Sampling& sampling, Visitor keys) {
  keys.integer("runs", sampling.runs, 0, 1000);
  keys.integer("max_new_tokens", sampling.max_new_tokens, 1, 4096);
  keys.number("temperature", sampling.temperature, 0, 100);
  keys.integer("top_k", sampling.top_k, 0, 1'000'000);
  keys.number("top_p", sampling.top_p, 1e-6, 1);
  keys.stops("stop", sampling.stop);
}

/// The keys of `statistics.clusters`.
template <class Statistics, class Visitor>
void each_cluster_key(Statistics& statistics, Visitor keys) {
  keys.choice("start", statistics.start, start_names);
  keys.integer("restarts", statistics.restarts, 1000, 10'000'000);
  keys.integer("max_clusters", statistics.max_clusters, 1, 100);
}

RatingSampling read_sampling(const Node& node, base::Problems& problems) {
  RatingSampling sampling;
  if (node.kind == Node::Kind::scalar) {
    const std::vector<std::string> names = {"none"};
    config::read_choice(node, "sampling", problems, names);
    sampling.runs = 0;
    return sampling;
  }
  config::Fields fields(node, "sampling", problems);
  each_sampling_key(sampling, KeyReader(fields, problems));
  fields.finish();
  if (sampling.runs == 0) {  // the rest says nothing then, and a dump does not keep it
    sampling = RatingSampling();
    sampling.runs = 0;
    return sampling;
  }
  if (sampling.temperature == 0 && sampling.runs > 1) {
    problems.add(node.place("sampling.runs"), std::to_string(sampling.runs) + " runs at temperature 0",
                 "greedy answers are all the same", "Set runs: 1, or a temperature.");
  }
  return sampling;
}

RatingStatistics read_rating_statistics(const Node& node, const config::ProbeReading& job) {
  RatingStatistics statistics;
  config::Fields fields(node, "statistics", job.problems);
  if (const Node* path = fields.optional("human_ratings")) {
    statistics.human_ratings =
        job.pieces.resolve_path(config::read_line(*path, "statistics.human_ratings", job.problems, 4000).value_or(""));
  }
  if (const Node* clusters = fields.optional("clusters")) {
    config::Fields settings(*clusters, "statistics.clusters", job.problems);
    each_cluster_key(statistics, KeyReader(settings, job.problems));
    settings.finish();
  }
  fields.finish();
  return statistics;
}

/// The words for people, where the job names none, are English: said where the questions are not.
void note_language(const Rating& settings, const Node* people, const config::ProbeReading& job) {
  std::vector<std::string> texts;
  for (const auto& question : settings.questions) {
    texts.push_back(question.text);
  }
  if (people == nullptr && !settings.identities.empty() && !job.pieces.inline_only() && !config::seems_english(texts)) {
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
  if (const Node* questions = either(axes, "templates", "rating_questions", job)) {
    settings.questions = read_questions(
        *questions, axes.optional("templates") == nullptr ? "axes.rating_questions" : "axes.templates", job);
  }
  if (const Node* rephrasings = axes.optional("rephrasings")) {
    settings.rephrasings = read_rephrased(*rephrasings, settings, job);
  }
  const Node* people = axes.optional("people");
  axes.finish();
  check_own_questions(node, settings, job.problems);
  note_language(settings, people, job);
}

void read_frame(const Node& node, const config::ProbeReading& job, Rating& settings) {
  settings.frame = config::read_text(node, "frame", job.problems).value_or("");
  for (const char* name : {"{identity_definition}", "{trait_definition}"}) {
    check_place(node, "frame", settings.frame, {name}, Times::at_most_once, job.problems);
  }
  for (const char* name : {"{question}", "{options}"}) {
    check_place(node, "frame", settings.frame, {name}, Times::once, job.problems);
  }
  check_braces(node, "frame", settings.frame,
               {"{identity_definition}", "{trait_definition}", "{question}", "{options}"}, job.problems);
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

/// Most subjects that the axes can have: every order of every pair.
std::uint64_t most_subjects(const Rating& settings) {
  const auto& rule = settings.intersections;
  std::uint64_t pairs = rule.pairs.size();
  for (const auto& [first, second] : rule.domains) {
    const auto in_domain = [&](const std::string& domain) {
      return static_cast<std::uint64_t>(std::count_if(settings.groups.begin(), settings.groups.end(),
                                                      [&](const auto& group) { return group.domain == domain; }));
    };
    pairs += in_domain(first) * in_domain(second);
  }
  return settings.identities.size() + settings.groups.size() + pairs * (rule.both_orders ? 2 : 1);
}

void check_product(const config::ProbeReading& job, const Rating& settings) {
  const std::uint64_t subjects = most_subjects(settings);
  std::uint64_t cells = settings.scale.size();
  bool overflow = false;
  for (const std::uint64_t length :
       {subjects, std::uint64_t{settings.traits.size()}, std::uint64_t{settings.questions.size()},
        std::uint64_t{settings.rephrasings.size()}}) {
    overflow = overflow || __builtin_mul_overflow(cells, length, &cells);
  }
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    job.problems.add(job.root.place("axes"),
                     "up to " + base::with_thousands(subjects) + " groups and intersections x " +
                         base::with_thousands(settings.traits.size()) + " traits x " +
                         base::with_thousands(settings.questions.size()) + " templates x " +
                         base::with_thousands(settings.rephrasings.size()) +
                         " rephrasings x options are too many cells",
                     "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                     "Shorten an axis, or raise execution.max_cells.");
  }
}

Node dump_identity(const Identity& identity) {
  Node map = Node::map();
  config::add_text(map, "label", identity.label);
  config::add_text(map, "marker", identity.marker);
  config::add_text(map, "people", identity.people);
  config::add_text(map, "definition", identity.definition);
  return map;
}

Node dump_trait(const RatedTrait& trait) {
  Node map = Node::map();
  config::add_text(map, "label", trait.label);
  config::add_text(map, "dimension", trait.dimension);
  map.add("polarity", Node::plain(polarity_names[static_cast<std::size_t>(trait.polarity)]));
  config::add_text(map, "definition", trait.definition);
  if (!trait.questions.empty()) {
    map.add("question", config::texts(trait.questions));
  }
  return map;
}

Node dump_question(const RatingQuestion& question) {
  Node map = Node::map();
  config::add_text(map, "label", question.label);
  config::add_text(map, "style", question.style);
  config::add_text(map, "text", question.text);
  return map;
}

Node dump_axes(const Rating& settings) {
  Node axes = Node::map();
  if (settings.groups.empty()) {
    axes.add("identities", config::list_of(settings.identities, dump_identity));
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
    names.push_back(option_order_names()[static_cast<std::size_t>(order)]);
  }
  return config::texts(names);
}

Node dump_sampling(const Rating& settings) {
  if (settings.sampling.runs == 0) {
    return Node::plain("none");
  }
  Node map = Node::map();
  each_sampling_key(settings.sampling, KeyDump(map));
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
    Key{"scale",
        [](const Node& node, const config::ProbeReading& job, Rating& settings) {
          settings.scale = read_scale(node, job.problems);
        },
        [](const Rating& settings) { return config::list_of(settings.scale, dump_option); }},
    Key{"orders",
        [](const Node& node, const config::ProbeReading& job, Rating& settings) {
          settings.orders = read_orders(node, job.problems);
        },
        dump_orders},
    Key{"frame", read_frame, [](const Rating& settings) { return Node::text(settings.frame); }},
    Key{"sampling",
        [](const Node& node, const config::ProbeReading& job, Rating& settings) {
          settings.sampling = read_sampling(node, job.problems);
        },
        dump_sampling},
    Key{"statistics",
        [](const Node& node, const config::ProbeReading& job, Rating& settings) {
          settings.statistics = read_rating_statistics(node, job);
        },
        dump_statistics},
};

}  // namespace

const std::vector<std::string>& option_order_names() {
  static const std::vector<std::string> names = {"as_listed", "reversed"};
  return names;
}

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
  check_product(job, settings);
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
  each_cluster_key(settings.statistics, KeyDump(map.add("clusters", Node::map())));
  return map;
}

}  // namespace stereosweep::probes::rating
