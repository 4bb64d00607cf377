#include <algorithm>
#include <numeric>
#include <utility>

#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "chat/Writing.hpp"
#include "config/yaml/Yaml.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/interview/Interview.hpp"
#include "results/Export.hpp"

namespace stereosweep::probes::interview {
namespace {

using results::ElementType;

/// "keywords, reasons, ratings"
std::string listed(const Conversation& conversation, auto read) {
  return base::join(base::mapped(conversation.turns, read), ", ");
}

const std::string& kind_name(const Turn& turn) { return Turn::kind_names[static_cast<std::size_t>(turn.kind)]; }

std::vector<results::AxisSchema> outer_axes(const Interview& settings, const std::vector<sweep::Subject>& subjects) {
  return {
      group_axis("who is asked about", subjects),
      axis_of("conversation", "turns that follow on each other", settings.conversations, &Conversation::label,
              {{"turns", "labels of the turns, in order", [](const auto& one) { return listed(one, &Turn::label); }},
               {"kinds", "what each turn asks for, in order", [](const auto& one) { return listed(one, kind_name); }}}),
      axis_of("template", "form of the prompt", settings.forms, &PromptForm::label,
              {{"text", "the first message", &PromptForm::text},
               {"steps", "whether turns that lead up to a rating are asked",
                [](const auto& form) { return PromptForm::steps_names[static_cast<std::size_t>(form.steps)]; }}}),
      axis_of("rephrasing", "what is put around a question", settings.rephrasings, &sweep::Rephrasing::label)};
}

/// An item with where it is asked.
struct PlacedItem : RatedItem {
  std::string conversation;
  std::string turn;
  double turned_at = 0;       ///< least + greatest value of the scale
  std::string option_values;  ///< empty: no options are asked
};

std::vector<PlacedItem> items_of(const Interview& settings) {
  std::vector<PlacedItem> items;
  for (const auto& conversation : settings.conversations) {
    for (const auto& turn : conversation.turns) {
      for (const auto& item : turn.items) {
        const auto values = base::mapped(conversation.scale.answers(),
                                         [](const auto& answer) { return base::format_double(answer.value); });
        items.push_back({item, conversation.label, turn.label,
                         conversation.scale.least() + conversation.scale.greatest(),
                         turn.asks_options ? base::join(values, " ") : ""});
      }
    }
  }
  return items;
}

results::AxisSchema item_axis(const std::vector<PlacedItem>& items) {
  return axis_of(
      "item", "what is rated", items, &PlacedItem::label,
      {{"conversation", "conversation that asks it", &PlacedItem::conversation},
       {"turn", "turn that asks it", &PlacedItem::turn},
       {"dimension", "dimension of the item", &PlacedItem::dimension},
       {"facet", "part of the dimension", &PlacedItem::facet},
       {"polarity", "positive: a high rating is high on the dimension",
        [](const auto& one) { return RatedItem::polarity_names[static_cast<std::size_t>(one.polarity)]; }},
       {"text", "as it stands in a question", &PlacedItem::text},
       {"scale_sum", "least plus greatest value of its scale",
        [](const auto& one) { return base::format_double(one.turned_at); }},
       {"option_values", "values of the options, where their probabilities are asked", &PlacedItem::option_values}});
}

struct Sizes {
  std::size_t options = 0;  ///< most answers of a scale whose probabilities are asked
  std::size_t turns = 0;    ///< of the longest conversation
  std::size_t places = 0;   ///< most keywords that are kept
  bool has_reasons = false;
};

Sizes sizes_of(const Interview& settings) {
  Sizes sizes;
  for (const auto& conversation : settings.conversations) {
    sizes.turns = std::max(sizes.turns, conversation.turns.size());
    for (const auto& turn : conversation.turns) {
      sizes.places = std::max(sizes.places, turn.kind == Turn::Kind::keywords ? std::size_t(turn.most) : 0);
      sizes.options = std::max(sizes.options, turn.asks_options ? conversation.scale.answers().size() : 0);
      sizes.has_reasons = sizes.has_reasons || turn.kind == Turn::Kind::reasons;
    }
  }
  return sizes;
}

/// Items of the first turns of a conversation.
std::size_t items_before(std::span<const Turn> turns) {
  return std::accumulate(turns.begin(), turns.end(), std::size_t{0},
                         [](std::size_t sum, const Turn& turn) { return sum + turn.items.size(); });
}

/// Names of statuses that a job can have: what older runs have written stays as it was.
std::vector<std::string> statuses_of(const sweep::Job& job) {
  const bool is_proven = job.model.chat && (job.model.chat->thought || job.model.chat->origin);
  const auto known = std::span(answer_status_names).first(is_proven ? answer_status_names.size() : 5);
  return {known.begin(), known.end()};
}

std::vector<results::CubeSchema> text_cubes(const sweep::Job& job) {
  return {
      cube("question", ElementType::text, {"turn"}, "", "what the user's side says", "empty: not asked"),
      cube("answer_text", ElementType::text, {"round", "turn"}, "", "sampled answer",
           "a zero byte stands as U+FFFD; empty where answer_status is not ok"),
      cube("answer_num_tokens", ElementType::int32, {"round", "turn"}, "1", "new tokens of the answer"),
      cube("answer_mean_logprob", ElementType::float64, {"round", "turn"}, "nat",
           "mean log-probability of the new tokens", "softmax of the model, no temperature, no penalty"),
      cube("answer_status", ElementType::uint8, {"round", "turn"}, "", "what became of the turn", "", statuses_of(job)),
      cube("answer_ending", ElementType::uint8, {"round", "turn"}, "", "what ended the answer", "", ending_names),
      cube("problem", ElementType::text, {}, "", "first failure of the engine in this context", "empty: none"),
      cube("rules_version", ElementType::int32, {}, "1", "version of the rules that read the answers",
           "the numbers below were read from answer_text by these rules; stats "
           "--reparse reads them again")};
}

std::string items_text(const Turn& turn) {
  const auto line_of = [](const auto& item) {
    return "- " + item.text + (item.definition.empty() ? "" : ": " + item.definition);
  };
  return base::join(base::mapped(turn.items, line_of), "\n");
}

/// "1 (not at all) to 5 (extremely)", "extremely, very, average".
std::string scale_text(const RatingScale& scale) {
  const auto noted = [](const std::string& text, const std::string& note) {
    return text + (note.empty() ? "" : " (" + note + ")");
  };
  const auto listed = [&](const RatingOption& option) { return noted(option.text, option.note); };
  if (!scale.options.empty()) {
    return base::join(base::mapped(scale.options, listed), ", ");
  }
  return noted(std::to_string(scale.from), scale.low) + " " + (scale.between.empty() ? "to" : scale.between) + " " +
         noted(std::to_string(scale.to), scale.high);
}

/// The format of a conversation for models without a chat template.
const chat::ChatTemplate& plain_conversation() {
  static const chat::ChatTemplate chat = [] {
    chat::ChatTemplate made;
    made.label = "plain";
    made.user = {"Question: ", "\n", {}};
    made.assistant = {"Answer: ", "\n\n", {}};
    made.generation = "Answer:";
    made.trim = chat::ChatTemplate::Trim::both_ends;
    return made;
  }();
  return chat;
}

/// Asks how likely each answer of the scale to one item of a rating turn is, after the turn's own prompt: as the whole
/// answer, or of several items as though the answer began with "ITEM:".
query::Query ask_options(const sweep::Job& job, const std::string& prompt, const Turn& turn, std::size_t item,
                         const RatingScale& scale) {
  const auto& chat = job.model.chat ? *job.model.chat : plain_conversation();
  const auto lead = answer_lead(chat);
  const bool is_single = turn.kind == Turn::Kind::rating;
  query::Continue asked{is_single ? prompt : prompt + lead + turn.items[item].text + ":", {}, framing_of(job)};
  asked.continuations =
      base::mapped(scale.answers(), [&](const auto& answer) { return (is_single ? lead : " ") + answer.text; });
  return asked;
}

}  // namespace

std::vector<std::size_t> asked_turns(const Conversation& conversation, const PromptForm& form) {
  return base::places_where(conversation.turns.size(), [&](std::size_t turn) {
    return form.steps == PromptForm::Steps::asked || conversation.turns[turn].when == Turn::When::always;
  });
}

std::vector<std::string> messages_of(const Interview& settings, const sweep::Subject& subject, const Cell& cell) {
  const auto& conversation = settings.conversations[cell.conversation];
  const auto& form = settings.forms[cell.form];
  const auto& wrapper = settings.rephrasings[cell.rephrasing].wrapper;
  const Filling group{"{group}", subject.plural, Filling::Opening::capital};
  std::vector<std::string> messages;
  for (const auto index : asked_turns(conversation, form)) {
    const auto& turn = conversation.turns[index];
    const bool is_single = turn.kind == Turn::Kind::rating;
    const auto& own = is_single ? turn.items.front().question : turn.ask;
    const auto wrapped = filled(wrapper, {{"{prompt}", own.empty() ? turn.ask : own}});
    const auto question = filled(wrapped, {group,
                                           {"{item}", is_single ? turn.items.front().text : ""},
                                           {"{items}", items_text(turn)},
                                           {"{scale}", scale_text(conversation.scale)}});
    if (messages.empty()) {
      const auto instructions = filled(conversation.instructions, {group});
      messages.emplace_back(
          base::trim(filled(form.text, {{"{instructions}", instructions}, {"{question}", question}})));
    } else {
      messages.push_back(question);
    }
  }
  return messages;
}

std::string prompt_of(const sweep::Job& job, std::span<const std::string> asked, std::span<const std::string> answers) {
  STEREOSWEEP_ASSERT(asked.size() == answers.size() + 1, "the user speaks last");
  auto messages = opening_messages(job);
  for (std::size_t turn = 0; turn < asked.size(); ++turn) {
    messages.push_back({chat::Role::user, asked[turn]});
    if (turn < answers.size()) {
      messages.push_back({chat::Role::assistant, answers[turn]});
    }
  }
  if (asks_by_messages(job)) {
    return messages_prompt(messages);
  }
  return chat::write_chat(job.model.chat ? *job.model.chat : plain_conversation(), messages);
}

results::RawSchema interview_schema(const sweep::Job& job) {
  const auto& settings = job.settings<Interview>();
  const auto sizes = sizes_of(settings);
  const auto items = items_of(settings);
  results::RawSchema schema;
  schema.outer_axes = outer_axes(settings, subjects_of(settings).subjects);
  schema.inner_axes = {numbered_axis("round", "conversation of its own with the same first question",
                                     static_cast<std::uint64_t>(settings.sampling.rounds)),
                       numbered_axis("turn", "place in the conversation", sizes.turns)};
  schema.cubes = text_cubes(job);
  add_thought_cubes(schema, {"round", "turn"}, thoughts_of(job, settings.sampling));
  if (!items.empty()) {
    schema.inner_axes.push_back(item_axis(items));
    const auto add = [&](const char* name, const char* what, const char* description) {
      schema.cubes.push_back(cube(name, ElementType::float64, {"round", "item"}, "1", what, description));
    };
    add("rating", "value that the answer names", "as answered, not turned round; NaN: see rating_status");
    add("rating_low", "lower end of a range", "NaN: the answer is no range");
    add("rating_high", "upper end of a range", "NaN: the answer is no range");
    schema.cubes.push_back(cube("rating_status", ElementType::uint8, {"round", "item"}, "",
                                "what the answer says of the item", "", answers::status_names));
  }
  if (sizes.options > 0) {
    schema.inner_axes.push_back(numbered_axis("option", "answer of the scale, in its order", sizes.options));
    schema.cubes.push_back(cube("option_logprob", ElementType::float64, {"round", "item", "option"}, "nat",
                                "log-probability of the option as the answer", "sum over its tokens"));
    schema.cubes.push_back(cube("option_status", ElementType::uint8, {"round", "item"}, "",
                                "why the log-probabilities are what they are", "", option_status_names));
  }
  if (sizes.places > 0) {
    schema.inner_axes.push_back(numbered_axis("place", "place in the list of keywords", sizes.places));
    schema.cubes.push_back(cube("keyword", ElementType::text, {"round", "place"}, "", "keyword", "empty: none"));
    schema.cubes.push_back(cube("num_keywords", ElementType::int32, {"round"}, "1", "keywords of the answer"));
    schema.cubes.push_back(cube("keyword_status", ElementType::uint8, {"round"}, "", "what the list of keywords is", "",
                                answers::status_names));
  }
  if (sizes.has_reasons) {
    schema.cubes.push_back(
        cube("reason", ElementType::text, {"round", "place"}, "", "reason for the keyword at this place"));
    schema.cubes.push_back(cube("reason_status", ElementType::uint8, {"round", "place"}, "", "what the reason is", "",
                                answers::status_names));
  }
  return schema;
}

InterviewProbe::InterviewProbe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer)
    : job_(job),
      tokenizer_(tokenizer),
      subjects_(subjects_of(settings())),
      schema_(interview_schema(job)),
      blocks_(blocks_to_ask(job, schema_, sweep::Outermost::together)) {
  first_items_.push_back(0);
  for (const auto& conversation : settings().conversations) {
    first_items_.push_back(first_items_.back() + items_before(conversation.turns));
  }
}

