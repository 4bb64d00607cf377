// The chat templates of a model directory: Jinja texts that turn the turns of a conversation into one prompt.
#pragma once

#include <map>
#include <string>

#include "base/File.hpp"

namespace stereosweep::tokenizer {

/// Templates by name; the one without a name of its own is "default". chat_template.jinja, else chat_template.json,
/// else "chat_template" of tokenizer_config.json (a text, or a list of {name, template}); empty where there is none.
/// Throws InputError naming file and field for what is malformed.
std::map<std::string, std::string> read_chat_templates(const base::FileSet& files);

}  // namespace stereosweep::tokenizer
