// The axes of a job from YAML and back: lists, pieces or tables -> domain values, with every invariant checked.
#pragma once

#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::config {

// The keys of axes, for the lists of keys of the probes: each is read, dumped and described.

/// `article`, or the `gender` that it follows from; both are the language's. A resolved job holds the article.
void article_keys(Fields& keys, std::string& article);
void article_keys(ShownKeys& keys, const std::string& article);

/// A word, a list of words, or {name, words}.
void pole_key(Fields& keys, const std::string& name, sweep::Pole& pole);
void pole_key(ShownKeys& keys, const std::string& name, const sweep::Pole& pole);

/// `groups` and `intersections`. plural: a group without its plural is reported.
enum class GroupForms { any, plural };
void groups_keys(Fields& keys, std::vector<sweep::Group>& groups, sweep::IntersectionRule& rule, GroupForms forms);
void groups_keys(ShownKeys& keys, const std::vector<sweep::Group>& groups, const sweep::IntersectionRule& rule,
                 GroupForms forms);

/// `rephrasings` of these templates.
void rephrasings_key(Fields& keys, std::vector<sweep::Rephrasing>& rephrasings,
                     const std::vector<sweep::Template>& templates);
void rephrasings_key(ShownKeys& keys, const std::vector<sweep::Rephrasing>& rephrasings,
                     const std::vector<sweep::Template>& templates);

/// `design`, the last of the axes.
void design_key(auto& axes, auto& design) {
  axes.optional_item("design", design, "a part of templates x rephrasings that is asked in place of all");
}

/// Groups, intersections, traits, templates, rephrasings. `priors` may be renamed by a table of groups that carries its
/// own generic word.
void axes_keys(Fields& keys, sweep::Axes& axes, sweep::Priors& priors);
void axes_keys(ShownKeys& keys, const sweep::Axes& axes, const sweep::Priors& priors);

// Parts of it: one reader per axis; each takes the node of that axis (name, list, {file, only} or {tsv, only}).
std::vector<sweep::Group> read_groups(const Node& node, const std::string& key, Pieces& pieces,
                                      base::Problems& problems, sweep::Priors& priors,
                                      std::vector<sweep::Group>& unselected);
std::vector<sweep::TraitPair> read_traits(const Node& node, const std::string& key, Pieces& pieces,
                                          base::Problems& problems);
std::vector<sweep::Template> read_templates(const Node& node, const std::string& key, Pieces& pieces,
                                            base::Problems& problems);
/// `groups` are those of the job, `unselected` those that its group file knows besides: rules may name them, and
/// what they say about them is dropped.
sweep::IntersectionRule read_intersections(const Node& node, const std::string& key, Pieces& pieces,
                                           base::Problems& problems, const std::vector<sweep::Group>& groups,
                                           const std::vector<sweep::Group>& unselected);
/// The key `intersections`, which the last one reads: a name in configs/, or a rule.
void rule_key(ShownKeys& keys, const sweep::IntersectionRule& rule, std::string_view about);

}  // namespace stereosweep::config
