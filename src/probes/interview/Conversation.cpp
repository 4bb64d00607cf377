#include "probes/interview/Conversation.hpp"

#include <algorithm>
#include <set>

#include "base/text/Text.hpp"
#include "config/axes/AxisSource.hpp"

namespace stereosweep::probes::interview {
namespace {

using config::Node;

void check_item(const Node& node, const std::string& key, const RatedItem& item, base::Problems& problems) {
  config::check_surface(node, key + ".text", item.text, problems);
  config::check_surface(node, key + ".definition", item.definition, problems);
  check_braces(node, key + ".question", item.question, {"{group}", "{item}", "{scale}"}, problems);
}

std::vector<RatedItem> read_items(const Node& node, const std::string& key, base::Problems& problems) {
  std::vector<RatedItem> items;
  config::each_entry(node, key, problems, [&](const Node& entry, const std::string& place) {
    RatedItem item;
    config::read_fields(entry, place, problems, item, "{label: friendly, dimension: warmth}");
    item.text = item.text.empty() ? item.label : item.text;
    check_item(entry, place, item, problems);
    items.push_back(std::move(item));
  });
  return items;
}

/// {from: 1, to: 5, low: not at all, high: extremely}, or a list of [text,
/// value].
RatingScale read_scale(const Node& node, const std::string& key, base::Problems& problems) {
  RatingScale scale;
  if (node.kind == Node::Kind::list) {
    config::each_entry(node, key, problems, [&](const Node& entry, const std::string& place) {
      const auto pair = config::read_two(entry, place, problems);
      const auto value = pair ? base::parse_double(pair->second) : std::nullopt;
      if (pair && !value) {
        problems.add(entry.place(place), "'" + pair->second.substr(0, 40) + "' is no number",
                     "an option is [text, value]");
      } else if (pair) {
        const bool repeats = std::ranges::find(scale.options, pair->first) != scale.options.end() ||
                             std::ranges::find(scale.values, *value) != scale.values.end();
        if (repeats) {
          problems.add(entry.place(place), "option '" + pair->first + "' repeats a text or a value",
                       "options must differ");
        }
        config::check_surface(entry, place, pair->first, problems);
        scale.options.push_back(pair->first);
        scale.values.push_back(*value);
      }
    });
    if (node.children.size() < 2 || node.children.size() > 26) {
      problems.add(node.place(key), std::to_string(node.children.size()) + " options", "2 to 26 are expected");
    }
    return scale;
  }
  config::Fields fields(node, key, problems, "{from: 1, to: 5, low: not at all, high: extremely}");
  fields.required("from");
  fields.required("to");
  fields.integer("from", scale.low, -1000, 1000);
  fields.integer("to", scale.high, -1000, 1000);
  fields.line("low", scale.low_label);
  fields.line("high", scale.high_label);
  fields.finish();
  if (scale.low >= scale.high) {
    problems.add(node.place(key), "a scale from " + std::to_string(scale.low) + " to " + std::to_string(scale.high),
                 "'from' must be less than 'to'");
  }
  config::check_surface(node, key, scale.low_label + scale.high_label, problems);
  return scale;
}

/// What each kind of turn must have, and may not have.
void check_turn(const Node& node, const std::string& key, const Turn& turn, base::Problems& problems) {
  const bool rates = turn.kind == Turn::Kind::rating || turn.kind == Turn::Kind::ratings;
  if (rates != !turn.items.empty()) {
    problems.add(node.place(key + ".items"),
                 "the turn '" + turn.label + "' has " + base::counted(turn.items.size(), "item"),
                 rates ? "it asks for ratings" : "only rating and ratings have items");
  }
  if (turn.options == Turn::Options::asked && !rates) {
    problems.add(node.place(key + ".options"), "the turn '" + turn.label + "' has no scale",
                 "probabilities are asked of a scale's answers");
  }
  const bool asks = std::ranges::all_of(turn.items, [](const auto& item) { return !item.question.empty(); });
  const bool has_own = turn.kind == Turn::Kind::rating && asks && !turn.items.empty();
  if (turn.ask.empty() && !has_own) {
    problems.add(node.place(key + ".ask"), "the turn '" + turn.label + "' asks nothing", "a text is expected");
  }
  std::vector<std::string> known = {"{group}"};
  if (rates) {
    known.insert(known.end(), {"{scale}", turn.kind == Turn::Kind::rating ? "{item}" : "{items}"});
  }
  check_braces(node, key + ".ask", turn.ask, known, problems);
  const auto place = turn.kind == Turn::Kind::rating ? "{item}" : "{items}";
  if (rates && !has_own && !turn.ask.empty() && base::count_of(turn.ask, place) == 0) {
    problems.add(node.place(key + ".ask"), std::string("no ") + place + " in '" + base::excerpt(turn.ask, 60) + "'",
                 "what is rated must be said");
  }
  for (const auto& item : turn.items) {
    if (turn.kind == Turn::Kind::ratings && !item.question.empty()) {
      problems.add(node.place(key + ".items"), "'" + item.label + "' has a question of its own",
                   "items of 'ratings' are asked together", "Make the turn's kind 'rating'.");
    }
  }
}

Turn read_turn(const Node& node, const std::string& key, base::Problems& problems) {
  Turn turn;
  config::Fields fields(node, key, problems, "{label: keywords, kind: keywords, ask: 'Which words ... {group}?'}");
  fields.required("kind");
  Turn::each_key(turn, fields);
  if (const Node* items = fields.optional("items")) {
    turn.items = read_items(*items, key + ".items", problems);
  }
  fields.finish();
  check_turn(node, key, turn, problems);
  return turn;
}

/// Rules of a conversation as a whole.
void check_order(const Node& node, const std::string& key, const Conversation& conversation, base::Problems& problems) {
  std::set<std::string> labels;
  std::size_t keywords = 0;
  std::size_t reasons = 0;
  std::size_t single = 0;
  std::size_t rating = 0;
  for (const auto& turn : conversation.turns) {
    if (!labels.insert(turn.label).second) {
      problems.add(node.place(key + ".turns"), "two turns have the label '" + turn.label + "'", "labels must differ");
    }
    keywords += turn.kind == Turn::Kind::keywords ? 1 : 0;
    single += turn.kind == Turn::Kind::rating && turn.items.size() > 1 ? 1 : 0;
    rating += turn.items.empty() ? 0 : 1;
    if (turn.kind == Turn::Kind::reasons && (keywords == 0 || ++reasons > 1)) {
      problems.add(node.place(key + ".turns"), "turn '" + turn.label + "' asks for reasons",
                   keywords == 0 ? "no turn before it asks for keywords" : "another turn has asked for them");
    }
  }
  if (keywords > 1) {
    problems.add(node.place(key + ".turns"), std::to_string(keywords) + " turns ask for keywords",
                 "a conversation has one list of keywords", "Make two conversations of it.");
  }
  if (single > 0 && rating > 1) {
    problems.add(node.place(key + ".turns"), "a turn of kind 'rating' has several items, and another rates, too",
                 "each of the items gets a conversation of its own, and the other "
                 "turn's would be asked in each",
                 "Make two conversations of it, or use 'ratings'.");
  }
}

/// The turn that is asked first must say who is spoken of, also in forms
/// without steps.
void check_first(const Node& node, const std::string& key, const Conversation& conversation, base::Problems& problems) {
  const auto speaks = [](const Turn& turn) {
    return base::count_of(turn.ask, "{group}") > 0 ||
           (!turn.items.empty() && std::ranges::all_of(turn.items, [](const auto& item) {
             return base::count_of(item.question, "{group}") > 0;
           }));
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

Node dump_turn(const Turn& turn) {
  Node map = config::dump_fields(turn);
  if (!turn.items.empty()) {
    map.add("items", config::list_of(turn.items, config::dump_fields<RatedItem>));
  }
  return map;
}

Node dump_scale(const RatingScale& scale) {
  Node list = Node::list();
  for (std::size_t i = 0; i < scale.options.size(); ++i) {
    list.add(config::texts({scale.options[i], base::format_double(scale.values[i])}));
  }
  if (!scale.options.empty()) {
    return list;
  }
  Node map = Node::map();
  map.add("from", config::integer(scale.low));
  map.add("to", config::integer(scale.high));
  config::add_text(map, "low", scale.low_label);
  config::add_text(map, "high", scale.high_label);
  return map;
}

}  // namespace

double RatingScale::least() const {
  return options.empty() ? static_cast<double>(low) : *std::ranges::min_element(values);
}

double RatingScale::greatest() const {
  return options.empty() ? static_cast<double>(high) : *std::ranges::max_element(values);
}

std::vector<std::string> RatingScale::answers() const {
  auto texts = options;
  for (auto number = low; options.empty() && number <= high; ++number) {
    texts.push_back(std::to_string(number));
  }
  return texts;
}

std::vector<double> RatingScale::answer_values() const {
  auto numbers = values;
  for (auto number = low; options.empty() && number <= high; ++number) {
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

void check_braces(const Node& node, const std::string& key, const std::string& text,
                  const std::vector<std::string>& known, base::Problems& problems) {
  std::size_t total = 0;
  for (const auto& name : known) {
    total += base::count_of(text, name);
  }
  if (base::count_of(text, "{") > total || base::count_of(text, "}") > total) {
    problems.add(node.place(key), "an unknown placeholder in '" + base::excerpt(text, 60) + "'",
                 "known: " + base::join(known, ", "));
  }
}

std::vector<Conversation> read_conversations(const Node& node, const config::ProbeReading& job) {
  std::set<std::string> items;
  return config::read_entries<Conversation>(
      node, "conversations", "axes.conversations", job.pieces, job.problems,
      [&](const Node& entry, const std::string& key) {
        Conversation conversation;
        config::Fields fields(entry, key, job.problems, "{label: traits, turns: [...]}");
        fields.required_line("label", conversation.label);
        fields.text("instructions", conversation.instructions);
        if (const Node* scale = fields.optional("scale")) {
          conversation.scale = read_scale(*scale, key + ".scale", job.problems);
        }
        if (const Node* turns = fields.required("turns")) {
          config::expect_kind(*turns, Node::Kind::list, key + ".turns", job.problems, config::Emptiness::refused);
          config::each_entry(*turns, key + ".turns", job.problems, [&](const Node& turn, const std::string& place) {
            conversation.turns.push_back(read_turn(turn, place, job.problems));
          });
        }
        fields.finish();
        check_braces(entry, key + ".instructions", conversation.instructions, {"{group}"}, job.problems);
        check_order(entry, key, conversation, job.problems);
        if (!conversation.turns.empty()) {
          check_first(entry, key, conversation, job.problems);
        }
        for (const auto& turn : conversation.turns) {
          for (const auto& item : turn.items) {
            if (!item.label.empty() && !items.insert(item.label).second) {
              job.problems.add(entry.place(key), "the item '" + item.label + "' stands twice",
                               "labels of items name the columns of the scores",
                               "Give one of them another 'label', and keep its 'text'.");
            }
          }
        }
        return expanded(std::move(conversation));
      });
}

Node dump_conversation(const Conversation& conversation) {
  Node map = Node::map();
  config::add_text(map, "label", conversation.label);
  config::add_text(map, "instructions", conversation.instructions);
  map.add("scale", dump_scale(conversation.scale));
  map.add("turns", config::list_of(conversation.turns, dump_turn));
  return map;
}

}  // namespace stereosweep::probes::interview
