#include "tokenizer/ChatTemplate.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Definition.hpp"
#include "tokenizer/Field.hpp"

namespace stereosweep::tokenizer {
namespace {

using Templates = std::map<std::string, std::string>;

void read_field(const Field& field, Templates& templates) {
  if (!field.json().is_array()) {
    templates["default"] = field.text();
    return;
  }
  for (const auto& item : field.items()) {
    const auto name = item.at("name").text();
    if (!templates.emplace(name, item.at("template").text()).second) {
      item.at("name").refuse(base::json_quote(name) + " is there twice", "a name stands for one template");
    }
  }
}

}  // namespace

Templates read_chat_templates(const base::FileSet& files) {
  Templates templates;
  if (const auto* file = files.find("chat_template.jinja")) {
    if (const auto bad = base::find_invalid_utf8(file->text())) {
      throw base::InputError(files.directory() + "/chat_template.jinja: " +
                             base::describe("no valid UTF-8 at byte " + std::to_string(*bad), "a template is text"));
    }
    templates["default"] = file->text();
    return templates;
  }
  for (const auto* name : {"chat_template.json", "tokenizer_config.json"}) {
    const auto path = files.directory() + "/" + name;
    const auto document = read_object(files, name);
    if (const auto field = Field(document, path).find("chat_template")) {
      read_field(*field, templates);
      break;
    }
  }
  return templates;
}

}  // namespace stereosweep::tokenizer
