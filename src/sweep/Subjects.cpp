#include "sweep/Subjects.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sweep/Wording.hpp"

namespace stereosweep::sweep {
namespace {

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

/// The article of the component whose noun the form has; else what one of them declares for the word the form begins
/// with, else the rule's.
std::string article_of(const std::string& singular, const Group& first, const Group& second, const ArticleRule& rule) {
  if (rule.by == ArticleRule::By::noun) {
    return second.suffix.empty() ? second.article : first.article;
  }
  for (const Group* group : {&first, &second}) {
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

Subject prior(SubjectKind kind, const char* label, const std::string& singular, const std::string& plural,
              const std::string& article) {
  Subject subject;
  subject.kind = kind;
  subject.label = label;
  subject.singular = singular;
  subject.plural = plural;
  subject.article = article;
  return subject;
}

Subject single(const Group& group, const ArticleRule& rule) {
  Subject subject;
  subject.kind = SubjectKind::group;
  subject.label = group.label;
  subject.components = {group.label};
  subject.domains = {group.domain};
  subject.singular = group.singular;
  subject.plural = group.plural;
  subject.article = or_else(group.article, article_before(group.singular, rule));
  return subject;
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
    for (const auto& [first, second] : rule.exclusions) {
      excluded_.insert(key_of(first, second));
      excluded_.insert(key_of(second, first));
    }
    for (const auto& form : rule.lexical) {
      lexical_.emplace(key_of(form.first, form.second), &form);
    }
  }

  void add_both(const Group& first, const Group& second) {
    add(first, second);
    if (rule_.both_orders) {
      add(second, first);
    }
  }
  const Group* find(const std::string& label) const {
    const auto at = by_label_.find(label);
    return at == by_label_.end() ? nullptr : at->second;
  }

 private:
  static std::string key_of(const std::string& first, const std::string& second) { return first + '\n' + second; }
  static std::string words_of(const std::string& singular, const std::string& plural) {
    return singular + '\n' + plural;
  }

  void add(const Group& first, const Group& second) {
    if (!tried_.insert(key_of(first.label, second.label)).second) {
      return;  // the same pair from a list and from a crossing, or from two crossings
    }
    if (excluded_.contains(key_of(first.label, second.label))) {
      omit(first, second, "excluded");
      return;
    }
    Subject subject = form(first, second);
    if (subject.singular.empty() && subject.plural.empty()) {
      omit(first, second, "no form: '" + first.label + "' has no adjective and '" + second.label + "' no suffix");
    } else if (forms_.singular && subject.singular.empty()) {
      omit(first, second, "no singular form, which a template needs");
    } else if (forms_.plural && subject.plural.empty()) {
      omit(first, second, "no plural form, which a template needs");
    } else if (!seen_.insert(words_of(subject.singular, subject.plural)).second) {
      omit(first, second, "same words as another subject: '" + or_else(subject.plural, subject.singular) + "'");
    } else {
      out_.subjects.push_back(std::move(subject));
    }
  }

  Subject form(const Group& first, const Group& second) const {
    Subject subject;
    subject.kind = SubjectKind::intersection;
    subject.label = first.label + " x " + second.label;
    subject.components = {first.label, second.label};
    subject.domains = {first.domain, second.domain};
    const auto lexical = lexical_.find(key_of(first.label, second.label));
    if (lexical != lexical_.end()) {
      subject.singular = lexical->second->singular;
      subject.plural = lexical->second->plural;
      subject.article = or_else(lexical->second->article, article_before(subject.singular, rule_.articles));
      return subject;
    }
    if (!second.suffix.empty()) {
      subject.singular = joined(or_else(first.noun_singular, first.singular), second.suffix);
      subject.plural = joined(or_else(first.noun_plural, first.plural), or_else(second.suffix_plural, second.suffix));
    } else {
      subject.singular = joined(first.adjective, or_else(second.noun_singular, second.singular));
      subject.plural = joined(first.adjective, or_else(second.noun_plural, second.plural));
    }
    subject.article = article_of(subject.singular, first, second, rule_.articles);
    return subject;
  }

  void omit(const Group& first, const Group& second, std::string reason) {
    out_.omissions.push_back({first.label, second.label, std::move(reason)});
  }

  const IntersectionRule& rule_;
  const NeededForms forms_;
  SubjectList& out_;
  std::unordered_map<std::string, const Group*> by_label_;
  std::unordered_set<std::string> excluded_;
  std::unordered_map<std::string, const LexicalForm*> lexical_;
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
        prior(SubjectKind::prior_word, prior_word_label, priors.word_singular, priors.word_plural, article));
  }
  if (priors.mask) {
    const auto article = or_else(priors.word_article, article_before("", rule.articles));
    list.subjects.push_back(prior(SubjectKind::prior_mask, prior_mask_label, "", "", article));
  }
  list.num_priors = list.subjects.size();
  for (const auto& group : groups) {
    list.subjects.push_back(single(group, rule.articles));
  }
  Crossing crossing(groups, rule, forms, list);
  for (const auto& [first, second] : rule.pairs) {
    const Group* left = crossing.find(first);
    const Group* right = crossing.find(second);
    if (left != nullptr && right != nullptr) {
      crossing.add_both(*left, *right);
    }
  }
  std::unordered_map<std::string, std::vector<const Group*>> by_domain;
  for (const auto& group : groups) {
    by_domain[group.domain].push_back(&group);
  }
  for (const auto& [first, second] : rule.domains) {
    for (const Group* left : by_domain[first]) {
      for (const Group* right : by_domain[second]) {
        crossing.add_both(*left, *right);
      }
    }
  }
  return list;
}

std::uint64_t most_subjects(const std::vector<Group>& groups, const IntersectionRule& rule) {
  std::unordered_map<std::string, std::uint64_t> sizes;
  for (const auto& group : groups) {
    ++sizes[group.domain];
  }
  std::uint64_t pairs = rule.pairs.size();
  for (const auto& [first, second] : rule.domains) {
    pairs += sizes[first] * sizes[second];
  }
  return pairs * (rule.both_orders ? 2 : 1) + groups.size();
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
