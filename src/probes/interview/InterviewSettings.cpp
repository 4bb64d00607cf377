#include <algorithm>
#include <iterator>
#include <set>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/language/LanguageTable.hpp"
#include "probes/interview/Interview.hpp"

namespace stereosweep::probes::interview {
namespace {

using config::Node;

void check_item(const Node& node, const std::string& key, const RatedItem& item, base::Problems& problems) {
  config::check_surface(node, key + ".text", item.text, problems);
  config::check_surface(node, key + ".definition", item.definition, problems);
  config::check_places(node.place(key + ".question"), item.question,
                       {{{"{group}", "{item}", "{scale}"}, 0, config::any_number}}, problems);
}

/// What each kind of turn must have, and may not have.
void check_turn(const Node& node, const std::string& key, const Turn& turn, base::Problems& problems) {
  const bool rates = turn.kind == Turn::Kind::rating || turn.kind == Turn::Kind::ratings;
  problems.add_if(rates != !turn.items.empty(), node.place(key + ".items"),
                  "the turn '" + turn.label + "' has " + base::counted(turn.items.size(), "item"),
                  rates ? "it asks for ratings" : "only rating and ratings have items");
  problems.add_if(turn.asks_options && !rates, node.place(key + ".options"),
                  "the turn '" + turn.label + "' has no scale", "probabilities are asked of a scale's answers");
  const bool asks = std::ranges::all_of(turn.items, [](const auto& item) { return !item.question.empty(); });
  const bool has_own = turn.kind == Turn::Kind::rating && asks && !turn.items.empty();
  problems.add_if(turn.ask.empty() && !has_own, node.place(key + ".ask"), "the turn '" + turn.label + "' asks nothing",
                  "a text is expected");
  std::vector<config::Placeholder> places = {{{"{group}"}, 0, config::any_number}};
  if (rates) {
    const std::size_t least = has_own || turn.ask.empty() ? 0 : 1;  // what is rated must be said
    places.push_back({{"{scale}"}, 0, config::any_number});
    places.push_back({{turn.kind == Turn::Kind::rating ? "{item}" : "{items}"}, least, config::any_number});
  }
  config::check_places(node.place(key + ".ask"), turn.ask, places, problems);
  for (const auto& item : turn.items) {
    problems.add_if(turn.kind == Turn::Kind::ratings && !item.question.empty(), node.place(key + ".items"),
                    "'" + item.label + "' has a question of its own", "items of 'ratings' are asked together",
                    "Make the turn's kind 'rating'.");
  }
}

/// Those of `node`, which were read from its entries.
void check_turns(const Node& node, const std::string& key, std::vector<Turn>& turns, base::Problems& problems) {
  config::expect_kind(node, Node::Kind::list, key, problems, config::Emptiness::refused);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto& entry = node.children[i];
    const auto place = key + "[" + std::to_string(i) + "]";
    const Node* items = entry.find("items");
    for (std::size_t j = 0; j < turns[i].items.size(); ++j) {
      auto& item = turns[i].items[j];
      item.text = item.text.empty() ? item.label : item.text;
      check_item(items->children[j], place + ".items[" + std::to_string(j) + "]", item, problems);
    }
    check_turn(entry, place, turns[i], problems);
  }
}

/// Rules of a conversation as a whole.
void check_order(const Node& node, const std::string& key, const Conversation& conversation, base::Problems& problems) {
  std::set<std::string> labels;
  std::size_t keywords = 0;
  std::size_t reasons = 0;
  std::size_t single = 0;
  std::size_t rating = 0;
  for (const auto& turn : conversation.turns) {
    problems.add_if(!labels.insert(turn.label).second, node.place(key + ".turns"),
                    "two turns have the label '" + turn.label + "'", "labels must differ");
    keywords += turn.kind == Turn::Kind::keywords ? 1 : 0;
    single += turn.kind == Turn::Kind::rating && turn.items.size() > 1 ? 1 : 0;
    rating += turn.items.empty() ? 0 : 1;
    problems.add_if(turn.kind == Turn::Kind::reasons && (keywords == 0 || ++reasons > 1), node.place(key + ".turns"),
                    "turn '" + turn.label + "' asks for reasons",
                    keywords == 0 ? "no turn before it asks for keywords" : "another turn has asked for them");
  }
  problems.add_if(keywords > 1, node.place(key + ".turns"), std::to_string(keywords) + " turns ask for keywords",
                  "a conversation has one list of keywords", "Make two conversations of it.");
  problems.add_if(single > 0 && rating > 1, node.place(key + ".turns"),
                  "a turn of kind 'rating' has several items, and another rates, too",
                  "each of the items gets a conversation of its own, and the other "
                  "turn's would be asked in each",
                  "Make two conversations of it, or use 'ratings'.");
}

/// The turn that is asked first must say who is spoken of, also in forms without steps.
void check_first(const Node& node, const std::string& key, const Conversation& conversation, base::Problems& problems) {
  const auto speaks = [](const Turn& turn) {
    const auto names_group = [&](const std::string& own) {
      return base::count_of(own.empty() ? turn.ask : own, "{group}") > 0;
    };
    return turn.kind == Turn::Kind::rating && !turn.items.empty()
               ? std::ranges::all_of(turn.items, names_group, &RatedItem::question)
               : names_group("");
  };
  const auto& turns = conversation.turns;
  const auto main = std::ranges::find(turns, Turn::When::always, &Turn::when);
  if (main == turns.end()) {
    problems.add(node.place(key + ".turns"), "every turn is asked with steps only",
                 "forms without steps would ask nothing");
  } else if (!speaks(*main) || !speaks(turns.front())) {
    problems.add(node.place(key + ".turns"),
                 "no {group} in turn '" + (speaks(*main) ? turns.front() : *main).label + "'",
                 "it is asked first" + std::string(speaks(*main) ? "" : " where a form leaves the steps out"));
  }
}

/// What stands between the ends of the scale, where the job does not say, is of the job's language.
void set_between(const Node& node, const std::string& key, const config::Fields& job, Conversation& conversation) {
  if (job.pieces().holds_language() || !conversation.needs_between()) {
    return;
  }
  const auto& language = job.pieces().language();
  conversation.scale.between = language.between();
  job.problems().add_if(!language.is_english() && language.between().empty(), node.place(key + ".scale"),
                        "no word between the ends of the scale",
                        "the table of the language '" + language.name() + "' has no 'between'",
                        "Set scale.between, as 'to' in '1 to 5'.");
}

/// One for each item of the turn that has several; itself where there is none.
std::vector<Conversation> expanded(Conversation conversation) {
  const auto many = std::ranges::find_if(
      conversation.turns, [](const Turn& turn) { return turn.kind == Turn::Kind::rating && turn.items.size() > 1; });
  if (many == conversation.turns.end()) {
    return {std::move(conversation)};
  }
  std::vector<Conversation> all;
  const auto turn = static_cast<std::size_t>(many - conversation.turns.begin());
  for (const auto& item : many->items) {
    auto& one = all.emplace_back(conversation);
    one.label += " " + item.label;
    one.turns[turn].items = {item};
  }
  return all;
}

/// Reads an entry of `axes.conversations`. One whose `rating` turn has several items becomes one for each, "LABEL
/// ITEM". `items`: labels of the entries before it.
std::vector<Conversation> read_conversation(const Node& entry, const std::string& key, const config::Fields& job,
                                            std::set<std::string>& items) {
  Conversation conversation;
  config::read_fields(entry, key, job.problems(), conversation, Conversation::key_form);
  if (const Node* turns = entry.find("turns"); turns != nullptr && turns->kind == Node::Kind::list) {
    check_turns(*turns, key + ".turns", conversation.turns, job.problems());
  }
  config::check_places(entry.place(key + ".instructions"), conversation.instructions,
                       {{{"{group}"}, 0, config::any_number}}, job.problems());
  check_order(entry, key, conversation, job.problems());
  if (!conversation.turns.empty()) {
    check_first(entry, key, conversation, job.problems());
  }
  for (const auto& turn : conversation.turns) {
    for (const auto& item : turn.items) {
      job.problems().add_if(!item.label.empty() && !items.insert(item.label).second, entry.place(key),
                            "the item '" + item.label + "' stands twice",
                            "labels of items name the columns of the scores",
                            "Give one of them another 'label', and keep its 'text'.");
    }
  }
  set_between(entry, key, job, conversation);
  return expanded(std::move(conversation));
}

std::vector<PromptForm> read_form(const Node& entry, const std::string& key, const config::Fields& job) {
  PromptForm form;
  config::read_fields(entry, key, job.problems(), form, "{label: full, text: '{instructions} {question}'}");
  job.problems().add_if(form.label.empty(), entry.place(key), "a prompt form has no label",
                        "labels name the axis of the result");
  config::check_places(entry.place(key + ".text"), form.text, {{{"{question}"}, 1}, {{"{instructions}"}, 0}},
                       job.problems());
  return {form};
}

/// A wrapper is put around every question, so that full texts for single templates have no place.
void check_wrappers(const config::Fields& axes, const Interview& settings) {
  for (const auto& rephrasing : settings.rephrasings) {
    axes.problems().add_if(!rephrasing.alternatives.empty(), axes.place("rephrasings"),
                           "'" + rephrasing.label + "' has alternatives",
                           "the templates of an interview are forms of a prompt", "Give it a wrapper with {prompt}.");
  }
}

}  // namespace

