// The key `statistics.people`: agreement of a score table with people's answers.
#pragma once

#include "config/axes/Pieces.hpp"
#include "config/yaml/FieldsSchema.hpp"
#include "sweep/People.hpp"

namespace stereosweep::config {

/// The value of the key. Faults are reported, and what is wrong keeps its default.
sweep::People read_people(const Node& node, const Pieces& pieces, base::Problems& problems);

Node dump_people(const sweep::People& people);

base::Json people_schema();

}  // namespace stereosweep::config
