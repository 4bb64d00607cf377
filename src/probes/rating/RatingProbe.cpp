#include "probes/rating/RatingProbe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Check.hpp"
#include "base/Random.hpp"
#include "base/Text.hpp"
#include "probes/rating/RatingSchema.hpp"
#include "stats/Undefined.hpp"
#include "sweep/ChatPrompt.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;

std::string letter(std::size_t place) { return {static_cast<char>('A' + place)}; }

/// What stands between the prompt and an answer: a blank, or what the chat format writes before an answer.
std::string lead(const sweep::Job& job) {
  if (!job.model.chat) {
    return " ";
  }
  const auto& chat = *job.model.chat;
  return chat.assistant.prefix.starts_with(chat.generation) ? chat.assistant.prefix.substr(chat.generation.size()) : "";
}

/// Replaces every placeholder once, from left to right: what is put in is not searched again.
std::string fill_in(const std::string& frame, const std::vector<std::pair<std::string, std::string>>& texts) {
  std::string out;
  for (std::size_t at = 0; at < frame.size();) {
    const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) {
      return frame.compare(at, text.first.size(), text.first) == 0;
    });
    out += found == texts.end() ? frame.substr(at, 1) : found->second;
    at += found == texts.end() ? 1 : found->first.size();
  }
  return out;
}

std::size_t place_of(std::size_t option, std::size_t num_options, OptionOrder order) {
  return order == OptionOrder::as_listed ? option : num_options - 1 - option;
}

}  // namespace

/// Lays the answers of a block out as columns; NaN, 0 and "" where there are none.
class RatingProbe::Fold {
 public:
  Fold(const RatingProbe& probe, std::uint64_t num_contexts) : probe_(probe) {
    for (const auto& cube : probe.schema_.cubes) {
      const auto count = static_cast<std::size_t>(probe.schema_.values_per_context(cube) * num_contexts);
      switch (cube.type) {
        case results::ElementType::float64:
          block_.columns.emplace_back(std::vector<double>(count, nan));
          break;
        case results::ElementType::float32:
          block_.columns.emplace_back(std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()));
          break;
        case results::ElementType::int32:
          block_.columns.emplace_back(std::vector<std::int32_t>(count, 0));
          break;
        case results::ElementType::uint8:
          block_.columns.emplace_back(std::vector<std::uint8_t>(count, 0));
          break;
        case results::ElementType::text:
          block_.columns.emplace_back(std::vector<std::string>(count));
          break;
      }
    }
    for (const auto order : option_orders) {
      parsers_.emplace_back(probe.listed(order));
    }
  }

  void add_prompt(std::size_t context, OptionOrder order, std::string prompt) {
    column<std::string>(RatingColumn::prompt)[place(context, order)] = std::move(prompt);
  }

  void add_options(std::size_t context, OptionOrder order, const query::Answer& answer) {
    auto& status = column<std::uint8_t>(RatingColumn::option_status)[place(context, order)];
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      note(context, error->message);
      const bool is_long = error->fault == query::QueryFault::too_long;
      status = static_cast<std::uint8_t>(is_long ? OptionStatus::too_long : OptionStatus::engine_error);
      return;
    }
    const auto* scores = std::get_if<query::ContinueAnswer>(&answer);
    const std::size_t count = option_forms.size() * num_options();
    STEREOSWEEP_ASSERT(scores != nullptr && scores->logprob.size() == count, "log-probabilities of every option");
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (const double token : scores->logprob[i]) {
        sum += token;
      }
      const std::size_t cell = place(context, order) * count + i;
      column<double>(RatingColumn::option_logprob)[cell] = sum;
      column<std::int32_t>(RatingColumn::option_num_tokens)[cell] =
          static_cast<std::int32_t>(scores->logprob[i].size());
      if (!std::isfinite(sum)) {
        status = static_cast<std::uint8_t>(OptionStatus::not_finite);
      }
    }
  }

  void add_answer(std::size_t context, OptionOrder order, std::size_t run, const query::Answer& answer) {
    const std::size_t cell = place(context, order) * probe_.num_runs() + run;
    auto& status = column<std::uint8_t>(RatingColumn::answer_status)[cell];
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      note(context, error->message);
      const bool is_long = error->fault == query::QueryFault::too_long;
      status = static_cast<std::uint8_t>(is_long ? AnswerStatus::too_long : AnswerStatus::engine_error);
      return;
    }
    const auto* generated = std::get_if<query::GenerateAnswer>(&answer);
    STEREOSWEEP_ASSERT(generated != nullptr, "a generate query has a text");
    const auto parsed = parsers_[static_cast<std::size_t>(order)].parse(generated->text);
    status = static_cast<std::uint8_t>(parsed.status);
    // A zero byte ends a text of HDF5; it stands as the replacement character, and names no option.
    column<std::string>(RatingColumn::answer_text)[cell] =
        base::replace_all(generated->text, std::string_view("\0", 1), "\xEF\xBF\xBD");
    if (parsed.status == AnswerStatus::ok) {
      const std::size_t option = place_of(parsed.option, num_options(), order);
      column<double>(RatingColumn::answer_rating)[cell] = probe_.job_.settings<Rating>().scale[option].value;
    }
  }

  results::RawBlock take() { return std::move(block_); }

 private:
  std::size_t num_options() const { return probe_.job_.settings<Rating>().scale.size(); }
  static std::size_t place(std::size_t context, OptionOrder order) {
    return context * option_orders.size() + static_cast<std::size_t>(order);
  }
  template <class T>
  std::vector<T>& column(RatingColumn name) {
    return std::get<std::vector<T>>(block_.columns[static_cast<std::size_t>(name)]);
  }
  void note(std::size_t context, const std::string& message) {
    auto& problem = column<std::string>(RatingColumn::problem)[context];
    problem = problem.empty() ? message : problem;
  }

  const RatingProbe& probe_;
  std::vector<AnswerParser> parsers_;  ///< [order]
  results::RawBlock block_;
};

