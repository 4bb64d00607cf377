// Templates and rephrasings.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/Tables.hpp"

namespace stereosweep::config {
namespace {

/// A sentence has one {trait} and one of {group}, {a group}; no other braces and no mask.
void check_sentence(const base::Place& place, const std::string& text, base::Problems& problems) {
  const std::size_t num_traits = base::count_of(text, "{trait}");
  const std::size_t num_groups = base::count_of(text, "{group}") + base::count_of(text, "{a group}");
  const std::string shown = "'" + text.substr(0, 80) + "'";
  if (num_traits != 1) {
    problems.add(place, std::to_string(num_traits) + " times {trait} in " + shown, "exactly one is expected");
  }
  if (num_groups != 1) {
    problems.add(place, std::to_string(num_groups) + " times {group} in " + shown,
                 "exactly one of {group} and {a group} is expected");
  }
  if (base::count_of(text, "{") != num_traits + num_groups || base::count_of(text, "}") != num_traits + num_groups) {
    problems.add(place, "an unknown placeholder in " + shown, "known: {group}, {a group}, {trait}");
  }
  if (base::count_of(text, "[MASK]") + base::count_of(text, "<mask>") > 0) {
    problems.add(place, "a mask in " + shown, "masks are put in place of {trait}", "did you mean '{trait}'?");
  }
}

sweep::Template read_template(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::Template sentence;
  std::optional<sweep::NounForm> form;
  if (node.kind == Node::Kind::scalar) {
    sentence.text = read_line(node, key, problems).value_or("");
  } else {
    Fields fields(node, key, problems);
    fields.line("label", sentence.label);
    fields.line("kind", sentence.kind);
    fields.required_line("text", sentence.text);
    if (const Node* choice = fields.optional("form")) {
      const std::vector<std::string> forms = {"singular", "plural"};
      if (const auto index = read_choice(*choice, key + ".form", problems, forms)) {
        form = *index == 0 ? sweep::NounForm::singular : sweep::NounForm::plural;
      }
    }
    fields.finish();
  }
  const bool has_article = sentence.text.find("{a group}") != std::string::npos;
  sentence.form = form.value_or(has_article ? sweep::NounForm::singular : sweep::NounForm::plural);
  if (has_article && sentence.form == sweep::NounForm::plural) {
    problems.add(node.place(key), "{a group} in a template of plural form", "the article needs the singular",
                 "Set form: singular, or write {group}.");
  }
  if (!sentence.text.empty()) {
    check_sentence(node.place(key), sentence.text, problems);
  }
  if (sentence.label.empty()) {
    sentence.label = sentence.text;
  }
  return sentence;
}

/// Templates by label.
using TemplateIndex = std::unordered_map<std::string, const sweep::Template*>;

void report_unknown_template(const Node& node, const std::string& key, const std::string& label,
                             const TemplateIndex& index, base::Problems& problems) {
  if (index.empty()) {  // that no template could be read is in the report already
    return;
  }
  std::vector<std::string> labels;
  for (const auto& [name, sentence] : index) {
    if (problems.size() < 30) {  // more hints than that are not given
      labels.push_back(name);
    }
  }
  problems.add(node.place(key), "an alternative for the unknown template '" + label.substr(0, 60) + "'",
               "it is not on the axis templates", suggest(label, labels, problems));
}

void read_alternatives(const Node& node, const std::string& key, base::Problems& problems, const TemplateIndex& index,
                       sweep::Rephrasing& rephrasing) {
  if (!expect_kind(node, Node::Kind::map, key, problems, Emptiness::refused)) {
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& label = node.keys[i];
    const std::string entry_key = key + "." + label.substr(0, 60);
    const Node& child = node.children[i];
    const auto sentence = index.find(label);
    const auto text = read_line(child, entry_key, problems);
    if (sentence == index.end()) {
      report_unknown_template(child, entry_key, label, index, problems);
    } else if (text) {
      check_sentence(child.place(entry_key), *text, problems);
      if (text->find("{a group}") != std::string::npos && sentence->second->form == sweep::NounForm::plural) {
        problems.add(child.place(entry_key), "{a group} in a template of plural form",
                     "an alternative has its template's form");
      }
      rephrasing.alternatives.emplace_back(label, *text);
    }
  }
}

/// Without a wrapper to fall back on, every template needs its alternative.
void check_coverage(const Node& node, const std::string& key, base::Problems& problems,
                    const std::vector<sweep::Template>& templates, const sweep::Rephrasing& rephrasing) {
  std::unordered_set<std::string> covered;
  for (const auto& [label, text] : rephrasing.alternatives) {
    covered.insert(label);
  }
  for (const auto& sentence : templates) {
    if (!covered.contains(sentence.label)) {
      problems.add(node.place(key), "no alternative for the template '" + sentence.label + "'",
                   "there is no wrapper to fall back on", "Add the text, or a wrapper such as '{prompt}'.");
      return;
    }
  }
}

sweep::Rephrasing read_rephrasing(const Node& node, const std::string& key, base::Problems& problems,
                                  const std::vector<sweep::Template>& templates, const TemplateIndex& index) {
  sweep::Rephrasing rephrasing;
  bool has_alternatives = false;
  if (node.kind == Node::Kind::scalar) {
    rephrasing.wrapper = read_line(node, key, problems).value_or("");
  } else {
    Fields fields(node, key, problems);
    fields.line("label", rephrasing.label);
    fields.line("wrapper", rephrasing.wrapper);
    if (const Node* alternatives = fields.optional("alternatives")) {
      has_alternatives = true;
      read_alternatives(*alternatives, key + ".alternatives", problems, index, rephrasing);
    } else if (fields.usable() && rephrasing.wrapper.empty()) {
      problems.add(node.place(key), "neither 'wrapper' nor 'alternatives' is given", "a rephrasing is one of them");
    }
    fields.finish();
  }
  const std::string& wrapper = rephrasing.wrapper;
  if (!wrapper.empty() && (base::count_of(wrapper, "{prompt}") != 1 || base::count_of(wrapper, "{") != 1 ||
                           base::count_of(wrapper, "}") != 1 ||
                           base::count_of(wrapper, "[MASK]") + base::count_of(wrapper, "<mask>") > 0)) {
    problems.add(node.place(key), "the wrapper '" + wrapper.substr(0, 80) + "' has not exactly one {prompt}",
                 "other placeholders and masks are not allowed");
  }
  if (rephrasing.label.empty()) {
    rephrasing.label = wrapper;
  }
  if (rephrasing.label.empty()) {
    problems.add(node.place(key), "the rephrasing has no label", "labels name the rows of the result");
  }
  if (has_alternatives && wrapper.empty()) {
    check_coverage(node, key, problems, templates, rephrasing);
  }
  return rephrasing;
}

}  // namespace

std::vector<sweep::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems) {
  AxisSource source = find_source(node, "templates", key, pieces, problems);
  std::vector<sweep::Template> templates;
  LabelCheck labels(problems);
  if (!source.table.empty()) {
    source.use_table("templates", read_template_table(source.table, problems));
  }
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    templates.push_back(read_template(entry, entry_key, problems));
    labels.add(entry, entry_key, templates.back().label);
  }
  return select(std::move(templates), source, problems);
}

std::vector<sweep::Rephrasing> read_rephrasings(const Node& node, const std::string& key, Pieces& pieces,
                                                base::Problems& problems,
                                                const std::vector<sweep::Template>& templates) {
  if (node.kind == Node::Kind::scalar && node.value == "none") {
    return {{"none", "{prompt}", {}}};
  }
  const AxisSource source = find_source(node, "rephrasings", key, pieces, problems);
  std::vector<sweep::Rephrasing> rephrasings;
  if (!source.table.empty()) {
    problems.add(node.place(key), "rephrasings have no tables", "give a name or a list");
  }
  TemplateIndex index;
  for (const auto& sentence : templates) {
    index.emplace(sentence.label, &sentence);
  }
  LabelCheck labels(problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    rephrasings.push_back(read_rephrasing(entry, entry_key, problems, templates, index));
    labels.add(entry, entry_key, rephrasings.back().label);
  }
  return select(std::move(rephrasings), source, problems);
}

}  // namespace stereosweep::config