std::vector<std::string> Conversation::questions() const {
  std::vector<std::string> texts;
  for (const auto& turn : turns) {
    texts.push_back(turn.ask);
    std::ranges::transform(turn.items, std::back_inserter(texts), &RatedItem::question);
  }
  return texts;
}

bool Conversation::needs_between() const {
  const auto writes_scale = [](const auto& text) { return base::count_of(text, "{scale}") > 0; };
  return scale.between.empty() && scale.options.empty() && std::ranges::any_of(questions(), writes_scale);
}

double RatingScale::least() const { return std::ranges::min(answers(), {}, &RatingOption::value).value; }

double RatingScale::greatest() const { return std::ranges::max(answers(), {}, &RatingOption::value).value; }

void scale_key(config::Fields& keys, RatingScale& scale) {
  const Node* node = keys.optional("scale");
  if (node == nullptr) {
    return;
  }
  const auto key = keys.key_of("scale");
  if (node->kind == Node::Kind::list) {
    scale.options = read_options(*node, key, keys.problems());
    return;
  }
  read_numbers(*node, key, keys.problems(), scale);
  config::check_surface(*node, key + ".between", scale.between, keys.problems());
  keys.problems().add_if(scale.from >= scale.to, node->place(key),
                         "a scale from " + std::to_string(scale.from) + " to " + std::to_string(scale.to),
                         "'from' must be less than 'to'");
}

