#include <algorithm>
#include <utility>

#include "answers/Rating.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "chat/Writing.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/rating/Rating.hpp"
#include "results/Export.hpp"
#include "sweep/Composer.hpp"

namespace stereosweep::probes::rating {
namespace {

using results::ElementType;

std::string letter(std::size_t place) { return {static_cast<char>('A' + place)}; }

/// Takes a place out, with the blank beside it; a line that is empty then goes, with an empty one after it.
void take_out(std::string& frame, std::string_view name) {
  const auto at = frame.find(name);
  if (at == std::string::npos) {
    return;
  }
  frame.erase(at, name.size());
  const auto starts_line = at == 0 || frame[at - 1] == '\n';
  if (at < frame.size() && frame[at] == ' ' && (starts_line || frame[at - 1] == ' ')) {
    frame.erase(at, 1);
  } else if (!starts_line && frame[at - 1] == ' ' && (at == frame.size() || frame[at] == '\n')) {
    frame.erase(at - 1, 1);
  }
  if (starts_line && at < frame.size() && frame[at] == '\n') {
    frame.erase(at, at + 1 < frame.size() && frame[at + 1] == '\n' ? 2 : 1);
  }
}

/// A trait's own, in place of the template's.
sweep::Template own_question(const RatedTrait& trait, std::size_t place) {
  const auto own = trait.questions.size() == 1 ? 0 : place;
  sweep::Template question;
  question.text = trait.questions[own];
  question.inside = trait.inside.empty() ? "" : trait.inside[own];
  return question;
}

/// Identities have their parts by their own names as well.
results::AxisSchema rated_axis(const Rating& rating, const std::vector<sweep::Subject>& subjects) {
  auto axis = group_axis("who is rated", subjects);
  if (!rating.identities.empty()) {
    axis.coordinates.push_back({"marker", "demographic marker", coordinate_of(axis, "first")});
    axis.coordinates.push_back({"people", "word for people after the marker", coordinate_of(axis, "second")});
  }
  return axis;
}

std::vector<results::AxisSchema> outer_axes(const Rating& rating, const std::vector<sweep::Subject>& subjects) {
  return {
      rated_axis(rating, subjects),
      axis_of("trait", "what is rated", rating.traits, &RatedTrait::label,
              {{"dimension", "dimension of the trait", &RatedTrait::dimension},
               {"polarity", "positive: a high rating is high on the dimension",
                [](const auto& trait) { return RatedTrait::polarity_names[static_cast<std::size_t>(trait.polarity)]; }},
               {"question", "what is asked in place of the templates' texts",
                [](const auto& trait) { return base::join(trait.questions, " / "); }}}),
      axis_of(
          "template", "wording of the question", rating.questions, &sweep::Template::label,
          {{"style", "style of the wording", &sweep::Template::kind}, {"text", "the wording", &sweep::Template::text}}),
      axis_of("rephrasing", "what is put around the question", rating.rephrasings, &sweep::Rephrasing::label)};
}

std::vector<results::AxisSchema> inner_axes(const Rating& rating) {
  std::vector<results::AxisSchema> axes = {
      axis_of("option", "answer of the scale, in the order of the job", rating.scale, &RatingOption::text,
              {{"value", "rating that the answer stands for",
                [](const auto& option) { return base::format_double(option.value); }}}),
      axis_of("order", "order in which the prompt lists the options", rating.orders,
              [](auto order) { return option_order_names[static_cast<std::size_t>(order)]; }),
      {"form", "what is scored as the continuation", {"text", "letter"}, {}}};
  if (rating.sampling.runs > 0) {
    axes.push_back(
        numbered_axis("run", "sampled answer to the same prompt", static_cast<std::uint64_t>(rating.sampling.runs)));
  }
  return axes;
}

/// Up to the first blank line: behind it models go on with questions of their own.
std::string_view first_paragraph(std::string_view text) {
  for (const auto line : answers::lines_of(text)) {
    if (line.empty()) {
      return text.substr(0, static_cast<std::size_t>(line.data() - text.data()));
    }
  }
  return text;
}

AnswerStatus answer_status(answers::Status parsed) {
  switch (parsed) {
    case answers::Status::answered:
      return AnswerStatus::ok;
    case answers::Status::range:
    case answers::Status::contradictory:
      return AnswerStatus::several_answers;
    case answers::Status::refused:
      return AnswerStatus::refused;
    default:
      return AnswerStatus::no_answer;
  }
}

}  // namespace

results::RawSchema rating_schema(const sweep::Job& job) {
  const auto& rating = job.settings<Rating>();
  const auto thoughts = thoughts_of(job, rating.sampling);
  results::RawSchema schema;
  schema.outer_axes = outer_axes(rating, subjects_of(rating).subjects);
  schema.inner_axes = inner_axes(rating);
  schema.cubes = {
      cube("option_logprob", ElementType::float64, {"order", "form", "option"}, "nat",
           "log-probability of the option after the prompt", "sum over its tokens"),
      cube("option_num_tokens", ElementType::int32, {"order", "form", "option"}, "1",
           "tokens of the option after the prompt", "0: not scored, see option_status"),
      cube("option_status", ElementType::uint8, {"order"}, "", "why the log-probabilities are what they are", "",
           option_status_names),
      cube("prompt", ElementType::text, {"order"}, "", "text that the model was given",
           "with the chat format's tokens"),
      cube("problem", ElementType::text, {}, "", "first failure of the engine in this context", "empty: none"),
  };
  if (rating.sampling.runs > 0) {
    std::vector<std::string> answer_names = {"ok",    "no_answer", "several_answers", "refused",
                                             "empty", "too_long",  "engine_error"};
    if (thoughts != Thoughts::none) {
      answer_names.emplace_back(truncated_thought_name);
    }
    schema.cubes.push_back(cube("answer_text", ElementType::text, {"order", "run"}, "", "sampled answer"));
    schema.cubes.push_back(cube("answer_rating", ElementType::float64, {"order", "run"}, "1",
                                "value of the option that the answer names", "NaN: none, see answer_status"));
    schema.cubes.push_back(cube("answer_status", ElementType::uint8, {"order", "run"}, "",
                                "whether the answer names one option", "", answer_names));
    add_thought_cubes(schema, {"order", "run"}, thoughts);
  }
  return schema;
}

RatingProbe::RatingProbe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer)
    : job_(job),
      tokenizer_(tokenizer),
      subjects_(subjects_of(settings())),
      schema_(rating_schema(job)),
      blocks_(blocks_to_ask(job, schema_,
                            settings().sampling.runs > 0 ? sweep::Outermost::together : sweep::Outermost::apart)) {
  const std::string before = job.model.chat ? answer_lead(*job.model.chat) : " ";
  for (const auto order : option_orders) {
    const auto index = static_cast<std::size_t>(order);
    const auto options = listed(order);
    for (std::size_t place = 0; place < options.size(); ++place) {
      const auto& [text, value, note] = options[place];
      option_lists_[index] += (place == 0 ? "" : "\n") + letter(place) + ". " + text;
      option_lists_[index] += note.empty() ? "" : " (" + note + ")";
    }
    for (const auto& option : settings().scale) {
      continuations_[index].push_back(before + option.text);
    }
    for (const auto& option : settings().scale) {
      const auto place = std::ranges::find(options, option) - options.begin();
      continuations_[index].push_back(before + letter(static_cast<std::size_t>(place)));
    }
  }
}