Cell InterviewProbe::cell(std::uint64_t context) const {
  const auto place = blocks_.product().coordinates(context);
  return {place[0], place[1], place[2], place[3]};
}

std::vector<std::size_t> InterviewProbe::turns_of(std::uint64_t context) const {
  const auto at = cell(context);
  return asked_turns(settings().conversations[at.conversation], settings().forms[at.form]);
}

std::vector<std::string> InterviewProbe::messages(std::uint64_t context) const {
  const auto at = cell(context);
  return messages_of(settings(), subjects_.subjects[at.subject], at);
}

std::vector<InterviewProbe::Course> InterviewProbe::courses(const sweep::Block& block,
                                                            const Transcript& transcript) const {
  std::vector<Course> all;
  for (std::size_t context = 0; context < block.num_contexts; ++context) {
    for (std::size_t round = 0; round < num_rounds(); ++round) {
      all.push_back({context, round, {}, {}});
    }
  }
  for (std::size_t step = 0; step < transcript.answers.size(); ++step) {
    std::span<const query::Answer> left = transcript.answers[step];
    for (auto& course : all) {
      const auto context = blocks_.context(block, course.context);
      const auto turns = turns_of(context);
      if (course.said.size() < step || step >= turns.size()) {
        continue;
      }
      const auto& turn = settings().conversations[cell(context).conversation].turns[turns[step]];
      const auto count = 1 + (turn.asks_options ? turn.items.size() : 0);
      STEREOSWEEP_ASSERT(count <= left.size(), "one answer per query");
      course.answers.push_back(left.first(count));
      left = left.subspan(count);
      if (auto text = said(course.answers.back().front())) {
        course.said.push_back(std::move(*text));
      }
    }
    STEREOSWEEP_ASSERT(left.empty(), "one answer per query");
  }
  return all;
}

