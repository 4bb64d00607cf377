#include "config/ChatKeys.hpp"

#include <regex>

#include "base/Error.hpp"
#include "base/files/HubCache.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"
#include "chat/TemplateChild.hpp"
#include "chat/TemplateSource.hpp"
#include "chat/Writing.hpp"

namespace stereosweep::config {
namespace {

using chat::ChatTemplate;

constexpr const char* advice = "Say model.chat: NAME of a file in configs/chat, or none for a base model.";
const std::vector<std::string> own_keys = {"chat_name", "date", "thinking"};

std::optional<ChatTemplate> find_piece(const std::string& name, const Node& user, const std::string& key,
                                       Pieces& pieces, base::Problems& problems) {
  const Node* file = pieces.find("chat", name, user, key, problems);
  if (file == nullptr || file->kind == Node::Kind::broken) {
    return std::nullopt;
  }
  Fields fields(*file, "", problems);
  fields.required("schema");
  fields.piece_head();
  std::optional<ChatTemplate> chat;
  if (const Node* found = fields.required("chat")) {
    read_fields(*found, "chat", problems, chat.emplace());
    chat->label = chat->label.empty() ? name : chat->label;
  }
  fields.finish();
  return chat;
}

ChatTemplate make_chat(const std::string& model_path, const std::string& name, const chat::TemplateSettings& settings) {
  const auto source = chat::find_template(model_path, name);
  base::refuse_if(!source, "no chat template is known for the model '" + model_path + "'",
                  "there is none in its chat_template.jinja, tokenizer_config.json, chat_template.json", advice);
  return read_pieces(chat::infer_pieces(*source, settings));
}

/// A switch's value: what YAML writes as a number or a boolean is one, all else is a text.
base::Json switch_value(const Node& node) {
  const auto number = node.style == Node::Style::plain ? base::parse_integer(node.value) : std::nullopt;
  if (number) {
    return *number;
  }
  const bool is_boolean = node.style == Node::Style::plain && (node.value == "true" || node.value == "false");
  return is_boolean ? base::Json(node.value == "true") : base::Json(node.value);
}

/// What the job says of the checkpoint's template.
struct Asked {
  std::string name;
  chat::TemplateSettings settings{base::utc_now().substr(0, 10)};
  bool thinks = true;
};

Asked read_asked(Fields& keys) {
  Asked asked;
  keys.line("chat_name", asked.name, "which of several templates of the checkpoint; default: default");
  keys.line("date", asked.settings.date,
            "of the prompts, where the template writes one; default: the day of the start");
  static const std::regex date("[0-9]{4}-[0-9]{2}-[0-9]{2}");
  keys.problems().add_if(!std::regex_match(asked.settings.date, date), keys.place("date"),
                         "'" + asked.settings.date + "' is no date", "it is written 2026-11-26");
  const Node* thinking = keys.optional("thinking");
  if (thinking != nullptr && thinking->kind == Node::Kind::map) {
    for (std::size_t i = 0; i < thinking->keys.size(); ++i) {
      const auto& value = thinking->children[i];
      if (expect_kind(value, Node::Kind::scalar, "model.thinking." + thinking->keys[i], keys.problems())) {
        asked.settings.switches[thinking->keys[i]] = switch_value(value);
      }
    }
  } else if (thinking != nullptr) {
    static const std::vector<std::string> words = {"on", "off", "none"};
    const auto word = read_choice(*thinking, "model.thinking", keys.problems(), words);
    asked.thinks = word != 2;
    asked.settings.thinking = word && *word < 2 ? words[*word] : "";
  }
  return asked;
}

/// A model that is not on this machine has no template to look at: who looks at its files says that it is missing.
bool is_here(const sweep::ModelSpec& model) {
  std::error_code ignored;
  const auto cached = base::parse_hub_name(model.location());
  return std::filesystem::exists(model.location(), ignored) || (cached && base::find_in_hub_cache(*cached));
}

void read_checkpoint(Fields& keys, sweep::ModelSpec& model, const Asked& asked) {
  try {
    model.chat = make_chat(model.location(), asked.name, asked.settings);
    if (!asked.thinks) {
      model.chat->thought.reset();
    }
  } catch (const base::InputError& fault) {
    keys.problems().add(keys.place("chat"), fault.what(), "");
  }
}

}  // namespace

void chat_keys(Fields& keys, sweep::ModelSpec& model, bool by_itself) {
  const Node* said = keys.optional("chat");
  const auto num_problems = keys.problems().size();
  const auto asked = read_asked(keys);
  const auto name = said == nullptr || said->kind == Node::Kind::map || said->kind == Node::Kind::null
                        ? std::optional<std::string>(by_itself || said != nullptr ? "auto" : "none")
                        : read_line(*said, "model.chat", keys.problems(), 100);
  const bool is_own = name == "auto" && (said == nullptr || said->kind != Node::Kind::map);
  const bool is_missing = is_own && !model.path.empty() && !is_here(model);
  if (said != nullptr && said->kind == Node::Kind::map) {
    read_fields(*said, "model.chat", keys.problems(), model.chat.emplace());
    keys.problems().add_if(model.chat->label.empty(), said->place("model.chat"), "a chat template has no label",
                           "the result names it");
  } else if (is_own && said != nullptr && model.server) {
    keys.problems().add(said->place("model.chat"), "model.chat: auto beside model.server",
                        "no checkpoint with a template is read", advice);
  } else if (is_own && !model.path.empty() && !is_missing && keys.problems().size() == num_problems &&
             !keys.pieces().inline_only()) {
    read_checkpoint(keys, model, asked);
  } else if (!is_own && name && *name != "none") {
    model.chat = find_piece(*name, *said, "model.chat", keys.pieces(), keys.problems());
  }
  for (const auto& key : own_keys) {
    if (const Node* node = keys.optional(key); node != nullptr && !is_own) {
      keys.problems().add(node->place("model." + key), "model." + key + " without the checkpoint's own template",
                          "it says what of that template is meant", "Say model.chat: auto, or leave it out.");
    }
  }
  keys.unless_default().text("system", model.system, "");
  if (is_missing && !model.chat) {
    return;
  }
  if (keys.problems().size() != num_problems || model.system == "default") {
    return;
  }
  try {
    base::refuse_if(model.system.empty(), "model.system is an empty text", "a model is given a text, or none",
                    "Say model.system: none.");
    base::refuse_if(!model.chat, "model.system is given", "there is no chat template whose system text it could be");
    chat::system_messages(*model.chat, model.system);
  } catch (const base::InputError& fault) {
    keys.problems().add(keys.place("system"), fault.what(), "");
  }
}

void chat_keys(ShownKeys& keys, const sweep::ModelSpec& model, bool /*by_itself*/) {
  keys.own("chat", model.chat ? dump_fields(*model.chat) : Node::plain("none"),
           "how prompts become conversations: auto (the checkpoint's own template), a name in configs/chat, none", [] {
             return either_schema({text_schema(), fields_schema<ChatTemplate>()});
           });
  keys.line("chat_name", "", "which of several templates of the checkpoint; default: default");
  keys.line("date", "", "of the prompts, where the template writes one; default: the day of the start");
  keys.own("thinking", {},
           "of a model that thinks before it answers: on, off, {switch of the template: value}, none: it does not", [] {
             return either_schema({choice_schema({"on", "off", "none"}), names_schema(text_schema())});
           });
  if (keys.describes() || model.system != "default") {
    keys.text("system", model.system,
              "text of the system: default (the template's own, if it has one), none, or a text");
  }
}

ChatTemplate read_pieces(std::string_view pieces) {
  base::Problems problems;
  ChatTemplate chat;
  read_fields(parse_yaml(pieces, "", problems, resolved_limits), "chat", problems, chat);
  problems.raise_if_any("the pieces of a chat template cannot be read:");
  return chat;
}

ChatTemplate find_chat(const std::string& name, const std::filesystem::path& job_directory) {
  base::Problems problems;
  Pieces pieces(job_directory, Pieces::Access::files);
  const auto chat = find_piece(name, Node::text(name), "chat", pieces, problems);
  problems.raise_if_any("the chat template '" + name + "' cannot be used:");
  return chat.value();
}

ChatTemplate find_checkpoint_chat(const std::string& model_path) {
  return make_chat(model_path, "", {base::utc_now().substr(0, 10)});
}

}  // namespace stereosweep::config
