// The axes of a job from YAML and back: lists, pieces or tables -> domain values, with every invariant checked.
#pragma once

#include "config/axes/Pieces.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::config {

/// Reads `axes`; faults go to `problems`, and the result is then incomplete. `priors` may be renamed by a table of
/// groups that carries its own generic word.
sweep::Axes read_axes(const Node& node, const std::string& key, Pieces& pieces, base::Problems& problems,
                      sweep::Priors& priors);

// One reader per axis; each takes the node of that axis (name, list, {file, only} or {tsv, only}).
std::vector<sweep::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                      base::Problems& problems, sweep::Priors& priors,
                                      std::vector<sweep::Group>& unselected);
/// For questions that ask of plurals: reports a group without one; nothing is renamed.
std::vector<sweep::Group> read_plural_groups(const Node& node, const std::string& key, Pieces& pieces,
                                             base::Problems& problems, std::vector<sweep::Group>& unselected);
std::vector<sweep::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                          base::Problems& problems);
std::vector<sweep::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems);
std::vector<sweep::Rephrasing> read_rephrasings(const Node& node, const std::string& key, Pieces& pieces,
                                                base::Problems& problems,
                                                const std::vector<sweep::Template>& templates);
/// `groups` are those of the job, `unselected` those that its group file knows besides: rules may name them, and
/// what they say about them is dropped.
sweep::IntersectionRule read_intersections(const Node& node, const std::string& key, Pieces& pieces,
                                           base::Problems& problems, const std::vector<sweep::Group>& groups,
                                           const std::vector<sweep::Group>& unselected);

// What the readers read back.
Node dump(const sweep::Group& group);
Node dump(const sweep::IntersectionRule& rule);
Node dump(const sweep::TraitPair& pair);
Node dump(const sweep::Template& sentence);
Node dump(const sweep::Rephrasing& rephrasing);
template <class Value>
Node dump(const std::vector<Value>& values) {
  return list_of(values, [](const Value& value) { return dump(value); });
}
Node dump(const sweep::Axes& axes);

}  // namespace stereosweep::config
