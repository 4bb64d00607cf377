#include "sweep/Subjects.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "sweep/Product.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::sweep {
namespace {

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

using Groups = std::vector<const Group*>;

/// Place of the group that gives the noun: those behind it have suffixes, which follow the noun, and those before it
/// give their adjectives.
std::size_t place_of_noun(const Groups& groups) {
  auto place = groups.size() - 1;
  while (place > 0 && !groups[place]->suffix.empty()) {
    --place;
  }
  return place;
}

/// The article of the group that gives the noun; else what one of them declares for the word the form begins with,
/// else the rule's.
std::string article_of(const std::string& singular, const Groups& groups, std::size_t noun, const ArticleRule& rule) {
  if (rule.by == ArticleRule::By::noun) {
    return groups[noun]->article;
  }
  for (const Group* group : groups) {
    if (!group->article.empty() && first_word(group->singular) == first_word(singular)) {
      return group->article;
    }
  }
  return article_before(singular, rule);
}

std::string joined(const std::string& left, const std::string& right) {
  return left.empty() || right.empty() ? std::string() : left + " " + right;
}

const std::string& or_else(const std::string& value, const std::string& otherwise) {
  return value.empty() ? otherwise : value;
}

/// Builds the intersections of one job in order.
class Crossing {
 public:
  Crossing(const std::vector<Group>& groups, const IntersectionRule& rule, NeededForms forms, SubjectList& out)
      : rule_(rule), forms_(forms), out_(out) {
    for (const auto& group : groups) {
      by_label_[group.label] = &group;
      seen_.insert(words_of(group.singular, group.plural));
    }
    for (auto labels : rule.exclusions) {
      std::ranges::sort(labels);
      excluded_.insert(key_of(labels));
    }
    for (const auto& form : rule.lexical) {
      auto& group = lexical_[key_of({form.first, form.second})];
      group.singular = form.singular;
      group.plural = form.plural;
      group.article = form.article;
    }
  }

  /// In this order and, where the rule asks for them, in all others. Unknown labels: nothing.
  void add(const IntersectionRule::Labels& labels) {
    Groups groups;
    for (const auto& label : labels) {
      const auto at = by_label_.find(label);
      if (at == by_label_.end()) {
        return;
      }
      groups.push_back(at->second);
    }
    add_orders(groups);
  }
  /// Every choice of one group of each domain, that of the last one changing fastest.
  void cross(const std::vector<Groups>& domains) {
    const Product product(base::mapped(domains, [](const Groups& groups) -> std::uint64_t { return groups.size(); }));
    for (std::uint64_t choice = 0; choice < product.num_contexts(); ++choice) {
      Groups chosen;
      for (const auto place : product.coordinates(choice)) {
        chosen.push_back(domains[chosen.size()][place]);
      }
      add_orders(chosen);
    }
  }

 private:
  static std::string key_of(const std::vector<std::string>& labels) { return base::join(labels, "\n"); }
  static std::vector<std::string> labels_of(const Groups& groups) {
    return base::mapped(groups, [](const Group* group) { return group->label; });
  }
  static std::string words_of(const std::string& singular, const std::string& plural) {
    return singular + '\n' + plural;
  }

  void add_orders(const Groups& groups) {
    auto places = base::places_below(groups.size());
    do {
      add(base::mapped(places, [&](std::size_t place) { return groups[place]; }));
    } while (rule_.both_orders && std::ranges::next_permutation(places).found);
  }

  bool is_excluded(const Groups& groups) const {
    auto labels = labels_of(groups);
    std::ranges::sort(labels);
    for (std::size_t subset = 3; !excluded_.empty() && subset < std::size_t{1} << labels.size(); ++subset) {
      std::vector<std::string> chosen;
      for (std::size_t place = 0; place < labels.size(); ++place) {
        if ((subset >> place & 1) != 0) {
          chosen.push_back(labels[place]);
        }
      }
      if (excluded_.contains(key_of(chosen))) {
        return true;
      }
    }
    return false;
  }

  void add(const Groups& groups) {
    if (!tried_.insert(key_of(labels_of(groups))).second) {
      return;  // the same groups from a list and from a crossing, or from two crossings
    }
    if (is_excluded(groups)) {
      omit(groups, "excluded");
      return;
    }
    Subject subject = form(groups);
    if (subject.singular.empty() && subject.plural.empty()) {
      omit(groups, why_without_form(groups));
    } else if (forms_.singular && subject.singular.empty()) {
      omit(groups, "no singular form, which a template needs");
    } else if (forms_.plural && subject.plural.empty()) {
      omit(groups, "no plural form, which a template needs");
    } else if (!seen_.insert(words_of(subject.singular, subject.plural)).second) {
      omit(groups, "same words as another subject: '" + or_else(subject.plural, subject.singular) + "'");
    } else {
      out_.subjects.push_back(std::move(subject));
    }
  }

  /// Two neighbours with a lexical form, one of which would give the noun, become one.
  void join_lexical(Groups& groups) const {
    const auto noun = place_of_noun(groups);
    for (auto place = noun - std::min<std::size_t>(noun, 1); place <= noun && place + 1 < groups.size(); ++place) {
      const auto found = lexical_.find(key_of({groups[place]->label, groups[place + 1]->label}));
      if (found != lexical_.end()) {
        groups[place] = &found->second;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        return;
      }
    }
  }

