// What somebody else's file says, made fit for a message: it may hold escape sequences of terminals, and megabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stereosweep::base {

/// Control characters but line feeds and tabs, and bytes that are no UTF-8, as "\\x1b".
std::string printable(std::string_view text);
/// At most `max_bytes` of `text`, whole characters, with "..." behind where it was cut.
std::string excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace stereosweep::base
