#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/Language.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/AssociationSettings.hpp"

namespace stereosweep::probes::association {
namespace {

constexpr std::uint64_t max_subjects = 1'000'000;

Measures read_measures(const config::Node& node, base::Problems& problems) {
  Measures measures{false, false, false};
  const std::vector<std::string> names = {"ilps", "ilps_star", "set"};
  if (!config::expect_kind(node, config::Node::Kind::list, "measures", problems, config::Emptiness::refused)) {
    return measures;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string key = "measures[" + std::to_string(i) + "]";
    const auto index = config::read_choice(node.children[i], key, problems, names);
    if (!index) {
      continue;
    }
    bool& measure = *index == 0 ? measures.ilps : *index == 1 ? measures.ilps_star : measures.set;
    if (measure) {
      problems.add(node.children[i].place(key), "'" + names[*index] + "' stands twice", "each measure counts once");
    }
    measure = true;
  }
  return measures;
}

void read_priors(const config::Node& node, base::Problems& problems, sweep::Priors& priors) {
  config::Fields fields(node, "priors", problems);
  if (const config::Node* word = fields.optional("word")) {
    if (word->kind == config::Node::Kind::list) {
      if (const auto two = config::read_two(*word, "priors.word", problems)) {
        priors.word_singular = two->first;
        priors.word_plural = two->second;
        config::check_surface(*word, "priors.word", two->first, problems);
        config::check_surface(*word, "priors.word", two->second, problems);
      }
    } else {
      priors.word = config::read_boolean(*word, "priors.word", problems).value_or(true);
    }
  }
  fields.boolean("mask", priors.mask);
  fields.finish();
}

Statistics read_statistics(const config::Node& node, config::Pieces& pieces, const sweep::Axes& axes,
                           base::Problems& problems) {
  Statistics statistics;
  config::Fields fields(node, "statistics", problems);
  if (const config::Node* aggregate = fields.optional("word_aggregate")) {
    const std::vector<std::string> names = {"median", "mean"};
    statistics.word_aggregate = static_cast<Statistics::Aggregate>(
        config::read_choice(*aggregate, "statistics.word_aggregate", problems, names).value_or(0));
  }
  if (const config::Node* ratings = fields.optional("human_ratings")) {
    config::read_rating_source(*ratings, pieces, problems, statistics.human_ratings, statistics.rating_aliases);
  }
  if (const config::Node* templates = fields.optional("templates")) {
    statistics.templates =
        config::read_lines(*templates, "statistics.templates", problems).value_or(std::vector<std::string>());
    std::vector<std::string> labels;
    for (const auto& sentence : axes.templates) {
      labels.push_back(sentence.label);
    }
    const std::unordered_set<std::string> known(labels.begin(), labels.end());
    for (const auto& label : statistics.templates) {
      if (!known.contains(label) && !known.empty()) {  // no template at all is in the report already
        problems.add(templates->place("statistics.templates"), "unknown template '" + label + "'",
                     "it is not on the axis templates", config::suggest(label, labels, problems));
      }
    }
  }
  fields.finish();
  return statistics;
}

/// Most subjects that the axes can have: priors, groups, and every order of every pair. Cannot overflow: at most
/// 10^5 groups, and each of the at most 10^7 crossings adds at most 10^10 / 4 pairs.
std::uint64_t count_subjects(const Association& settings) {
  std::unordered_map<std::string, std::uint64_t> sizes;
  for (const auto& group : settings.axes.groups) {
    ++sizes[group.domain];
  }
  std::uint64_t pairs = settings.axes.intersections.pairs.size();
  for (const auto& [first, second] : settings.axes.intersections.domains) {
    pairs += sizes[first] * sizes[second];
  }
  return pairs * (settings.axes.intersections.both_orders ? 2 : 1) + settings.axes.groups.size() + 2;
}

void check_size(const config::ProbeReading& job, const Association& settings) {
  const std::uint64_t num_subjects = count_subjects(settings);
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : settings.axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  const config::Node* axes = job.root.find("axes");
  const base::Place place = axes == nullptr ? job.root.place("axes") : axes->place("axes");
  if (num_subjects > max_subjects) {
    job.problems.add(place, "up to " + base::with_thousands(num_subjects) + " groups and intersections",
                     "limit: " + base::with_thousands(max_subjects), "Cross fewer domains.");
  }
  std::uint64_t cells = num_subjects;
  bool overflow = false;
  for (const std::uint64_t length :
       {std::uint64_t{settings.axes.templates.size()}, std::uint64_t{settings.axes.rephrasings.size()}, num_words}) {
    overflow = overflow || __builtin_mul_overflow(cells, length, &cells);
  }
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    job.problems.add(place,
                     "the job has up to " + base::with_thousands(num_subjects) + " groups and intersections x " +
                         base::with_thousands(settings.axes.templates.size()) + " templates x " +
                         base::with_thousands(settings.axes.rephrasings.size()) + " rephrasings x " +
                         base::with_thousands(num_words) + " words" +
                         (overflow ? "" : " = " + base::with_thousands(cells) + " cells"),
                     "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                     "Shorten an axis, or raise execution.max_cells.");
  }
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

}  // namespace

Association read_settings(const config::ProbeReading& job) {
  Association settings;
  auto& [fields, root, pieces, problems, execution] = job;
  if (const config::Node* axes = fields.required("axes")) {
    settings.axes = config::read_axes(*axes, "axes", pieces, problems, settings.priors);
  }
  if (const config::Node* measures = fields.optional("measures")) {
    settings.measures = read_measures(*measures, problems);
  }
  if (const config::Node* priors = fields.optional("priors")) {
    read_priors(*priors, problems, settings.priors);
  }
  if (const config::Node* statistics = fields.optional("statistics")) {
    settings.statistics = read_statistics(*statistics, pieces, settings.axes, problems);
  }
  if (!settings.priors.word) {  // the words say nothing then, and a dump does not keep them
    settings.priors.word_singular = sweep::Priors().word_singular;
    settings.priors.word_plural = sweep::Priors().word_plural;
  }
  check_size(job, settings);
  if (!pieces.inline_only()) {
    note_language(settings);
  }
  return settings;
}

}  // namespace stereosweep::probes::association
