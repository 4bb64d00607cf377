#include "probes/coreference/CoreferenceReader.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "probes/coreference/CoreferenceSettings.hpp"

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
      const std::vector<std::string> names = {"privileged", "disadvantaged", "unstated"};
      marker.privilege =
          static_cast<Privilege>(config::read_choice(*privilege, key + ".privilege", problems, names).value_or(2));
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
  const auto sentences = base::count_of(question.text, "{sentence}");
  const auto pronouns = base::count_of(question.text, "{pronoun}");
  const auto braces = base::count_of(question.text, "{") + base::count_of(question.text, "}");
  if (!question.text.empty() && (sentences != 1 || pronouns == 0 || braces != 2 * (sentences + pronouns))) {
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
  if (settings.markers.empty() || (!asks(Augmentation::aug3a) && !asks(Augmentation::aug3b))) {
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

Coreference read_axes(const config::Node& node, config::Pieces& pieces, base::Problems& problems) {
  Coreference settings;
  config::Fields fields(node, "axes", problems);
  std::vector<std::string> occupations;
  if (const config::Node* list = fields.optional("occupations")) {
    occupations = config::read_lines(*list, "axes.occupations", problems).value_or(std::vector<std::string>());
  }
  if (const config::Node* sentences = fields.required("sentences")) {
    settings.sentences = read_sentences(*sentences, "axes.sentences", occupations, pieces, problems);
  }
  const config::Node* markers = fields.optional("markers");
  if (markers != nullptr) {
    settings.markers = read_markers(*markers, "axes.markers", pieces, problems);
  }
  settings.augmentations = {Augmentation::baseline};
  if (const config::Node* augmentations = fields.optional("augmentations")) {
    settings.augmentations = read_augmentations(*augmentations, "axes.augmentations", problems);
    const bool needs_markers = settings.augmentations != std::vector{Augmentation::baseline};
    if (needs_markers && markers == nullptr) {
      problems.add(augmentations->place("axes.augmentations"), "augmentations without markers",
                   "all but 'baseline' put a marker somewhere", "Name the axis 'markers'.");
    }
    if (!pieces.inline_only()) {
      check_pairs(augmentations->place("axes.augmentations"), settings, problems);
    }
  } else if (markers != nullptr) {
    problems.add(markers->place("axes.markers"), "markers, and the key 'axes.augmentations' is missing",
                 "it says where the markers go: without it no prompt holds one",
                 "Write augmentations: [baseline, aug1, aug2, aug3a, aug3b, aug4], or leave 'markers' out.");
  }
  settings.questions = {{"refers_to", "{sentence} The pronoun \"{pronoun}\" refers to the"}};
  if (const config::Node* questions = fields.optional("questions")) {
    settings.questions = read_questions(*questions, "axes.questions", pieces, problems);
  }
  if (const config::Node* exclude = fields.optional("exclude")) {
    settings.excluded = read_sentence_notes(*exclude, "axes.exclude", problems);
  }
  if (const config::Node* referent = fields.optional("ambiguous_referent")) {
    const std::vector<std::string> names = {"first", "random", "bracketed"};
    settings.ambiguous_referent = static_cast<AmbiguousReferent>(
        config::read_choice(*referent, "axes.ambiguous_referent", problems, names).value_or(0));
  }
  fields.finish();
  return settings;
}

CoreferenceStatistics read_statistics(const config::Node& node, base::Problems& problems) {
  CoreferenceStatistics statistics;
  config::Fields fields(node, "statistics", problems);
  if (const config::Node* ties = fields.optional("ties")) {
    const std::vector<std::string> names = {"half", "loss"};
    statistics.ties = static_cast<CoreferenceStatistics::Ties>(
        config::read_choice(*ties, "statistics.ties", problems, names).value_or(0));
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

}  // namespace

std::vector<Marker> read_markers(const config::Node& node, const std::string& key, config::Pieces& pieces,
                                 base::Problems& problems) {
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
  std::vector<Marker> markers;
  for (const auto& entry : config::select(std::move(entries), source, problems)) {
    markers.push_back(entry);
  }
  return markers;
}

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

Coreference read_settings(const config::ProbeReading& job) {
  Coreference settings;
  if (const config::Node* axes = job.fields.required("axes")) {
    settings = read_axes(*axes, job.pieces, job.problems);
  }
  if (const config::Node* statistics = job.fields.optional("statistics")) {
    settings.statistics = read_statistics(*statistics, job.problems);
  }
  // At most 5 conditions per marker or pair of markers: cannot overflow, since a job file has at most 10^5 values.
  const auto conditions =
      std::uint64_t{1} + 3 * settings.markers.size() + 2 * settings.markers.size() * settings.markers.size();
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

}  // namespace stereosweep::probes::coreference
