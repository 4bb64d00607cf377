#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "chat/Writing.hpp"
#include "probes/interview/InterviewProbe.hpp"

namespace stereosweep::probes::interview {
namespace {

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

}  // namespace stereosweep::probes::interview
