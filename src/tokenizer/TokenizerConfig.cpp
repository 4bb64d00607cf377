#include "tokenizer/TokenizerConfig.hpp"

#include <algorithm>
#include <array>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Definition.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

constexpr auto config_name = "tokenizer_config.json";
constexpr std::array<const char*, 4> flags = {"single_word", "lstrip", "rstrip", "normalized"};

// A special token's text: "[MASK]" or {"content": "[MASK]", ...}.
std::optional<std::string> token_text(const Field& file, const std::string& name) {
  const auto field = file.find(name);
  if (!field) {
    return std::nullopt;
  }
  return field->json().is_object() ? field->at("content").text() : field->text();
}

}  // namespace

TokenizerConfig::TokenizerConfig(const base::FileSet& files)
    : files_(files), path_(files.directory() + "/" + config_name), settings_(read_object(files, config_name)) {}

std::string TokenizerConfig::model_type() const {
  const auto document = read_object(files_, "config.json");
  const auto path = files_.directory() + "/config.json";
  return Field(document, path).text_or("model_type", "");
}

std::string TokenizerConfig::token(const std::string& key, const std::string& otherwise) const {
  return token_text(field(), key).value_or(otherwise);
}

std::string TokenizerConfig::add_special(const std::string& key, const std::string& otherwise, Spaces spaces) {
  const auto content = token(key, otherwise);
  auto made = make_added_token(content, AddedKind::special);
  made["lstrip"] = spaces == Spaces::take_left;
  if (const auto named = field().find(key); named && named->json().is_object()) {
    for (const auto* flag : flags) {
      made[flag] = named->flag_or(flag, made[flag].get<bool>());
    }
  }
  add_token(std::move(made));
  return content;
}

void TokenizerConfig::add_token(Json token) {
  if (seen_.insert(token["content"].get<std::string>()).second) {
    tokens_.push_back(std::move(token));
  }
}

// Whether one of "..._token" or "additional_special_tokens" names it.
bool TokenizerConfig::names_special(const std::string& content) const {
  for (const auto* name : {config_name, "special_tokens_map.json"}) {
    const auto document = read_object(files_, name);
    const auto path = files_.directory() + "/" + name;
    const Field file(document, path);
    for (const auto& [key, value] : document.items()) {
      if (key.ends_with("_token") && (value.is_string() || value.is_object()) && token_text(file, key) == content) {
        return true;
      }
    }
    if (const auto more = file.find("additional_special_tokens")) {
      for (const auto& item : more->items()) {
        if ((item.json().is_object() ? item.at("content").text() : item.text()) == content) {
          return true;
        }
      }
    }
  }
  return false;
}

std::vector<std::pair<std::size_t, Json>> TokenizerConfig::listed_tokens() const {
  std::vector<std::pair<std::size_t, Json>> entries;
  std::set<std::string> listed;
  if (const auto list = field().find("added_tokens_decoder")) {
    for (const auto& [key, value] : list->object().items()) {
      const auto id = base::parse_integer(key);
      if (!id || *id < 0 || !value.is_object()) {
        list->refuse(base::json_quote(key), "an id and its token are needed");
      }
      listed.insert(Field(value, path_, "added_tokens_decoder").at("content").text());
      entries.emplace_back(static_cast<std::size_t>(*id), value);
    }
  }
  const auto others = read_object(files_, "added_tokens.json");
  const auto path = files_.directory() + "/added_tokens.json";
  for (const auto& [content, id] : others.items()) {
    const auto number = Field(id, path, content).number();
    if (!content.empty() && listed.insert(content).second) {
      entries.emplace_back(number,
                           make_added_token(content, names_special(content) ? AddedKind::special : AddedKind::plain));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return entries;
}

Json TokenizerConfig::added_tokens(const Vocabulary& vocabulary) const {
  Json all = Json::array();
  std::set<std::string> listed;
  auto next = vocabulary.num_tokens();
  for (auto& [id, token] : listed_tokens()) {
    const auto content = token["content"].get<std::string>();
    const auto known = vocabulary.find(content);
    if (!content.empty() && id != (known ? static_cast<std::size_t>(*known) : next)) {
      const auto list = field().find("added_tokens_decoder");
      const bool is_listed = list && list->json().contains(std::to_string(id));
      const auto other = files_.directory() + "/added_tokens.json";
      Field(settings_, is_listed ? path_ : other, is_listed ? "added_tokens_decoder" : content)
          .refuse(base::json_quote(content) + " has id " + std::to_string(id),
                  known ? "the vocabulary has it as " + std::to_string(*known)
                        : "the next free id is " + std::to_string(next));
    }
    if (!known && !content.empty()) {
      ++next;
    }
    listed.insert(content);
    all.push_back(token);
  }
  for (const auto& token : tokens_) {
    if (!listed.contains(token["content"].get<std::string>())) {
      all.push_back(token);
    }
  }
  return all;
}

Json make_added_token(const std::string& content, AddedKind kind) {
  Json token = {{"content", content}};
  for (const auto* flag : flags) {
    token[flag] = false;
  }
  token["special"] = kind == AddedKind::special;
  return token;
}

std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name) {
  for (const auto* file : {config_name, "special_tokens_map.json"}) {
    const auto path = files.directory() + "/" + file;
    const auto document = read_object(files, file);
    if (auto found = token_text(Field(document, path), name)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace stereosweep::tokenizer