std::optional<std::string> InterviewProbe::said(const query::Answer& answer) const {
  const auto* generated = std::get_if<query::GenerateAnswer>(&answer);
  if (generated == nullptr) {
    return std::nullopt;
  }
  const auto split = split_answer(job_, generated->text);
  auto text = kept_text(split.answer);
  const bool is_written = !job_.model.chat || chat::problem_of(*job_.model.chat, chat::Role::assistant, text).empty();
  return split.is_cut || !is_written ? std::nullopt : std::optional(std::move(text));
}

std::optional<Round> InterviewProbe::next(const sweep::Block& block, const Transcript& transcript) const {
  Round round;
  const std::size_t step = transcript.answers.size();
  for (const auto& course : courses(block, transcript)) {
    const auto context = blocks_.context(block, course.context);
    const auto turns = turns_of(context);
    if (course.said.size() == step && step < turns.size()) {
      const auto& conversation = settings().conversations[cell(context).conversation];
      const auto& turn = conversation.turns[turns[step]];
      const auto prompt = prompt_of(job_, std::span<const std::string>(messages(context)).first(step + 1), course.said);
      const auto draw = std::uint64_t{course.round} << 16U | turns[step];
      round.queries.emplace_back(sampled_text(job_, settings().sampling, prompt, draw));
      for (std::size_t item = 0; turn.asks_options && item < turn.items.size(); ++item) {
        round.queries.push_back(ask_options(job_, prompt, turn, item, conversation.scale));
      }
    }
  }
  return round.queries.empty() ? std::nullopt : std::optional(std::move(round));
}

