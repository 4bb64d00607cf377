#include "config/axes/AxesReader.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::config {
namespace {

constexpr std::uint64_t max_subjects = 1'000'000;

using Labels = sweep::IntersectionRule::Labels;

sweep::Group read_group(const Node& node, const std::string& key, Pieces& pieces, base::Problems& problems) {
  sweep::Group group;
  Fields fields(node, key, problems, "", &pieces);
  sweep::Group::each_key(group, fields);
  fields.finish();
  problems.add_if(fields.usable() && group.singular.empty() && group.plural.empty(), node.place(key),
                  "neither 'singular' nor 'plural' is given", "a group needs a form to stand in");
  if (group.label.empty()) {
    group.label = group.plural.empty() ? group.singular : group.plural;
  }
  for (const auto text : {&sweep::Group::label, &sweep::Group::singular, &sweep::Group::plural, &sweep::Group::article,
                          &sweep::Group::adjective, &sweep::Group::suffix, &sweep::Group::suffix_plural,
                          &sweep::Group::noun_singular, &sweep::Group::noun_plural}) {
    check_surface(node, key, group.*text, problems);
  }
  problems.add_if(group.label == "prior_word" || group.label == "prior_mask", node.place(key),
                  "the label '" + group.label + "' is reserved", "it names a prior in the result");
  return group;
}

/// Reads the rule that says which groups are combined; knows which groups exist, and which of them the job has.
class RuleReader {
 public:
  RuleReader(Pieces& pieces, base::Problems& problems, const std::vector<sweep::Group>& groups,
             const std::vector<sweep::Group>& unselected)
      : pieces_(pieces), problems_(problems) {
    for (const auto& group : groups) {
      add(group, true);
    }
    for (const auto& group : unselected) {
      add(group, false);
    }
  }

  /// Of groups: `pairs` and `exclusions`.
  void read_groups(Fields& fields, const std::string& name, std::vector<Labels>& lists) {
    each(fields, name, [&](const Node& entry, const std::string& key) {
      auto labels = read_parts(entry, key);
      if (!labels.empty() && check(entry, key, labels)) {
        lists.push_back(std::move(labels));
      }
    });
  }

  void read_domains(Fields& fields, const std::string& name, std::vector<Labels>& lists) {
    const Node* node = fields.optional(name);
    if (node != nullptr && node->kind == Node::Kind::scalar && node->value == "all") {
      lists = all_domains(node->place(fields.key_of(name)));
      return;
    }
    each(fields, name, [&](const Node& entry, const std::string& key) {
      auto domains = read_parts(entry, key);
      for (const auto& domain : domains) {
        if (!known_domains_.contains(domain) && !labels_.empty()) {
          problems_.add(entry.place(key), "no group has the domain '" + domain + "'",
                        "domains are declared at the groups", suggest(domain, domains_, problems_));
        }
      }
      if (!domains.empty()) {
        check_distinct(entry, key, domains, "crossed", "intersections combine different domains");
        lists.push_back(std::move(domains));
      }
    });
  }

  void read_lexical(Fields& fields, const std::string& name, std::vector<sweep::LexicalForm>& forms) {
    each(fields, name, [&](const Node& entry, const std::string& key) {
      sweep::LexicalForm form;
      read_fields(entry, key, problems_, form, "{first: ..., second: ..., singular: ..., plural: ...}", &pieces_);
      check_surface(entry, key, form.singular, problems_);
      check_surface(entry, key, form.plural, problems_);
      if (!form.first.empty() && !form.second.empty() && check(entry, key, {form.first, form.second})) {
        forms.push_back(std::move(form));
      }
    });
  }