std::vector<RatingOption> RatingProbe::listed(OptionOrder order) const {
  auto options = settings().scale;
  if (order == OptionOrder::reversed) {
    std::ranges::reverse(options);
  }
  return options;
}

std::string RatingProbe::asked(const std::vector<std::uint64_t>& place) const {
  const auto& rating = settings();
  const auto& trait = rating.traits[place[1]];
  const auto& rephrasing = rating.rephrasings[place[3]];
  const bool is_own = !trait.questions.empty();
  const auto sentence = is_own ? own_question(trait, place[2]) : rating.questions[place[2]];
  auto text = is_own && rephrasing.wrapper.empty() ? sentence.text : sweep::rephrased(sentence, rephrasing);
  const auto& plural = subjects_.subjects[place[0]].plural;
  const auto opening = rating.groups.empty() ? Filling::Opening::as_it_is : Filling::Opening::capital;
  text = filled(text, {{"{group}", plural, opening}, {"{identity}", plural, opening}});
  return filled(text, {{"{trait}", trait.label}});
}

std::string RatingProbe::question(std::uint64_t context, OptionOrder order) const {
  const auto place = blocks_.product().coordinates(context);
  const auto& rating = settings();
  const auto& trait = rating.traits[place[1]];
  const std::string definition = rating.identities.empty() ? "" : rating.identities[place[0]].definition;
  std::string frame = rating.frame;
  if (definition.empty()) {
    take_out(frame, "{identity_definition}");
  }
  if (trait.definition.empty()) {
    take_out(frame, "{trait_definition}");
  }
  return filled(frame, {{"{identity_definition}", definition},
                        {"{trait_definition}", trait.definition},
                        {"{question}", asked(place)},
                        {"{options}", option_lists_[static_cast<std::size_t>(order)]}});
}

