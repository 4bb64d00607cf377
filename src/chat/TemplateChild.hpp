// A checkpoint's own chat template, run by Jinja2 in a child process of the program's Python that can do nothing else
// (analysis/stereosweep_analysis/chat_template.py, whose text this program carries).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text/Json.hpp"
#include "chat/ChatTemplate.hpp"
#include "chat/TemplateSource.hpp"

namespace stereosweep::chat {

/// What a template is given besides the conversation.
struct TemplateSettings {
  std::string date;  ///< 2026-11-26
  base::Json switches = base::Json::object();
  std::string thinking = {};  ///< `on`, `off`: by the template's own switch; empty: as the template does unless told
  bool operator==(const TemplateSettings&) const = default;
};

/// Most messages besides the system's that pieces are proven for.
constexpr int proven_messages = 201;

/// The pieces that the template is made of, as JSON that `model.chat` reads: inferred, and proven against the template
/// on 1,000 drawn conversations; from the cache where the same was asked before ($XDG_CACHE_HOME/stereosweep/chat).
/// Throws InputError: no Python with Jinja2 is found, the template is not made of pieces, does more than a template
/// may, or lacks the switch.
std::string infer_pieces(const TemplateSource& source, const TemplateSettings& settings);

/// What the template writes for a conversation, or why it refuses it.
struct Refusal {
  std::string why;
};
using Rendered = std::variant<std::string, Refusal>;
/// Of each conversation. Throws InputError as above, and where the child does not answer.
std::vector<Rendered> render_with_template(const TemplateSource& source, const TemplateSettings& settings,
                                           std::span<const std::vector<Message>> conversations);

/// The text of analysis/stereosweep_analysis/chat_template.py, so that an installed program needs no file of it.
std::string_view template_script();

/// The settings with which pieces were made.
TemplateSettings settings_of(const TemplateOrigin& origin);

}  // namespace stereosweep::chat
