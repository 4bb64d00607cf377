// `model.chat` and what belongs to it: a template of configs/chat, pieces in the job, or the checkpoint's own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chat/ChatTemplate.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::config {

/// `model.chat`: a name, `none`, `auto`, or a mapping as in a piece; where it is left out and `by_itself`, as `auto`.
/// `model.chat_name`, `model.date` and `model.thinking` say what of a checkpoint's template is meant; a resolved job
/// holds what came of them. `model.system` stays.
void chat_keys(Fields& keys, sweep::ModelSpec& model, bool by_itself);
void chat_keys(ShownKeys& keys, const sweep::ModelSpec& model, bool by_itself);

/// Pieces as `model.chat` takes them, from JSON or YAML. Throws InputError.
chat::ChatTemplate read_pieces(std::string_view pieces);
/// The template `name` of configs/chat, found as a job in `job_directory` would find it. Throws InputError.
chat::ChatTemplate find_chat(const std::string& name, const std::filesystem::path& job_directory);
/// As `auto`. Throws InputError where the checkpoint has no template, or one that is not made of pieces.
chat::ChatTemplate find_checkpoint_chat(const std::string& model_path);

}  // namespace stereosweep::config
