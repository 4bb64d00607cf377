#include "config/axes/AxisSource.hpp"

namespace stereosweep::config {
namespace {

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

void check_surface(const Node& node, const std::string& key, const std::string& text, base::Problems& problems) {
  for (const char* mark : {"[MASK]", "<mask>", "{", "}"}) {
    if (text.find(mark) != std::string::npos) {
      problems.add(node.place(key), "'" + std::string(mark) + "' in '" + text.substr(0, 60) + "'",
                   "it would be taken for a mask or a placeholder");
      return;
    }
  }
}

void read_rating_source(const Node& node, Pieces& pieces, base::Problems& problems, std::string& path,
                        std::vector<std::pair<std::string, std::string>>& aliases) {
  const std::string key = "statistics.human_ratings";
  if (node.kind != Node::Kind::map) {
    path = pieces.resolve_path(read_line(node, key, problems, 4000).value_or(""));
    return;
  }
  Fields fields(node, key, problems);
  if (const Node* file = fields.required("path")) {
    path = pieces.resolve_path(read_line(*file, key + ".path", problems, 4000).value_or(""));
  }
  if (const Node* names = fields.optional("aliases")) {
    aliases = read_names(*names, key + ".aliases", problems);
  }
  fields.finish();
}

void add_ratings(Node& map, const std::string& path, const std::vector<std::pair<std::string, std::string>>& aliases) {
  if (aliases.empty()) {
    add_text(map, "human_ratings", path);
    return;
  }
  Node ratings = Node::map();
  add_text(ratings, "path", path);
  ratings.add("aliases", dump_names(aliases));
  map.add("human_ratings", std::move(ratings));
}

}  // namespace stereosweep::config