void scale_key(config::ShownKeys& keys, const RatingScale& scale) {
  keys.own("scale", scale.options.empty() ? config::dump_fields(scale) : dump_options(scale.options), "of the ratings",
           scale_schema, config::fields_schema<RatingScale>);
}

sweep::SubjectList subjects_of(const Interview& settings) {
  return sweep::list_subjects(settings.groups, settings.intersections, {.singular = false, .plural = true});
}

template <class Self, class Keys>
void Interview::each_key(Self& self, Keys& keys) {
  keys.needed().told_by_block().nested("axes", [&](auto& axes) {
    config::groups_keys(axes, self.groups, self.intersections, config::GroupForms::plural);
    config::entries_key<Conversation>(
        axes, {"conversations"}, "conversations", self.conversations,
        "what is asked: a name in configs/conversations, or a list",
        [items = std::set<std::string>()](const auto&... where) mutable { return read_conversation(where..., items); });
    config::entries_key<PromptForm>(axes, {"templates"}, "prompt_forms", self.forms,
                                    "forms of the first prompt: a name in configs/prompt_forms, or a list", read_form);
    config::rephrasings_key(axes, self.rephrasings, {});
    config::design_key(axes, self.design);
    if constexpr (std::same_as<Keys, config::Fields>) {
      check_wrappers(axes, self);
    }
  });
  keys.item("sampling", self.sampling, "how answers are drawn");
}
template void Interview::each_key(Interview&, config::Fields&);
template void Interview::each_key(const Interview&, config::ShownKeys&);

void check_settings(const config::ProbeReading& job, const Interview& settings) {
  check_sampling(job.fields, settings.sampling, settings.sampling.rounds, "rounds");
  config::check_cells(job, {{sweep::most_subjects(settings.groups, settings.intersections), "groups and intersections"},
                            {settings.conversations.size(), "conversations"},
                            {settings.forms.size(), "templates"},
                            {settings.rephrasings.size(), "rephrasings"},
                            {static_cast<std::uint64_t>(settings.sampling.rounds), "rounds"}});
}

}  // namespace stereosweep::probes::interview
