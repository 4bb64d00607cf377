// The axes of a job from YAML: lists, pieces or tables -> domain values, with every invariant checked.
#pragma once

#include "config/Pieces.hpp"
#include "domain/Axes.hpp"
#include "domain/Job.hpp"

namespace stereosweep::config {

/// Reads `axes`; faults go to `problems`, and the result is then incomplete. `priors` may be renamed by a table of
/// groups that carries its own generic word.
domain::Axes read_axes(const Node& node, const std::string& key, Pieces& pieces, base::Problems& problems,
                       domain::Priors& priors);

// One reader per axis; each takes the node of that axis (name, list, {file, only} or {tsv, only}).
std::vector<domain::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                       base::Problems& problems, domain::Priors& priors,
                                       std::vector<domain::Group>& unselected);
std::vector<domain::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                           base::Problems& problems);
std::vector<domain::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                             base::Problems& problems);
std::vector<domain::Rephrasing> read_rephrasings(const Node& node, const std::string& key, Pieces& pieces,
                                                 base::Problems& problems,
                                                 const std::vector<domain::Template>& templates);
/// `groups` are those of the job, `unselected` those that its group file knows besides: rules may name them, and
/// what they say about them is dropped.
domain::IntersectionRule read_intersections(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems, const std::vector<domain::Group>& groups,
                                            const std::vector<domain::Group>& unselected);

}  // namespace stereosweep::config
