#include "config/axes/AxesReader.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text/Text.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/axes/Tables.hpp"

namespace stereosweep::config {
namespace {

using Labels = std::pair<std::string, std::string>;

const std::vector<std::string> form_names = {"singular", "plural"};

constexpr auto article_keys = [](auto& keys, auto& rule) {
  keys.choice("by", rule.by, {"english", "vowel", "noun"});
  keys.line("before_vowel", rule.before_vowel);
  keys.line("otherwise", rule.otherwise);
};

/// A text of a record, by its key.
template <class Record>
struct TextKey {
  const char* name;
  std::string Record::*text;
};

// In the order of a dump.
constexpr TextKey<sweep::Group> group_texts[] = {
    {"label", &sweep::Group::label},
    {"domain", &sweep::Group::domain},
    {"singular", &sweep::Group::singular},
    {"plural", &sweep::Group::plural},
    {"article", &sweep::Group::article},
    {"adjective", &sweep::Group::adjective},
    {"suffix", &sweep::Group::suffix},
    {"suffix_plural", &sweep::Group::suffix_plural},
    {"noun_singular", &sweep::Group::noun_singular},
    {"noun_plural", &sweep::Group::noun_plural},
};
constexpr TextKey<sweep::LexicalForm> lexical_texts[] = {
    {"first", &sweep::LexicalForm::first},       {"second", &sweep::LexicalForm::second},
    {"singular", &sweep::LexicalForm::singular}, {"plural", &sweep::LexicalForm::plural},
    {"article", &sweep::LexicalForm::article},
};

template <class Record>
void read_texts(Fields& fields, std::span<const TextKey<Record>> keys, Record& record) {
  for (const auto& [name, text] : keys) {
    fields.line(name, record.*text);
  }
}

/// The article that the record declares, or that its key `gender` stands for. A resolved job holds it as it is.
template <class Record>
void read_article(Fields& fields, const Node& node, const std::string& key, const Pieces& pieces, Record& record,
                  base::Problems& problems) {
  std::string gender;
  if (pieces.language().has_genders() && !pieces.inline_only()) {
    fields.line("gender", gender);
  }
  if (!pieces.inline_only()) {
    const Node* place = node.find(gender.empty() ? "article" : "gender");
    record.article =
        pieces.language().article_of(place == nullptr ? node : *place, key + (gender.empty() ? ".article" : ".gender"),
                                     record.article, gender, problems);
  }
}

template <class Record>
Node dump_texts(std::span<const TextKey<Record>> keys, const Record& record) {
  Node map = Node::map();
  for (const auto& [name, text] : keys) {
    add_text(map, name, record.*text);
  }
  return map;
}

sweep::Group read_group(const Node& node, const std::string& key, const Pieces& pieces, base::Problems& problems) {
  sweep::Group group;
  if (node.kind == Node::Kind::scalar) {
    group.plural = read_line(node, key, problems, 200).value_or("");
    group.label = group.plural;
  } else {
    Fields fields(node, key, problems);
    read_texts<sweep::Group>(fields, group_texts, group);
    read_article(fields, node, key, pieces, group, problems);
    fields.finish();
    if (fields.usable() && group.singular.empty() && group.plural.empty()) {
      problems.add(node.place(key), "neither 'singular' nor 'plural' is given", "a group needs a form to stand in");
    }
  }
  if (group.label.empty()) {
    group.label = group.plural.empty() ? group.singular : group.plural;
  }
  for (const auto& [name, text] : group_texts) {
    if (text != &sweep::Group::domain) {
      check_surface(node, key, group.*text, problems);
    }
  }
  if (group.label == "prior_word" || group.label == "prior_mask") {
    problems.add(node.place(key), "the label '" + group.label + "' is reserved", "it names a prior in the result");
  }
  return group;
}

/// Reads the rule that says which groups are combined; knows which groups exist, and which of them the job has.
class RuleReader {
 public:
  RuleReader(const Pieces& pieces, base::Problems& problems, const std::vector<sweep::Group>& groups,
             const std::vector<sweep::Group>& unselected)
      : pieces_(pieces), problems_(problems) {
    for (const auto& group : groups) {
      add(group, true);
    }
    for (const auto& group : unselected) {
      add(group, false);
    }
  }