RatingProbe::RatingProbe(const sweep::Job& job, const tokenizer::Tokenizer& /*tokenizer*/)
    : job_(job),
      blocks_(sweep::Product({job.settings<Rating>().identities.size(), job.settings<Rating>().traits.size(),
                              job.settings<Rating>().questions.size()}),
              static_cast<std::uint64_t>(job.execution.contexts_per_block)),
      schema_(rating_schema(job.settings<Rating>())) {
  const std::string before = lead(job);
  const std::size_t count = job.settings<Rating>().scale.size();
  for (const auto order : option_orders) {
    const auto index = static_cast<std::size_t>(order);
    const auto texts = listed(order);
    for (std::size_t place = 0; place < count; ++place) {
      option_lists_[index] += (place == 0 ? "" : "\n") + letter(place) + ". " + texts[place];
    }
    for (const auto& option : job.settings<Rating>().scale) {
      continuations_[index].push_back(before + option.text);
    }
    for (std::size_t option = 0; option < count; ++option) {
      continuations_[index].push_back(before + letter(place_of(option, count, order)));
    }
  }
}

std::vector<std::string> RatingProbe::listed(OptionOrder order) const {
  std::vector<std::string> texts;
  for (const auto& option : job_.settings<Rating>().scale) {
    texts.push_back(option.text);
  }
  if (order == OptionOrder::reversed) {
    std::reverse(texts.begin(), texts.end());
  }
  return texts;
}

std::string RatingProbe::question(std::uint64_t context, OptionOrder order) const {
  const auto place = blocks_.product().coordinates(context);
  const auto& rating = job_.settings<Rating>();
  const auto& identity = rating.identities[place[0]];
  const auto& trait = rating.traits[place[1]];
  const auto asked =
      fill_in(rating.questions[place[2]].text, {{"{identity}", identity.label}, {"{trait}", trait.label}});
  return fill_in(rating.frame, {{"{identity_definition}", identity.definition},
                                {"{trait_definition}", trait.definition},
                                {"{question}", asked},
                                {"{options}", option_lists_[static_cast<std::size_t>(order)]}});
}

std::string RatingProbe::prompt(std::uint64_t context, OptionOrder order) const {
  std::string text = question(context, order);
  if (job_.model.chat) {
    const sweep::Message message{sweep::Role::user, std::move(text)};
    return sweep::write_chat(*job_.model.chat, {&message, 1});
  }
  return text;
}

query::Query RatingProbe::ask_options(const std::string& prompt, OptionOrder order) const {
  return query::Continue{prompt, continuations(order), framing()};
}

query::Query RatingProbe::ask_answer(const std::string& prompt, std::uint64_t run) const {
  const auto& sampling = job_.settings<Rating>().sampling;
  // The seed follows from what is asked, so that neither ranks nor other entries of the axes change a text.
  const auto digest = base::sha256(prompt);
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    stream = stream << 8U | digest[i];
  }
  query::Generate generate;
  generate.prompt = prompt;
  generate.max_new_tokens = static_cast<std::int32_t>(sampling.max_new_tokens);
  generate.temperature = sampling.temperature;
  generate.top_k = static_cast<std::int32_t>(sampling.top_k);
  generate.top_p = sampling.top_p;
  generate.seed = base::random_bits(job_.seed, stream, run);
  generate.stop = sampling.stop;
  generate.framing = framing();
  return generate;
}

Round RatingProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : option_orders) {
      const auto text = prompt(block.first_context + i, order);
      round.queries.push_back(ask_options(text, order));
      for (std::uint64_t run = 0; run < num_runs(); ++run) {
        round.queries.push_back(ask_answer(text, run));
      }
    }
  }
  return round;
}

std::optional<Round> RatingProbe::next(const sweep::Block&, const Transcript&) const { return std::nullopt; }

results::RawBlock RatingProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  STEREOSWEEP_ASSERT(answers.size() == block.num_contexts * option_orders.size() * (1 + num_runs()),
                     "one answer per query");
  Fold fold(*this, block.num_contexts);
  auto answer = answers.begin();
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : option_orders) {
      fold.add_prompt(i, order, prompt(block.first_context + i, order));
      fold.add_options(i, order, *answer++);
      for (std::size_t run = 0; run < num_runs(); ++run) {
        fold.add_answer(i, order, run, *answer++);
      }
    }
  }
  return fold.take();
}

void RatingProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  const auto& sampling = job_.settings<Rating>().sampling;
  hash.field("rating 1").number(framing() == query::Framing::written ? 1 : 0);
  for (const auto order : option_orders) {
    for (const auto& continuation : continuations(order)) {
      hash.field(continuation);
    }
  }
  for (const auto& option : job_.settings<Rating>().scale) {
    hash.field(option.text).field(base::format_double(option.value));
  }
  hash.number(static_cast<std::uint64_t>(sampling.runs));
  if (sampling.runs > 0) {
    hash.number(job_.draws() ? job_.seed : 0).number(static_cast<std::uint64_t>(sampling.max_new_tokens));
    hash.number(static_cast<std::uint64_t>(sampling.top_k));
    hash.field(base::format_double(sampling.temperature)).field(base::format_double(sampling.top_p));
    hash.number(sampling.stop.size());
    for (const auto& stop : sampling.stop) {
      hash.field(stop);
    }
  }
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    hash.field(prompt(block.first_context + i, OptionOrder::as_listed));
    hash.field(prompt(block.first_context + i, OptionOrder::reversed));
  }
}

}  // namespace stereosweep::probes::rating
