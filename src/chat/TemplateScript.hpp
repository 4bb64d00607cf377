// The text of analysis/stereosweep_analysis/chat_template.py, so that an installed program needs no file of it.
#pragma once

#include <string_view>

namespace stereosweep::chat {

std::string_view template_script();

}  // namespace stereosweep::chat
