#include "probes/coreference/CoreferenceSettings.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/DumpNodes.hpp"
#include "probes/coreference/CoreferencePrompts.hpp"
#include "probes/coreference/CoreferenceSentences.hpp"

namespace stereosweep::probes::coreference {
namespace {

Marker read_marker(const config::Node& node, const std::string& key, base::Problems& problems) {
  Marker marker;
  if (node.kind == config::Node::Kind::scalar) {
    marker.word = config::read_line(node, key, problems, 200).value_or("");
  } else {
    config::Fields fields(node, key, problems);
    fields.required_line("word", marker.word);
    fields.line("attribute", marker.attribute);
    fields.line("contrast", marker.contrast);
    if (const config::Node* privilege = fields.optional("privilege")) {
      marker.privilege = static_cast<Privilege>(
          config::read_choice(*privilege, key + ".privilege", problems, privilege_names).value_or(2));
    }
    fields.finish();
  }
  config::check_surface(node, key, marker.word, problems);
  if (marker.privilege != Privilege::unstated && marker.attribute.empty()) {
    problems.add(node.place(key), "the marker '" + marker.word + "' has a privilege and no attribute",
                 "privileged and disadvantaged are sides of one attribute", "Name its 'attribute'.");
  }
  return marker;
}

Question read_question(const config::Node& node, const std::string& key, base::Problems& problems) {
  Question question;
  if (node.kind == config::Node::Kind::scalar) {
    question.text = config::read_line(node, key, problems).value_or("");
  } else {
    config::Fields fields(node, key, problems);
    fields.line("label", question.label);
    fields.required_line("text", question.text);
    fields.finish();
  }
  question.label = question.label.empty() ? question.text : question.label;
  const auto num_sentences = base::count_of(question.text, "{sentence}");
  const auto num_pronouns = base::count_of(question.text, "{pronoun}");
  const auto braces = base::count_of(question.text, "{") + base::count_of(question.text, "}");
  if (!question.text.empty() &&
      (num_sentences != 1 || num_pronouns == 0 || braces != 2 * (num_sentences + num_pronouns))) {
    problems.add(node.place(key), "'" + question.text.substr(0, 80) + "' is no question",
                 "one {sentence}, at least one {pronoun} and no other braces are expected");
  }
  return question;
}

std::vector<Augmentation> read_augmentations(const config::Node& node, const std::string& key,
                                             base::Problems& problems) {
  const std::vector<std::string> names(augmentation_names.begin(), augmentation_names.end());
  std::vector<Augmentation> result;
  for (std::size_t i = 0;
       config::expect_kind(node, config::Node::Kind::list, key, problems, config::Emptiness::refused) &&
       i < node.children.size();
       ++i) {
    const auto item_key = key + "[" + std::to_string(i) + "]";
    if (const auto index = config::read_choice(node.children[i], item_key, problems, names)) {
      const auto augmentation = static_cast<Augmentation>(*index);
      if (std::find(result.begin(), result.end(), augmentation) != result.end()) {
        problems.add(node.children[i].place(item_key), "'" + names[*index] + "' stands twice", "each counts once");
      }
      result.push_back(augmentation);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// aug3 pairs both sides of an attribute by their contrast: a side that finds no partner would stand in no prompt.
void check_pairs(const base::Place& place, const Coreference& settings, base::Problems& problems) {
  const auto asks = [&](Augmentation wanted) {
    return std::find(settings.augmentations.begin(), settings.augmentations.end(), wanted) !=
           settings.augmentations.end();
  };
  if ((settings.markers.empty() && settings.groups.empty()) ||
      (!asks(Augmentation::aug3a) && !asks(Augmentation::aug3b))) {
    return;
  }
  struct Sides {
    std::array<std::size_t, 2> markers{};
    bool has_pair = false;
    std::vector<std::string> alone;
  };
  std::map<std::string, Sides> attributes;
  for (const auto& marker : settings.markers) {
    if (marker.privilege == Privilege::unstated) {
      continue;
    }
    const auto is_partner = [&](const Marker& other) {
      return other.privilege != Privilege::unstated && other.privilege != marker.privilege &&
             other.attribute == marker.attribute && other.contrast == marker.contrast;
    };
    auto& sides = attributes[marker.attribute];
    ++sides.markers[marker.privilege == Privilege::privileged ? 0 : 1];
    if (std::any_of(settings.markers.begin(), settings.markers.end(), is_partner)) {
      sides.has_pair = true;
    } else {
      sides.alone.push_back("'" + marker.word + "'");
    }
  }
  const std::string rule =
      "aug3 pairs a privileged and a disadvantaged marker of one attribute with the same 'contrast'";
  bool any_pair = false;
  bool any_fault = false;
  for (const auto& [attribute, sides] : attributes) {
    any_pair = any_pair || sides.has_pair;
    if (sides.markers[0] == 0 || sides.markers[1] == 0 || sides.alone.empty()) {
      continue;
    }
    const auto lonely = "aug3 finds no partner for " + base::join(sides.alone, ", ") + " of '" + attribute + "'";
    if (sides.has_pair) {
      base::log_once(base::LogLevel::warning, base::describe(place.text() + ": " + lonely, rule));
    } else {
      problems.add(place, lonely, rule, "Give both the same 'contrast', or neither one.");
      any_fault = true;
    }
  }
  if (!any_pair && !any_fault) {
    problems.add(place, "aug3 finds no pair of markers", rule, "Give the markers 'attribute' and 'privilege'.");
  }
}

/// Entries {word, attribute, privilege, contrast} or a word. `unselected`: those that `only` leaves out.
std::vector<Marker> read_markers(const config::Node& node, const std::string& key, config::Pieces& pieces,
                                 base::Problems& problems, std::vector<Marker>& unselected) {
  const auto source = config::find_source(node, "markers", key, pieces, problems);
  if (!source.table.empty()) {
    problems.add(node.place(key), "markers stand in no table", "a list or the name of a piece is expected");
  }
  struct Labelled : Marker {
    std::string label;
  };
  config::LabelCheck labels(problems);
  std::vector<Labelled> entries;
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const auto& entry = source.list->children[i];
    const auto entry_key = source.key + "[" + std::to_string(i) + "]";
    auto marker = read_marker(entry, entry_key, problems);
    labels.add(entry, entry_key, marker.word);
    entries.push_back({marker, marker.word});
  }
  std::vector<Labelled> dropped;
  const auto kept = config::select(std::move(entries), source, problems, &dropped);
  unselected.assign(dropped.begin(), dropped.end());
  return {kept.begin(), kept.end()};
}

/// Entries {label, text} or a text, with one {sentence} and at least one {pronoun}.
std::vector<Question> read_questions(const config::Node& node, const std::string& key, config::Pieces& pieces,
                                     base::Problems& problems) {
  const auto source = config::find_source(node, "questions", key, pieces, problems);
  if (!source.table.empty()) {
    problems.add(node.place(key), "questions stand in no table", "a list or the name of a piece is expected");
  }
  config::LabelCheck labels(problems);
  std::vector<Question> questions;
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const auto& entry = source.list->children[i];
    const auto entry_key = source.key + "[" + std::to_string(i) + "]";
    questions.push_back(read_question(entry, entry_key, problems));
    labels.add(entry, entry_key, questions.back().label);
  }
  return config::select(std::move(questions), source, problems);
}

/// An axis that has two names.
struct NamedNode {
  const config::Node* node = nullptr;
  std::string key;
};

NamedNode either(config::Fields& fields, const std::string& name, const std::string& other, base::Problems& problems) {
  const config::Node* first = fields.optional(name);
  const config::Node* second = fields.optional(other);
  if (first != nullptr && second != nullptr) {
    problems.add(second->place(fields.key_of(other)),
                 "'" + fields.key_of(name) + "' and '" + fields.key_of(other) + "' are both given",
                 "they are two names of one axis", "Leave one of them out.");
  }
  return first != nullptr ? NamedNode{first, fields.key_of(name)} : NamedNode{second, fields.key_of(other)};
}

/// Markers, groups and what crosses them.
void read_subjects(config::Fields& fields, config::Pieces& pieces, base::Problems& problems, Coreference& settings) {
  std::vector<sweep::Group> unselected;
  std::vector<Marker> dropped;
  if (const config::Node* markers = fields.optional("markers")) {
    settings.markers = read_markers(*markers, "axes.markers", pieces, problems, dropped);
  }
  if (const config::Node* groups = fields.optional("groups")) {
    sweep::Priors priors;  // a sentence without a marker is the baseline
    settings.groups = config::read_groups(*groups, "axes.groups", pieces, problems, priors, unselected);
    for (const auto& group : settings.groups) {
      if (std::any_of(settings.markers.begin(), settings.markers.end(),
                      [&](const Marker& marker) { return marker.word == group.label; })) {
        problems.add(groups->place("axes.groups"), "'" + group.label + "' is a group and a marker",
                     "labels name the rows of the result", "Give the group another 'label'.");
      }
    }
  }
  if (const config::Node* rule = fields.optional("intersections")) {
    std::vector<sweep::Group> groups;
    std::transform(settings.markers.begin(), settings.markers.end(), std::back_inserter(groups), group_of);
    groups.insert(groups.end(), settings.groups.begin(), settings.groups.end());
    std::transform(dropped.begin(), dropped.end(), std::back_inserter(unselected), group_of);
    settings.intersections =
        config::read_intersections(*rule, "axes.intersections", pieces, problems, groups, unselected);
  }
}

/// `fields` are those of the axes.
void read_placements(config::Fields& fields, config::Pieces& pieces, base::Problems& problems, Coreference& settings) {
  settings.augmentations = {Augmentation::baseline};
  const bool has_markers = !settings.markers.empty() || !settings.groups.empty();
  const config::Node* subjects = fields.optional("markers");
  const std::string name = subjects != nullptr ? "markers" : "groups";
  subjects = subjects != nullptr ? subjects : fields.optional("groups");
  const config::Node* augmentations = fields.optional("augmentations");
  if (augmentations == nullptr) {
    if (subjects != nullptr) {
      problems.add(subjects->place("axes." + name), name + ", and the key 'axes.augmentations' is missing",
                   "it says where the markers go: without it no prompt holds one",
                   "Write augmentations: [baseline, aug1, aug2, aug3a, aug3b, aug4], or leave '" + name + "' out.");
    }
    return;
  }
  settings.augmentations = read_augmentations(*augmentations, "axes.augmentations", problems);
  const bool needs_markers = settings.augmentations != std::vector{Augmentation::baseline};
  if (needs_markers && subjects == nullptr) {
    problems.add(augmentations->place("axes.augmentations"), "augmentations without markers",
                 "all but 'baseline' put a marker somewhere", "Name the axis 'markers' or 'groups'.");
  }
  if (pieces.inline_only() || !has_markers) {
    return;
  }
  check_pairs(augmentations->place("axes.augmentations"), settings, problems);
  const config::Node* rule = fields.optional("intersections");
  const bool places_one =
      std::any_of(settings.augmentations.begin(), settings.augmentations.end(), [](Augmentation augmentation) {
        return augmentation == Augmentation::aug1 || augmentation == Augmentation::aug2 ||
               augmentation == Augmentation::aug4;
      });
  if (rule != nullptr && settings.crosses() && !places_one) {
    problems.add(rule->place("axes.intersections"), "intersections that no prompt holds",
                 "an intersection stands where one marker does: before the referent, the other occupation or after "
                 "the pronoun",
                 "Add aug1, aug2 or aug4 to 'axes.augmentations'.");
  }
}

Coreference read_axes(const config::Node& node, config::Pieces& pieces, base::Problems& problems) {
  Coreference settings;
  config::Fields fields(node, "axes", problems);
  std::vector<std::string> occupations;
  if (const config::Node* list = fields.optional("occupations")) {
    occupations = config::read_lines(*list, "axes.occupations", problems).value_or(std::vector<std::string>());
  }
  if (const auto sentences = either(fields, "sentences", "templates", problems); sentences.node != nullptr) {
    settings.sentences = read_sentences(*sentences.node, sentences.key, occupations, pieces, problems);
  } else {
    fields.required("sentences");
  }
  read_subjects(fields, pieces, problems, settings);
  read_placements(fields, pieces, problems, settings);
  settings.questions = {{"refers_to", "{sentence} The pronoun \"{pronoun}\" refers to the"}};
  if (const auto questions = either(fields, "questions", "rephrasings", problems); questions.node != nullptr) {
    settings.questions = read_questions(*questions.node, questions.key, pieces, problems);
  }
  if (const config::Node* exclude = fields.optional("exclude")) {
    settings.excluded = read_sentence_notes(*exclude, "axes.exclude", problems);
  }
  if (const config::Node* referent = fields.optional("ambiguous_referent")) {
    settings.ambiguous_referent = static_cast<AmbiguousReferent>(
        config::read_choice(*referent, "axes.ambiguous_referent", problems, referent_names).value_or(0));
  }
  fields.finish();
  return settings;
}

CoreferenceStatistics read_statistics(const config::Node& node, base::Problems& problems) {
  CoreferenceStatistics statistics;
  config::Fields fields(node, "statistics", problems);
  if (const config::Node* ties = fields.optional("ties")) {
    statistics.ties = static_cast<CoreferenceStatistics::Ties>(
        config::read_choice(*ties, "statistics.ties", problems, CoreferenceStatistics::ties_names).value_or(0));
  }
  fields.integer("replicates", statistics.replicates, 100, 100'000);
  if (const config::Node* confidence = fields.optional("confidence")) {
    const auto text = config::read_text(*confidence, "statistics.confidence", problems);
    const auto value = text ? base::parse_double(*text) : std::nullopt;
    if (text && (!value || *value < 0.5 || *value > 0.999)) {
      problems.add(confidence->place("statistics.confidence"), "a number from 0.5 to 0.999 is expected",
                   "here stands '" + text->substr(0, 60) + "'");
    }
    statistics.confidence = value.value_or(statistics.confidence);
  }
  fields.finish();
  return statistics;
}

template <class Choice>
config::Node name_of(const std::vector<std::string>& names, Choice choice) {
  return config::Node::plain(names[static_cast<std::size_t>(choice)]);
}

config::Node note_names(const std::vector<SentenceNote>& notes) {
  config::Node list = config::Node::list();
  for (const auto note : notes) {
    list.add(config::Node::plain(sentence_note_names[static_cast<std::size_t>(note)]));
  }
  return list;
}

config::Node dump(const CoreferenceSentence& sentence) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", sentence.label);
  config::add_text(map, "text", marked_text(sentence));
  map.add("type", name_of(type_names, sentence.type));
  map.add("stereotype", name_of(stereotype_names, sentence.stereotype));
  config::add_text(map, "split", sentence.split);
  map.add("case", name_of(case_names, sentence.pronoun_case));
  map.add("notes", note_names(sentence.notes));
  return map;
}

config::Node dump(const Marker& marker) {
  config::Node map = config::Node::map();
  config::add_text(map, "word", marker.word);
  config::add_text(map, "attribute", marker.attribute);
  config::add_text(map, "contrast", marker.contrast);
  map.add("privilege", name_of(privilege_names, marker.privilege));
  return map;
}

}  // namespace

Coreference read_settings(const config::ProbeReading& job) {
  Coreference settings;
  if (const config::Node* axes = job.fields.required("axes")) {
    settings = read_axes(*axes, job.pieces, job.problems);
  }
  if (const config::Node* statistics = job.fields.optional("statistics")) {
    settings.statistics = read_statistics(*statistics, job.problems);
  }
  // An upper bound. Cannot overflow, since a job file has at most 10^5 values.
  const std::uint64_t num_markers = settings.markers.size();
  const std::uint64_t num_groups = num_markers + settings.groups.size();
  const auto num_crossed = settings.crosses() ? num_groups * num_groups : 0;
  const auto conditions = std::uint64_t{1} + 3 * (num_groups + num_crossed) + 2 * num_markers * num_markers;
  std::uint64_t cells = conditions;
  bool overflow = false;
  for (const std::uint64_t length :
       {std::uint64_t{settings.sentences.size()}, std::uint64_t{settings.questions.size()}, std::uint64_t{2}}) {
    overflow = overflow || __builtin_mul_overflow(cells, length, &cells);
  }
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    job.problems.add(job.root.place("axes"),
                     "the job has up to " + base::with_thousands(conditions) + " conditions x " +
                         base::with_thousands(settings.questions.size()) + " questions x " +
                         base::with_thousands(settings.sentences.size()) + " sentences x 2 occupations",
                     "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)) + " cells",
                     "Shorten an axis, or raise execution.max_cells.");
  }
  return settings;
}

void dump_settings(const Coreference& settings, config::Node& job) {
  config::Node& axes = job.add("axes", config::Node::map());
  config::Node& sentences = axes.add("sentences", config::Node::list());
  for (const auto& sentence : settings.sentences) {
    sentences.add(dump(sentence));
  }
  if (!settings.markers.empty()) {
    config::Node& markers = axes.add("markers", config::Node::list());
    for (const auto& marker : settings.markers) {
      markers.add(dump(marker));
    }
  }
  if (!settings.groups.empty()) {
    axes.add("groups", config::dump(settings.groups));
  }
  if (settings.crosses()) {
    axes.add("intersections", config::dump(settings.intersections));
  }
  config::Node& augmentations = axes.add("augmentations", config::Node::list());
  for (const auto augmentation : settings.augmentations) {
    augmentations.add(config::Node::plain(augmentation_names[static_cast<std::size_t>(augmentation)]));
  }
  config::Node& questions = axes.add("questions", config::Node::list());
  for (const auto& question : settings.questions) {
    config::Node& entry = questions.add(config::Node::map());
    config::add_text(entry, "label", question.label);
    config::add_text(entry, "text", question.text);
  }
  axes.add("exclude", note_names(settings.excluded));
  axes.add("ambiguous_referent", name_of(referent_names, settings.ambiguous_referent));
}

config::Node dump_statistics(const Coreference& settings) {
  const auto& statistics = settings.statistics;
  config::Node map = config::Node::map();
  map.add("ties", name_of(CoreferenceStatistics::ties_names, statistics.ties));
  map.add("replicates", config::integer(statistics.replicates));
  map.add("confidence", config::number(statistics.confidence));
  return map;
}

}  // namespace stereosweep::probes::coreference