results::RawBlock InterviewProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  auto raw = results::unscored_block(schema_, block.num_contexts);
  const auto fill = [&]<class T>(const std::string& name, T value) {
    if (schema_.find_cube(name)) {
      std::ranges::fill(column_named<T>(raw, schema_, name), value);
    }
  };
  fill("answer_num_tokens", std::int32_t{0});
  fill("answer_num_thought_tokens", std::int32_t{0});
  fill("answer_thought_end", std::uint8_t{0});
  fill("answer_ending", static_cast<std::uint8_t>(AnswerEnding::none));
  fill("answer_status", static_cast<std::uint8_t>(AnswerStatus::not_asked));
  fill("rules_version", std::int32_t{answers::rules_version});
  fill("option_status", static_cast<std::uint8_t>(OptionStatus::not_asked));
  fill("rating_status", static_cast<std::uint8_t>(answers::Status::not_asked));
  const auto num_turns = schema_.inner_axis("turn").labels.size();
  auto& questions = column_named<std::string>(raw, schema_, "question");
  for (std::size_t i = 0; i < block.num_contexts; ++i) {
    const auto turns = turns_of(blocks_.context(block, i));
    const auto asked = messages(blocks_.context(block, i));
    for (std::size_t step = 0; step < turns.size(); ++step) {
      questions[i * num_turns + turns[step]] = asked[step];
    }
  }
  for (const auto& course : courses(block, transcript)) {
    fold_course(raw, blocks_.context(block, course.context), course);
  }
  return raw;
}

