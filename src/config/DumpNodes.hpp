// Lists and maps of texts as the dumps write them: texts are quoted, so that no reader takes them for anything else.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/Node.hpp"

namespace stereosweep::config {

/// Leaves empty texts out.
void add_text(Node& map, const std::string& key, const std::string& value);
Node texts(const std::vector<std::string>& values);
/// A list of lists of two.
Node text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs);
Node text_map(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace stereosweep::config
