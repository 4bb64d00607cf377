#include "probes/coreference/CoreferenceProbe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::probes::coreference {
namespace {

constexpr std::size_t max_pairs_tokenized = 20'000;

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

results::AxisSchema group_axis(const std::vector<Condition>& conditions) {
  using Item = Condition;
  return Axis<Item>("group", "condition: which marker stands where", conditions)
      .labels([](const Item& item) { return item.label; })
      .coordinate("kind", "baseline, group, intersection or contrast (aug3)",
                  [](const Item& item) { return item.kind; })
      .coordinate("domain", "of the groups, joined by x", [](const Item& item) { return item.attribute; })
      .coordinate("first", "label of the first group; of a contrast: of the referent's",
                  [](const Item& item) { return item.groups[0]; })
      .coordinate("second", "label of the second group; of a contrast: of the other's",
                  [](const Item& item) { return item.groups[1]; })
      .coordinate("augmentation", "baseline, aug1 (referent), aug2 (other), aug3a/aug3b (both), aug4 (pronoun)",
                  [](const Item& item) { return augmentation_names[static_cast<std::size_t>(item.augmentation)]; })
      .coordinate("attribute", "attribute of the markers", [](const Item& item) { return item.attribute; })
      .coordinate("privilege", "side of the attribute: of the referent's marker in aug3a and aug3b",
                  [](const Item& item) {
                    return item.privilege == Privilege::unstated
                               ? std::string()
                               : privilege_names[static_cast<std::size_t>(item.privilege)];
                  })
      .coordinate("referent_marker", "marker before the referent",
                  [](const Item& item) { return item.referent_marker; })
      .coordinate("other_marker", "marker before the other occupation",
                  [](const Item& item) { return item.other_marker; })
      .coordinate("pronoun_marker", "marker after the pronoun", [](const Item& item) { return item.pronoun_marker; })
      .take();
}

results::AxisSchema rephrasing_axis(const std::vector<Question>& questions) {
  return Axis<Question>("rephrasing", "question: how the referent is asked for", questions)
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

results::AxisSchema template_axis(const std::vector<RoledSentence>& sentences) {
  using Item = RoledSentence;
  return Axis<Item>("template", "sentence with two occupations and a pronoun", sentences)
      .labels([](const Item& item) { return item.sentence.label; })
      .coordinate("text", "without markers", [](const Item& item) { return item.sentence.text; })
      .coordinate("type", "ambiguous (type 1) or unambiguous (type 2)",
                  [](const Item& item) { return type_names[static_cast<std::size_t>(item.sentence.type)]; })
      .coordinate("stereotype", "whether the bracketed occupation is stereotyped with the pronoun's gender",
                  [](const Item& item) { return stereotype_names[static_cast<std::size_t>(item.sentence.stereotype)]; })
      .coordinate("split", "part of the corpus", [](const Item& item) { return item.sentence.split; })
      .coordinate("gender", "of the pronoun",
                  [](const Item& item) { return item.sentence.gender == Gender::female ? "female" : "male"; })
      .coordinate("pronoun", "that is asked about",
                  [](const Item& item) { return item.sentence.part(item.sentence.pronoun); })
      .coordinate("case", "of the pronoun",
                  [](const Item& item) { return case_names[static_cast<std::size_t>(item.sentence.pronoun_case)]; })
      .coordinate("referent", "occupation that is called the referent",
                  [](const Item& item) { return item.occupation(0); })
      .coordinate("other", "the other occupation", [](const Item& item) { return item.occupation(1); })
      .coordinate("referent_order", "whether the referent is mentioned first or second",
                  [](const Item& item) { return item.referent == 0 ? "first" : "second"; })
      .coordinate("bracketed", "whether the brackets of the corpus name the referent or the other occupation",
                  [](const Item& item) { return item.referent == item.sentence.bracketed ? "referent" : "other"; })
      .coordinate("pair", "label of the first sentence with the same text but for pronouns",
                  [](const Item& item) { return item.sentence.pair; })
      .coordinate("notes", "what is unusual about it, joined by +; README of this folder", notes_of)
      .take();
}

/// Axes [group, rephrasing, template] and [occupation, subword].
results::RawSchema schema_of(const std::vector<Condition>& conditions, const std::vector<Question>& questions,
                             const std::vector<RoledSentence>& sentences, std::size_t max_subwords) {
  results::RawSchema schema;
  schema.outer_axes = {group_axis(conditions), rephrasing_axis(questions), template_axis(sentences)};
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
       {"ok", "excluded", "too_many_subwords", "too_long", "not_finite", "engine_error"}},
      {"prompt", results::ElementType::text, {}, "", "text that the occupations follow", "", {}},
      {"problem", results::ElementType::text, {}, "", "why there are no numbers", "empty: none", {}},
  };
  return schema;
}

