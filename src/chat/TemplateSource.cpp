#include "chat/TemplateSource.hpp"

#include <filesystem>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Listing.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::chat {
namespace {

constexpr std::size_t max_template_bytes = std::size_t{1} << 20;

/// Templates of a checkpoint by name, all of one file or folder.
struct Named {
  std::string file;
  std::map<std::string, std::string> texts;
};

/// {} where the value says none.
std::map<std::string, std::string> templates_in(const base::JsonValue& found) {
  std::map<std::string, std::string> texts;
  if (found.json().is_string()) {
    texts["default"] = found.text();
  } else if (found) {
    found.refuse_if(!found.json().is_array(), "is neither a text nor a list of {name, template}",
                    "which template counts is unclear");
    for (const auto& entry : found.items()) {
      texts[entry["name"].text()] = entry["template"].text();
    }
  }
  return texts;
}

Named find_all(const base::FileSet& files) {
  Named named{"chat_template.jinja", {}};
  if (const auto* own = files.find(named.file)) {
    named.texts["default"] = own->text();
  }
  std::error_code error;
  const auto folder = std::filesystem::path(files.directory()) / "additional_chat_templates";
  for (const auto& path : base::entries_of(folder, error)) {
    if (path.extension() == ".jinja") {
      named.texts[path.stem().string()] = base::read_file(path, max_template_bytes);
    }
  }
  for (const char* file : {"chat_template.json", "tokenizer_config.json"}) {
    if (!named.texts.empty()) {
      break;
    }
    named = {file, templates_in(base::find_json(files, file)["chat_template"])};
  }
  return named;
}

/// A special token is a text, or an object with one; null and other keys (add_bos_token: true) are none.
void read_tokens(const base::Json& document, TemplateSource& source) {
  for (const auto& [key, value] : document.items()) {
    const auto text = value.is_object() ? value.value("content", base::Json()) : value;
    if (key.ends_with("_token") && text.is_string()) {
      source.tokens[key] = text.get<std::string>();
    }
  }
}

}  // namespace

std::optional<TemplateSource> find_template(const std::string& model, const std::string& name) {
  const auto directory = base::checkpoint_directory(model);
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) {
    return std::nullopt;
  }
  const auto files = base::read_checkpoint_files(directory, base::CheckpointPart::small_files);
  const auto named = find_all(files);
  if (named.texts.empty()) {
    return std::nullopt;
  }
  const auto chosen = named.texts.find(name.empty() ? "default" : name);
  if (chosen == named.texts.end()) {
    const auto names = base::mapped(named.texts, [](const auto& one) { return one.first; });
    base::refuse(
        (directory / named.file).string() + " has no chat template '" + (name.empty() ? "default" : name) + "'",
        "it has " + base::join(names, ", "), "Say which: model.chat_name: NAME.");
  }
  TemplateSource source;
  const bool is_other_file = named.file.ends_with(".jinja") && chosen->first != "default";
  source.file = is_other_file ? "additional_chat_templates/" + chosen->first + ".jinja" : named.file;
  if (!std::filesystem::is_directory(directory, error)) {  // one file holds the whole checkpoint
    source.file = directory.filename().string();
  }
  source.name = named.texts.size() > 1 ? chosen->first : "";
  source.text = chosen->second;
  base::refuse_if(source.text.size() > max_template_bytes, source.file + " is larger than 1 MiB", "it is no template");
  base::refuse_if(base::find_invalid_utf8(source.text).has_value(), source.file + " is no UTF-8",
                  "a template is a text");
  for (const char* file : {"special_tokens_map.json", "tokenizer_config.json"}) {  // the second counts
    const auto document = base::find_json(files, file);
    read_tokens(document.root, source);
    read_tokens(document["extra_special_tokens"].json(), source);
  }
  const auto tokenizer = base::find_json(files, "tokenizer.json");
  if (const auto added = tokenizer["added_tokens"]) {
    source.added_tokens = base::mapped(added.items(), [](const auto& token) { return token["content"].text(); });
  }
  return source;
}

}  // namespace stereosweep::chat