void InterviewProbe::fold_course(results::RawBlock& raw, std::uint64_t context, const Course& course) const {
  const auto num_turns = schema_.inner_axis("turn").labels.size();
  const auto turns = turns_of(context);
  const auto& conversation = settings().conversations[cell(context).conversation];
  auto& statuses = column_named<std::uint8_t>(raw, schema_, "answer_status");
  const auto row = course.context * num_rounds() + course.round;
  for (std::size_t step = 0; step < turns.size(); ++step) {
    const auto at = row * num_turns + turns[step];
    if (step >= course.answers.size()) {
      const bool is_unsaid =
          course.said.size() < course.answers.size() &&
          statuses[row * num_turns + turns[course.said.size()]] == static_cast<std::uint8_t>(AnswerStatus::ok);
      statuses[at] = static_cast<std::uint8_t>(is_unsaid ? AnswerStatus::not_written : AnswerStatus::not_reached);
      continue;
    }
    const auto& answer = course.answers[step].front();
    if (fold_answer<AnswerStatus>(job_, tokenizer_, answer, schema_, raw, course.context, at)) {
      const auto& text = std::get<query::GenerateAnswer>(answer);
      column_named<std::int32_t>(raw, schema_, "answer_num_tokens")[at] = static_cast<std::int32_t>(text.ids.size());
      column_named<double>(raw, schema_, "answer_mean_logprob")[at] = text.mean_logprob;
      column_named<std::uint8_t>(raw, schema_, "answer_ending")[at] = static_cast<std::uint8_t>(text.ended);
    }
  }
  for (std::size_t step = 0; step < course.answers.size(); ++step) {
    const auto item =
        first_items_[cell(context).conversation] + items_before(std::span(conversation.turns).first(turns[step]));
    for (std::size_t option = 1; option < course.answers[step].size(); ++option) {
      fold_options(course.answers[step][option], schema_, raw, course.context,
                   row * first_items_.back() + item + option - 1);
    }
  }
  read_texts(raw, schema_, conversation, row);
}

