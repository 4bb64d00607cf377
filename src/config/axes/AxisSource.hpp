// What the axis readers share. `Pieces` finds what an axis names: a file under configs/, a table of a published data
// set, or the list itself; `AxisSource` says where the entries come from and which are selected; labels must not
// repeat.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "config/language/LanguageTable.hpp"
#include "config/yaml/Fields.hpp"
#include "config/yaml/Yaml.hpp"

namespace stereosweep::config {

/// Where relative names of one job are looked up; parsed pieces are kept, so that a sweep reads each file once.
class Pieces {
 public:
  enum class Access { files, resolved, inline_only };

  /// For the job file's directory. `resolved`: the axes hold all that their language's table says; `inline_only`: and
  /// every name is refused (a resolved job has no pieces).
  Pieces(std::filesystem::path job_directory, Access access);

  /// The piece `configs/<kind>/<name>.yaml`: first beside the job file (../configs), then in the directory that the
  /// environment names (STEREOSWEEP_CONFIGS), then in ./configs. Faults are reported at `user`, the node that names it.
  const Node* find(const std::string& kind, const std::string& name, const Node& user, const std::string& key,
                   base::Problems& problems);
  /// A file of the user's own that has the form of a piece.
  const Node* find_file(const std::filesystem::path& path, const Node& user, const std::string& key,
                        base::Problems& problems);
  /// Names of all pieces of a kind, in alphabetical order, wherever `find` would look.
  std::vector<std::string> names(const std::string& kind) const;
  /// A path of the user's own (table, model): as it stands, relative to the working directory if something is there,
  /// else to the job file if something is there, else unchanged.
  std::string resolve_path(const std::string& path) const;
  bool inline_only() const { return access_ == Access::inline_only; }
  bool holds_language() const { return access_ != Access::files; }
  /// Of the job that is being read.
  const LanguageTable& language() const { return language_; }
  void set_language(LanguageTable language) { language_ = std::move(language); }

 private:
  std::filesystem::path job_directory_;
  Access access_;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Node> parsed_;
  LanguageTable language_;
};

/// Entries of one axis: `list` (of the job or of a piece) or `table` (path of a table).
struct AxisSource {
  const Node* list = nullptr;
  std::string key;                ///< dotted path of the list, in the file that holds it
  std::string table;              ///< resolved path; empty: none
  std::vector<std::string> only;  ///< labels to keep, in the file's order; empty: all
  const Node* only_node = nullptr;
  std::string only_key;
};

/// Understands NAME, [entries], {file: NAME, only: [...]}, {tsv: PATH, only: [...]}.
AxisSource find_source(const Node& node, const std::string& kind, const std::string& key, Pieces& pieces,
                       base::Problems& problems);

/// Names an entry; overloaded where that is no member `label`.
const std::string& label_of(const auto& entry) { return entry.label; }

/// An entry of a list, and where it stands.
template <class Entry>
struct Placed : Entry {
  const Node* node = nullptr;
  std::string key = {};
};

/// Keeps the entries that `source.only` names; what is dropped goes to `dropped`. Unknown names are reported.
template <class T>
std::vector<T> select(std::vector<T> entries, const AxisSource& source, base::Problems& problems,
                      std::vector<T>* dropped = nullptr) {
  if (source.only.empty() || entries.empty()) {  // none: that is in the report already
    return entries;
  }
  std::unordered_set<std::string> wanted(source.only.begin(), source.only.end());
  std::vector<std::string> labels;
  std::vector<T> kept;
  for (auto& entry : entries) {
    labels.push_back(label_of(entry));
    if (wanted.erase(labels.back()) > 0) {
      kept.push_back(std::move(entry));
    } else if (dropped != nullptr) {
      dropped->push_back(std::move(entry));
    }
  }
  for (const auto& name : source.only) {
    if (wanted.contains(name)) {
      problems.add(source.only_node->place(source.only_key), "unknown label '" + name + "'",
                   "it is not in the list that is selected from", suggest(name, labels, problems));
    }
  }
  return kept;
}

/// Reports labels that stand twice or are too long for a key.
class LabelCheck {
 public:
  explicit LabelCheck(base::Problems& problems) : problems_(problems) {}
  void add(const Node& node, const std::string& key, const std::string& label) {
    if (label.size() > 500) {
      problems_.add(node.place(key), "the label has " + std::to_string(label.size()) + " bytes", "limit: 500",
                    "Give it a shorter 'label'.");
    }
    if (!label.empty() && !seen_.insert(label).second) {
      problems_.add(node.place(key), "the label '" + label + "' stands twice", "labels name the rows of the result",
                    "Give one of them another 'label'.");
    }
  }