 private:
  void each(Fields& fields, const std::string& name, auto use) {
    if (const Node* list = fields.optional(name)) {
      each_entry(*list, fields.key_of(name), problems_, use);
    }
  }
  /// A list of two to five names; none after reporting what is wrong with it.
  Labels read_parts(const Node& node, const std::string& key) {
    if (!expect_kind(node, Node::Kind::list, key, problems_)) {
      return {};
    }
    const auto count = node.children.size();
    if (count < 2 || count > sweep::most_parts) {
      problems_.add(node.place(key), "a list of two to " + std::to_string(sweep::most_parts) + " texts is expected",
                    "here are " + std::to_string(count));
      return {};
    }
    Labels labels;
    each_entry(node, key, problems_, [&](const Node& entry, const std::string& entry_key) {
      if (auto line = read_line(entry, entry_key, problems_)) {
        labels.push_back(std::move(*line));
      }
    });
    return labels.size() == count ? labels : Labels();
  }
  void check_distinct(const Node& node, const std::string& key, Labels names, const std::string& verb,
                      const std::string& why) {
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) {
      problems_.add(node.place(key), "'" + *twice + "' is " + verb + " with itself", why);
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
        pairs.push_back({domains_[i], domains_[j]});
      }
    }
    return pairs;
  }
  /// True if all labels are groups of the job; a label that nobody knows is reported.
  bool check(const Node& node, const std::string& key, const Labels& labels) {
    bool present = true;
    for (const auto& label : labels) {
      const auto found = selected_.find(label);
      if (found == selected_.end() && !labels_.empty()) {  // no group at all is in the report already
        problems_.add(node.place(key), "unknown group '" + base::excerpt(label, 80) + "'",
                      "it is not on the axis groups", suggest(label, labels_, problems_));
      }
      present = present && found != selected_.end() && found->second;
    }
    check_distinct(node, key, labels, "combined", "different groups are expected");
    return present;
  }

  Pieces& pieces_;
  base::Problems& problems_;
  std::vector<std::string> labels_;
  std::map<std::string, bool> selected_;
  std::vector<std::string> domains_;               ///< of the job's groups, in their order
  std::unordered_set<std::string> known_domains_;  ///< also those of unselected groups
};

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
    read_fields(node, key, problems, pair, "[weak, strong], or {left: [weak, timid], right: [strong, bold]}");
  }
  if (pair.label.empty() && !pair.left.name.empty() && !pair.right.name.empty()) {
    pair.label = pair.left.name + " - " + pair.right.name;
  }
  const std::unordered_set<std::string> left(pair.left.words.begin(), pair.left.words.end());
  for (const auto& word : pair.right.words) {
    problems.add_if(left.contains(word), node.place(key), "the word '" + word + "' stands for both poles",
                    "its score would cancel out");
  }
  return pair;
}

bool has_article(const std::string& text) { return text.find("{a group}") != std::string::npos; }

/// These placeholders, no other braces and no mask.
void check_text(const base::Place& place, const std::string& text, const std::vector<Placeholder>& places,
                base::Problems& problems) {
  check_places(place, text, places, problems);
  problems.add_if(text.find("[MASK]") != std::string::npos || text.find("<mask>") != std::string::npos, place,
                  "a mask in '" + base::excerpt(text, 80) + "'", "masks are put in place of {trait}",
                  "did you mean '" + places.back().names.back() + "'?");
}

void check_sentence(const base::Place& place, const std::string& text, base::Problems& problems) {
  check_text(place, text, {{{"{group}", "{a group}"}, 1}, {{"{trait}"}, 1}}, problems);
}

