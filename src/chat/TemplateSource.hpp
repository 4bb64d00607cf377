// The chat template that a checkpoint carries, and the special tokens that it may name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stereosweep::chat {

struct TemplateSource {
  std::string file;                           ///< where it stands: "chat_template.jinja"
  std::string name;                           ///< of several; empty: there is one
  std::string text;                           ///< the Jinja template
  std::map<std::string, std::string> tokens;  ///< "bos_token" -> "<s>": those that the checkpoint has
  std::vector<std::string> added_tokens;      ///< texts of the vocabulary that are one token wherever they stand
};

/// As transformers chooses it: chat_template.jinja and additional_chat_templates/NAME.jinja, else `chat_template` of
/// chat_template.json, else of tokenizer_config.json (a text, or a list of {name, template}). `name`: which of several,
/// "" for `default`. Nothing where the checkpoint `model` (a folder, or a name on the hub) has none.
/// Throws InputError: a file is broken or larger than 1 MiB, or there is no template of that name.
std::optional<TemplateSource> find_template(const std::string& model, const std::string& name);

}  // namespace stereosweep::chat
