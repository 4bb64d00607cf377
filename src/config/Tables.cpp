#include "config/Tables.hpp"

#include <algorithm>

#include "base/File.hpp"
#include "base/Text.hpp"

namespace stereosweep::config {
namespace {

constexpr std::size_t max_bytes = std::size_t{8} << 20;
constexpr std::size_t max_rows = 100'000;

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
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
  for (auto& line : lines) {
    ++number;
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (line.empty()) {
      continue;
    }
    auto cells = base::split(line, '\t');
    if (table.columns.empty()) {
      table.columns = std::move(cells);
    } else if (cells.size() != table.columns.size() ||
               !std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return is_printable(cell); })) {
      problems.add({path, number, ""}, std::to_string(cells.size()) + " printable cells",
                   "the head has " + std::to_string(table.columns.size()));
      return table;
    } else if (table.rows.size() >= max_rows) {
      problems.add({path, number, ""}, "more than " + base::with_thousands(max_rows) + " rows", "limit of one table");
      return table;
    } else {
      table.rows.push_back(std::move(cells));
    }
  }
  if (table.rows.empty()) {
    problems.add({path, 0, ""}, "the table is empty", "a head and at least one row are expected");
  }
  return table;
}

GroupTable read_group_table(const std::string& path, base::Problems& problems) {
  GroupTable result;
  const Table table = read_table(path, problems);
  const auto singular = table.column("singular", problems);
  const auto plural = table.column("plural", problems);
  if (!singular || !plural) {
    return result;
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    domain::Group group;
    group.singular = table.rows[i][*singular];
    group.plural = table.rows[i][*plural];
    group.label = group.plural.empty() ? group.singular : group.plural;
    if (group.plural == "people" && i + 1 == table.rows.size()) {
      result.generic_singular = group.singular;
      result.generic_plural = group.plural;
    } else if (group.label.empty()) {
      problems.add({path, static_cast<int>(i) + 2, ""}, "a row without forms", "a group needs a form to stand in");
    } else {
      labels.push_back(group.label);
      result.groups.push_back(std::move(group));
    }
  }
  std::sort(labels.begin(), labels.end());
  if (const auto twice = std::adjacent_find(labels.begin(), labels.end()); twice != labels.end()) {
    problems.add({path, 0, ""}, "the group '" + *twice + "' stands twice", "labels name the rows of the result");
  }
  return result;
}

std::vector<domain::Template> read_template_table(const std::string& path, base::Problems& problems) {
  std::vector<domain::Template> templates;
  const Table table = read_table(path, problems);
  const auto kind = table.column("kind", problems);
  const auto form = table.column("group_form", problems);
  const auto text = table.column("template", problems);
  if (!kind || !form || !text) {
    return templates;
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const std::string& noun_form = row[*form];
    if (noun_form != "singular" && noun_form != "plural" && noun_form != "plural_capitalised") {
      problems.add({path, static_cast<int>(i) + 2, "group_form"}, "unknown form '" + noun_form + "'",
                   "one of singular, plural, plural_capitalised");
    }
    domain::Template sentence;
    sentence.kind = row[*kind];
    sentence.form = noun_form == "singular" ? domain::NounForm::singular : domain::NounForm::plural;
    sentence.text = base::replace_all(base::replace_all(row[*text], "<group>", "{group}"), "<mask>", "{trait}");
    sentence.label = sentence.text;
    templates.push_back(std::move(sentence));
  }
  return templates;
}

std::vector<domain::TraitPair> read_trait_table(const std::string& path, base::Problems& problems) {
  std::vector<domain::TraitPair> pairs;
  const Table table = read_table(path, problems);
  const auto dimension = table.column("dimension", problems);
  const auto label = table.column("pair", problems);
  const auto side = table.column("pole", problems);
  const auto trait = table.column("trait", problems);
  const auto adjectives = table.column("adjectives", problems);
  if (!dimension || !label || !side || !trait || !adjectives) {
    return pairs;
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const base::Place place{path, static_cast<int>(i) + 2, "pole"};
    auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const auto& p) { return p.label == row[*label]; });
    if (pair == pairs.end()) {
      pair = pairs.insert(pairs.end(), {row[*label], row[*dimension], {}, {}});
    }
    if (row[*side] != "left" && row[*side] != "right") {
      problems.add(place, "unknown pole '" + row[*side] + "'", "left or right");
      continue;
    }
    domain::Pole& pole = row[*side] == "left" ? pair->left : pair->right;
    if (!pole.words.empty()) {
      problems.add(place, "the pole stands twice", "pair '" + row[*label] + "'");
    }
    pole = {row[*trait], base::split(row[*adjectives], '|')};
    if (std::find(pole.words.begin(), pole.words.end(), "") != pole.words.end()) {
      problems.add(place, "an empty adjective", "pair '" + row[*label] + "'");
    }
  }
  for (const auto& pair : pairs) {
    if (pair.left.words.empty() || pair.right.words.empty()) {
      problems.add({path, 0, ""}, "the pair '" + pair.label + "' has one pole only", "left and right are needed");
    }
  }
  return pairs;
}

}  // namespace stereosweep::config
