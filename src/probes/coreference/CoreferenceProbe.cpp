#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/coreference/Coreference.hpp"
#include "results/Export.hpp"
#include "stats/Summary.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::coreference {
namespace {

using results::ElementType;

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
  if (const auto word = base::lower_ascii(article); word == "a" || word == "an") {
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
  for (const auto& subject : subjects) {
    auto& condition = out.emplace_back(condition_of(augmentation, subject, subject.word));
    condition.kind = subject.groups.size() == 1 ? "group" : "intersection";
    condition.groups = subject.groups;
    (augmentation == Augmentation::aug1   ? condition.referent_marker
     : augmentation == Augmentation::aug2 ? condition.other_marker
                                          : condition.pronoun_marker) = subject.word;
  }
}

void add_pairs(const std::vector<Subject>& subjects, Augmentation augmentation, std::vector<Condition>& out) {
  for (const auto& privileged : subjects) {
    for (const auto& disadvantaged : subjects) {
      if (privileged.privilege != Privilege::privileged || disadvantaged.privilege != Privilege::disadvantaged ||
          privileged.attribute != disadvantaged.attribute || privileged.contrast != disadvantaged.contrast ||
          privileged.groups.size() != 1 || disadvantaged.groups.size() != 1) {
        continue;
      }
      const auto& referent = augmentation == Augmentation::aug3a ? privileged : disadvantaged;
      const auto& other = augmentation == Augmentation::aug3a ? disadvantaged : privileged;
      auto& condition = out.emplace_back(condition_of(augmentation, referent, referent.word + " / " + other.word));
      condition.kind = "contrast";
      condition.groups = {referent.groups.front(), other.groups.front()};
      condition.referent_marker = referent.word;
      condition.other_marker = other.word;
    }
  }
}

constexpr std::size_t max_pairs_tokenized = 20'000;

results::AxisSchema group_axis(const std::vector<Condition>& conditions) {
  const auto part = [](std::size_t place) {
    return [place](const Condition& item) { return place < item.groups.size() ? item.groups[place] : std::string(); };
  };
  auto axis = axis_of(
      "group", "condition: which marker stands where", conditions, &Condition::label,
      {{"kind", "baseline, group, intersection or contrast (aug3)", &Condition::kind},
       {"domain", "of the groups, joined by x", &Condition::attribute},
       {"first", "label of the first group; of a contrast: of the referent's", part(0)},
       {"second", "label of the second group; of a contrast: of the other's", part(1)},
       {"augmentation", "baseline, aug1 (referent), aug2 (other), aug3a/aug3b (both), aug4 (pronoun)",
        [](const auto& item) { return augmentation_names[static_cast<std::size_t>(item.augmentation)]; }},
       {"attribute", "attribute of the markers", &Condition::attribute},
       {"privilege", "side of the attribute: of the referent's marker in aug3a and aug3b",
        [](const auto& item) {
          return item.privilege == Privilege::unstated ? std::string()
                                                       : privilege_names[static_cast<std::size_t>(item.privilege)];
        }},
       {"referent_marker", "marker before the referent", &Condition::referent_marker},
       {"other_marker", "marker before the other occupation", &Condition::other_marker},
       {"pronoun_marker", "marker after the pronoun", &Condition::pronoun_marker}});
  add_further_parts(axis, base::mapped(conditions, &Condition::groups));
  return axis;
}

std::string notes_of(const RoledSentence& item, std::string_view separator) {
  const auto name_of = [](auto note) { return std::string(sentence_note_names[static_cast<std::size_t>(note)]); };
  return base::join(base::mapped(item.notes, name_of), separator);
}

results::AxisSchema template_axis(const std::vector<RoledSentence>& sentences) {
  using Item = RoledSentence;
  return axis_of(
      "template", "sentence with two occupations and a pronoun", sentences, &Item::label,
      {{"text", "without markers", &Item::text},
       {"type", "ambiguous (type 1) or unambiguous (type 2)",
        [](const Item& item) { return type_names[static_cast<std::size_t>(item.type)]; }},
       {"stereotype", "whether the bracketed occupation is stereotyped with the pronoun's gender",
        [](const Item& item) { return stereotype_names[static_cast<std::size_t>(item.stereotype)]; }},
       {"split", "part of the corpus", &Item::split},
       {"gender", "of the pronoun", [](const Item& item) { return item.gender == Gender::female ? "female" : "male"; }},
       {"pronoun", "that is asked about", [](const Item& item) { return std::string(item.part(item.pronoun)); }},
       {"case", "of the pronoun",
        [](const Item& item) { return case_names[static_cast<std::size_t>(item.pronoun_case)]; }},
       {"referent", "occupation that is called the referent", [](const Item& item) { return item.occupation(0); }},
       {"other", "the other occupation", [](const Item& item) { return item.occupation(1); }},
       {"referent_order", "whether the referent is mentioned first or second",
        [](const Item& item) { return item.referent == 0 ? "first" : "second"; }},
       {"bracketed", "whether the brackets of the corpus name the referent or the other occupation",
        [](const Item& item) { return item.referent == item.bracketed ? "referent" : "other"; }},
       {"pair", "label of the first sentence with the same text but for pronouns", &Item::pair},
       {"notes", "what is unusual about it, joined by +; README of this folder",
        [](const Item& item) { return notes_of(item, "+"); }}});
}

std::vector<RoledSentence> with_roles(const Coreference& settings, std::uint64_t seed) {
  return base::mapped(settings.sentences, [&](const auto& sentence) {
    return RoledSentence{sentence, referent_of(sentence, settings.ambiguous_referent, seed),
                         settings.excludes(sentence)};
  });
}

std::string exclusion_of(const RoledSentence& item) {
  return item.is_excluded ? "axes.exclude leaves it out: " + notes_of(item, ", ") : "";
}

/// Tokens that `text + continuation` has beyond those it shares with `text`.
std::size_t count_tokens(const tokenizer::Tokenizer& tokenizer, const std::string& text,
                         const std::string& continuation) {
  const auto before = tokenizer.encode(text, tokenizer::SpecialTokens::add).ids;
  const auto joint = tokenizer.encode(text + continuation, tokenizer::SpecialTokens::add).ids;
  const auto differ = std::mismatch(before.begin(), before.end(), joint.begin(), joint.end()).second;
  return static_cast<std::size_t>(joint.end() - differ);
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
    if (subject.components.size() > 1) {
      const bool is_one = std::ranges::all_of(
          subject.components, [&](const auto& label) { return markers.at(label).privilege == marker.privilege; });
      marker = {subject.singular, base::join(subject.domains, " x "), is_one ? marker.privilege : Privilege::unstated,
                ""};
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
  return base::random_below(2, seed, base::stream_of(base::sha256(sentence.pair)), 0);
}

std::string augmented_text(const CoreferenceSentence& sentence, const Condition& condition, std::size_t referent) {
  std::vector<Edit> edits;
  add_marker(sentence, sentence.mentions[referent], condition.referent_marker, edits);
  add_marker(sentence, sentence.mentions[1 - referent], condition.other_marker, edits);
  if (!condition.pronoun_marker.empty()) {
    const auto end = sentence.pronoun.end;
    edits.push_back({{end, end}, apposition(sentence, condition.pronoun_marker)});
  }
  std::ranges::sort(edits, std::ranges::greater(), [](const Edit& edit) { return edit.span.begin; });
  std::string text = sentence.text;
  for (const auto& edit : edits) {
    text.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
  }
  return sweep::capitalise(text);
}

std::string coreference_prompt(const Question& question, const CoreferenceSentence& sentence,
                               const Condition& condition, std::size_t referent) {
  auto text = base::replace_all(question.text, "{pronoun}", base::lower_ascii(sentence.part(sentence.pronoun)));
  return sweep::capitalise(base::replace_all(text, "{sentence}", augmented_text(sentence, condition, referent)));
}

results::RawSchema coreference_schema(const sweep::Job& job, std::size_t max_subwords) {
  const auto& settings = job.settings<Coreference>();
  results::RawSchema schema;
  schema.outer_axes = {group_axis(list_conditions(settings)),
                       axis_of("rephrasing", "question: how the referent is asked for", settings.questions,
                               &Question::label, {{"text", "text with {sentence} and {pronoun}", &Question::text}}),
                       template_axis(with_roles(settings, job.seed))};
  schema.inner_axes = {{"occupation", "role of the occupation in the sentence", {"referent", "other"}, {}},
                       numbered_axis("subword", "subword of the occupation, from left to right", max_subwords)};
  schema.cubes = {
      cube("logprob", ElementType::float64, {"occupation", "subword"}, "nat",
           "log-probability of the subword after the prompt",
           "the occupation follows the prompt after one blank; earlier subwords stand before it"),
      cube("num_subwords", ElementType::int32, {"occupation"}, "1", "number of subwords of the occupation there"),
      cube("status", ElementType::uint8, {"occupation"}, "", "why the numbers are what they are",
           "all but ok: no numbers", {"ok", "excluded", "too_many_subwords", "too_long", "not_finite", "engine_error"}),
      cube("prompt", ElementType::text, {}, "", "text that the occupations follow"),
      cube("problem", ElementType::text, {}, "", "why there are no numbers", "empty: none"),
  };
  return schema;
}

CoreferenceProbe::CoreferenceProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer)
    : settings_(settings_of_block(job.settings<Coreference>())),
      conditions_(list_conditions(job.settings<Coreference>())),
      questions_(job.settings<Coreference>().questions),
      sentences_(with_roles(job.settings<Coreference>(), job.seed)),
      max_subwords_(longest_occupation(tokenizer)),
      schema_(coreference_schema(job, max_subwords_)),
      blocks_(blocks_to_ask(job, schema_)) {}

std::size_t CoreferenceProbe::longest_occupation(const tokenizer::Tokenizer& tokenizer) const {
  std::size_t longest = 1;
  std::size_t num_tokenized = 0;
  for (const auto& question : questions_) {
    std::unordered_set<std::string> seen;  // an occupation's tokens depend on the prompt's end alone
    for (const auto& sentence : sentences_) {
      for (const std::size_t role : {0U, 1U}) {
        const auto occupation = sentence.occupation(role);
        if (seen.insert(occupation).second && num_tokenized++ < max_pairs_tokenized) {
          const auto text = coreference_prompt(question, sentence, conditions_.front(), sentence.referent);
          longest = std::max(longest, count_tokens(tokenizer, text, " " + occupation));
        }
      }
    }
  }
  return longest;
}

std::string CoreferenceProbe::prompt(std::uint64_t context) const {
  const auto place = blocks_.product().coordinates(context);
  const auto& item = sentences_[place[2]];
  return coreference_prompt(questions_[place[1]], item, conditions_[place[0]], item.referent);
}

Round CoreferenceProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto& item = sentence_of(blocks_.context(block, i));
    if (!item.is_excluded) {
      round.queries.emplace_back(
          query::Continue{.prompt = prompt(blocks_.context(block, i)),
                          .continuations = {" " + item.occupation(0), " " + item.occupation(1)}});
    }
  }
  return round;
}

