#include "chat/TemplateSource.hpp"

#include <filesystem>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::chat {
namespace {

constexpr std::size_t max_template_bytes = std::size_t{1} << 20;

/// Templates of a checkpoint by name, all of one file or folder.
struct Named {
  std::string file;
  std::map<std::string, std::string> texts;
};

/// A JSON file of a checkpoint; null where there is none, or it is no object.
base::Json read_object(const base::FileSet& files, const std::string& name) {
  const auto* content = files.find(name);
  if (content == nullptr) {
    return {};
  }
  auto document = base::parse_json(content->text(), files.directory() + "/" + name);
  return document.is_object() ? document : base::Json();
}

/// Null where it is missing.
base::Json field_of(const base::Json& object, const std::string& key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? base::Json() : *found;
}

/// {} where the value says none.
std::map<std::string, std::string> templates_in(const base::Json& found, const std::string& file) {
  std::map<std::string, std::string> texts;
  if (found.is_string()) {
    texts["default"] = found.get<std::string>();
    return texts;
  }
  bool is_well_formed = found.is_array() || found.is_null();
  for (const auto& entry : found.is_array() ? found : base::Json::array()) {
    const auto name = field_of(entry, "name");
    const auto text = field_of(entry, "template");
    is_well_formed = is_well_formed && name.is_string() && text.is_string();
    if (is_well_formed) {
      texts[name.get<std::string>()] = text.get<std::string>();
    }
  }
  base::refuse_if(!is_well_formed, file + ": 'chat_template' is neither a text nor a list of {name, template}",
                  "which template counts is unclear");
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
    const auto found = field_of(read_object(files, file), "chat_template");
    named = {file, templates_in(found, files.directory() + "/" + file)};
  }
  return named;
}

/// A special token is a text, or an object with one; null and other keys (add_bos_token: true) are none.
void read_tokens(const base::Json& document, TemplateSource& source) {
  for (const auto& [key, value] : document.items()) {
    const auto text = value.is_object() ? field_of(value, "content") : value;
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
    const auto document = read_object(files, file);
    read_tokens(document, source);
    read_tokens(field_of(document, "extra_special_tokens"), source);
  }
  for (const auto& token : field_of(read_object(files, "tokenizer.json"), "added_tokens")) {
    if (const auto text = field_of(token, "content"); text.is_string()) {
      source.added_tokens.push_back(text.get<std::string>());
    }
  }
  return source;
}

}  // namespace stereosweep::chat