 private:
  base::Problems& problems_;
  std::unordered_set<std::string> seen_;
};

/// The entries of an axis, checked by their labels; `read(entry, key)` gives the items of one. What `only` leaves out
/// goes to `dropped`. `read_table(path)` gives the entries of a table; empty: they stand in none.
template <class Item, class Read>
std::vector<Item> read_entries(const Node& node, const std::string& kind, const std::string& key, Pieces& pieces,
                               base::Problems& problems, Read read, std::vector<Item>* dropped = nullptr,
                               const std::function<Node(const std::string&)>& read_table = {}) {
  auto source = find_source(node, kind, key, pieces, problems);
  Node entries;
  if (!source.table.empty() && read_table) {
    entries = read_table(source.table);
    source.list = &entries;
    source.key = kind;
  }
  problems.add_if(!source.table.empty() && !read_table, node.place(key), kind + " stand in no table",
                  "a list or the name of a piece is expected");
  LabelCheck labels(problems);
  std::vector<Item> items;
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const Node& entry = source.list->children[i];
    const std::string entry_key = source.key + "[" + std::to_string(i) + "]";
    for (auto& item : read(entry, entry_key)) {
      labels.add(entry, entry_key, label_of(item));
      items.push_back(std::move(item));
    }
  }
  return select(std::move(items), source, problems, dropped);
}

/// An axis whose entries stand in a list or in a piece of `kind`: under the first of `names`, as dumps have it, or
/// under the second. `read(entry, key, keys)` gives what is made of an `Entry`. Where there is no default the axis is
/// needed.
template <class Entry, class Item>
void entries_key(Fields& keys, const std::vector<std::string>& names, const std::string& kind, std::vector<Item>& items,
                 std::string_view /*about*/, auto read) {
  const auto [node, key] = names.size() > 1 ? keys.either(names[0], names[1])
                                            : Fields::Named{keys.optional(names[0]), keys.key_of(names[0])};
  if (node != nullptr) {
    items = read_entries<Item>(*node, kind, key, keys.pieces(), keys.problems(),
                               [&](const Node& entry, const std::string& own) { return read(entry, own, keys); });
  } else if (items.empty()) {
    keys.required(names.front());
  }
}
template <class Entry, class Item>
void entries_key(ShownKeys& keys, const std::vector<std::string>& names, const std::string& /*kind*/,
                 const std::vector<Item>& items, std::string_view about, auto /*read*/) {
  (names.size() == 1 && items.empty() ? keys.needed() : keys)
      .sourced(names.front(), std::vector<Entry>(items.begin(), items.end()), about);
  if (names.size() > 1 && keys.describes()) {
    keys.sourced(names.back(), std::vector<Entry>(), "another name of '" + names.front() + "'");
  }
}

/// `human_ratings`: PATH, or {path: PATH, aliases: {name in the table: label of the job}}.
void ratings_key(Fields& keys, std::string& path, Names& aliases);
void ratings_key(ShownKeys& keys, const std::string& path, const Names& aliases);

/// Reports what would be taken for a mask or a placeholder inside a surface text.
void check_surface(const Node& node, const std::string& key, const std::string& text, base::Problems& problems);

/// A place in a text, under one of its names, and how often it stands there.
struct Placeholder {
  std::vector<std::string> names;
  std::size_t least = 1;
  std::size_t most = 1;
};
constexpr auto any_number = std::numeric_limits<std::size_t>::max();

/// Reports placeholders that do not stand in the text as often as they should, and other braces.
void check_places(const base::Place& place, const std::string& text, const std::vector<Placeholder>& places,
                  base::Problems& problems);

}  // namespace stereosweep::config