sweep::Template read_template(const Node& node, const std::string& key, const Pieces& pieces,
                              base::Problems& problems) {
  sweep::Template sentence;
  read_fields(node, key, problems, sentence);
  if (sentence.inside.empty() && !pieces.holds_language()) {
    sentence.inside = pieces.language().inside(sentence.text);
  }
  const bool is_singular = has_article(sentence.text);
  if (node.find("form") == nullptr && is_singular) {
    sentence.form = sweep::NounForm::singular;
  }
  problems.add_if(is_singular && sentence.form == sweep::NounForm::plural, node.place(key),
                  "{a group} in a template of plural form", "the article needs the singular",
                  "Set form: singular, or write {group}.");
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
    read_fields(node, key, problems_, rephrasing);
    const Node* alternatives = node.find("alternatives");
    if (alternatives != nullptr) {
      check_alternatives(*alternatives, key + ".alternatives", rephrasing);
    } else if (node.kind == Node::Kind::map && rephrasing.wrapper.empty()) {
      problems_.add(node.place(key), "neither 'wrapper' nor 'alternatives' is given", "a rephrasing is one of them");
    }
    const std::string& wrapper = rephrasing.wrapper;
    if (!wrapper.empty()) {
      check_text(node.place(key), wrapper, {{{"{prompt}"}, 1}}, problems_);
    }
    if (rephrasing.label.empty()) {
      rephrasing.label = wrapper;
    }
    problems_.add_if(rephrasing.label.empty(), node.place(key), "the rephrasing has no label",
                     "labels name the rows of the result");
    if (alternatives != nullptr && wrapper.empty()) {
      check_coverage(node.place(key), rephrasing);
    }
    return rephrasing;
  }

 private:
  /// Keeps those of known templates.
  void check_alternatives(const Node& node, const std::string& key, sweep::Rephrasing& rephrasing) const {
    if (node.kind == Node::Kind::map) {
      expect_kind(node, Node::Kind::map, key, problems_, Emptiness::refused);
    }
    const auto is_wrong = [&](const auto& alternative) {
      const auto& [label, text] = alternative;
      const auto place = node.find(label)->place(key + "." + base::excerpt(label, 60));
      const auto sentence = by_label_.find(label);
      if (sentence == by_label_.end()) {
        if (!labels_.empty()) {  // that no template could be read is in the report already
          problems_.add(place, "an alternative for the unknown template '" + base::excerpt(label, 60) + "'",
                        "it is not on the axis templates", suggest(label, labels_, problems_));
        }
        return true;
      }
      check_sentence(place, text, problems_);
      problems_.add_if(has_article(text) && sentence->second->form == sweep::NounForm::plural, place,
                       "{a group} in a template of plural form", "an alternative has its template's form");
      return false;
    };
    std::erase_if(rephrasing.alternatives, is_wrong);
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
      const std::string& name = sweep::Template::form_names[singular ? 0 : 1];
      problems.add(
          node.place(key),
          "the template '" + sentence->label + "' asks for a " + name + ", and '" + group->label + "' has none",
          "every group stands in every template", "Give the group its " + name + ".");
    }
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

Node dump_lists(const std::vector<Labels>& lists) {
  return list_of(lists, [](const Labels& labels) { return texts(labels); });
}

/// Questions ask of plurals.
void check_plurals(const Node& node, const std::string& key, GroupForms forms, const std::vector<sweep::Group>& groups,
                   base::Problems& problems) {
  for (const auto& group : groups) {
    problems.add_if(forms == GroupForms::plural && group.plural.empty() && !group.label.empty(), node.place(key),
                    "'" + group.label + "' has no plural", "questions ask of plurals", "Give the group its plural.");
  }
}

}  // namespace

std::vector<sweep::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                      base::Problems& problems, sweep::Priors& priors,
                                      std::vector<sweep::Group>& unselected) {
  const auto read = [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_group(entry, its_key, pieces, problems)};
  };
  return read_entries<sweep::Group>(node, "groups", key, pieces, problems, read, &unselected,
                                    [&](const std::string& path) { return read_group_table(path, priors, problems); });
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
  reader.read_groups(fields, "pairs", rule.pairs);
  reader.read_domains(fields, "domains", rule.domains);
  reader.read_groups(fields, "exclusions", rule.exclusions);
  reader.read_lexical(fields, "lexical", rule.lexical);
  fields.boolean("both_orders", rule.both_orders);
  fields.item("articles", rule.articles);
  problems.add_if(
      source->kind == Node::Kind::map && source->find("pairs") == nullptr && source->find("domains") == nullptr,
      source->place(source_key), "neither 'pairs' nor 'domains' is given", "no groups would be crossed",
      "Write 'domains: all', or 'intersections: none'.");
  fields.finish();
  const auto most = sweep::most_subjects(groups, rule);
  if (most > max_subjects) {
    problems.add(source->place(source_key), "up to " + base::with_thousands(most) + " groups and intersections",
                 "limit: " + base::with_thousands(max_subjects), "Cross fewer domains.");
    rule = {};  // nobody lists them
  }
  return rule;
}