void InterviewProbe::each_conversation(const sweep::Block& block, const results::RawBlock& raw,
                                       const ConversationVisitor& visit) const {
  const auto num_turns = schema_.inner_axis("turn").labels.size();
  const auto& statuses = column_named<std::uint8_t>(raw, schema_, "answer_status");
  const auto& answers = column_named<std::string>(raw, schema_, "answer_text");
  for (std::size_t i = 0; i < block.num_contexts; ++i) {
    const auto asked = messages(blocks_.context(block, i));
    const auto turns = turns_of(blocks_.context(block, i));
    for (std::size_t round = 0; round < num_rounds(); ++round) {
      auto conversation = opening_messages(job_);
      for (std::size_t step = 0; step < turns.size(); ++step) {
        const auto at = (i * num_rounds() + round) * num_turns + turns[step];
        if (statuses[at] == static_cast<std::uint8_t>(AnswerStatus::not_reached) ||
            statuses[at] == static_cast<std::uint8_t>(AnswerStatus::not_written)) {
          break;
        }
        conversation.push_back({chat::Role::user, asked[step]});
        visit(conversation);
        conversation.push_back({chat::Role::assistant, answers[at]});
      }
    }
  }
}

void InterviewProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("interview 2").field(settings_of_block(settings())).number(job_.draws() ? job_.seed : 0);
  hash.number(framing_of(job_) == query::Framing::written ? 1 : 0);
  if (job_.model.chat && job_.model.chat->origin) {
    hash.field(config::emit_yaml(config::dump_extent(*job_.model.chat, config::Extent::block)));
  }
  hash_thoughts(job_, settings().sampling, hash);
  for (const auto& cube : schema_.cubes) {  // the shape of a block: other
                                            // conversations can make it wider
    hash.field(cube.name).number(schema_.values_per_context(cube));
  }
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const auto context = blocks_.context(block, i);
    const auto asked = messages(context);
    const auto turns = turns_of(context);
    hash.number(first_items_[cell(context).conversation]).number(asked.size());
    for (std::size_t step = 0; step < asked.size(); ++step) {
      hash.number(turns[step]).field(asked[step]);
    }
    // Answers stand where they will: what the chat template writes around them is told by one that is empty.
    const std::vector<std::string> none(asked.size() - 1, job_.model.chat && job_.model.chat->origin ? "-" : "");
    hash.field(prompt_of(job_, asked, none));
    const auto& conversation = settings().conversations[cell(context).conversation];
    hash.field(config::emit_yaml(config::dump_fields(conversation)));
  }
}

std::unique_ptr<InterviewProbe> make_interview(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) {
  const auto& settings = job.settings<Interview>();
  base::Problems problems;
  require_axis(settings.groups.size(), "axes.groups", "group", problems);
  require_chat(job, settings.sampling, tokenizer, problems);
  if (sizes_of(settings).options > 0) {
    require_closed_thought(job, problems);
  }
  problems.raise_if_any("the job cannot be probed");
  auto probe = std::make_unique<InterviewProbe>(job, tokenizer);
  check_questions(job, *probe);
  return probe;
}

}  // namespace stereosweep::probes::interview
