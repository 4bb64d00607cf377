#include <algorithm>
#include <map>

#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {
namespace {

using config::Node;

std::vector<Marker> read_marker(const Node& node, const std::string& key, base::Problems& problems) {
  Marker marker;
  config::read_fields(node, key, problems, marker);
  config::check_surface(node, key, marker.word, problems);
  problems.add_if(marker.privilege != Privilege::unstated && marker.attribute.empty(), node.place(key),
                  "the marker '" + marker.word + "' has a privilege and no attribute",
                  "privileged and disadvantaged are sides of one attribute", "Name its 'attribute'.");
  return {marker};
}

std::vector<Question> read_question(const Node& node, const std::string& key, const config::Fields& axes) {
  Question question;
  config::read_fields(node, key, axes.problems(), question);
  question.label = question.label.empty() ? question.text : question.label;
  if (!question.text.empty()) {
    config::check_places(node.place(key), question.text, {{{"{sentence}"}, 1}, {{"{pronoun}"}, 1, config::any_number}},
                         axes.problems());
  }
  return {question};
}

void questions_key(auto& axes, auto& settings) {
  config::entries_key<Question>(axes, {"questions", "rephrasings"}, "questions", settings.questions,
                                "what follows or frames a sentence", read_question);
}

/// aug3 pairs both sides of an attribute by their contrast: a side that finds no partner would stand in no prompt.
void check_pairs(const base::Place& place, const Coreference& settings, base::Problems& problems) {
  struct Sides {
    std::vector<Privilege> found;
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
    sides.found.push_back(marker.privilege);
    if (std::ranges::none_of(settings.markers, is_partner)) {
      sides.alone.push_back("'" + marker.word + "'");
    }
  }
  const std::string rule =
      "aug3 pairs a privileged and a disadvantaged marker of one attribute with the same 'contrast'";
  bool is_settled = false;
  for (const auto& [attribute, sides] : attributes) {
    const bool has_both = std::ranges::count(sides.found, sides.found.front()) < std::ssize(sides.found);
    const bool has_pair = sides.alone.size() < sides.found.size();
    is_settled = is_settled || has_both;
    if (!has_both || sides.alone.empty()) {
      continue;
    }
    const auto lonely = "aug3 finds no partner for " + base::join(sides.alone, ", ") + " of '" + attribute + "'";
    if (has_pair) {
      base::log_once(base::LogLevel::warning, base::describe(place.text() + ": " + lonely, rule));
    } else {
      problems.add(place, lonely, rule, "Give both the same 'contrast', or neither one.");
    }
  }
  problems.add_if(!is_settled, place, "aug3 finds no pair of markers", rule,
                  "Give the markers 'attribute' and 'privilege'.");
}

/// Markers, groups and what crosses them.
void read_subjects(config::Fields& fields, Coreference& settings) {
  std::vector<sweep::Group> unselected;
  std::vector<Marker> dropped;
  if (const Node* markers = fields.optional("markers")) {
    const auto read = [&](const Node& entry, const std::string& key) {
      return read_marker(entry, key, fields.problems());
    };
    settings.markers = config::read_entries<Marker>(*markers, "markers", "axes.markers", fields.pieces(),
                                                    fields.problems(), read, &dropped);
  }
  if (const Node* groups = fields.optional("groups")) {
    sweep::Priors priors;  // a sentence without a marker is the baseline
    settings.groups =
        config::read_groups(*groups, "axes.groups", fields.pieces(), fields.problems(), priors, unselected);
    for (const auto& group : settings.groups) {
      if (std::ranges::find(settings.markers, group.label, &Marker::word) != settings.markers.end()) {
        fields.problems().add(groups->place("axes.groups"), "'" + group.label + "' is a group and a marker",
                              "labels name the rows of the result", "Give the group another 'label'.");
      }
    }
  }
  if (const Node* rule = fields.optional("intersections")) {
    std::vector<sweep::Group> groups;
    std::ranges::transform(settings.markers, std::back_inserter(groups), group_of);
    groups.insert(groups.end(), settings.groups.begin(), settings.groups.end());
    std::ranges::transform(dropped, std::back_inserter(unselected), group_of);
    settings.intersections =
        config::read_intersections(*rule, "axes.intersections", fields.pieces(), fields.problems(), groups, unselected);
  }
}

/// `fields` are those of the axes.
void read_placements(config::Fields& fields, Coreference& settings) {
  settings.augmentations = {Augmentation::baseline};
  const std::string name = fields.optional("markers") != nullptr ? "markers" : "groups";
  const Node* subjects = fields.optional(name);
  const Node* augmentations = fields.optional("augmentations");
  if (augmentations == nullptr) {
    if (subjects != nullptr) {
      fields.problems().add(
          subjects->place("axes." + name), name + ", and the key 'axes.augmentations' is missing",
          "it says where the markers go: without it no prompt holds one",
          "Write augmentations: [baseline, aug1, aug2, aug3a, aug3b, aug4], or leave '" + name + "' out.");
    }
    return;
  }
  const auto place = augmentations->place("axes.augmentations");
  fields.choices("augmentations", settings.augmentations, augmentation_names);
  std::ranges::sort(settings.augmentations);
  fields.problems().add_if(settings.augmentations != std::vector{Augmentation::baseline} && subjects == nullptr, place,
                           "augmentations without markers", "all but 'baseline' put a marker somewhere",
                           "Name the axis 'markers' or 'groups'.");
  if (fields.pieces().inline_only() || (settings.markers.empty() && settings.groups.empty())) {
    return;
  }
  if (settings.asks(Augmentation::aug3a) || settings.asks(Augmentation::aug3b)) {
    check_pairs(place, settings, fields.problems());
  }
  const Node* rule = fields.optional("intersections");
  if (rule != nullptr && settings.crosses() && !settings.asks(Augmentation::aug1) &&
      !settings.asks(Augmentation::aug2) && !settings.asks(Augmentation::aug4)) {
    fields.problems().add(
        rule->place("axes.intersections"), "intersections that no prompt holds",
        "an intersection stands where one marker does: before the referent, the other occupation or after "
        "the pronoun",
        "Add aug1, aug2 or aug4 to 'axes.augmentations'.");
  }
}

}  // namespace

