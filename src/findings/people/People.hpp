// Agreement of any score table with people's answers: by subject, by dimension of items, pooled; with intervals,
// permutation p, subgroups of annotators side by side, and templates that are chosen on a pilot. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/people/TableAgreement.hpp"
#include "findings/people/TauBootstrap.hpp"
#include "stats/Bootstrap.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Which cells: all, those of the items of one dimension, those of one subject.
struct PeopleRow {
  enum class Kind : std::uint8_t { pooled, dimension, subject };
  Kind kind = Kind::pooled;
  std::string name;
};

/// One measure, group of annotators and row.
struct PeopleCell {
  Agreement agreement;     ///< its tau's p assumes independent cells; its precision is of a subject's row only
  stats::Value mean_tau;   ///< of the subjects' tau-b; of no subject's row
  stats::Value top;        ///< precision of the three highest scores; of more than one subject, the mean over them
  stats::Value bottom;     ///< of the three lowest
  stats::Value precision;  ///< at 3: of both
  stats::Value chance;     ///< of `precision` for scores in random order
  ShuffledP shuffled;
  double p_holm = stats::nan;  ///< `shuffled.cited()`, adjusted among the rows of its kind
  /// Of the tau that as many other annotators, templates and rephrasings would have on average (`tau_interval`).
  stats::Interval interval{stats::nan, stats::nan, stats::Reason::too_few};
  double bias = stats::nan;  ///< mean of the replicates minus tau: by so much noise would lower a tau of this size
};

/// Of all rated cells in one template, or in chosen ones.
struct TemplateAgreement {
  stats::Correlation tau;
  stats::Value precision;  ///< at 3, mean over subjects
};

/// Templates that the pilot chose for one measure, and how the pilot and the rest judge them.
struct SelectedTemplates {
  std::optional<TemplateChoice> choice;
  std::array<std::array<TemplateAgreement, 2>, 2> judged;  ///< [chosen, all templates][pilot, held out]
};

struct PeopleAgreement {
  std::vector<std::size_t> measures;        ///< places on the table's axis
  results::AxisSchema measure_axis;         ///< of the chosen ones
  std::vector<std::string> groups;          ///< "all", then "COLUMN: VALUE" of each subgroup
  std::vector<std::size_t> num_annotators;  ///< [group]; 0: the table holds means
  std::vector<std::size_t> num_answers;     ///< [group]
  std::vector<PeopleRow> rows;
  std::vector<PeopleCell> cells;  ///< [measure, group, row]
  std::vector<double> means;      ///< [group, subject, item] of the whole score table; NaN: not rated
  results::AxisSchema subject_axis;
  results::AxisSchema item_axis;
  results::AxisSchema template_axis;
  std::vector<TemplateAgreement> by_template;  ///< [measure, template]; none where there is one template
  std::vector<SelectedTemplates> selected;     ///< [measure]; none where no pilot is named
  std::string pilot;                           ///< in words: of whom, of what
  std::size_t num_subjects = 0;                ///< that are rated
  std::size_t num_items = 0;
  std::string source;              ///< of the ratings
  std::vector<std::string> notes;  ///< what was notable in the table, and what did not match
  BootstrapSettings bootstrap;
  stats::ShuffleSettings shuffles;

  const PeopleCell& cell(std::size_t measure, std::size_t group, std::size_t row) const {
    return cells[(measure * groups.size() + group) * rows.size() + row];
  }
};

/// Needs `comparison.people`. Throws InputError for a table that cannot be used, and for labels that there are not.
PeopleAgreement agree_with_people(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// people_mean, how many answered, the figures over (measure, people_group, people_row), those of single templates and,
/// with a pilot, people_selection and people_selected.
std::vector<Finding> findings_of(const PeopleAgreement& people, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
