#include "probes/coreference/CoreferencePrompts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/Random.hpp"
#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "probes/coreference/CoreferenceSentences.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::coreference {
namespace {

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

/// A condition but for its groups and the places of markers; `words` end its label.
Condition condition_of(Augmentation augmentation, const Marker& marker, const std::string& words) {
  Condition condition;
  condition.label = augmentation_names[static_cast<std::size_t>(augmentation)] + " " + words;
  condition.augmentation = augmentation;
  condition.attribute = marker.attribute;
  condition.privilege = marker.privilege;
  return condition;
}

void add_single(const std::vector<Subject>& subjects, Augmentation augmentation, std::vector<Condition>& out) {
  for (const auto& [marker, groups] : subjects) {
    auto& condition = out.emplace_back(condition_of(augmentation, marker, marker.word));
    condition.kind = groups.size() == 1 ? "group" : "intersection";
    std::ranges::copy(groups, condition.groups.begin());
    (augmentation == Augmentation::aug1   ? condition.referent_marker
     : augmentation == Augmentation::aug2 ? condition.other_marker
                                          : condition.pronoun_marker) = marker.word;
  }
}

void add_pairs(const std::vector<Subject>& subjects, Augmentation augmentation, std::vector<Condition>& out) {
  for (const auto& privileged : subjects) {
    for (const auto& disadvantaged : subjects) {
      if (privileged.marker.privilege != Privilege::privileged ||
          disadvantaged.marker.privilege != Privilege::disadvantaged ||
          privileged.marker.attribute != disadvantaged.marker.attribute ||
          privileged.marker.contrast != disadvantaged.marker.contrast || privileged.groups.size() != 1 ||
          disadvantaged.groups.size() != 1) {
        continue;
      }
      const auto& referent = augmentation == Augmentation::aug3a ? privileged : disadvantaged;
      const auto& other = augmentation == Augmentation::aug3a ? disadvantaged : privileged;
      auto& condition = out.emplace_back(
          condition_of(augmentation, referent.marker, referent.marker.word + " / " + other.marker.word));
      condition.kind = "contrast";
      condition.groups = {referent.groups.front(), other.groups.front()};
      condition.referent_marker = referent.marker.word;
      condition.other_marker = other.marker.word;
    }
  }
}

}  // namespace

sweep::Group group_of(const Marker& marker) {
  sweep::Group group;
  group.label = group.singular = group.adjective = marker.word;
  group.domain = marker.attribute;
  return group;
}

SubjectList list_subjects(const Coreference& settings) {
  SubjectList list;
  std::vector<sweep::Group> groups;
  std::map<std::string, Marker> markers;  // by their groups' labels
  std::set<std::string> words;
  const auto add = [&](const std::string& label, const Marker& marker) {
    if (marker.word.empty()) {
      list.omissions.push_back({label, "", "no adjective, which would stand as the marker"});
    } else if (!words.insert(marker.word).second) {
      list.omissions.push_back({label, "", "same words as another group: '" + marker.word + "'"});
    } else {
      groups.push_back(group_of(marker));
      groups.back().label = label;
      markers[label] = marker;
    }
  };
  for (const auto& marker : settings.markers) {
    add(marker.word, marker);
  }
  for (const auto& group : settings.groups) {
    add(group.label, {group.adjective, group.domain, Privilege::unstated, ""});
  }
  auto rule = settings.intersections;
  rule.lexical.clear();
  const auto crossed = sweep::list_subjects(groups, rule, {.singular = true, .plural = false});
  list.omissions.insert(list.omissions.end(), crossed.omissions.begin(), crossed.omissions.end());
  for (const auto& subject : crossed.subjects) {
    auto marker = markers.at(subject.components.front());
    if (subject.components.size() == 2) {
      const auto second = markers.at(subject.components.back()).privilege;
      marker = {subject.singular, base::join(subject.domains, " x "),
                marker.privilege == second ? second : Privilege::unstated, ""};
    }
    list.subjects.push_back({std::move(marker), subject.components});
  }
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
