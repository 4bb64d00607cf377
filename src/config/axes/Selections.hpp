// Labels: a list of them, or all.
#pragma once

#include <string>
#include <vector>

#include "config/yaml/Fields.hpp"

namespace stereosweep::config {

/// `all`, or a list of labels, under `name`; `labels` is then empty, or that list.
void read_labels(Fields& fields, const std::string& name, base::Problems& problems, std::vector<std::string>& labels);

Node dump_labels(const std::vector<std::string>& labels);

}  // namespace stereosweep::config