  Subject form(Groups groups) const {
    Subject subject;
    subject.kind = SubjectKind::intersection;
    subject.components = labels_of(groups);
    subject.domains = base::mapped(groups, [](const Group* group) { return group->domain; });
    subject.label = base::join(subject.components, " x ");
    join_lexical(groups);
    const auto noun = place_of_noun(groups);
    subject.singular = or_else(groups[noun]->noun_singular, groups[noun]->singular);
    subject.plural = or_else(groups[noun]->noun_plural, groups[noun]->plural);
    for (auto place = noun; place-- > 0;) {
      subject.singular = joined(groups[place]->adjective, subject.singular);
      subject.plural = joined(groups[place]->adjective, subject.plural);
    }
    for (auto place = noun + 1; place < groups.size(); ++place) {
      subject.singular = joined(subject.singular, groups[place]->suffix);
      subject.plural = joined(subject.plural, or_else(groups[place]->suffix_plural, groups[place]->suffix));
    }
    subject.article = article_of(subject.singular, groups, noun, rule_.articles);
    return subject;
  }

  static std::string why_without_form(const Groups& groups) {
    const auto noun = std::max<std::size_t>(place_of_noun(groups), 1);
    const auto lacks_adjective = [](const Group* group) { return group->adjective.empty(); };
    const auto found =
        std::find_if(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(noun), lacks_adjective);
    return "no form: '" + (*found)->label + "' has no adjective and '" + groups[noun]->label + "' no suffix";
  }

  void omit(const Groups& groups, std::string reason) {
    auto labels = labels_of(groups);
    auto first = std::move(labels.front());
    labels.erase(labels.begin());
    out_.omissions.push_back({std::move(first), base::join(labels, " + "), std::move(reason)});
  }

  const IntersectionRule& rule_;
  const NeededForms forms_;
  SubjectList& out_;
  std::unordered_map<std::string, const Group*> by_label_;
  std::unordered_set<std::string> excluded_;
  std::unordered_map<std::string, Group> lexical_;
  std::unordered_set<std::string> tried_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

NeededForms forms_of(const std::vector<Template>& templates) {
  NeededForms forms;
  for (const auto& sentence : templates) {
    (sentence.form == NounForm::singular ? forms.singular : forms.plural) = true;
  }
  return forms;
}

SubjectList list_subjects(const std::vector<Group>& groups, const IntersectionRule& rule, NeededForms forms,
                          const Priors& priors) {
  SubjectList list;
  if (priors.word) {
    const auto article = or_else(priors.word_article, article_before(priors.word_singular, rule.articles));
    list.subjects.push_back(
        {SubjectKind::prior_word, prior_word_label, {}, {}, priors.word_singular, priors.word_plural, article});
  }
  if (priors.mask) {
    const auto article = or_else(priors.word_article, article_before("", rule.articles));
    list.subjects.push_back({SubjectKind::prior_mask, prior_mask_label, {}, {}, "", "", article});
  }
  list.num_priors = list.subjects.size();
  for (const auto& group : groups) {
    const auto article = or_else(group.article, article_before(group.singular, rule.articles));
    list.subjects.push_back(
        {SubjectKind::group, group.label, {group.label}, {group.domain}, group.singular, group.plural, article});
  }
  Crossing crossing(groups, rule, forms, list);
  for (const auto& labels : rule.pairs) {
    crossing.add(labels);
  }
  std::unordered_map<std::string, Groups> by_domain;
  for (const auto& group : groups) {
    by_domain[group.domain].push_back(&group);
  }
  for (const auto& domains : rule.domains) {
    crossing.cross(base::mapped(domains, [&](const std::string& domain) { return by_domain[domain]; }));
  }
  return list;
}

std::uint64_t most_subjects(const std::vector<Group>& groups, const IntersectionRule& rule) {
  std::unordered_map<std::string, double> sizes;
  for (const auto& group : groups) {
    ++sizes[group.domain];
  }
  const auto orders_of = [&](std::size_t count) {
    return rule.both_orders ? std::tgamma(static_cast<double>(count) + 1) : 1;
  };
  auto most = static_cast<double>(groups.size());
  for (const auto& labels : rule.pairs) {
    most += orders_of(labels.size());
  }
  for (const auto& domains : rule.domains) {
    auto crossed = orders_of(domains.size());
    for (const auto& domain : domains) {
      crossed *= sizes[domain];
    }
    most += crossed;
  }
  return static_cast<std::uint64_t>(std::min(most, 1e18));
}

std::vector<std::string> groups_with_equal_words(const std::vector<Group>& groups) {
  std::unordered_map<std::string, const Group*> first_with;
  std::vector<std::string> sentences;
  for (const auto& group : groups) {
    const auto [known, is_new] = first_with.try_emplace(group.singular + '\n' + group.plural, &group);
    if (!is_new) {
      sentences.push_back("the group '" + group.label + "' has the same words as '" + known->second->label + "' (" +
                          or_else(group.plural, group.singular) + "): its scores repeat");
    }
  }
  return sentences;
}

}  // namespace stereosweep::sweep
