#include "config/Chat.hpp"

#include <algorithm>

#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {
namespace {

using sweep::ChatTemplate;

constexpr std::size_t max_template_bytes = std::size_t{1} << 20;

ChatPiece read_piece(const Node& node, const std::string& key, const std::string& label, base::Problems& problems) {
  ChatPiece piece;
  ChatTemplate& chat = piece.chat;
  chat.label = label;
  Fields fields(node, key, problems);
  ChatTemplate::each_key(chat, fields);
  fields.texts("marks", piece.marks);
  fields.texts("known_texts", piece.known_texts);
  fields.finish();
  if (chat.label.empty()) {
    problems.add(node.place(key), "a chat template has no label", "the result names it");
  }
  return piece;
}

std::optional<ChatPiece> find_piece(const std::string& name, const Node& user, const std::string& key, Pieces& pieces,
                                    base::Problems& problems) {
  const Node* file = pieces.find("chat", name, user, key, problems);
  if (file == nullptr || file->kind == Node::Kind::broken) {
    return std::nullopt;
  }
  Fields fields(*file, "", problems);
  fields.required("schema");
  fields.piece_head();
  std::optional<ChatPiece> piece;
  if (const Node* chat = fields.required("chat")) {
    piece = read_piece(*chat, "chat", name, problems);
  }
  fields.finish();
  return piece;
}

/// A JSON file of a checkpoint; nothing where there is none, null where it is no object.
std::optional<base::Json> read_json_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return std::nullopt;
  }
  auto document = base::parse_json(base::read_file(path, std::size_t{64} << 20), path.string());
  return document.is_object() ? document : base::Json();
}

std::string hash_of(std::string_view text) { return base::to_hex(base::sha256(normalised_chat_text(text))); }

/// The checkpoint's bos_token, a text or an object with one; "" for null, nothing where the key is left out.
std::optional<std::string> first_token(const std::string& model) {
  const auto document = read_json_file(base::checkpoint_directory(model) / "tokenizer_config.json");
  if (!document || !document->contains("bos_token")) {
    return std::nullopt;
  }
  auto token = document->at("bos_token");
  token = token.is_object() ? token.value("content", base::Json()) : token;
  return token.is_string() ? token.get<std::string>() : "";
}

/// The checkpoint's text writes its own bos_token, ours the family's: control_tokens has it first.
bool opens_alike(const ChatTemplate& chat, std::string_view text, const std::string& model_path, const Node& node,
                 base::Problems& problems) {
  const auto first = text.find("bos_token") == std::string_view::npos ? std::nullopt : first_token(model_path);
  if (!first || chat.control_tokens.empty() || *first == chat.control_tokens.front()) {
    return true;
  }
  problems.add(node.place("model.chat"),
               "the bos_token of the model '" + model_path + "' is " + base::json_quote(*first),
               "its chat template is that of '" + chat.label + "', which begins with " +
                   base::json_quote(chat.control_tokens.front()),
               "Write the template into the job with this token, or name another.");
  return false;
}

