#include "config/AxesReader.hpp"

#include <algorithm>
#include <unordered_set>

#include "config/AxisSource.hpp"
#include "config/Tables.hpp"

namespace stereosweep::config {
namespace {

sweep::Group read_group(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::Group group;
  if (node.kind == Node::Kind::scalar) {
    group.plural = read_line(node, key, problems, 200).value_or("");
    group.label = group.plural;
  } else {
    Fields fields(node, key, problems);
    fields.line("label", group.label);
    fields.line("domain", group.domain);
    fields.line("singular", group.singular);
    fields.line("plural", group.plural);
    if (const Node* article = fields.optional("article")) {
      const std::vector<std::string> articles = {"a", "an"};
      if (const auto index = read_choice(*article, key + ".article", problems, articles)) {
        group.article = articles[*index];
      }
    }
    fields.line("adjective", group.adjective);
    fields.line("suffix", group.suffix);
    fields.line("suffix_plural", group.suffix_plural);
    fields.line("noun_singular", group.noun_singular);
    fields.line("noun_plural", group.noun_plural);
    fields.finish();
    if (fields.usable() && group.singular.empty() && group.plural.empty()) {
      problems.add(node.place(key), "neither 'singular' nor 'plural' is given", "a group needs a form to stand in");
    }
  }
  if (group.label.empty()) {
    group.label = group.plural.empty() ? group.singular : group.plural;
  }
  for (const auto* text : {&group.label, &group.singular, &group.plural, &group.adjective, &group.suffix,
                           &group.suffix_plural, &group.noun_singular, &group.noun_plural}) {
    check_surface(node, key, *text, problems);
  }
  if (group.label == "prior_word" || group.label == "prior_mask") {
    problems.add(node.place(key), "the label '" + group.label + "' is reserved", "it names a prior in the result");
  }
  return group;
}

sweep::Pole read_pole(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::Pole pole;
  if (node.kind == Node::Kind::scalar) {
    pole.name = read_line(node, key, problems, 200).value_or("");
    pole.words = {pole.name};
  } else if (node.kind == Node::Kind::list) {
    pole.words = read_lines(node, key, problems).value_or(std::vector<std::string>());
    pole.name = pole.words.empty() ? "" : pole.words.front();
  } else {
    Fields fields(node, key, problems);
    fields.line("name", pole.name);
    if (const Node* words = fields.required("words")) {
      pole.words = read_lines(*words, key + ".words", problems).value_or(std::vector<std::string>());
    }
    fields.finish();
    if (pole.name.empty() && !pole.words.empty()) {
      pole.name = pole.words.front();
    }
  }
  for (const auto& word : pole.words) {
    check_surface(node, key, word, problems);
  }
  return pole;
}

sweep::TraitPair read_pair(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::TraitPair pair;
  if (node.kind == Node::Kind::list) {
    if (const auto two = read_two(node, key, problems)) {
      pair.left = {two->first, {two->first}};
      pair.right = {two->second, {two->second}};
      check_surface(node, key, two->first, problems);
      check_surface(node, key, two->second, problems);
    }
  } else {
    Fields fields(node, key, problems, "[weak, strong], or {left: [weak, timid], right: [strong, bold]}");
    fields.line("label", pair.label);
    fields.line("dimension", pair.dimension);
    if (const Node* left = fields.required("left")) {
      pair.left = read_pole(*left, key + ".left", problems);
    }
    if (const Node* right = fields.required("right")) {
      pair.right = read_pole(*right, key + ".right", problems);
    }
    fields.finish();
  }
  if (pair.label.empty() && !pair.left.name.empty() && !pair.right.name.empty()) {
    pair.label = pair.left.name + " - " + pair.right.name;
  }
  const std::unordered_set<std::string> left(pair.left.words.begin(), pair.left.words.end());
  for (const auto& word : pair.right.words) {
    if (left.contains(word)) {
      problems.add(node.place(key), "the word '" + word + "' stands for both poles", "its score would cancel out");
    }
  }
  return pair;
}

/// Every group must have the forms that the templates ask for; the first gap of each form is reported.
void check_forms(const Node& node, const std::string& key, const sweep::Axes& axes, base::Problems& problems) {
  for (const auto form : {sweep::NounForm::singular, sweep::NounForm::plural}) {
    const bool singular = form == sweep::NounForm::singular;
    const auto sentence = std::find_if(axes.templates.begin(), axes.templates.end(),
                                       [&](const auto& candidate) { return candidate.form == form; });
    const auto group = std::find_if(axes.groups.begin(), axes.groups.end(), [&](const auto& candidate) {
      return !candidate.label.empty() && (singular ? candidate.singular : candidate.plural).empty();
    });
    if (sentence != axes.templates.end() && group != axes.groups.end()) {
      const std::string name = singular ? "singular" : "plural";
      problems.add(
          node.place(key),
          "the template '" + sentence->label + "' asks for a " + name + ", and '" + group->label + "' has none",
          "every group stands in every template", "Give the group its " + name + ".");
    }
  }
}

}  // namespace

std::vector<sweep::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                      base::Problems& problems, sweep::Priors& priors,
                                      std::vector<sweep::Group>& unselected) {
  AxisSource source = find_source(node, "groups", key, pieces, problems);
  std::vector<sweep::Group> groups;
  if (!source.table.empty()) {
    GroupTable table = read_group_table(source.table, problems);
    source.use_table("groups", std::move(table.entries));
    if (!table.generic_plural.empty()) {
      priors.word_singular = table.generic_singular;
      priors.word_plural = table.generic_plural;
    }
  }
  LabelCheck labels(problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    groups.push_back(read_group(entry, entry_key, problems));
    labels.add(entry, entry_key, groups.back().label);
  }
  return select(std::move(groups), source, problems, &unselected);
}

std::vector<sweep::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                          base::Problems& problems) {
  AxisSource source = find_source(node, "traits", key, pieces, problems);
  std::vector<sweep::TraitPair> pairs;
  if (!source.table.empty()) {
    source.use_table("traits", read_trait_table(source.table, problems));
  }
  LabelCheck labels(problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    pairs.push_back(read_pair(entry, entry_key, problems));
    labels.add(entry, entry_key, pairs.back().label);
  }
  return select(std::move(pairs), source, problems);
}

sweep::Axes read_axes(const Node& node, const std::string& key, Pieces& pieces, base::Problems& problems,
                      sweep::Priors& priors) {
  sweep::Axes axes;
  std::vector<sweep::Group> unselected;
  Fields fields(node, key, problems);
  if (const Node* groups = fields.required("groups")) {
    axes.groups = read_groups(*groups, key + ".groups", pieces, problems, priors, unselected);
  }
  if (const Node* rule = fields.optional("intersections")) {
    axes.intersections = read_intersections(*rule, key + ".intersections", pieces, problems, axes.groups, unselected);
  }
  if (const Node* traits = fields.required("traits")) {
    axes.traits = read_traits(*traits, key + ".traits", pieces, problems);
  }
  const Node* templates = fields.required("templates");
  if (templates != nullptr) {
    axes.templates = read_templates(*templates, key + ".templates", pieces, problems);
  }
  if (const Node* rephrasings = fields.optional("rephrasings")) {
    axes.rephrasings = read_rephrasings(*rephrasings, key + ".rephrasings", pieces, problems, axes.templates);
  } else {
    axes.rephrasings = {{"none", "{prompt}", {}}};
  }
  fields.finish();
  if (templates != nullptr) {
    check_forms(*templates, key + ".templates", axes, problems);
  }
  return axes;
}

}  // namespace stereosweep::config
