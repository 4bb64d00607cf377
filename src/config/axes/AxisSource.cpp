#include "config/axes/AxisSource.hpp"

#include <cstdlib>
#include <set>

#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::config {
namespace {

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
             std::string::npos;
}

/// A piece is a list, or {schema, about, KIND: list}.
void open_piece(const Node& piece, const std::string& kind, AxisSource& source, base::Problems& problems) {
  if (piece.kind == Node::Kind::list) {
    source.list = &piece;
    source.key = kind;
    return;
  }
  Fields fields(piece, "", problems);
  fields.piece_head();
  source.list = fields.required(kind);
  source.key = kind;
  fields.finish();
}

}  // namespace

Pieces::Pieces(std::filesystem::path job_directory, Access access)
    : job_directory_(std::move(job_directory)), access_(access) {
  roots_.push_back(job_directory_ / ".." / "configs");
  if (const char* named = std::getenv("STEREOSWEEP_CONFIGS"); named != nullptr && *named != '\0') {
    roots_.emplace_back(named);
  }
  roots_.emplace_back("configs");
}

const Node* Pieces::find(const std::string& kind, const std::string& name, const Node& user, const std::string& key,
                         base::Problems& problems) {
  if (inline_only()) {
    problems.add(user.place(key), "the name '" + base::excerpt(name, 60) + "' stands where a list is needed",
                 "a resolved job names no other files");
    return nullptr;
  }
  if (!is_plain_name(name)) {
    problems.add(user.place(key), "'" + base::excerpt(name, 60) + "' is no name of a piece",
                 "letters, digits, '_' and '-' only: no folders, no endings",
                 "Pieces are configs/" + kind + "/NAME.yaml; tables are given as {tsv: PATH}.");
    return nullptr;
  }
  std::string searched;
  for (const auto& root : roots_) {
    const auto path = (root / kind / (name + ".yaml")).lexically_normal();
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return find_file(path, user, key, problems);
    }
    if (searched.find(path.string()) == std::string::npos) {  // two roots may be one folder
      searched += (searched.empty() ? "" : ", ") + path.string();
    }
  }
  const auto known = names(kind);
  const auto nearest = suggest(name, known, problems);
  problems.add(user.place(key), "no piece '" + name + "' of the kind " + kind, "looked for " + searched,
               known.empty()     ? "STEREOSWEEP_CONFIGS names the folder of the pieces, where the job lies elsewhere."
               : nearest.empty() ? "A list of your own stands in brackets: [" + name + "]."
                                 : nearest);
  return nullptr;
}

const Node* Pieces::find_file(const std::filesystem::path& path, const Node& user, const std::string& key,
                              base::Problems& problems) {
  if (const auto known = parsed_.find(path.string()); known != parsed_.end()) {
    return &known->second;
  }
  try {
    const std::string text = base::read_file(path, YamlLimits().max_bytes);
    return &parsed_.emplace(path.string(), parse_yaml(text, path.string(), problems)).first->second;
  } catch (const base::InputError& fault) {
    problems.add(user.place(key), "the piece cannot be read", fault.what());
    return nullptr;
  }
}