std::vector<RoledSentence> with_roles(const Coreference& settings, std::uint64_t seed) {
  std::vector<RoledSentence> sentences;
  for (const auto& sentence : settings.sentences) {
    const auto is_named = [&](SentenceNote note) {
      return std::binary_search(settings.excluded.begin(), settings.excluded.end(), note);
    };
    sentences.push_back({sentence, referent_of(sentence, settings.ambiguous_referent, seed),
                         std::any_of(sentence.notes.begin(), sentence.notes.end(), is_named)});
  }
  return sentences;
}

std::string exclusion_of(const RoledSentence& item) {
  std::string names;
  for (const auto note : item.sentence.notes) {
    names += (names.empty() ? "" : ", ") + std::string(sentence_note_names[static_cast<std::size_t>(note)]);
  }
  return "axes.exclude leaves it out: " + names;
}

/// Tokens that `text + continuation` has beyond those it shares with `text`.
std::size_t count_tokens(const tokenizer::Tokenizer& tokenizer, const std::string& text,
                         const std::string& continuation) {
  const auto before = tokenizer.encode(text, tokenizer::SpecialTokens::add).ids;
  const auto joint = tokenizer.encode(text + continuation, tokenizer::SpecialTokens::add).ids;
  const auto differ = std::mismatch(before.begin(), before.end(), joint.begin(), joint.end()).second;
  return static_cast<std::size_t>(joint.end() - differ);
}

/// One column of a block: `per_context` places for each context.
template <class T>
std::vector<T>& column_of(results::RawBlock& block, CoreferenceColumn column) {
  return std::get<std::vector<T>>(block.columns[static_cast<std::size_t>(column)]);
}

results::RawBlock empty_block(std::uint64_t num_contexts, std::size_t max_subwords) {
  results::RawBlock block;
  block.columns.emplace_back(
      std::vector<double>(num_contexts * 2 * max_subwords, std::numeric_limits<double>::quiet_NaN()));
  block.columns.emplace_back(std::vector<std::int32_t>(num_contexts * 2, 0));
  block.columns.emplace_back(std::vector<std::uint8_t>(num_contexts * 2, 0));
  block.columns.emplace_back(std::vector<std::string>(num_contexts));
  block.columns.emplace_back(std::vector<std::string>(num_contexts));
  return block;
}

}  // namespace

std::string continuation_of(const std::string& occupation) { return " " + occupation; }

CoreferenceProbe::CoreferenceProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer)
    : conditions_(list_conditions(job.settings<Coreference>())),
      questions_(job.settings<Coreference>().questions),
      sentences_(with_roles(job.settings<Coreference>(), job.seed)),
      blocks_(sweep::Product({conditions_.size(), questions_.size(), sentences_.size()}),
              static_cast<std::uint64_t>(std::max<std::int64_t>(job.execution.contexts_per_block, 0))),
      max_subwords_(longest_occupation(tokenizer)),
      schema_(schema_of(conditions_, questions_, sentences_, max_subwords_)) {}

std::size_t CoreferenceProbe::longest_occupation(const tokenizer::Tokenizer& tokenizer) const {
  std::size_t longest = 1;
  std::unordered_set<std::string> seen;  // of one question: an occupation's tokens depend on the prompt's end alone
  std::size_t num_tokenized = 0;
  for (std::size_t question = 0; question < questions_.size(); ++question) {
    seen.clear();
    for (std::size_t i = 0; i < sentences_.size(); ++i) {
      for (const std::size_t role : {0U, 1U}) {
        const auto occupation = sentences_[i].occupation(role);
        if (seen.insert(occupation).second && num_tokenized++ < max_pairs_tokenized) {
          const auto text = prompt(question * sentences_.size() + i);
          longest = std::max(longest, count_tokens(tokenizer, text, continuation_of(occupation)));
        }
      }
    }
  }
  return longest;
}

