// How well scores of subjects on items agree with people's ratings of them: by subject, pooled, by template. What the
// tables of both kinds of `stats` (Alignment, People) are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stats/Correlation.hpp"
#include "stats/permutation/ShuffledTau.hpp"

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

/// [subject]
std::vector<Agreement> agreement_by_subject(const RatedTable& table);

/// Tau-b over all cells. Its p assumes that they are independent.
stats::Correlation pooled_tau(const RatedTable& table);

/// P of the pooled tau-b where whole columns (items, the same way in every subject) or rows (subjects) change places.
stats::Value shuffled_p(const RatedTable& table, stats::Shuffle shuffle, const stats::ShuffleSettings& settings);

/// Of what `read` gives of each, where it exists.
stats::Value mean_over(std::span<const Agreement> agreements,
                       const std::function<stats::Value(const Agreement&)>& read);
stats::Value tau_of(const Agreement& agreement);
stats::Value precision_of(const Agreement& agreement);
stats::Value chance_of(const Agreement& agreement);

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
