// Where the variance of a measure comes from, and how many templates or rephrasings are enough. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
#include "stats/Summary.hpp"
#include "sweep/Contrast.hpp"

namespace stereosweep::findings {

inline constexpr std::array<const char*, 7> variance_sources = {"subject",    "item",      "subject x item", "template",
                                                                "rephrasing", "replicate", "residual"};

enum class VarianceStatus : std::uint8_t {
  ok = 0,
  no_values = 1,  ///< no complete table of at least one cell
  constant = 2,   ///< all cells are equal
  unbalanced = 3  ///< cells are missing: computed on a complete table inside, `num_left_out` cells smaller
};

/// How far a subject's mean of one item, relative to the other subjects' of that item, is off because other templates
/// (or rephrasings) could have been taken.
struct Sufficiency {
  /// [k - 1]: standard error with k of them, k = 1 .. as many as the table has; NaN: fewer than two, or one subject.
  std::vector<double> errors;
  /// Smallest k with an error of at most 5 % of the standard deviation between subjects, beyond the table's own number
  /// too; -1: none, subjects do not differ.
  std::int32_t enough = -1;
};

/// One measure.
struct VarianceRow {
  std::array<double, variance_sources.size()> shares;           ///< of the total sum of squares; their sum is 1
  std::array<std::int32_t, variance_sources.size()> degrees{};  ///< of freedom
  double subject_deviation = stats::nan;  ///< between subjects' means of one item (n - 1), pooled over items
  Sufficiency templates;
  Sufficiency rephrasings;
  std::int32_t num_cells = 0;     ///< computed on; a cell is one (subject, template, rephrasing, replicate, item)
  std::int32_t num_left_out = 0;  ///< with a score, not computed on
  VarianceStatus status = VarianceStatus::no_values;
};

struct Variance {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  std::vector<std::string> measure_names;
  std::vector<VarianceRow> rows;  ///< [measure]
};

/// Of the measures that `comparison.variance` chooses. Throws InputError for measures that the table does not have.
Variance variance_of(const Scores& scores, const sweep::Comparison& comparison);

/// The rows as variables over (measure, source), (measure, number of templates), ...
void write_variance(results::Layout& layout, const Variance& variance);

std::string variance_text(const Variance& variance);

}  // namespace stereosweep::findings
