// What is chosen by labels: {axis or column: VALUE or [VALUE, ...]}; a list of them, or all.
#pragma once

#include <string>
#include <vector>

#include "config/yaml/Fields.hpp"
#include "sweep/Selection.hpp"

namespace stereosweep::config {

/// Faults are reported; what is wrong is left out.
std::vector<sweep::Selection> read_selections(const Node& node, const std::string& key, base::Problems& problems);

/// `all`, or a list of labels, under `name`; `labels` is then empty, or that list.
void read_labels(Fields& fields, const std::string& name, base::Problems& problems, std::vector<std::string>& labels);

Node dump_labels(const std::vector<std::string>& labels);

Node dump_selections(const std::vector<sweep::Selection>& selections);

}  // namespace stereosweep::config
