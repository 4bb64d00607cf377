#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/language/Language.hpp"
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

/// With its article, where nouns declare theirs.
void read_generic_word(const Node& node, const ProbeReading& job, sweep::Priors& priors) {
  config::Fields fields(node, "priors.word", job.problems, "{singular: Person, plural: Personen, gender: feminine}");
  std::string article;
  std::string gender;
  fields.required_line("singular", priors.word_singular);
  fields.required_line("plural", priors.word_plural);
  fields.line("article", article);
  fields.line("gender", gender);
  fields.finish();
  config::check_surface(node, "priors.word", priors.word_singular, job.problems);
  config::check_surface(node, "priors.word", priors.word_plural, job.problems);
  priors.word_article = job.pieces.inline_only()
                            ? article
                            : job.pieces.language().article_of(node, "priors.word", article, gender, job.problems);
}

/// What the job's language says of the generic word; a group table or the job may say something else.
void take_generic_word(const config::LanguageTable& language, sweep::Priors& priors) {
  if (const auto& generic = language.generic()) {
    base::Problems told;  // where the table was read
    priors.word_singular = generic->singular;
    priors.word_plural = generic->plural;
    priors.word_article = language.article_of(config::Node(), "", "", generic->gender, told);
  }
}

/// {a group} stands before the generic word, too.
void check_prior_article(const ProbeReading& job, const Association& settings) {
  const auto& [axes, measures, priors, statistics] = settings;
  const bool is_asked = std::ranges::any_of(
      axes.templates, [](const auto& sentence) { return sentence.text.find("{a group}") != std::string::npos; });
  if (axes.intersections.articles.by == sweep::ArticleRule::By::noun && is_asked && (priors.word || priors.mask) &&
      priors.word_article.empty()) {
    job.problems.add(
        job.place("priors"), "{a group} needs an article before '" + priors.word_singular + "'",
        "in the job's language it is the noun's",
        "Set priors.word: {singular: " + priors.word_singular + ", plural: " + priors.word_plural + ", gender: ...}.");
  }
}

void read_priors(const Node& node, const ProbeReading& job, Association& settings) {
  auto& priors = settings.priors;
  config::Fields fields(node, "priors", job.problems);
  const Node* word = fields.optional("word");
  if (word != nullptr && word->kind == Node::Kind::map) {
    read_generic_word(*word, job, priors);
  } else if (word != nullptr && word->kind == Node::Kind::list) {
    priors.word_article.clear();
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

Node dump_generic_word(const sweep::Priors& priors) {
  if (priors.word_article.empty()) {
    return config::texts({priors.word_singular, priors.word_plural});
  }
  Node map = Node::map();
  config::add_text(map, "singular", priors.word_singular);
  config::add_text(map, "plural", priors.word_plural);
  config::add_text(map, "article", priors.word_article);
  return map;
}

Node dump_priors(const Association& settings) {
  const auto& priors = settings.priors;
  Node map = Node::map();
  map.add("word", priors.word ? dump_generic_word(priors) : Node::plain("false"));
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
    base::log_once(
        base::LogLevel::warning,
        base::describe("the templates seem not to be English, and {a group} writes the English 'a' or 'an'", "",
                       "Set language: NAME (configs/languages), or put the article into the text and write {group}."));
  }
  const sweep::Priors english;
  if (settings.priors.word && settings.priors.word_plural == english.word_plural) {
    base::log_once(base::LogLevel::warning,
                   base::describe("the templates seem not to be English, and the prior is asked with the English '" +
                                      english.word_singular + "' and '" + english.word_plural + "'",
                                  "every score is a difference to it",
                                  "Set language: NAME (configs/languages), or priors.word: [singular, plural]."));
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
  take_generic_word(job.pieces.language(), settings.priors);
  job.fields.required("axes");
  for (const auto& key : keys) {
    if (const config::Node* node = job.fields.optional(std::string(key.name))) {
      key.read(*node, job, settings);
    }
  }
  if (!settings.priors.word) {  // the words say nothing then, and a dump does not keep them
    settings.priors.word_singular = sweep::Priors().word_singular;
    settings.priors.word_plural = sweep::Priors().word_plural;
    settings.priors.word_article = settings.priors.mask ? settings.priors.word_article : "";
  }
  check_size(job, settings);
  check_prior_article(job, settings);
  if (!job.pieces.inline_only() && job.pieces.language().is_english()) {
    note_language(settings);
  }
  return settings;
}

config::Node dump_setting(const Association& settings, std::string_view name) {
  return std::ranges::find(keys, name, &Key::name)->dump(settings);
}

}  // namespace stereosweep::probes::association
