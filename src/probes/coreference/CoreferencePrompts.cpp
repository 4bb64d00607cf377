#include "probes/coreference/CoreferencePrompts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/Random.hpp"
#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::coreference {
namespace {

std::string lower_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// An insertion or replacement; edits of one text do not overlap.
struct Edit {
  base::Span span;
  std::string text;
};

void add_marker(const CoreferenceSentence& sentence, const Mention& mention, const std::string& marker,
                std::vector<Edit>& edits) {
  if (marker.empty()) {
    return;
  }
  const auto article = sentence.part(mention.article);
  if (const auto word = lower_ascii(article); word == "a" || word == "an") {
    const auto fitting = sweep::indefinite_article(marker);
    edits.push_back({mention.article, article.front() == 'A' ? sweep::capitalise(fitting) : fitting});
  }
  edits.push_back({{mention.noun.begin, mention.noun.begin}, marker + " "});
}

std::string apposition(const CoreferenceSentence& sentence, const std::string& marker) {
  std::string text = ", the " + marker + (sentence.gender == Gender::female ? " woman" : " man");
  const bool possessive =
      sentence.pronoun_case == PronounCase::possessive || sentence.pronoun_case == PronounCase::independent;
  text += possessive ? "'s" : "";
  const auto after = sentence.pronoun.end;
  const bool is_closed =
      after >= sentence.text.size() || std::string_view(",.;:!?").find(sentence.text[after]) != std::string_view::npos;
  return text + (is_closed ? "" : ",");
}

std::string name_of(Augmentation augmentation) { return augmentation_names[static_cast<std::size_t>(augmentation)]; }

void add_single(const std::vector<Subject>& subjects, Augmentation augmentation, std::vector<Condition>& out) {
  for (const auto& [marker, groups] : subjects) {
    Condition condition;
    condition.label = name_of(augmentation) + " " + marker.word;
    condition.kind = groups.size() == 1 ? "group" : "intersection";
    std::copy(groups.begin(), groups.end(), condition.groups.begin());
    condition.augmentation = augmentation;
    condition.attribute = marker.attribute;
    condition.privilege = marker.privilege;
    (augmentation == Augmentation::aug1   ? condition.referent_marker
     : augmentation == Augmentation::aug2 ? condition.other_marker
                                          : condition.pronoun_marker) = marker.word;
    out.push_back(std::move(condition));
  }
}

void add_pairs(const std::vector<Subject>& subjects, Augmentation augmentation, std::vector<Condition>& out) {
  const bool privileged_first = augmentation == Augmentation::aug3a;
  for (const auto& [privileged, privileged_groups] : subjects) {
    for (const auto& [disadvantaged, disadvantaged_groups] : subjects) {
      if (privileged.privilege != Privilege::privileged || disadvantaged.privilege != Privilege::disadvantaged ||
          privileged.attribute != disadvantaged.attribute || privileged.contrast != disadvantaged.contrast ||
          privileged_groups.size() != 1 || disadvantaged_groups.size() != 1) {
        continue;
      }
      const auto& referent = privileged_first ? privileged : disadvantaged;
      const auto& other = privileged_first ? disadvantaged : privileged;
      Condition condition;
      condition.label = name_of(augmentation) + " " + referent.word + " / " + other.word;
      condition.kind = "contrast";
      condition.groups = {privileged_groups.front(), disadvantaged_groups.front()};
      if (!privileged_first) {
        std::swap(condition.groups[0], condition.groups[1]);
      }
      condition.augmentation = augmentation;
      condition.attribute = referent.attribute;
      condition.referent_marker = referent.word;
      condition.other_marker = other.word;
      condition.privilege = referent.privilege;
      out.push_back(std::move(condition));
    }
  }
}

/// Collects the groups that have a marker of their own.
class MarkedGroups {
 public:
  explicit MarkedGroups(SubjectList& out) : out_(out) {}

  void add(const std::string& label, const Marker& marker) {
    if (marker.word.empty()) {
      out_.omissions.push_back({label, "", "no adjective, which would stand as the marker"});
    } else if (!words_.insert(marker.word).second) {
      out_.omissions.push_back({label, "", "same words as another group: '" + marker.word + "'"});
    } else {
      auto group = group_of(marker);
      group.label = label;
      groups_.push_back(std::move(group));
      markers_.push_back(marker);
    }
  }

