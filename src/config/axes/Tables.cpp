#include "config/axes/Tables.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::config {
namespace {

constexpr std::size_t max_bytes = std::size_t{8} << 20;
constexpr std::size_t max_rows = 100'000;

/// The separator of a table: a tab if the head has one, else a semicolon or a comma.
char separator_of(std::string_view head) {
  for (const char candidate : {'\t', ';'}) {
    if (head.find(candidate) != std::string_view::npos) {
      return candidate;
    }
  }
  return head.find(',') != std::string_view::npos ? ',' : '\t';
}

/// The quoted cell at the beginning of `line`, and where it ends; nothing if no quote closes it before a separator.
std::optional<std::pair<std::string, std::size_t>> quoted_cell(std::string_view line, char separator) {
  std::string cell;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] != '"') {
      cell += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      cell += line[at++];
    } else {
      const bool closes = at + 1 == line.size() || line[at + 1] == separator;
      return closes ? std::optional(std::pair(cell, at + 1)) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Cells of a line; one in double quotes may hold the separator, and two quotes for one.
std::vector<std::string> split_cells(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (true) {
    const auto quoted = line.starts_with('"') ? quoted_cell(line, separator) : std::nullopt;
    const auto end = quoted ? quoted->second : std::min(line.find(separator), line.size());
    cells.push_back(quoted ? quoted->first : std::string(line.substr(0, end)));
    if (end == line.size()) {
      return cells;
    }
    line.remove_prefix(end + 1);
  }
}

/// A node that stands in a row of the table.
Node placed(Node node, const Table& table, std::size_t row) {
  node.file = std::make_shared<const std::string>(table.file);
  node.line = table.lines[row];
  return node;
}

/// A row as an entry of a list. Empty cells are left out.
Node entry(const Table& table, std::size_t row, const std::vector<std::pair<std::string, std::string>>& cells) {
  Node map = placed(Node::map(), table, row);
  for (const auto& [key, value] : cells) {
    if (!value.empty()) {
      map.add(key, placed(Node::text(value), table, row));
    }
  }
  return map;
}

/// What each row has in these columns; no row where one of them is missing.
std::vector<std::vector<std::string>> cells_of(const Table& table, const std::vector<std::string>& names,
                                               base::Problems& problems) {
  const auto places = base::mapped(names, [&](const auto& name) { return table.column(name, problems); });
  return base::contains(places, std::optional<std::size_t>())
             ? std::vector<std::vector<std::string>>()
             : base::mapped(table.rows, [&](const auto& row) {
                 return base::mapped(places, [&](const auto& place) { return row[*place]; });
               });
}

}  // namespace

std::optional<std::size_t> Table::column(const std::string& name, base::Problems& problems) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  if (at != columns.end()) {
    return static_cast<std::size_t>(at - columns.begin());
  }
  if (!columns.empty()) {
    problems.add({file, 1, ""}, "the column '" + name + "' is missing", "columns: " + base::join(columns, ", "),
                 base::did_you_mean(name, columns));
  }
  return std::nullopt;
}

Table read_table(const std::string& path, base::Problems& problems) {
  Table table;
  table.file = path;
  std::string text;
  try {
    text = base::read_file(path, max_bytes);
  } catch (const base::InputError& error) {
    problems.add({path, 0, ""}, "the table cannot be read", error.what());
    return table;
  }
  if (const auto bad = base::find_invalid_utf8(text)) {
    problems.add({path, 0, ""}, "invalid UTF-8", "byte " + std::to_string(*bad), "Save the file as UTF-8.");
    return table;
  }
  std::vector<std::string> lines =
      base::split(std::string_view(text).substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0), '\n');
  int number = 0;
  char separator = '\t';
  for (auto& line : lines) {
    ++number;
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (line.empty()) {
      continue;
    }
    separator = table.columns.empty() ? separator_of(line) : separator;
    auto cells = split_cells(line, separator);
    if (table.columns.empty()) {
      table.columns = std::move(cells);
    } else if (cells.size() != table.columns.size() || !std::all_of(cells.begin(), cells.end(), [](const auto& cell) {
                 return base::find_control(cell, "") == std::string_view::npos;
               })) {
      problems.add({path, number, ""}, std::to_string(cells.size()) + " printable cells",
                   "the head has " + std::to_string(table.columns.size()));
      return table;
    } else if (table.rows.size() >= max_rows) {
      problems.add({path, number, ""}, "more than " + base::with_thousands(max_rows) + " rows", "limit of one table");
      return table;
    } else {
      table.rows.push_back(std::move(cells));
      table.lines.push_back(number);
    }
  }
  problems.add_if(table.rows.empty(), {path, 0, ""}, "the table is empty", "a head and at least one row are expected");
  return table;
}

Node read_group_table(const std::string& path, sweep::Priors& priors, base::Problems& problems) {
  Node entries = Node::list();
  const Table table = read_table(path, problems);
  const auto rows = cells_of(table, {"singular", "plural"}, problems);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& singular = rows[i][0];
    const auto& plural = rows[i][1];
    if (plural == "people" && i + 1 == rows.size()) {
      priors.word_singular = singular;
      priors.word_plural = plural;
    } else {
      entries.add(entry(table, i, {{"singular", singular}, {"plural", plural}}));
    }
  }
  return entries;
}

Node read_template_table(const std::string& path, base::Problems& problems) {
  Node entries = Node::list();
  const Table table = read_table(path, problems);
  const auto rows = cells_of(table, {"kind", "group_form", "template"}, problems);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // "plural_capitalised" is a plural at the start of a sentence, where every text of ours has its capital anyway.
    const std::string form = rows[i][1] == "plural_capitalised" ? "plural" : rows[i][1];
    const std::string text =
        base::replace_all(base::replace_all(rows[i][2], "<group>", "{group}"), "<mask>", "{trait}");
    entries.add(entry(table, i, {{"kind", rows[i][0]}, {"form", form}, {"text", text}}));
  }
  return entries;
}

Node read_trait_table(const std::string& path, base::Problems& problems) {
  Node entries = Node::list();
  const Table table = read_table(path, problems);
  const auto rows = cells_of(table, {"dimension", "pair", "pole", "trait", "adjectives"}, problems);
  std::unordered_map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& label = rows[i][1];
    const auto& side = rows[i][2];
    const base::Place place{path, table.lines[i], "pole"};
    if (side != "left" && side != "right") {
      problems.add(place, "unknown pole '" + side + "'", "left or right");
      continue;
    }
    const auto [at, is_new] = index_of.emplace(label, entries.children.size());
    if (is_new) {
      entries.add(entry(table, i, {{"label", label}, {"dimension", rows[i][0]}}));
    }
    Node& pair = entries.children[at->second];
    if (pair.find(side) != nullptr) {
      problems.add(place, "the pole stands twice", "pair '" + label + "'");
      continue;
    }
    Node& words = pair.add(side, entry(table, i, {{"name", rows[i][3]}})).add("words", placed(Node::list(), table, i));
    for (const auto& word : base::split(rows[i][4], '|')) {
      words.add(placed(Node::text(word), table, i));
    }
  }
  return entries;
}

}  // namespace stereosweep::config