std::vector<std::string> Pieces::names(const std::string& kind) const {
  std::set<std::string> names;
  for (const auto& root : roots_) {
    std::error_code error;
    for (const auto& path : base::entries_of(root / kind, error)) {
      if (path.extension() == ".yaml" && names.size() < 1000) {
        names.insert(path.stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

std::string Pieces::resolve_path(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path given(path);
  if (inline_only() || given.is_absolute() || std::filesystem::exists(given, error)) {
    return path;
  }
  const auto beside = (job_directory_ / given).lexically_normal();
  return std::filesystem::exists(beside, error) ? beside.string() : path;
}

AxisSource find_source(const Node& node, const std::string& kind, const std::string& key, Pieces& pieces,
                       base::Problems& problems) {
  AxisSource source;
  std::string piece_name;
  const Node* name_node = &node;
  if (node.kind == Node::Kind::list) {
    source.list = &node;
    source.key = key;
  } else if (node.kind == Node::Kind::scalar) {
    piece_name = node.value;
  } else {
    Fields fields(node, key, problems);
    const Node* file = fields.optional("file");
    const Node* table = fields.optional("tsv");
    fields.lines("only", source.only);
    source.only_node = fields.optional("only");
    source.only_key = key + ".only";
    fields.finish();
    if (fields.usable() && (file == nullptr) == (table == nullptr)) {
      problems.add(node.place(key), "exactly one of 'file' and 'tsv' is expected", "they say where the list is");
    } else if (file != nullptr) {
      piece_name = read_line(*file, key + ".file", problems).value_or("");
      name_node = file;
    } else if (table != nullptr) {
      source.table = pieces.resolve_path(read_line(*table, key + ".tsv", problems).value_or(""));
    }
  }
  if (!piece_name.empty()) {
    const Node* piece = pieces.find(kind, piece_name, *name_node, key, problems);
    if (piece != nullptr && piece->kind != Node::Kind::broken) {
      open_piece(*piece, kind, source, problems);
    }
  }
  if (source.list != nullptr &&
      !expect_kind(*source.list, Node::Kind::list, source.key, problems, Emptiness::refused)) {
    source.list = nullptr;
  }
  return source;
}

base::Json source_schema(base::Json entry) {
  auto keys = ShownKeys::of_schema();
  keys.line("file", "", "name of a piece under configs/");
  keys.line("tsv", "", "path of a table");
  keys.lines("only", {}, Emptiness::refused, "labels of those that are taken");
  return either_schema({text_schema(), list_schema(std::move(entry)), keys.take_schema()});
}

void check_surface(const Node& node, const std::string& key, const std::string& text, base::Problems& problems) {
  for (const char* mark : {"[MASK]", "<mask>", "{", "}"}) {
    if (text.find(mark) != std::string::npos) {
      problems.add(node.place(key), "'" + std::string(mark) + "' in '" + base::excerpt(text, 60) + "'",
                   "it would be taken for a mask or a placeholder");
      return;
    }
  }
}

void check_places(const base::Place& place, const std::string& text, const std::vector<Placeholder>& places,
                  base::Problems& problems) {
  const std::string shown = "'" + base::excerpt(text, 80) + "'";
  std::vector<std::string> known;
  std::size_t total = 0;
  for (const auto& [names, least, most] : places) {
    std::size_t count = 0;
    for (const auto& name : names) {
      count += base::count_of(text, name);
    }
    problems.add_if(count < least || count > most, place,
                    std::to_string(count) + " times " + base::join(names, " or ") + " in " + shown,
                    std::string(least == most   ? "exactly"
                                : count < least ? "at least"
                                                : "at most") +
                        " one is expected");
    total += count;
    known.insert(known.end(), names.begin(), names.end());
  }
  problems.add_if(base::count_of(text, "{") > total || base::count_of(text, "}") > total, place,
                  "an unknown placeholder in " + shown, "known: " + base::join(known, ", "));
}

void ratings_key(Fields& keys, std::string& path, Names& aliases) {
  const Node* node = keys.optional("human_ratings");
  if (node == nullptr || node->kind != Node::Kind::map) {
    keys.path("human_ratings", path);
    return;
  }
  keys.nested("human_ratings", [&](Fields& own) {
    own.needed().path("path", path);
    own.names("aliases", aliases);
  });
}

void ratings_key(ShownKeys& keys, const std::string& path, const Names& aliases) {
  if (aliases.empty() && !keys.describes()) {
    keys.path("human_ratings", path);
    return;
  }
  const auto visit = [&](ShownKeys& own) {
    own.needed().alone().path("path", path);
    own.names("aliases", aliases, "name in the table: label of the job");
  };
  keys.nested("human_ratings", visit, "a table of people's means");
}

}  // namespace stereosweep::config