std::string RatingProbe::prompt(std::uint64_t context, OptionOrder order) const {
  auto text = question(context, order);
  if (asks_by_messages(job_)) {
    return messages_prompt(conversation(std::move(text)));
  }
  return job_.model.chat ? chat::write_chat(*job_.model.chat, conversation(std::move(text))) : text;
}

void RatingProbe::each_conversation(const sweep::Block& block, const results::RawBlock& /*raw*/,
                                    const ConversationVisitor& visit) const {
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : settings().orders) {
      visit(conversation(question(blocks_.context(block, i), order)));
    }
  }
}

std::vector<chat::Message> RatingProbe::conversation(std::string text) const {
  auto messages = opening_messages(job_);
  messages.push_back({chat::Role::user, std::move(text)});
  return messages;
}

Round RatingProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : settings().orders) {
      const auto text = prompt(blocks_.context(block, i), order);
      if (!asks_by_messages(job_)) {
        round.queries.emplace_back(query::Continue{text, continuations(order), framing_of(job_)});
      }
      for (std::uint64_t run = 0; run < num_runs(); ++run) {
        round.queries.emplace_back(sampled_text(job_, settings().sampling, text, run));
      }
    }
  }
  return round;
}

results::RawBlock RatingProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  const auto& rating = settings();
  const std::size_t first_run = asks_by_messages(job_) ? 0 : 1;  // behind the options' probabilities
  const std::size_t per_order = first_run + num_runs();
  STEREOSWEEP_ASSERT(answers.size() == block.num_contexts * rating.orders.size() * per_order, "one answer per query");
  auto raw = results::unscored_block(schema_, block.num_contexts);
  std::ranges::fill(column_named<std::int32_t>(raw, schema_, "option_num_tokens"), 0);
  auto& prompts = column_named<std::string>(raw, schema_, "prompt");
  for (std::size_t order = 0; order < rating.orders.size(); ++order) {
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      const std::size_t place = i * rating.orders.size() + order;
      prompts[place] = prompt(blocks_.context(block, i), rating.orders[order]);
      if (first_run == 0) {
        column_named<std::uint8_t>(raw, schema_, "option_status")[place] =
            static_cast<std::uint8_t>(OptionStatus::not_asked);
      } else {
        fold_options(answers[place * per_order], schema_, raw, i, place);
      }
      for (std::size_t run = 0; run < num_runs(); ++run) {
        fold_answer(raw, i, place * num_runs() + run, rating.orders[order],
                    answers[place * per_order + first_run + run]);
      }
    }
  }
  return raw;
}

void RatingProbe::fold_answer(results::RawBlock& raw, std::size_t context, std::size_t cell, OptionOrder order,
                              const query::Answer& answer) const {
  const auto answered = probes::fold_answer<AnswerStatus>(job_, tokenizer_, answer, schema_, raw, context, cell);
  if (!answered) {
    return;
  }
  const auto text = answers::plain_text(*answered);
  const auto part = first_paragraph(text);
  const bool is_cut =
      std::get<query::GenerateAnswer>(answer).ended == query::Ending::length && part.size() == text.size();
  const auto options = listed(order);
  const answers::Scale scale = {.options = base::mapped(options, &RatingOption::text)};
  const auto parsed = answers::parse_rating(part, scale, is_cut ? answers::End::cut_off : answers::End::finished);
  column_named<std::uint8_t>(raw, schema_, "answer_status")[cell] =
      static_cast<std::uint8_t>(text.empty() ? AnswerStatus::empty : answer_status(parsed.status));
  if (parsed.status == answers::Status::answered) {
    const auto option = static_cast<std::size_t>(parsed.value);
    column_named<double>(raw, schema_, "answer_rating")[cell] = options[option].value;
  }
}

void RatingProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  const auto& orders = settings().orders;
  hash.field("rating 3").field(settings_of_block(settings())).number(job_.draws() ? job_.seed : 0);
  hash.number(framing_of(job_) == query::Framing::written ? 1 : 0);
  for (const auto order : orders) {
    for (const auto& continuation : continuations(order)) {
      hash.field(continuation);
    }
  }
  hash_thoughts(job_, settings().sampling, hash);
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    for (const auto order : orders) {
      hash.field(prompt(blocks_.context(block, i), order));
    }
  }
}

std::unique_ptr<RatingProbe> make_rating(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) {
  const auto& rating = job.settings<Rating>();
  base::Problems problems;
  require_axis(rating.identities.size() + rating.groups.size(), "axes.groups", "group", problems);
  require_chat(job, rating.sampling, tokenizer, problems);
  require_closed_thought(job, problems);
  problems.raise_if_any("the job cannot be probed");
  auto probe = std::make_unique<RatingProbe>(job, tokenizer);
  check_questions(job, *probe);
  return probe;
}

}  // namespace stereosweep::probes::rating
