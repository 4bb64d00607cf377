#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/Language.hpp"
#include "probes/association/Association.hpp"

namespace stereosweep::probes::association {
namespace {

constexpr std::uint64_t max_subjects = 1'000'000;

struct NamedMeasure {
  const char* name;
  bool Measures::*wanted;
};
constexpr std::array named_measures = {NamedMeasure{"ilps", &Measures::ilps},
                                       NamedMeasure{"ilps_star", &Measures::ilps_star},
                                       NamedMeasure{"set", &Measures::set}};

Measures read_measures(const config::Node& node, base::Problems& problems) {
  Measures measures{false, false, false};
  std::vector<std::string> names;
  for (const auto& measure : named_measures) {
    names.emplace_back(measure.name);
  }
  if (!config::expect_kind(node, config::Node::Kind::list, "measures", problems, config::Emptiness::refused)) {
    return measures;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string key = "measures[" + std::to_string(i) + "]";
    const auto index = config::read_choice(node.children[i], key, problems, names);
    if (!index) {
      continue;
    }
    bool& measure = measures.*named_measures[*index].wanted;
    if (measure) {
      problems.add(node.children[i].place(key), "'" + names[*index] + "' stands twice", "each measure counts once");
    }
    measure = true;
  }
  return measures;
}

config::Node dump_measures(const Measures& measures) {
  config::Node list = config::Node::list();
  for (const auto& measure : named_measures) {
    if (measures.*measure.wanted) {
      list.add(config::Node::plain(measure.name));
    }
  }
  return list;
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

config::Node dump_priors(const sweep::Priors& priors) {
  config::Node map = config::Node::map();
  map.add("word",
          priors.word ? config::texts({priors.word_singular, priors.word_plural}) : config::Node::plain("false"));
  map.add("mask", config::Node::plain(priors.mask ? "true" : "false"));
  return map;
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

config::Node dump_statistics(const Statistics& statistics) {
  config::Node map = config::Node::map();
  const bool median = statistics.word_aggregate == Statistics::Aggregate::median;
  map.add("word_aggregate", config::Node::plain(median ? "median" : "mean"));
  config::add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.templates.empty()) {
    map.add("templates", config::texts(statistics.templates));
  }
  return map;
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

/// A key of the job: how it is read, and what a dump says of it. In the order of a dump; a key may build on those
/// before.
struct Key {
  const char* name;
  void (*read)(const config::Node& node, const config::ProbeReading& job, Association& settings);
  config::Node (*dump)(const Association& settings);
};

constexpr std::array keys = {
    Key{"axes",
        [](const config::Node& node, const config::ProbeReading& job, Association& settings) {
          settings.axes = config::read_axes(node, "axes", job.pieces, job.problems, settings.priors);
        },
        [](const Association& settings) { return config::dump(settings.axes); }},
    Key{"measures",
        [](const config::Node& node, const config::ProbeReading& job, Association& settings) {
          settings.measures = read_measures(node, job.problems);
        },
        [](const Association& settings) { return dump_measures(settings.measures); }},
    Key{"priors",
        [](const config::Node& node, const config::ProbeReading& job, Association& settings) {
          read_priors(node, job.problems, settings.priors);
        },
        [](const Association& settings) { return dump_priors(settings.priors); }},
    Key{"statistics",
        [](const config::Node& node, const config::ProbeReading& job, Association& settings) {
          settings.statistics = read_statistics(node, job.pieces, settings.axes, job.problems);
        },
        [](const Association& settings) { return dump_statistics(settings.statistics); }},
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
    if (const config::Node* node = job.fields.optional(key.name)) {
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
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found->dump(settings);
}

}  // namespace stereosweep::probes::association
