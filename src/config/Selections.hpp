// {axis or column: VALUE or [VALUE, ...]}: what is chosen by labels.
#pragma once

#include <string>
#include <vector>

#include "config/Node.hpp"
#include "sweep/Selection.hpp"

namespace stereosweep::config {

/// Faults are reported; what is wrong is left out.
std::vector<sweep::Selection> read_selections(const Node& node, const std::string& key, base::Problems& problems);

Node dump_selections(const std::vector<sweep::Selection>& selections);

}  // namespace stereosweep::config