  void read_pairs(Fields& fields, const std::string& name, std::vector<Labels>& pairs) {
    each(fields, name, [&](const Node& entry, const std::string& key) {
      const auto two = read_two(entry, key, problems_);
      if (two && check(entry, key, *two)) {
        pairs.push_back(*two);
      }
    });
  }

  void read_domains(Fields& fields, const std::string& name, std::vector<Labels>& pairs) {
    const Node* node = fields.optional(name);
    if (node != nullptr && node->kind == Node::Kind::scalar && node->value == "all") {
      pairs = all_domains(node->place(fields.key_of(name)));
      return;
    }
    each(fields, name, [&](const Node& entry, const std::string& key) {
      const auto two = read_two(entry, key, problems_);
      if (!two) {
        return;
      }
      for (const auto& domain : {two->first, two->second}) {
        if (!known_domains_.contains(domain) && !labels_.empty()) {
          problems_.add(entry.place(key), "no group has the domain '" + domain + "'",
                        "domains are declared at the groups", suggest(domain, domains_, problems_));
        }
      }
      if (two->first == two->second) {
        problems_.add(entry.place(key), "'" + two->first + "' is crossed with itself",
                      "intersections combine different domains");
      }
      pairs.push_back(*two);
    });
  }

  void read_lexical(Fields& fields, const std::string& name, std::vector<sweep::LexicalForm>& forms) {
    each(fields, name, [&](const Node& entry, const std::string& key) {
      sweep::LexicalForm form;
      Fields of_form(entry, key, problems_, "{first: ..., second: ..., singular: ..., plural: ...}");
      for (const char* needed : {"first", "second", "singular", "plural"}) {
        of_form.required(needed);
      }
      read_texts<sweep::LexicalForm>(of_form, lexical_texts, form);
      read_article(of_form, entry, key, pieces_, form, problems_);
      of_form.finish();
      check_surface(entry, key, form.singular, problems_);
      check_surface(entry, key, form.plural, problems_);
      if (!form.first.empty() && !form.second.empty() && check(entry, key, {form.first, form.second})) {
        forms.push_back(std::move(form));
      }
    });
  }

 private:
  template <class Use>
  void each(Fields& fields, const std::string& name, Use use) {
    if (const Node* list = fields.optional(name)) {
      each_entry(*list, fields.key_of(name), problems_, use);
    }
  }
  void add(const sweep::Group& group, bool selected) {
    labels_.push_back(group.label);
    selected_[group.label] = selected;
    if (!group.domain.empty() && known_domains_.insert(group.domain).second && selected) {
      domains_.push_back(group.domain);  // those of the job come first: nothing else has claimed the name
    }
  }
  std::vector<Labels> all_domains(const base::Place& place) {
    constexpr std::size_t max_domains = 200;
    std::vector<Labels> pairs;
    if (domains_.size() > max_domains) {
      problems_.add(place, std::to_string(domains_.size()) + " domains to cross with each other",
                    "limit: " + std::to_string(max_domains), "List the pairs of domains.");
      return pairs;
    }
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      for (std::size_t j = i + 1; j < domains_.size(); ++j) {
        pairs.emplace_back(domains_[i], domains_[j]);
      }
    }
    return pairs;
  }
  /// True if both labels are groups of the job; a label that nobody knows is reported.
  bool check(const Node& node, const std::string& key, const Labels& labels) {
    bool present = true;
    for (const auto& label : {labels.first, labels.second}) {
      const auto found = selected_.find(label);
      if (found == selected_.end() && !labels_.empty()) {  // no group at all is in the report already
        problems_.add(node.place(key), "unknown group '" + label.substr(0, 80) + "'", "it is not on the axis groups",
                      suggest(label, labels_, problems_));
      }
      present = present && found != selected_.end() && found->second;
    }
    if (labels.first == labels.second) {
      problems_.add(node.place(key), "'" + labels.first + "' is combined with itself", "two groups are expected");
    }
    return present;
  }

