// Chat templates from configs/chat, and which of them a checkpoint's own template text is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/axes/Pieces.hpp"
#include "sweep/Chat.hpp"

namespace stereosweep::config {

/// A template with what it is recognised by.
struct ChatPiece {
  sweep::ChatTemplate chat;
  std::vector<std::string> known_texts;  ///< SHA-256 (hexadecimal) of normalised template texts
  std::vector<std::string> marks;        ///< parts that a text of the family has: for suggestions only
};

/// The value of `model.chat`: a name, `none`, `auto`, or a mapping as in a piece. Nothing: prompts go as they are.
/// `auto` reads the checkpoint at `model_path`; a text that is unknown or missing is reported, and the job must say.
std::optional<sweep::ChatTemplate> read_model_chat(const Node& node, const std::string& model_path, Pieces& pieces,
                                                   base::Problems& problems);

/// The template `name` of configs/chat, found as a job in `job_directory` would find it. Throws InputError.
sweep::ChatTemplate find_chat(const std::string& name, const std::filesystem::path& job_directory);
/// As `auto`. Throws InputError where the checkpoint's template is unknown or missing.
sweep::ChatTemplate find_checkpoint_chat(const std::string& model_path, const std::filesystem::path& job_directory);

/// The template text of a checkpoint: chat_template.jinja, else `chat_template` of chat_template.json, else of
/// tokenizer_config.json (a text, or a list of {name, template}, of which "default" counts). Throws InputError if it is
/// broken.
std::optional<std::string> read_checkpoint_chat_text(const std::string& model_path);

/// What two writings of one template share: white space outside of quotes is left out, and a line break inside is the
/// same as "\n".
std::string normalised_chat_text(std::string_view text);

}  // namespace stereosweep::config
