#include "probes/coreference/CoreferencePrompts.hpp"

#include <algorithm>
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

void add_single(const std::vector<Marker>& markers, Augmentation augmentation, std::vector<Condition>& out) {
  for (const auto& marker : markers) {
    Condition condition{augmentation_names[static_cast<std::size_t>(augmentation)] + (" " + marker.word),
                        augmentation,
                        marker.attribute,
                        "",
                        "",
                        "",
                        marker.privilege};
    (augmentation == Augmentation::aug1   ? condition.referent_marker
     : augmentation == Augmentation::aug2 ? condition.other_marker
                                          : condition.pronoun_marker) = marker.word;
    out.push_back(std::move(condition));
  }
}

void add_pairs(const std::vector<Marker>& markers, Augmentation augmentation, std::vector<Condition>& out) {
  const bool privileged_first = augmentation == Augmentation::aug3a;
  for (const auto& privileged : markers) {
    for (const auto& disadvantaged : markers) {
      if (privileged.privilege != Privilege::privileged || disadvantaged.privilege != Privilege::disadvantaged ||
          privileged.attribute != disadvantaged.attribute || privileged.contrast != disadvantaged.contrast) {
        continue;
      }
      const auto& referent = privileged_first ? privileged : disadvantaged;
      const auto& other = privileged_first ? disadvantaged : privileged;
      out.push_back(
          {augmentation_names[static_cast<std::size_t>(augmentation)] + (" " + referent.word + " / " + other.word),
           augmentation, referent.attribute, referent.word, other.word, "", referent.privilege});
    }
  }
}

}  // namespace

std::vector<Condition> list_conditions(const Coreference& settings) {
  std::vector<Condition> conditions;
  for (const auto augmentation : settings.augmentations) {
    if (augmentation == Augmentation::baseline) {
      conditions.push_back(
          {.label = "baseline", .attribute = "", .referent_marker = "", .other_marker = "", .pronoun_marker = ""});
    } else if (augmentation == Augmentation::aug3a || augmentation == Augmentation::aug3b) {
      add_pairs(settings.markers, augmentation, conditions);
    } else {
      add_single(settings.markers, augmentation, conditions);
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