  const Pieces& pieces_;
  base::Problems& problems_;
  std::vector<std::string> labels_;
  std::map<std::string, bool> selected_;
  std::vector<std::string> domains_;               ///< of the job's groups, in their order
  std::unordered_set<std::string> known_domains_;  ///< also those of unselected groups
};

sweep::Pole read_pole(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::Pole pole;
  if (node.kind == Node::Kind::scalar) {
    pole.name = read_line(node, key, problems, 200).value_or("");
    pole.words = {pole.name};
  } else if (node.kind == Node::Kind::list) {
    pole.words = read_lines(node, key, problems).value_or(pole.words);
  } else {
    Fields fields(node, key, problems);
    fields.line("name", pole.name);
    fields.required("words");
    fields.lines("words", pole.words);
    fields.finish();
  }
  if (pole.name.empty() && !pole.words.empty()) {
    pole.name = pole.words.front();
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

bool has_article(const std::string& text) { return text.find("{a group}") != std::string::npos; }

bool has_mask(const std::string& text) {
  return text.find("[MASK]") != std::string::npos || text.find("<mask>") != std::string::npos;
}

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
  if (has_mask(text)) {
    problems.add(place, "a mask in " + shown, "masks are put in place of {trait}", "did you mean '{trait}'?");
  }
}

sweep::Template read_template(const Node& node, const std::string& key, const Pieces& pieces,
                              base::Problems& problems) {
  sweep::Template sentence;
  std::size_t form = form_names.size();  // none is said
  if (node.kind == Node::Kind::scalar) {
    sentence.text = read_line(node, key, problems).value_or("");
  } else {
    Fields fields(node, key, problems);
    fields.line("label", sentence.label);
    fields.line("kind", sentence.kind);
    fields.required_line("text", sentence.text);
    fields.choice("form", form, form_names);
    fields.line("inside", sentence.inside);
    fields.finish();
  }
  if (sentence.inside.empty() && !pieces.inline_only()) {
    sentence.inside = pieces.language().inside(sentence.text);
  }
  const bool is_singular = has_article(sentence.text);
  sentence.form = form < form_names.size() ? static_cast<sweep::NounForm>(form)
                  : is_singular            ? sweep::NounForm::singular
                                           : sweep::NounForm::plural;
  if (is_singular && sentence.form == sweep::NounForm::plural) {
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

/// Reads rephrasings of the templates of a job.
class RephrasingReader {
 public:
  RephrasingReader(const std::vector<sweep::Template>& templates, base::Problems& problems)
      : templates_(templates), problems_(problems) {
    for (const auto& sentence : templates) {
      by_label_.emplace(sentence.label, &sentence);
      labels_.push_back(sentence.label);
    }
  }

  sweep::Rephrasing read(const Node& node, const std::string& key) const {
    sweep::Rephrasing rephrasing;
    bool has_alternatives = false;
    if (node.kind == Node::Kind::scalar) {
      rephrasing.wrapper = read_line(node, key, problems_).value_or("");
    } else {
      Fields fields(node, key, problems_);
      fields.line("label", rephrasing.label);
      fields.line("wrapper", rephrasing.wrapper);
      if (const Node* alternatives = fields.optional("alternatives")) {
        has_alternatives = true;
        read_alternatives(*alternatives, key + ".alternatives", rephrasing);
      } else if (fields.usable() && rephrasing.wrapper.empty()) {
        problems_.add(node.place(key), "neither 'wrapper' nor 'alternatives' is given", "a rephrasing is one of them");
      }
      fields.finish();
    }
    const std::string& wrapper = rephrasing.wrapper;
    if (!wrapper.empty() && (base::count_of(wrapper, "{prompt}") != 1 || base::count_of(wrapper, "{") != 1 ||
                             base::count_of(wrapper, "}") != 1 || has_mask(wrapper))) {
      problems_.add(node.place(key), "the wrapper '" + wrapper.substr(0, 80) + "' has not exactly one {prompt}",
                    "other placeholders and masks are not allowed");
    }
    if (rephrasing.label.empty()) {
      rephrasing.label = wrapper;
    }
    if (rephrasing.label.empty()) {
      problems_.add(node.place(key), "the rephrasing has no label", "labels name the rows of the result");
    }
    if (has_alternatives && wrapper.empty()) {
      check_coverage(node.place(key), rephrasing);
    }
    return rephrasing;
  }

 private:
  void read_alternatives(const Node& node, const std::string& key, sweep::Rephrasing& rephrasing) const {
    if (!expect_kind(node, Node::Kind::map, key, problems_, Emptiness::refused)) {
      return;
    }
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const std::string& label = node.keys[i];
      const std::string entry_key = key + "." + label.substr(0, 60);
      const auto place = node.children[i].place(entry_key);
      const auto sentence = by_label_.find(label);
      const auto text = read_line(node.children[i], entry_key, problems_);
      if (sentence == by_label_.end()) {
        if (!labels_.empty()) {  // that no template could be read is in the report already
          problems_.add(place, "an alternative for the unknown template '" + label.substr(0, 60) + "'",
                        "it is not on the axis templates", suggest(label, labels_, problems_));
        }
      } else if (text) {
        check_sentence(place, *text, problems_);
        if (has_article(*text) && sentence->second->form == sweep::NounForm::plural) {
          problems_.add(place, "{a group} in a template of plural form", "an alternative has its template's form");
        }
        rephrasing.alternatives.emplace_back(label, *text);
      }
    }
  }

  /// Without a wrapper to fall back on, every template needs its alternative.
  void check_coverage(const base::Place& place, const sweep::Rephrasing& rephrasing) const {
    std::unordered_set<std::string> covered;
    for (const auto& [label, text] : rephrasing.alternatives) {
      covered.insert(label);
    }
    const auto gap = std::ranges::find_if(
        templates_, [&](const sweep::Template& sentence) { return !covered.contains(sentence.label); });
    if (gap != templates_.end()) {
      problems_.add(place, "no alternative for the template '" + gap->label + "'",
                    "there is no wrapper to fall back on", "Add the text, or a wrapper such as '{prompt}'.");
    }
  }

  const std::vector<sweep::Template>& templates_;
  base::Problems& problems_;
  std::unordered_map<std::string, const sweep::Template*> by_label_;
  std::vector<std::string> labels_;
};

/// Every group must have the forms that the templates ask for; the first gap of each form is reported.
void check_forms(const Node& node, const std::string& key, const sweep::Axes& axes, base::Problems& problems) {
  for (const auto form : {sweep::NounForm::singular, sweep::NounForm::plural}) {
    const bool singular = form == sweep::NounForm::singular;
    const auto sentence = std::ranges::find(axes.templates, form, &sweep::Template::form);
    const auto group = std::ranges::find_if(axes.groups, [&](const auto& candidate) {
      return !candidate.label.empty() && (singular ? candidate.singular : candidate.plural).empty();
    });
    if (sentence != axes.templates.end() && group != axes.groups.end()) {
      const std::string& name = form_names[singular ? 0 : 1];
      problems.add(
          node.place(key),
          "the template '" + sentence->label + "' asks for a " + name + ", and '" + group->label + "' has none",
          "every group stands in every template", "Give the group its " + name + ".");
    }
  }
}

/// Of a resolved job.
void read_articles(Fields& fields, sweep::ArticleRule& rule, base::Problems& problems) {
  if (const Node* node = fields.optional("articles")) {
    Fields keys(*node, fields.key_of("articles"), problems);
    article_keys(keys, rule);
    keys.finish();
  }
}

/// Where nouns declare their articles, every group that stands behind {a group} needs one.
void check_articles(const Node& node, const std::string& key, const sweep::Axes& axes, base::Problems& problems) {
  if (axes.intersections.articles.by != sweep::ArticleRule::By::noun) {
    return;
  }
  const auto holds = [](const sweep::Template& sentence) { return has_article(sentence.text); };
  const auto holds_elsewhere = [](const sweep::Rephrasing& rephrasing) {
    return std::ranges::any_of(rephrasing.alternatives, [](const auto& entry) { return has_article(entry.second); });
  };
  const auto lacks = [](const auto& form) { return !form.singular.empty() && form.article.empty(); };
  const auto group = std::ranges::find_if(axes.groups, lacks);
  const auto form = std::ranges::find_if(axes.intersections.lexical, lacks);
  if ((!std::ranges::any_of(axes.templates, holds) && !std::ranges::any_of(axes.rephrasings, holds_elsewhere)) ||
      (group == axes.groups.end() && form == axes.intersections.lexical.end())) {
    return;
  }
  problems.add(node.place(key),
               "{a group} needs an article, and '" + (group == axes.groups.end() ? form->singular : group->singular) +
                   "' has neither gender nor article",
               "in the job's language it is the noun's", "Give it its gender, or write the article into the template.");
}

Node dump_pairs(const std::vector<Labels>& pairs) {
  return list_of(pairs, [](const Labels& pair) { return texts({pair.first, pair.second}); });
}

Node dump_pole(const sweep::Pole& pole) {
  Node map = Node::map();
  add_text(map, "name", pole.name);
  map.add("words", texts(pole.words));
  return map;
}

}  // namespace

std::vector<sweep::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                      base::Problems& problems, sweep::Priors& priors,
                                      std::vector<sweep::Group>& unselected) {
  AxisSource source = find_source(node, "groups", key, pieces, problems);
  if (!source.table.empty()) {
    GroupTable table = read_group_table(source.table, problems);
    source.use_table("groups", std::move(table.entries));
    if (!table.generic_plural.empty()) {
      priors.word_singular = table.generic_singular;
      priors.word_plural = table.generic_plural;
    }
  }
  const auto read = [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_group(entry, its_key, pieces, problems)};
  };
  return read_source<sweep::Group>(source, problems, read, &unselected);
}

