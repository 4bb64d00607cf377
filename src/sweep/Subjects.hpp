// The outermost axis of a sweep: priors, groups, intersections, each with its final surface forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweep/Axes.hpp"

namespace stereosweep::sweep {

/// An intersection, or a group, that is not measured, and why.
struct Omission {
  std::string first;   ///< labels, in the order that was tried
  std::string second;  ///< of all others, joined by " + "; empty: the group itself
  std::string reason;
  bool operator==(const Omission&) const = default;
  /// For readers and dumpers of its fields.
  static void each_key(auto& self, auto& keys) {
    keys.required_line("first", self.first);
    keys.required_line("second", self.second);
    keys.required_line("reason", self.reason);
  }
};

/// Which forms the sentences ask of their subjects.
struct NeededForms {
  bool singular = false;
  bool plural = false;
};
NeededForms forms_of(const std::vector<Template>& templates);

struct SubjectList {
  std::vector<Subject> subjects;  ///< priors, groups, intersections
  std::uint64_t num_priors = 0;
  std::vector<Omission> omissions;
};

/// Deterministic: priors (generic word, then mask), groups in the job's order, then intersections: the listed ones,
/// then the crossed domains, each in its order and then (both_orders) in all others. Trailing groups with a suffix
/// follow the noun of the group before them ("doctor with a disability"), and all groups before that one give their
/// adjectives ("Catholic teenager", "Black Catholic teenager with a disability"); a declared lexical form stands for
/// its two groups. Intersections that are excluded, lack a form that a template needs, or repeat another's words are
/// omitted and listed.
SubjectList list_subjects(const std::vector<Group>& groups, const IntersectionRule& rule, NeededForms forms,
                          const Priors& priors = no_priors);

/// Most groups and intersections that there can be: every order of every combination; at most 10^18.
std::uint64_t most_subjects(const std::vector<Group>& groups, const IntersectionRule& rule);

/// A sentence for every group whose forms an earlier group has, too: their scores are equal, and count twice in
/// averages.
std::vector<std::string> groups_with_equal_words(const std::vector<Group>& groups);

/// Labels of the priors.
inline constexpr const char* prior_word_label = "prior_word";
inline constexpr const char* prior_mask_label = "prior_mask";

}  // namespace stereosweep::sweep