std::string CoreferenceProbe::prompt(std::uint64_t context) const {
  const auto place = blocks_.product().coordinates(context);
  const auto& item = sentences_[place[2]];
  return coreference_prompt(questions_[place[1]], item.sentence, conditions_[place[0]], item.referent);
}

Round CoreferenceProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto& item = sentence_of(block.first_context + i);
    if (!item.is_excluded) {
      round.queries.emplace_back(
          query::Continue{.prompt = prompt(block.first_context + i),
                          .continuations = {continuation_of(item.occupation(0)), continuation_of(item.occupation(1))}});
    }
  }
  return round;
}

std::optional<Round> CoreferenceProbe::next(const sweep::Block&, const Transcript&) const { return std::nullopt; }

results::RawBlock CoreferenceProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  auto raw = empty_block(block.num_contexts, max_subwords_);
  auto& logprob = column_of<double>(raw, CoreferenceColumn::logprob);
  auto& counts = column_of<std::int32_t>(raw, CoreferenceColumn::num_subwords);
  auto& statuses = column_of<std::uint8_t>(raw, CoreferenceColumn::status);
  auto& problems = column_of<std::string>(raw, CoreferenceColumn::problem);
  std::size_t next_answer = 0;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto set_status = [&](std::size_t role, CoreferenceStatus status) {
      statuses[2 * i + role] = static_cast<std::uint8_t>(status);
    };
    const auto& item = sentence_of(block.first_context + i);
    column_of<std::string>(raw, CoreferenceColumn::prompt)[i] = prompt(block.first_context + i);
    if (item.is_excluded) {
      problems[i] = exclusion_of(item);
      set_status(0, CoreferenceStatus::excluded);
      set_status(1, CoreferenceStatus::excluded);
      continue;
    }
    STEREOSWEEP_ASSERT(next_answer < answers.size(), "one answer per query");
    const auto& answer = answers[next_answer++];
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      const auto status =
          error->fault == query::QueryFault::too_long ? CoreferenceStatus::too_long : CoreferenceStatus::engine_error;
      problems[i] = error->message;
      set_status(0, status);
      set_status(1, status);
      continue;
    }
    const auto& tokens = std::get<query::ContinueAnswer>(answer).logprob;
    STEREOSWEEP_ASSERT(tokens.size() == 2, "numbers for both occupations");
    for (std::size_t role = 0; role < 2; ++role) {
      counts[2 * i + role] = static_cast<std::int32_t>(tokens[role].size());
      const bool is_finite =
          std::all_of(tokens[role].begin(), tokens[role].end(), [](double value) { return std::isfinite(value); });
      if (tokens[role].size() > max_subwords_) {
        set_status(role, CoreferenceStatus::too_many_subwords);
      } else if (!is_finite) {
        set_status(role, CoreferenceStatus::not_finite);
      } else {
        std::copy(tokens[role].begin(), tokens[role].end(),
                  logprob.begin() + static_cast<std::ptrdiff_t>((2 * i + role) * max_subwords_));
      }
    }
  }
  STEREOSWEEP_ASSERT(next_answer == answers.size(), "one answer per query");
  return raw;
}

void CoreferenceProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("coreference 1").number(max_subwords_);
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto& item = sentence_of(block.first_context + i);
    hash.number(item.is_excluded ? 1 : 0).field(prompt(block.first_context + i));
    hash.field(item.is_excluded ? exclusion_of(item) : "").field(item.occupation(0)).field(item.occupation(1));
  }
}

std::unique_ptr<Probe> make_coreference(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  const auto& settings = job.settings<Coreference>();
  base::Problems problems;
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(settings.sentences.empty(), "axes.sentences", "sentence");
  check(settings.questions.empty(), "axes.questions", "question");
  check(list_conditions(settings).empty(), "axes.augmentations",
        "augmentation that has a marker (aug3a and aug3b need a privileged and a disadvantaged one of an attribute)");
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<CoreferenceProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::coreference