std::vector<sweep::Group> read_plural_groups(const Node& node, const std::string& key, Pieces& pieces,
                                             base::Problems& problems, std::vector<sweep::Group>& unselected) {
  sweep::Priors unused = sweep::no_priors;
  auto groups = read_groups(node, key, pieces, problems, unused, unselected);
  for (const auto& group : groups) {
    if (group.plural.empty() && !group.label.empty()) {
      problems.add(node.place(key), "'" + group.label + "' has no plural", "questions ask of plurals",
                   "Give the group its plural.");
    }
  }
  return groups;
}

sweep::IntersectionRule read_intersections(const Node& node, const std::string& key, Pieces& pieces,
                                           base::Problems& problems, const std::vector<sweep::Group>& groups,
                                           const std::vector<sweep::Group>& unselected) {
  sweep::IntersectionRule rule;
  rule.articles = pieces.language().articles();
  const Node* source = &node;
  std::string source_key = key;
  if (node.kind == Node::Kind::scalar) {
    if (node.value == "none") {
      return rule;
    }
    source = pieces.find("intersections", node.value, node, key, problems);
    source_key.clear();
    if (source == nullptr) {
      return rule;
    }
  }
  RuleReader reader(pieces, problems, groups, unselected);
  Fields fields(*source, source_key, problems);
  std::string about;
  fields.optional("schema");
  fields.text("about", about);
  reader.read_pairs(fields, "pairs", rule.pairs);
  reader.read_domains(fields, "domains", rule.domains);
  reader.read_pairs(fields, "exclusions", rule.exclusions);
  reader.read_lexical(fields, "lexical", rule.lexical);
  fields.boolean("both_orders", rule.both_orders);
  if (pieces.inline_only()) {
    read_articles(fields, rule.articles, problems);
  }
  fields.finish();
  return rule;
}

