#include "config/statistics/PeopleReader.hpp"

#include <algorithm>
#include <utility>

#include "base/text/Text.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/axes/Selections.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {
namespace {

using sweep::People;

const std::string people_key = "statistics.people";
const std::vector<std::string> drawn_names = {"annotator", "template", "rephrasing"};

void read_scale(const Node& node, const std::string& key, base::Problems& problems, People& people) {
  const auto ends = read_two(node, key, problems);
  if (!ends) {
    return;
  }
  const auto low = base::parse_double(ends->first);
  const auto high = base::parse_double(ends->second);
  if (!low || !high || *low >= *high) {
    problems.add(node.place(key), "'" + ends->first + "', '" + ends->second + "' are no ends of a scale",
                 "two numbers are expected, the lower one first", "Write [1, 7].");
    return;
  }
  people.low = *low;
  people.high = *high;
}

/// A list of annotators, or {share: 0.25, seed: 1}.
void read_pilot_annotators(const Node& node, const std::string& key, base::Problems& problems, People::Pilot& pilot) {
  if (node.kind == Node::Kind::list) {
    pilot.annotators = read_lines(node, key, problems).value_or(pilot.annotators);
    return;
  }
  Fields fields(node, key, problems, "[ANNOTATOR, ANNOTATOR] or {share: 0.25, seed: 1}");
  fields.required("share");
  fields.number("share", pilot.share, 0.001, 0.999);
  if (const Node* seed = fields.optional("seed")) {
    pilot.seed = read_seed(*seed, fields.key_of("seed"), problems).value_or(0);
  }
  fields.finish();
}

People::Pilot read_pilot(const Node& node, const std::string& key, base::Problems& problems) {
  People::Pilot pilot;
  Fields fields(node, key, problems, "{pilot_subjects: [LABEL], pilot_annotators: {share: 0.25, seed: 1}, most: 2}");
  fields.lines("pilot_subjects", pilot.subjects);
  const Node* annotators = fields.optional("pilot_annotators");
  if (annotators != nullptr) {
    read_pilot_annotators(*annotators, fields.key_of("pilot_annotators"), problems, pilot);
  }
  fields.integer("most", pilot.most, 1, 2);
  if (fields.usable() && annotators == nullptr && fields.optional("pilot_subjects") == nullptr) {
    problems.add(node.place(key), "no pilot is named", "what chooses the templates must not judge them",
                 "Give 'pilot_subjects', 'pilot_annotators' or both.");
  }
  fields.finish();
  return pilot;
}

Node dump_pilot(const People::Pilot& pilot) {
  FieldsDump fields;
  if (!pilot.subjects.empty()) {
    fields.required_lines("pilot_subjects", pilot.subjects);
  }
  if (!pilot.annotators.empty()) {
    fields.required_lines("pilot_annotators", pilot.annotators);
  } else if (pilot.share > 0) {
    Node draw = Node::map();
    draw.add("share", number(pilot.share));
    draw.add("seed", Node::plain(std::to_string(pilot.seed)));
    fields.add("pilot_annotators", std::move(draw));
  }
  fields.add("most", integer(pilot.most));
  return fields.take();
}

}  // namespace

People read_people(const Node& node, const Pieces& pieces, base::Problems& problems) {
  People people;
  Fields fields(node, people_key, problems, "{ratings: TABLE.tsv}");
  if (const Node* path = fields.required("ratings")) {
    people.ratings = read_line(*path, fields.key_of("ratings"), problems, 4000).value_or("");
    people.ratings = people.ratings.empty() ? "" : pieces.resolve_path(people.ratings);
  }
  if (const Node* names = fields.optional("aliases")) {
    people.aliases = read_names(*names, fields.key_of("aliases"), problems);
  }
  if (const Node* scale = fields.optional("scale")) {
    read_scale(*scale, fields.key_of("scale"), problems, people);
  }
  if (const Node* only = fields.optional("only")) {
    people.only = read_selections(*only, fields.key_of("only"), problems);
  }
  fields.line("subgroups", people.subgroups);
  read_labels(fields, "measures", problems, people.measures);
  if (const Node* over = fields.optional("over")) {
    people.over.emplace();
    for (const auto index : read_choices(*over, fields.key_of("over"), problems, drawn_names, Choices::distinct)) {
      people.over->push_back(static_cast<People::Drawn>(index));
    }
  }
  if (const Node* selection = fields.optional("selection")) {
    people.pilot = read_pilot(*selection, fields.key_of("selection"), problems);
  }
  fields.finish();
  return people;
}

Node dump_people(const People& people) {
  FieldsDump fields;
  fields.line("ratings", people.ratings);
  if (!people.aliases.empty()) {
    fields.add("aliases", dump_names(people.aliases));
  }
  Node scale = Node::list();
  scale.add(number(people.low));
  scale.add(number(people.high));
  fields.add("scale", std::move(scale));
  if (!people.only.empty()) {
    fields.add("only", dump_selections(people.only));
  }
  fields.line("subgroups", people.subgroups);
  fields.add("measures", dump_labels(people.measures));
  if (people.over) {
    fields.add("over", choice_list(*people.over, drawn_names));
  }
  if (people.pilot) {
    fields.add("selection", dump_pilot(*people.pilot));
  }
  return fields.take();
}

base::Json people_schema() {
  const People people;
  const People::Pilot pilot;
  FieldsSchema draw;
  draw.needed().number("share", pilot.share, 0.001, 0.999);
  draw.seed("seed", pilot.seed);
  FieldsSchema selection;
  selection.lines("pilot_subjects", {});
  selection.add("pilot_annotators", either_schema({lines_schema(), draw.take()}));
  selection.integer("most", pilot.most, 1, 2, "templates whose scores are averaged");
  FieldsSchema keys;
  keys.needed().path("ratings", people.ratings, "the table");
  keys.names("aliases", people.aliases, "name in the table: label of the score table");
  keys.add("scale", pair_schema(base::Json::object({{"type", "number"}})), "ends of the table's scale");
  keys.selections("only", people.only, "rows of the table that count");
  keys.line("subgroups", people.subgroups, "a column whose values are told apart");
  keys.labels("measures", people.measures);
  keys.choices("over", std::vector<People::Drawn>(), drawn_names, "what is drawn for intervals");
  keys.add("selection", selection.take(), "data that choose the templates");
  return keys.take();
}

}  // namespace stereosweep::config