void axes_keys(config::Fields& fields, Coreference& settings) {
  std::vector<std::string> occupations;
  fields.lines("occupations", occupations);
  if (const auto sentences = fields.either("sentences", "templates"); sentences.node != nullptr) {
    settings.sentences =
        read_sentences(*sentences.node, sentences.key, occupations, fields.pieces(), fields.problems());
  } else {
    fields.required("sentences");
  }
  read_subjects(fields, settings);
  read_placements(fields, settings);
  questions_key(fields, settings);
  if (const Node* exclude = fields.optional("exclude")) {
    settings.excluded = read_sentence_notes(*exclude, "axes.exclude", fields.problems());
  }
}

void axes_keys(config::ShownKeys& axes, const Coreference& settings) {
  if (axes.describes()) {
    axes.lines("occupations", {}, config::Emptiness::refused,
               "where no braces mark the other occupation of a sentence");
  }
  constexpr auto about = "a name in configs/sentences, a list, or {files: [PATH, ...]}";
  axes.own("sentences", config::list_of(settings.sentences, dump_sentence), about, sentences_schema);
  axes.own("templates", {}, about, sentences_schema);
  if (axes.describes() || !settings.markers.empty()) {
    axes.sourced("markers", settings.markers, "words that name a group");
  }
  if (axes.describes() || !settings.groups.empty()) {
    axes.sourced("groups", settings.groups, "beside the markers");
  }
  if (axes.describes() || settings.crosses()) {
    config::rule_key(axes, settings.intersections, "of markers and groups");
  }
  axes.choices("augmentations", settings.augmentations, augmentation_names, "where markers are put");
  questions_key(axes, settings);
  const std::vector excluded(settings.excluded.begin(), settings.excluded.end());
  axes.own("exclude", config::choice_list(excluded, sentence_note_names), "notes of sentences that are not asked",
           notes_schema);
}

void check_settings(const config::ProbeReading& job, const Coreference& settings) {
  job.problems.add_if(!job.pieces.language().is_english(), job.place("language"),
                      "coreference in the language '" + job.pieces.language().name() + "'",
                      "its sentences are English: pronouns, 'the', 'a woman', and words that change with a marker",
                      "Leave 'language' out.");
  if (job.pieces.inline_only()) {  // results of earlier versions, which had intervals of their own
    job.statistics.optional("replicates");
    job.statistics.optional("confidence");
  }
  // An upper bound. Cannot overflow, since a job file has at most 10^5 values.
  const std::uint64_t num_markers = settings.markers.size();
  const std::uint64_t num_groups = num_markers + settings.groups.size();
  const auto num_crossed = settings.crosses() ? num_groups * num_groups : 0;
  const auto conditions = std::uint64_t{1} + 3 * (num_groups + num_crossed) + 2 * num_markers * num_markers;
  config::check_cells(job, {{conditions, "conditions"},
                            {settings.questions.size(), "questions"},
                            {settings.sentences.size(), "sentences"},
                            {2, "occupations"}});
}

}  // namespace stereosweep::probes::coreference