std::vector<sweep::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                          base::Problems& problems) {
  AxisSource source = find_source(node, "traits", key, pieces, problems);
  if (!source.table.empty()) {
    source.use_table("traits", read_trait_table(source.table, problems));
  }
  return read_source<sweep::TraitPair>(source, problems, [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_pair(entry, its_key, problems)};
  });
}

std::vector<sweep::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems) {
  AxisSource source = find_source(node, "templates", key, pieces, problems);
  if (!source.table.empty()) {
    source.use_table("templates", read_template_table(source.table, problems));
  }
  return read_source<sweep::Template>(source, problems, [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_template(entry, its_key, pieces, problems)};
  });
}

std::vector<sweep::Rephrasing> read_rephrasings(const Node& node, const std::string& key, Pieces& pieces,
                                                base::Problems& problems,
                                                const std::vector<sweep::Template>& templates) {
  if (node.kind == Node::Kind::scalar && node.value == "none") {
    return {{"none", "{prompt}", {}}};
  }
  const AxisSource source = find_source(node, "rephrasings", key, pieces, problems);
  if (!source.table.empty()) {
    problems.add(node.place(key), "rephrasings have no tables", "give a name or a list");
  }
  const RephrasingReader reader(templates, problems);
  return read_source<sweep::Rephrasing>(source, problems, [&](const Node& entry, const std::string& its_key) {
    return std::vector{reader.read(entry, its_key)};
  });
}