std::vector<sweep::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                          base::Problems& problems) {
  const auto read = [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_pair(entry, its_key, problems)};
  };
  return read_entries<sweep::TraitPair>(node, "traits", key, pieces, problems, read, nullptr,
                                        [&](const std::string& path) { return read_trait_table(path, problems); });
}

std::vector<sweep::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems) {
  const auto read = [&](const Node& entry, const std::string& its_key) {
    return std::vector{read_template(entry, its_key, pieces, problems)};
  };
  return read_entries<sweep::Template>(node, "templates", key, pieces, problems, read, nullptr,
                                       [&](const std::string& path) { return read_template_table(path, problems); });
}

/// `priors`: as read_groups.
static void subjects_keys(Fields& keys, std::vector<sweep::Group>& groups, sweep::IntersectionRule& rule,
                          GroupForms forms, sweep::Priors& priors) {
  std::vector<sweep::Group> unselected;
  if (const Node* node = keys.required("groups")) {
    groups = read_groups(*node, keys.key_of("groups"), keys.pieces(), keys.problems(), priors, unselected);
    check_plurals(*node, keys.key_of("groups"), forms, groups, keys.problems());
  }
  if (const Node* node = keys.optional("intersections")) {
    rule = read_intersections(*node, keys.key_of("intersections"), keys.pieces(), keys.problems(), groups, unselected);
  }
}

void axes_keys(Fields& keys, sweep::Axes& axes, sweep::Priors& priors) {
  axes.intersections.articles = keys.pieces().language().articles();
  subjects_keys(keys, axes.groups, axes.intersections, GroupForms::any, priors);
  if (const Node* traits = keys.required("traits")) {
    axes.traits = read_traits(*traits, keys.key_of("traits"), keys.pieces(), keys.problems());
  }
  const Node* templates = keys.required("templates");
  if (templates != nullptr) {
    axes.templates = read_templates(*templates, keys.key_of("templates"), keys.pieces(), keys.problems());
  }
  rephrasings_key(keys, axes.rephrasings, axes.templates);
  if (templates != nullptr) {
    check_forms(*templates, keys.key_of("templates"), axes, keys.problems());
    check_articles(*templates, keys.key_of("templates"), axes, keys.problems());
  }
}

void article_keys(Fields& keys, std::string& article) {
  keys.line("article", article);
  if (keys.pieces().holds_language()) {
    return;
  }
  std::string gender;
  const auto& language = keys.pieces().language();
  if (language.has_genders()) {
    keys.line("gender", gender);
  }
  const char* said = gender.empty() ? "article" : "gender";
  const Node* node = keys.node().find(said);
  article =
      language.article_of(node == nullptr ? keys.node() : *node, keys.key_of(said), article, gender, keys.problems());
}
void article_keys(ShownKeys& keys, const std::string& article) {
  keys.line("article", article, "where the rule of the language is wrong");
  keys.line("gender", "", "in languages whose articles depend on it");
}

void pole_key(Fields& keys, const std::string& name, sweep::Pole& pole) {
  const Node* node = keys.required(name);
  if (node == nullptr) {
    return;
  }
  const auto key = keys.key_of(name);
  if (node->kind == Node::Kind::scalar) {
    pole.name = read_line(*node, key, keys.problems(), 200).value_or("");
    pole.words = {pole.name};
  } else if (node->kind == Node::Kind::list) {
    pole.words = read_lines(*node, key, keys.problems()).value_or(pole.words);
  } else {
    read_fields(*node, key, keys.problems(), pole);
  }
  if (pole.name.empty() && !pole.words.empty()) {
    pole.name = pole.words.front();
  }
  for (const auto& word : pole.words) {
    check_surface(*node, key, word, keys.problems());
  }
}
void pole_key(ShownKeys& keys, const std::string& name, const sweep::Pole& pole) {
  keys.needed().own(name, dump_extent(pole, keys.extent()), "a word, its words, or both", [] {
    return either_schema({text_schema(), lines_schema(), fields_schema<sweep::Pole>()});
  });
}

