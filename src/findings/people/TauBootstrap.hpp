// Tau-b of scores with people's means under draws of annotators, templates and rephrasings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "findings/people/AnswerTable.hpp"
#include "parallel/Communicator.hpp"

namespace stereosweep::findings {

/// Scores of one measure, [template, rephrasing, subject, item] (replicates averaged); NaN: none.
struct ScoreCells {
  std::size_t num_templates = 1;
  std::size_t num_rephrasings = 1;
  std::vector<double> values;

  std::size_t num_cells() const { return values.size() / (num_templates * num_rephrasings); }
  /// Means over templates and rephrasings, [subject, item].
  std::vector<double> means() const;
  /// Means over rephrasings, [template][subject, item].
  std::vector<std::vector<double>> by_template() const;
};

struct BootstrapSettings {
  bool draws_annotators = false;
  bool draws_templates = false;
  bool draws_rephrasings = false;
  std::size_t replicates = 2000;
  std::uint64_t seed = 0;
  unsigned num_threads = 1;  ///< the numbers do not depend on it
};

/// A list of cells: places in [subject, item].
using CellList = std::vector<std::size_t>;

/// Tau-b of the cells of each list, [list][replicate]; NaN where a replicate has none. Replicate r draws the same for
/// all measures and lists (streams: findings/Scores.hpp). Templates and rephrasings are drawn independently of each
/// other, annotators within each subject. Collective over `ranks`, which share the replicates.
std::vector<std::vector<double>> bootstrap_tau(const ScoreCells& scores, const AnswerTable& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const parallel::Communicator& ranks = {});

}  // namespace stereosweep::findings
