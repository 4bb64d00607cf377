#include "probes/coreference/CoreferenceSchema.hpp"

#include <utility>

#include "base/Text.hpp"

namespace stereosweep::probes::coreference {
namespace {

template <class Item>
class Axis {
 public:
  Axis(std::string name, std::string long_name, const std::vector<Item>& items) : items_(items) {
    axis_.name = std::move(name);
    axis_.long_name = std::move(long_name);
  }
  template <class Read>
  Axis& labels(Read read) {
    axis_.labels = values(read);
    return *this;
  }
  template <class Read>
  Axis& coordinate(std::string name, std::string long_name, Read read) {
    axis_.coordinates.push_back({std::move(name), std::move(long_name), values(read)});
    return *this;
  }
  results::AxisSchema take() { return std::move(axis_); }

 private:
  template <class Read>
  std::vector<std::string> values(Read read) const {
    std::vector<std::string> result;
    for (const auto& item : items_) {
      result.emplace_back(read(item));
    }
    return result;
  }
  const std::vector<Item>& items_;
  results::AxisSchema axis_;
};

const char* name_of(Privilege privilege) {
  constexpr const char* names[] = {"privileged", "disadvantaged", ""};
  return names[static_cast<std::size_t>(privilege)];
}

results::AxisSchema condition_axis(const std::vector<Condition>& conditions) {
  return Axis<Condition>("condition", "which marker stands where", conditions)
      .labels([](const Condition& item) { return item.label; })
      .coordinate("augmentation", "baseline, aug1 (referent), aug2 (other), aug3a/aug3b (both), aug4 (pronoun)",
                  [](const Condition& item) { return augmentation_names[static_cast<std::size_t>(item.augmentation)]; })
      .coordinate("attribute", "attribute of the markers", [](const Condition& item) { return item.attribute; })
      .coordinate("privilege", "side of the attribute: of the referent's marker in aug3a and aug3b",
                  [](const Condition& item) { return name_of(item.privilege); })
      .coordinate("referent_marker", "marker before the referent",
                  [](const Condition& item) { return item.referent_marker; })
      .coordinate("other_marker", "marker before the other occupation",
                  [](const Condition& item) { return item.other_marker; })
      .coordinate("pronoun_marker", "marker after the pronoun",
                  [](const Condition& item) { return item.pronoun_marker; })
      .take();
}

results::AxisSchema question_axis(const std::vector<Question>& questions) {
  return Axis<Question>("question", "how the referent is asked for", questions)
      .labels([](const Question& item) { return item.label; })
      .coordinate("text", "text with {sentence} and {pronoun}", [](const Question& item) { return item.text; })
      .take();
}

std::string notes_of(const RoledSentence& item) {
  std::vector<std::string> names;
  for (const auto note : item.sentence.notes) {
    names.emplace_back(sentence_note_names[static_cast<std::size_t>(note)]);
  }
  return base::join(names, "+");
}

results::AxisSchema sentence_axis(const std::vector<RoledSentence>& sentences) {
  using Item = RoledSentence;
  constexpr static const char* cases[] = {"subject", "object", "possessive", "independent", "reflexive"};
  return Axis<Item>("sentence", "sentence with two occupations and a pronoun", sentences)
      .labels([](const Item& item) { return item.sentence.label; })
      .coordinate("text", "without markers", [](const Item& item) { return item.sentence.text; })
      .coordinate(
          "type", "ambiguous (type 1) or unambiguous (type 2)",
          [](const Item& item) { return item.sentence.type == SentenceType::ambiguous ? "ambiguous" : "unambiguous"; })
      .coordinate("stereotype", "whether the bracketed occupation is stereotyped with the pronoun's gender",
                  [](const Item& item) { return item.sentence.stereotype == Stereotype::pro ? "pro" : "anti"; })
      .coordinate("split", "part of the corpus", [](const Item& item) { return item.sentence.split; })
      .coordinate("gender", "of the pronoun",
                  [](const Item& item) { return item.sentence.gender == Gender::female ? "female" : "male"; })
      .coordinate("pronoun", "that is asked about",
                  [](const Item& item) { return item.sentence.part(item.sentence.pronoun); })
      .coordinate("case", "of the pronoun",
                  [](const Item& item) { return cases[static_cast<std::size_t>(item.sentence.pronoun_case)]; })
      .coordinate("referent", "occupation that is called the referent",
                  [](const Item& item) { return item.occupation(0); })
      .coordinate("other", "the other occupation", [](const Item& item) { return item.occupation(1); })
      .coordinate("referent_order", "whether the referent is mentioned first or second",
                  [](const Item& item) { return item.referent == 0 ? "first" : "second"; })
      .coordinate("bracketed", "whether the brackets of the corpus name the referent or the other occupation",
                  [](const Item& item) { return item.referent == item.sentence.bracketed ? "referent" : "other"; })
      .coordinate("pair", "label of the first sentence with the same text but for pronouns",
                  [](const Item& item) { return item.sentence.pair; })
      .coordinate("notes", "what is unusual about it, joined by +; README of the room probe", notes_of)
      .take();
}

}  // namespace

const std::vector<std::string>& coreference_status_names() {
  static const std::vector<std::string> names = {"ok",       "excluded",   "too_many_subwords",
                                                 "too_long", "not_finite", "engine_error"};
  return names;
}

results::RawSchema coreference_schema(const std::vector<Condition>& conditions, const std::vector<Question>& questions,
                                      const std::vector<RoledSentence>& sentences, std::size_t max_subwords) {
  results::RawSchema schema;
  schema.outer_axes = {condition_axis(conditions), question_axis(questions), sentence_axis(sentences)};
  results::AxisSchema subword{"subword", "subword of the occupation, from left to right", {}, {}};
  for (std::size_t i = 0; i < max_subwords; ++i) {
    subword.labels.push_back(std::to_string(i));
  }
  schema.inner_axes = {{"occupation", "role of the occupation in the sentence", {"referent", "other"}, {}},
                       std::move(subword)};
  schema.cubes = {
      {"logprob",
       results::ElementType::float64,
       {"occupation", "subword"},
       "nat",
       "log-probability of the subword after the prompt",
       "the occupation follows the prompt after one blank; earlier subwords stand before it",
       {}},
      {"num_subwords",
       results::ElementType::int32,
       {"occupation"},
       "1",
       "number of subwords of the occupation there",
       "",
       {}},
      {"status",
       results::ElementType::uint8,
       {"occupation"},
       "",
       "why the numbers are what they are",
       "all but ok: no numbers",
       coreference_status_names()},
      {"prompt", results::ElementType::text, {}, "", "text that the occupations follow", "", {}},
      {"problem", results::ElementType::text, {}, "", "why there are no numbers", "empty: none", {}},
  };
  return schema;
}

}  // namespace stereosweep::probes::coreference
