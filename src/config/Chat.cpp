#include "config/Chat.hpp"

#include <algorithm>

#include "base/File.hpp"
#include "base/Json.hpp"
#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "config/DumpNodes.hpp"
#include "config/Fields.hpp"

namespace stereosweep::config {
namespace {

using sweep::ChatTemplate;

constexpr std::size_t max_template_bytes = std::size_t{1} << 20;

void read_text_field(Fields& fields, const std::string& name, std::string& target, base::Problems& problems) {
  if (const Node* node = fields.optional(name)) {
    target = read_text(*node, fields.key_of(name), problems).value_or("");
  }
}

template <class Choice>
void read_choice_field(Fields& fields, const std::string& name, const std::vector<std::string>& names, Choice& target,
                       base::Problems& problems) {
  if (const Node* node = fields.optional(name)) {
    target = static_cast<Choice>(read_choice(*node, fields.key_of(name), problems, names).value_or(0));
  }
}

const std::vector<std::string> handlings = {"turn", "merged", "refused"};
const std::vector<std::string> trims = {"none", "both_ends"};
const std::vector<std::string> blank_lines = {"kept", "halved"};
const std::vector<std::string> orders = {"free", "alternate"};

sweep::ChatTurn read_turn(const Node& node, const std::string& key, base::Problems& problems,
                          ChatTemplate::System* handling) {
  sweep::ChatTurn turn;
  Fields fields(node, key, problems);
  read_text_field(fields, "prefix", turn.prefix, problems);
  read_text_field(fields, "suffix", turn.suffix, problems);
  if (handling != nullptr) {
    read_choice_field(fields, "handling", handlings, *handling, problems);
  }
  fields.finish();
  return turn;
}

ChatPiece read_piece(const Node& node, const std::string& key, const std::string& label, base::Problems& problems) {
  ChatPiece piece;
  ChatTemplate& chat = piece.chat;
  chat.label = label;
  Fields fields(node, key, problems);
  fields.line("label", chat.label);
  read_text_field(fields, "opening", chat.opening, problems);
  if (const Node* system = fields.required("system")) {
    chat.system = read_turn(*system, key + ".system", problems, &chat.system_handling);
  }
  if (const Node* user = fields.required("user")) {
    chat.user = read_turn(*user, key + ".user", problems, nullptr);
  }
  if (const Node* assistant = fields.required("assistant")) {
    chat.assistant = read_turn(*assistant, key + ".assistant", problems, nullptr);
  }
  read_text_field(fields, "generation", chat.generation, problems);
  read_choice_field(fields, "trim", trims, chat.trim, problems);
  read_choice_field(fields, "blank_lines", blank_lines, chat.blank_lines, problems);
  read_choice_field(fields, "order", orders, chat.order, problems);
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"control_tokens", &chat.control_tokens}, {"marks", &piece.marks}, {"known_texts", &piece.known_texts}};
  for (const auto& [name, target] : lists) {
    const Node* list = fields.optional(name);
    for (std::size_t i = 0; list != nullptr && i < list->children.size(); ++i) {
      target->push_back(read_text(list->children[i], key + "." + name, problems).value_or(""));
    }
  }
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
  const std::vector<std::string> schemas = {"stereosweep/1"};
  std::string about;
  if (const Node* schema = fields.required("schema")) {
    read_choice(*schema, "schema", problems, schemas);
  }
  read_text_field(fields, "about", about, problems);
  std::optional<ChatPiece> piece;
  if (const Node* chat = fields.required("chat")) {
    piece = read_piece(*chat, "chat", name, problems);
  }
  fields.finish();
  return piece;
}

std::string hash_of(std::string_view text) { return base::to_hex(base::sha256(normalised_chat_text(text))); }

/// The checkpoint's bos_token, a text or an object with one; "" for null, nothing where the key is left out.
std::optional<std::string> first_token(const std::filesystem::path& model) {
  const auto path = model / "tokenizer_config.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return std::nullopt;
  }
  const auto document = base::parse_json(base::read_file(path, std::size_t{64} << 20), path.string());
  if (!document.is_object() || !document.contains("bos_token")) {
    return std::nullopt;
  }
  auto token = document.at("bos_token");
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

Node dump_chat(const ChatTemplate& chat) {
  const auto turn = [](const sweep::ChatTurn& around) {
    Node map = Node::map();
    add_text(map, "prefix", around.prefix);
    add_text(map, "suffix", around.suffix);
    return map;
  };
  const auto choice = [](const std::vector<std::string>& names, auto value) {
    return Node::plain(names.at(static_cast<std::size_t>(value)));
  };
  Node map = Node::map();
  map.add("label", Node::text(chat.label));
  add_text(map, "opening", chat.opening);
  map.add("system", turn(chat.system)).add("handling", choice(handlings, chat.system_handling));
  map.add("user", turn(chat.user));
  map.add("assistant", turn(chat.assistant));
  add_text(map, "generation", chat.generation);
  map.add("trim", choice(trims, chat.trim));
  map.add("blank_lines", choice(blank_lines, chat.blank_lines));
  map.add("order", choice(orders, chat.order));
  map.add("control_tokens", texts(chat.control_tokens));
  return map;
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
  const std::filesystem::path directory(model_path);
  std::error_code error;
  if (std::filesystem::exists(directory / "chat_template.jinja", error)) {
    return base::read_file(directory / "chat_template.jinja", max_template_bytes);
  }
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    if (!std::filesystem::exists(directory / name, error)) {
      continue;
    }
    const auto path = (directory / name).string();
    const auto document = base::parse_json(base::read_file(path, std::size_t{64} << 20), path);
    const auto found = document.is_object() ? document.find("chat_template") : document.end();
    if (!document.is_object() || found == document.end() || found->is_null()) {
      continue;
    }
    if (found->is_string()) {
      return found->get<std::string>();
    }
    for (const auto& entry : found->is_array() ? *found : base::Json::array()) {
      if (entry.is_object() && entry.value("name", base::Json()) == "default" && entry.contains("template") &&
          entry.at("template").is_string()) {
        return entry.at("template").get<std::string>();
      }
    }
    throw base::InputError(base::describe(path + ": 'chat_template' is neither a text nor a list with a 'default'",
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
