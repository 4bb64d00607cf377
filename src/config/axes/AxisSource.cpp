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

base::Json source_schema(base::Json entry) {
  FieldsSchema keys;
  keys.line("file", "", "name of a piece under configs/");
  keys.line("tsv", "", "path of a table");
  keys.lines("only", {}, Emptiness::refused, "labels of those that are taken");
  return either_schema({text_schema(), list_schema(std::move(entry)), keys.take()});
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

void ratings_key(FieldsDump& keys, const std::string& path, const Names& aliases) {
  if (aliases.empty()) {
    keys.path("human_ratings", path);
    return;
  }
  keys.nested("human_ratings", [&](FieldsDump& own) {
    own.path("path", path);
    own.names("aliases", aliases);
  });
}

void ratings_key(FieldsSchema& keys, const std::string& path, const Names& aliases) {
  FieldsSchema own;
  own.needed().alone().path("path", path);
  own.names("aliases", aliases, "name in the table: label of the job");
  keys.add("human_ratings", own.take(), "a table of people's means");
}

}  // namespace stereosweep::config