results::RawBlock CoreferenceProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  auto raw = results::unscored_block(schema_, block.num_contexts);
  auto& logprob = column_named<double>(raw, schema_, "logprob");
  auto& counts = column_named<std::int32_t>(raw, schema_, "num_subwords");
  auto& statuses = column_named<std::uint8_t>(raw, schema_, "status");
  auto& prompts = column_named<std::string>(raw, schema_, "prompt");
  auto& problems = column_named<std::string>(raw, schema_, "problem");
  std::ranges::fill(counts, 0);
  std::size_t next_answer = 0;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto& item = sentence_of(blocks_.context(block, i));
    prompts[i] = prompt(blocks_.context(block, i));
    if (item.is_excluded) {
      problems[i] = exclusion_of(item);
      statuses[2 * i] = statuses[2 * i + 1] = static_cast<std::uint8_t>(CoreferenceStatus::excluded);
      continue;
    }
    STEREOSWEEP_ASSERT(next_answer < answers.size(), "one answer per query");
    const auto& answer = answers[next_answer++];
    if (has_failed<CoreferenceStatus>(answer, statuses[2 * i], problems[i])) {
      statuses[2 * i + 1] = statuses[2 * i];
      continue;
    }
    const auto& tokens = std::get<query::ContinueAnswer>(answer).logprob;
    STEREOSWEEP_ASSERT(tokens.size() == 2, "numbers for both occupations");
    for (std::size_t role = 0; role < 2; ++role) {
      counts[2 * i + role] = static_cast<std::int32_t>(tokens[role].size());
      auto& status = statuses[2 * i + role];
      if (tokens[role].size() > max_subwords_) {
        status = static_cast<std::uint8_t>(CoreferenceStatus::too_many_subwords);
      } else if (!stats::all_finite(tokens[role])) {
        status = static_cast<std::uint8_t>(CoreferenceStatus::not_finite);
      } else {
        std::ranges::copy(tokens[role], logprob.begin() + static_cast<std::ptrdiff_t>((2 * i + role) * max_subwords_));
      }
    }
  }
  STEREOSWEEP_ASSERT(next_answer == answers.size(), "one answer per query");
  return raw;
}

void CoreferenceProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("coreference 2").field(settings_).number(max_subwords_);
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto& item = sentence_of(blocks_.context(block, i));
    hash.number(item.is_excluded ? 1 : 0).field(prompt(blocks_.context(block, i)));
    hash.field(exclusion_of(item)).field(item.occupation(0)).field(item.occupation(1));
  }
}

std::unique_ptr<CoreferenceProbe> make_coreference(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  const auto& settings = job.settings<Coreference>();
  base::Problems problems;
  const auto num_asked =
      std::ranges::count_if(settings.sentences, [&](const auto& sentence) { return !settings.excludes(sentence); });
  require_axis(static_cast<std::uint64_t>(num_asked), "axes.sentences", "sentence that axes.exclude does not leave out",
               problems);
  require_axis(
      list_conditions(settings).size(), "axes.augmentations",
      "augmentation that has a marker (aug3a and aug3b need a privileged and a disadvantaged one of an attribute)",
      problems);
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<CoreferenceProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::coreference
