#include "probes/coreference/CoreferenceProbe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/Check.hpp"
#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {
namespace {

constexpr std::size_t max_pairs_tokenized = 20'000;

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
      schema_(coreference_schema(conditions_, questions_, sentences_, max_subwords_)) {}

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

}  // namespace stereosweep::probes::coreference
