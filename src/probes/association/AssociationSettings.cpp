#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/Language.hpp"
#include "probes/association/Association.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::association {
namespace {

using config::Node;
using config::ProbeReading;

constexpr std::uint64_t max_subjects = 1'000'000;

const std::vector<std::string> measure_names = {"ilps", "ilps_star", "set"};
const std::vector<std::string> aggregate_names = {"median", "mean"};
constexpr bool Measures::*wanted[] = {&Measures::ilps, &Measures::ilps_star, &Measures::set};

void read_axes(const Node& node, const ProbeReading& job, Association& settings) {
  settings.axes = config::read_axes(node, "axes", job.pieces, job.problems, settings.priors);
}

Node dump_axes(const Association& settings) { return config::dump(settings.axes); }

void read_measures(const Node& node, const ProbeReading& job, Association& settings) {
  settings.measures = {false, false, false};
  for (const auto index :
       config::read_choices(node, "measures", job.problems, measure_names, config::Choices::distinct)) {
    settings.measures.*wanted[index] = true;
  }
}

Node dump_measures(const Association& settings) {
  Node list = Node::list();
  for (std::size_t i = 0; i < measure_names.size(); ++i) {
    if (settings.measures.*wanted[i]) {
      list.add(Node::plain(measure_names[i]));
    }
  }
  return list;
}

void read_priors(const Node& node, const ProbeReading& job, Association& settings) {
  auto& priors = settings.priors;
  config::Fields fields(node, "priors", job.problems);
  const Node* word = fields.optional("word");
  if (word != nullptr && word->kind == Node::Kind::list) {
    if (const auto two = config::read_two(*word, "priors.word", job.problems)) {
      std::tie(priors.word_singular, priors.word_plural) = *two;
      config::check_surface(*word, "priors.word", two->first, job.problems);
      config::check_surface(*word, "priors.word", two->second, job.problems);
    }
  } else {
    fields.boolean("word", priors.word);
  }
  fields.boolean("mask", priors.mask);
  fields.finish();
}

Node dump_priors(const Association& settings) {
  const auto& priors = settings.priors;
  Node map = Node::map();
  map.add("word", priors.word ? config::texts({priors.word_singular, priors.word_plural}) : Node::plain("false"));
  map.add("mask", Node::plain(priors.mask ? "true" : "false"));
  return map;
}

void read_statistics(const Node& node, const ProbeReading& job, Association& settings) {
  auto& statistics = settings.statistics;
  config::Fields fields(node, "statistics", job.problems);
  fields.choice("word_aggregate", statistics.word_aggregate, aggregate_names);
  if (const Node* ratings = fields.optional("human_ratings")) {
    config::read_rating_source(*ratings, job.pieces, job.problems, statistics.human_ratings, statistics.rating_aliases);
  }
  if (const Node* templates = fields.optional("templates")) {
    fields.lines("templates", statistics.templates);
    std::vector<std::string> labels;
    for (const auto& sentence : settings.axes.templates) {
      labels.push_back(sentence.label);
    }
    const std::unordered_set<std::string> known(labels.begin(), labels.end());
    for (const auto& label : statistics.templates) {
      if (!known.contains(label) && !known.empty()) {  // no template at all is in the report already
        job.problems.add(templates->place("statistics.templates"), "unknown template '" + label + "'",
                         "it is not on the axis templates", config::suggest(label, labels, job.problems));
      }
    }
  }
  fields.finish();
}

Node dump_statistics(const Association& settings) {
  const auto& statistics = settings.statistics;
  Node map = Node::map();
  map.add("word_aggregate", Node::plain(aggregate_names[static_cast<std::size_t>(statistics.word_aggregate)]));
  config::add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.templates.empty()) {
    map.add("templates", config::texts(statistics.templates));
  }
  return map;
}

void check_size(const ProbeReading& job, const Association& settings) {
  const auto& axes = settings.axes;
  const std::uint64_t num_subjects = sweep::most_subjects(axes.groups, axes.intersections) + 2;  // priors
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  if (num_subjects > max_subjects) {
    job.problems.add(job.place("axes"), "up to " + base::with_thousands(num_subjects) + " groups and intersections",
                     "limit: " + base::with_thousands(max_subjects), "Cross fewer domains.");
  }
  config::check_cells(job, {{num_subjects, "groups and intersections"},
                            {axes.templates.size(), "templates"},
                            {axes.rephrasings.size(), "rephrasings"},
                            {num_words, "words"}});
}

/// What the program writes itself is English: said where the sentences are not.
void note_language(const Association& settings) {
  std::vector<std::string> texts;
  for (const auto& sentence : settings.axes.templates) {
    texts.push_back(sentence.text);
  }
  for (const auto& rephrasing : settings.axes.rephrasings) {
    texts.push_back(rephrasing.wrapper);
    for (const auto& [label, text] : rephrasing.alternatives) {
      texts.push_back(text);
    }
  }
  if (config::seems_english(texts)) {
    return;
  }
  const auto has_article = [](const std::string& text) { return text.find("{a group}") != std::string::npos; };
  if (std::any_of(texts.begin(), texts.end(), has_article)) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the templates seem not to be English, and {a group} writes the English 'a' or 'an'",
                                  "", "Put the article into the text or the group, and write {group}."));
  }
  const sweep::Priors english;
  if (settings.priors.word && settings.priors.word_plural == english.word_plural) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the templates seem not to be English, and the prior is asked with the English '" +
                                      english.word_singular + "' and '" + english.word_plural + "'",
                                  "every score is a difference to it", "Set priors.word: [singular, plural]."));
  }
}

/// A key of the job: how it is read, and what a dump says of it. In the order of a dump; a key may build on those
/// before.
struct Key {
  std::string_view name;
  void (*read)(const Node& node, const ProbeReading& job, Association& settings);
  Node (*dump)(const Association& settings);
};

constexpr Key keys[] = {
    {"axes", read_axes, dump_axes},
    {"measures", read_measures, dump_measures},
    {"priors", read_priors, dump_priors},
    {"statistics", read_statistics, dump_statistics},
};

}  // namespace

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& key : keys) {
    names.emplace_back(key.name);
  }
  return names;
}

Association read_settings(const config::ProbeReading& job) {
  Association settings;
  job.fields.required("axes");
  for (const auto& key : keys) {
    if (const config::Node* node = job.fields.optional(std::string(key.name))) {
      key.read(*node, job, settings);
    }
  }
  if (!settings.priors.word) {  // the words say nothing then, and a dump does not keep them
    settings.priors.word_singular = sweep::Priors().word_singular;
    settings.priors.word_plural = sweep::Priors().word_plural;
  }
  check_size(job, settings);
  if (!job.pieces.inline_only()) {
    note_language(settings);
  }
  return settings;
}

config::Node dump_setting(const Association& settings, std::string_view name) {
  return std::ranges::find(keys, name, &Key::name)->dump(settings);
}

}  // namespace stereosweep::probes::association