/// What `auto` finds; otherwise a fault whose suggestion names the templates that have the text's marks.
std::optional<ChatTemplate> recognise(const std::string& model_path, const Node& node, Pieces& pieces,
                                      base::Problems& problems) {
  const std::string ask = "Say model.chat: NAME of a file in configs/chat, or none for a base model.";
  std::optional<std::string> text;
  try {
    text = read_checkpoint_chat_text(model_path);
  } catch (const base::InputError& fault) {
    problems.add(node.place("model.chat"), "the checkpoint's chat template cannot be read", fault.what(), ask);
    return std::nullopt;
  }
  if (!text) {
    problems.add(node.place("model.chat"), "no chat template is known for the model '" + model_path + "'",
                 "there is none in its chat_template.jinja, tokenizer_config.json, chat_template.json", ask);
    return std::nullopt;
  }
  const std::string hash = hash_of(*text);
  std::vector<std::string> alike;
  for (const auto& name : pieces.names("chat")) {
    const auto piece = find_piece(name, node, "model.chat", pieces, problems);
    if (!piece) {
      continue;
    }
    if (std::find(piece->known_texts.begin(), piece->known_texts.end(), hash) != piece->known_texts.end()) {
      return opens_alike(piece->chat, *text, model_path, node, problems) ? std::optional(piece->chat) : std::nullopt;
    }
    const auto stands = [&](const std::string& mark) { return text->find(mark) != std::string::npos; };
    if (!piece->marks.empty() && std::all_of(piece->marks.begin(), piece->marks.end(), stands)) {
      alike.push_back(name);
    }
  }
  problems.add(node.place("model.chat"), "the chat template of the model '" + model_path + "' is not a known one",
               "SHA-256 of its normalised text: " + hash,
               ask + (alike.empty() ? "" : " It looks like " + base::join(alike, " or ") + "."));
  return std::nullopt;
}

}  // namespace

std::optional<ChatTemplate> read_model_chat(const Node& node, const std::string& model_path, Pieces& pieces,
                                            base::Problems& problems) {
  if (node.kind == Node::Kind::map) {
    return read_piece(node, "model.chat", "", problems).chat;
  }
  const auto name =
      node.kind == Node::Kind::null ? std::optional<std::string>("auto") : read_line(node, "model.chat", problems, 100);
  if (!name || *name == "none") {
    return std::nullopt;
  }
  if (*name == "auto" && !pieces.inline_only()) {
    return recognise(model_path, node, pieces, problems);
  }
  const auto piece = find_piece(*name, node, "model.chat", pieces, problems);
  return piece ? std::optional(piece->chat) : std::nullopt;
}

ChatTemplate find_chat(const std::string& name, const std::filesystem::path& job_directory) {
  base::Problems problems;
  Pieces pieces(job_directory, Pieces::Access::files);
  const auto piece = find_piece(name, Node::text(name), "chat", pieces, problems);
  problems.raise_if_any("the chat template '" + name + "' cannot be used:");
  return piece.value().chat;
}

ChatTemplate find_checkpoint_chat(const std::string& model_path, const std::filesystem::path& job_directory) {
  base::Problems problems;
  Pieces pieces(job_directory, Pieces::Access::files);
  const auto chat = recognise(model_path, Node(), pieces, problems);
  problems.raise_if_any("the chat template cannot be chosen:");
  return chat.value();
}

std::optional<std::string> read_checkpoint_chat_text(const std::string& model_path) {
  const auto directory = base::checkpoint_directory(model_path);
  std::error_code error;
  if (std::filesystem::exists(directory / "chat_template.jinja", error)) {
    return base::read_file(directory / "chat_template.jinja", max_template_bytes);
  }
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    const auto document = read_json_file(directory / name);
    if (!document || !document->contains("chat_template") || document->at("chat_template").is_null()) {
      continue;
    }
    const auto& found = document->at("chat_template");
    if (found.is_string()) {
      return found.get<std::string>();
    }
    for (const auto& entry : found.is_array() ? found : base::Json::array()) {
      if (entry.is_object() && entry.value("name", base::Json()) == "default" && entry.contains("template") &&
          entry.at("template").is_string()) {
        return entry.at("template").get<std::string>();
      }
    }
    throw base::InputError(
        base::describe((directory / name).string() + ": 'chat_template' is neither a text nor a list with a 'default'",
                       "which template counts is unclear"));
  }
  return std::nullopt;
}

std::string normalised_chat_text(std::string_view text) {
  const std::string plain = base::replace_all(base::replace_all(std::string(text), "\r\n", "\n"), "\n", "\\n");
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
      out += c;
    } else if (plain.compare(i, 2, "\\n") == 0) {
      ++i;
    } else if (c != ' ' && c != '\t') {
      quote = c == '\'' || c == '"' ? c : '\0';
      out += c;
    }
  }
  return out;
}

}  // namespace stereosweep::config