sweep::Axes read_axes(const Node& node, const std::string& key, Pieces& pieces, base::Problems& problems,
                      sweep::Priors& priors) {
  sweep::Axes axes;
  axes.intersections.articles = pieces.language().articles();
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
    check_articles(*templates, key + ".templates", axes, problems);
  }
  return axes;
}

Node dump(const sweep::Group& group) { return dump_texts<sweep::Group>(group_texts, group); }

Node dump(const sweep::IntersectionRule& rule) {
  Node map = Node::map();
  map.add("pairs", dump_pairs(rule.pairs));
  map.add("domains", dump_pairs(rule.domains));
  map.add("exclusions", dump_pairs(rule.exclusions));
  map.add("lexical", list_of(rule.lexical, [](const sweep::LexicalForm& form) {
            return dump_texts<sweep::LexicalForm>(lexical_texts, form);
          }));
  map.add("both_orders", Node::plain(rule.both_orders ? "true" : "false"));
  if (rule.articles != sweep::ArticleRule()) {  // dumps of English jobs stay what they were
    FieldsDump keys;
    article_keys(keys, rule.articles);
    map.add("articles", keys.take());
  }
  return map;
}

Node dump(const sweep::TraitPair& pair) {
  Node map = Node::map();
  add_text(map, "label", pair.label);
  add_text(map, "dimension", pair.dimension);
  map.add("left", dump_pole(pair.left));
  map.add("right", dump_pole(pair.right));
  return map;
}

Node dump(const sweep::Template& sentence) {
  Node map = Node::map();
  add_text(map, "label", sentence.label);
  add_text(map, "kind", sentence.kind);
  add_text(map, "text", sentence.text);
  map.add("form", Node::plain(form_names[static_cast<std::size_t>(sentence.form)]));
  add_text(map, "inside", sentence.inside);
  return map;
}

Node dump(const sweep::Rephrasing& rephrasing) {
  Node map = Node::map();
  add_text(map, "label", rephrasing.label);
  add_text(map, "wrapper", rephrasing.wrapper);
  Node alternatives = Node::map();
  for (const auto& [label, text] : rephrasing.alternatives) {
    alternatives.add(label, Node::text(text));
  }
  if (!rephrasing.alternatives.empty()) {
    map.add("alternatives", std::move(alternatives));
  }
  return map;
}

Node dump(const sweep::Axes& axes) {
  Node map = Node::map();
  map.add("groups", dump(axes.groups));
  map.add("intersections", dump(axes.intersections));
  map.add("traits", dump(axes.traits));
  map.add("templates", dump(axes.templates));
  map.add("rephrasings", dump(axes.rephrasings));
  return map;
}

}  // namespace stereosweep::config
