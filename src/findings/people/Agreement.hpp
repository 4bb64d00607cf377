// How well scores of subjects on items agree with people's ratings of them: by subject, pooled, by template.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/Correlation.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"

namespace stereosweep::findings {

/// Of the same subjects and items, [subject, item]; NaN: none.
struct RatedTable {
  std::size_t num_items = 0;
  std::vector<double> scores;
  std::vector<double> ratings;  ///< 0 (left pole) .. 100 (right pole)
};

/// Over the cells that are rated and scored.
struct Agreement {
  stats::Correlation tau;  ///< Kendall's tau-b
  stats::Correlation pearson;
  stats::Correlation spearman;
  stats::Precision precision;  ///< at 3 (cao2022 §5.1)
};

/// Of lists of the same cells; NaN: none.
Agreement agreement_of(std::span<const double> scores, std::span<const double> ratings);

/// Over all cells of a table. Its p assume that they are independent; its precision is the mean over subjects.
struct TableAgreement : Agreement {
  stats::Value mean_tau;  ///< of the subjects' own tau-b
};
TableAgreement agreement_of(const RatedTable& table);

/// Two-sided p of the pooled tau-b of shuffled tables (stats::shuffled_tau_p).
struct ShuffledP {
  stats::Value items;     ///< items change places, the same way in every subject
  stats::Value subjects;  ///< subjects change places
  /// Items change places within their dimension, and whole dimensions of one size; `too_few`: there is one dimension,
  /// or no p could be as small as `level`.
  stats::Value dimensions;
  stats::Value domains;          ///< the same of subjects and their domains
  double smallest = stats::nan;  ///< value that `cited` can reach

  static constexpr double level = 0.05;
  /// The larger of two: of items, in dimensions where that p is defined, and of subjects, in domains likewise. So each
  /// allows for what moves together as far as the table can tell. Of one subject that of items, NaN without one.
  double cited() const;
};

/// `dimensions`: which one each item is in, from 0; `domains`: of each subject. Empty: not known.
ShuffledP shuffled_p(const RatedTable& table, std::span<const std::size_t> dimensions,
                     std::span<const std::size_t> domains, const stats::ShuffleSettings& settings);

/// One template or the mean of several, and the pooled tau-b on the data that chose it.
struct TemplateChoice {
  std::vector<std::size_t> templates;
  stats::Correlation pooled;
};

constexpr std::size_t max_templates_to_choose = 100;

/// The mean of the templates' scores; NaN where one of them has none.
std::vector<double> mean_of_templates(std::span<const std::vector<double>> by_template,
                                      std::span<const std::size_t> templates);

/// The one template, or the mean of two where `most` is 2, whose pooled tau-b is highest (cao2022 §5), of those with at
/// least half as many cells as the fullest: few cells reach a high tau-b by chance. Of equal ones the first; singles
/// stand before pairs. `by_template`: [template][subject, item], parallel to `ratings`. Nothing where no tau-b exists,
/// or with more than `max_templates_to_choose` templates.
std::optional<TemplateChoice> choose_templates(std::span<const std::vector<double>> by_template,
                                               std::span<const double> ratings, std::size_t most);

}  // namespace stereosweep::findings
