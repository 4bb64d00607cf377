// The rule that says which groups are combined.
#include <map>
#include <unordered_set>

#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"

namespace stereosweep::config {
namespace {

constexpr std::size_t max_domains = 200;

using Labels = std::pair<std::string, std::string>;

/// Reads one rule; knows which groups exist, and which of them the job has.
class RuleReader {
 public:
  RuleReader(base::Problems& problems, const std::vector<sweep::Group>& groups,
             const std::vector<sweep::Group>& unselected)
      : problems_(problems) {
    for (const auto& group : groups) {
      add(group, true);
    }
    for (const auto& group : unselected) {
      add(group, false);
    }
  }

  std::vector<Labels> read_pairs(const Node& node, const std::string& key) {
    std::vector<Labels> pairs;
    for (std::size_t i = 0; expect_kind(node, Node::Kind::list, key, problems_) && i < node.children.size(); ++i) {
      const std::string entry_key = key + "[" + std::to_string(i) + "]";
      const auto two = read_two(node.children[i], entry_key, problems_);
      if (two && check(node.children[i], entry_key, *two)) {
        pairs.push_back(*two);
      }
    }
    return pairs;
  }

  std::vector<Labels> read_domains(const Node& node, const std::string& key) {
    std::vector<Labels> pairs;
    if (node.kind == Node::Kind::scalar && node.value == "all") {
      if (domains_.size() > max_domains) {
        problems_.add(node.place(key), std::to_string(domains_.size()) + " domains to cross with each other",
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
    for (std::size_t i = 0; expect_kind(node, Node::Kind::list, key, problems_) && i < node.children.size(); ++i) {
      const std::string entry_key = key + "[" + std::to_string(i) + "]";
      const auto two = read_two(node.children[i], entry_key, problems_);
      if (!two) {
        continue;
      }
      for (const auto& name : {two->first, two->second}) {
        if (!known_domains_.contains(name) && !labels_.empty()) {
          problems_.add(node.children[i].place(entry_key), "no group has the domain '" + name + "'",
                        "domains are declared at the groups", suggest(name, domains_, problems_));
        }
      }
      if (two->first == two->second) {
        problems_.add(node.children[i].place(entry_key), "'" + two->first + "' is crossed with itself",
                      "intersections combine different domains");
      }
      pairs.push_back(*two);
    }
    return pairs;
  }

  std::vector<sweep::LexicalForm> read_lexical(const Node& node, const std::string& key) {
    std::vector<sweep::LexicalForm> forms;
    for (std::size_t i = 0; expect_kind(node, Node::Kind::list, key, problems_) && i < node.children.size(); ++i) {
      const std::string entry_key = key + "[" + std::to_string(i) + "]";
      sweep::LexicalForm form;
      Fields fields(node.children[i], entry_key, problems_, "{first: ..., second: ..., singular: ..., plural: ...}");
      fields.required_line("first", form.first);
      fields.required_line("second", form.second);
      fields.required_line("singular", form.singular);
      fields.required_line("plural", form.plural);
      if (const Node* article = fields.optional("article")) {
        const std::vector<std::string> articles = {"a", "an"};
        if (const auto index = read_choice(*article, entry_key + ".article", problems_, articles)) {
          form.article = articles[*index];
        }
      }
      fields.finish();
      check_surface(node.children[i], entry_key, form.singular, problems_);
      check_surface(node.children[i], entry_key, form.plural, problems_);
      if (!form.first.empty() && !form.second.empty() &&
          check(node.children[i], entry_key, {form.first, form.second})) {
        forms.push_back(std::move(form));
      }
    }
    return forms;
  }

 private:
  void add(const sweep::Group& group, bool selected) {
    labels_.push_back(group.label);
    selected_[group.label] = selected;
    if (!group.domain.empty() && known_domains_.insert(group.domain).second && selected) {
      domains_.push_back(group.domain);  // those of the job come first: nothing else has claimed the name
    }
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

  base::Problems& problems_;
  std::vector<std::string> labels_;
  std::map<std::string, bool> selected_;
  std::vector<std::string> domains_;               ///< of the job's groups, in their order
  std::unordered_set<std::string> known_domains_;  ///< also those of unselected groups
};

}  // namespace

sweep::IntersectionRule read_intersections(const Node& node, const std::string& key, Pieces& pieces,
                                           base::Problems& problems, const std::vector<sweep::Group>& groups,
                                           const std::vector<sweep::Group>& unselected) {
  sweep::IntersectionRule rule;
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
  RuleReader reader(problems, groups, unselected);
  Fields fields(*source, source_key, problems);
  fields.optional("schema");
  if (const Node* about = fields.optional("about")) {
    read_text(*about, fields.key_of("about"), problems);
  }
  if (const Node* pairs = fields.optional("pairs")) {
    rule.pairs = reader.read_pairs(*pairs, fields.key_of("pairs"));
  }
  if (const Node* domains = fields.optional("domains")) {
    rule.domains = reader.read_domains(*domains, fields.key_of("domains"));
  }
  if (const Node* exclusions = fields.optional("exclusions")) {
    rule.exclusions = reader.read_pairs(*exclusions, fields.key_of("exclusions"));
  }
  if (const Node* lexical = fields.optional("lexical")) {
    rule.lexical = reader.read_lexical(*lexical, fields.key_of("lexical"));
  }
  fields.boolean("both_orders", rule.both_orders);
  fields.finish();
  return rule;
}

}  // namespace stereosweep::config
