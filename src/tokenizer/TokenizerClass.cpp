#include <algorithm>

#include "base/text/Text.hpp"
#include "tokenizer/Definition.hpp"

namespace stereosweep::tokenizer {

/// The text of tokenizer_classes.json; CMakeLists.txt makes its definition.
std::string_view tokenizer_classes();

namespace {

using base::Json;

// "model_types": the class of each before "Tokenizer"; "": the one that the files name; "*": never that one. "classes":
// by the same name, what `make_class` returns, with "like": what is not said is as there; "=key": the value of a
// setting; "=key?a:b": one of two; "with", "without": a step that is only there where the setting is true, or false;
// "Precompiled": the map of characters of tokenizer.json.
const Json& table(const char* name) {
  static const auto tables = base::parse_json(tokenizer_classes(), "tokenizer_classes.json");
  return tables[name];
}

Json character_map(const Json& normalizer) {
  if (normalizer.is_object() && normalizer.contains("type") && normalizer["type"] == "Precompiled") {
    return normalizer;
  }
  if (normalizer.is_object() && normalizer.contains("normalizers")) {
    for (const auto& step : normalizer["normalizers"]) {
      if (auto found = character_map(step); !found.is_null()) {
        return found;
      }
    }
  }
  return {};
}

// A part of the table with its settings in place; null for a step that is not there.
Json resolve(const Json& part, const Json& settings, const Json& map) {
  if (part.is_string() && part.get_ref<const std::string&>().starts_with('=')) {
    const auto words = base::split(base::replace_all(part.get<std::string>().substr(1), "?", ":"), ':');
    const auto value = settings[words[0]];
    return words.size() == 1 ? value : Json(words[value == true ? 1 : 2]);
  }
  if (!part.is_structured()) {
    return part;
  }
  if (part.is_object() && part.contains("type") && part["type"] == "Precompiled") {
    return map;
  }
  Json made = part.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : part.items()) {
    if (key == "with" || key == "without") {
      if (settings[value.get<std::string>()] != (key == "with")) {
        return {};
      }
    } else if (auto resolved = resolve(value, settings, map); !part.is_array()) {
      made[key] = std::move(resolved);
    } else if (!resolved.is_null()) {
      made.push_back(std::move(resolved));
    }
  }
  return made;
}

}  // namespace

std::optional<std::string> choose_class(const std::string& model_type, std::string named,
                                        std::string_view tokenizer_json) {
  const auto& types = table("model_types");
  const auto type = types.find(model_type);
  const auto usual = type == types.end() ? "" : type->get<std::string>();
  if (named == "PreTrainedTokenizer" ||
      (named == "LlamaTokenizer" && tokenizer_json.find(R"("ByteLevel")") != std::string_view::npos)) {
    named = verbatim_class;
  }
  if (usual == "*" || (type != types.end() && usual.empty() && named.empty())) {
    return verbatim_class;
  }
  if (type == types.end() && named.empty()) {
    return std::nullopt;
  }
  // The published Qwen2 folders name wrong classes.
  return named.empty() || model_type == "qwen2" ? usual + "Tokenizer" : named;
}

Json make_class(const std::string& name, const base::JsonValue& settings, const Json& normalizer) {
  const auto& classes = table("classes");
  const auto found = name.ends_with("Tokenizer") ? classes.find(name.substr(0, name.size() - 9)) : classes.end();
  if (found == classes.end()) {
    return {};
  }
  auto made = *found;
  while (made.contains("like")) {
    auto older = classes[made["like"].get<std::string>()];
    made.erase("like");
    older.update(made);
    made = std::move(older);
  }
  auto values = made["settings"];
  for (const auto& [key, value] : made["settings"].items()) {
    if (const auto given = settings[key]) {
      values[key] = given.flag();
    }
  }
  const auto map = character_map(normalizer);
  for (const auto* part : {"normalizer", "pre_tokenizer"}) {
    made[part] = made.contains(part) ? resolve(made[part], values, map) : Json();
  }
  return made;
}

}  // namespace stereosweep::tokenizer