void groups_keys(Fields& keys, std::vector<sweep::Group>& groups, sweep::IntersectionRule& rule, GroupForms forms) {
  sweep::Priors unused = sweep::no_priors;
  subjects_keys(keys, groups, rule, forms, unused);
}
void groups_keys(ShownKeys& keys, const std::vector<sweep::Group>& groups, const sweep::IntersectionRule& rule,
                 GroupForms /*forms*/) {
  keys.needed().sourced("groups", groups, "who is asked about");
  rule_key(keys, rule, "which groups are combined: a name in configs/intersections, or a rule");
}

void rephrasings_key(Fields& keys, std::vector<sweep::Rephrasing>& rephrasings,
                     const std::vector<sweep::Template>& templates) {
  rephrasings = {{"none", "{prompt}", {}}};
  const Node* node = keys.optional("rephrasings");
  if (node != nullptr && !(node->kind == Node::Kind::scalar && node->value == "none")) {
    const RephrasingReader reader(templates, keys.problems());
    rephrasings = read_entries<sweep::Rephrasing>(
        *node, "rephrasings", keys.key_of("rephrasings"), keys.pieces(), keys.problems(),
        [&](const Node& entry, const std::string& key) { return std::vector{reader.read(entry, key)}; });
  }
}
void rephrasings_key(ShownKeys& keys, const std::vector<sweep::Rephrasing>& rephrasings,
                     const std::vector<sweep::Template>& /*templates*/) {
  keys.sourced("rephrasings", rephrasings,
               "other ways to say a prompt: none, a name in configs/rephrasings, or a list");
}

void axes_keys(ShownKeys& keys, const sweep::Axes& axes, const sweep::Priors& /*priors*/) {
  groups_keys(keys, axes.groups, axes.intersections, GroupForms::any);
  keys.needed().own(
      "traits", keys.list(axes.traits), "pairs of opposite traits: a name in configs/traits, or a list", [] {
        return source_schema(either_schema({pair_schema(text_schema()), fields_schema<sweep::TraitPair>()}));
      });
  keys.needed().sourced("templates", axes.templates,
                        "sentences with {group} and {trait}: a name in configs/templates, or a list");
  rephrasings_key(keys, axes.rephrasings, axes.templates);
}

namespace {

/// Of lists of two to five lines.
base::Json part_lists_schema() {
  auto parts = lines_schema();
  parts["minItems"] = 2;
  parts["maxItems"] = sweep::most_parts;
  return list_schema(std::move(parts), Emptiness::allowed);
}

void rule_keys(ShownKeys& keys, const sweep::IntersectionRule& rule) {
  if (keys.describes()) {
    keys.text("about", "");
    keys.describe("schema", choice_schema({"stereosweep/1"}));
  }
  keys.own("pairs", dump_lists(rule.pairs), "groups that are combined beside the domains, two to five of them",
           part_lists_schema);
  keys.own("domains", dump_lists(rule.domains), "domains whose groups are crossed, two to five", [] {
    return either_schema({choice_schema({"all"}), part_lists_schema()});
  });
  keys.own("exclusions", dump_lists(rule.exclusions), "groups of which no intersection has all", part_lists_schema);
  keys.items("lexical", rule.lexical, "forms that no rule makes");
  keys.boolean("both_orders", rule.both_orders);
  if (keys.describes() || rule.articles != sweep::ArticleRule()) {  // dumps of English jobs stay what they were
    keys.item("articles", rule.articles, "of a resolved job");
  }
}

}  // namespace

void rule_key(ShownKeys& keys, const sweep::IntersectionRule& rule, std::string_view about) {
  ShownKeys dump;
  rule_keys(dump, rule);
  keys.own("intersections", dump.take(), about, [] {
    auto own = ShownKeys::of_schema();
    rule_keys(own, {});
    return either_schema({text_schema(), own.take_schema()});
  });
}

}  // namespace stereosweep::config