  void cross(sweep::IntersectionRule rule) {
    rule.lexical.clear();
    auto list = sweep::list_subjects(groups_, rule, {.singular = true, .plural = false});
    out_.omissions.insert(out_.omissions.end(), list.omissions.begin(), list.omissions.end());
    for (std::size_t i = 0; i < list.subjects.size(); ++i) {
      auto& subject = list.subjects[i];
      out_.subjects.push_back({i < markers_.size() ? markers_[i] : crossed(subject), std::move(subject.components)});
    }
  }

 private:
  Marker crossed(const sweep::Subject& subject) const {
    const auto& first = marker_of(subject.components[0]);
    const auto& second = marker_of(subject.components[1]);
    return {subject.singular, base::join(subject.domains, " x "),
            first.privilege == second.privilege ? first.privilege : Privilege::unstated, ""};
  }
  const Marker& marker_of(const std::string& label) const {
    const auto at =
        std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) { return group.label == label; });
    return markers_[static_cast<std::size_t>(at - groups_.begin())];
  }

  SubjectList& out_;
  std::vector<sweep::Group> groups_;
  std::vector<Marker> markers_;  ///< parallel to `groups_`
  std::set<std::string> words_;
};

}  // namespace

sweep::Group group_of(const Marker& marker) {
  sweep::Group group;
  group.label = group.singular = group.adjective = marker.word;
  group.domain = marker.attribute;
  return group;
}

SubjectList list_subjects(const Coreference& settings) {
  SubjectList list;
  MarkedGroups groups(list);
  for (const auto& marker : settings.markers) {
    groups.add(marker.word, marker);
  }
  for (const auto& group : settings.groups) {
    groups.add(group.label, {group.adjective, group.domain, Privilege::unstated, ""});
  }
  groups.cross(settings.intersections);
  return list;
}

std::vector<Condition> list_conditions(const Coreference& settings) {
  std::vector<Condition> conditions;
  const auto subjects = list_subjects(settings).subjects;
  for (const auto augmentation : settings.augmentations) {
    if (augmentation == Augmentation::baseline) {
      conditions.emplace_back().label = "baseline";
    } else if (augmentation == Augmentation::aug3a || augmentation == Augmentation::aug3b) {
      add_pairs(subjects, augmentation, conditions);
    } else {
      add_single(subjects, augmentation, conditions);
    }
  }
  return conditions;
}

std::size_t referent_of(const CoreferenceSentence& sentence, AmbiguousReferent rule, std::uint64_t seed) {
  if (sentence.type == SentenceType::unambiguous || rule == AmbiguousReferent::bracketed) {
    return sentence.bracketed;
  }
  if (rule == AmbiguousReferent::first) {
    return 0;
  }
  const auto digest = base::sha256(sentence.pair);
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    stream = stream << 8U | digest[i];
  }
  return base::random_below(2, seed, stream, 0);
}

std::string augmented_text(const CoreferenceSentence& sentence, const Condition& condition, std::size_t referent) {
  std::vector<Edit> edits;
  add_marker(sentence, sentence.mentions[referent], condition.referent_marker, edits);
  add_marker(sentence, sentence.mentions[1 - referent], condition.other_marker, edits);
  if (!condition.pronoun_marker.empty()) {
    const auto end = sentence.pronoun.end;
    edits.push_back({{end, end}, apposition(sentence, condition.pronoun_marker)});
  }
  std::sort(edits.begin(), edits.end(),
            [](const Edit& left, const Edit& right) { return left.span.begin > right.span.begin; });
  std::string text = sentence.text;
  for (const auto& edit : edits) {
    text.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
  }
  return sweep::capitalise(text);
}

std::string coreference_prompt(const Question& question, const CoreferenceSentence& sentence,
                               const Condition& condition, std::size_t referent) {
  auto text = base::replace_all(question.text, "{pronoun}", lower_ascii(sentence.part(sentence.pronoun)));
  return sweep::capitalise(base::replace_all(text, "{sentence}", augmented_text(sentence, condition, referent)));
}

}  // namespace stereosweep::probes::coreference
