// Agreement of any score table with people's answers: by subject, by dimension of items, pooled; with intervals,
// permutation p, subgroups of annotators side by side, and templates that are chosen on a pilot. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
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
  Agreement agreement;      ///< its tau's p assumes independent cells; its precision is of a subject's row only
  stats::Value precision;   ///< at 3; of more than one subject, the mean over them
  stats::Value chance;      ///< of `precision` for scores in random order
  stats::Value p_items;     ///< of tau: items shuffled, the same way in every subject; of no subject's row
  stats::Value p_subjects;  ///< subjects shuffled
  /// Of the tau that as many other annotators, templates and rephrasings would have on average (`tau_interval`).
  stats::Interval interval{stats::nan, stats::nan, stats::Reason::too_few};
  double bias = stats::nan;  ///< mean of the replicates minus tau: by so much noise would lower a tau of this size
};

/// Templates that the pilot chose for one measure, and how the pilot and the rest judge them.
struct SelectedTemplates {
  std::optional<TemplateChoice> choice;
  /// [chosen, all templates][pilot, held out]
  struct Judged {
    stats::Correlation tau;
    stats::Value precision;
  };
  std::array<std::array<Judged, 2>, 2> judged;
};

struct PeopleAgreement {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  std::vector<std::string> measure_names;
  std::vector<std::string> groups;          ///< "all", then "COLUMN: VALUE" of each subgroup
  std::vector<std::size_t> num_annotators;  ///< [group]; 0: the table holds means
  std::vector<std::size_t> num_answers;     ///< [group]
  std::vector<PeopleRow> rows;
  std::vector<PeopleCell> cells;            ///< [measure, group, row]
  std::vector<double> means;                ///< [group, subject, item] of the whole score table; NaN: not rated
  std::vector<SelectedTemplates> selected;  ///< [measure]; none where no pilot is named
  std::string pilot;                        ///< in words: of whom, of what
  std::vector<std::string> templates;       ///< labels
  std::size_t num_subjects = 0;             ///< that are rated
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

/// "annotators (within each subject), templates"
std::string drawn_words(const BootstrapSettings& bootstrap);

/// Variables over (measure, people_group, people_row), people_mean and, with a pilot, people_selection_...
void write_people(results::Layout& layout, const PeopleAgreement& people, const sweep::Comparison& comparison);

/// Pooled figures of each measure, dimensions, subgroups, the first `top` subjects, and the choice of templates.
std::string people_text(const PeopleAgreement& people, const sweep::Comparison& comparison, std::size_t top);

}  // namespace stereosweep::findings
