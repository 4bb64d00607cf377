// A coreference result as numbers of sentences and as a score table, condition by condition.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/coreference/CoreferenceStatistics.hpp"
#include "results/ScoreTable.hpp"

namespace stereosweep::probes::coreference {

/// What the axis of the sentences says.
struct SentenceFacts {
  std::size_t type = 0;        ///< index into sentence_types
  std::size_t stereotype = 0;  ///< 0 pro, 1 anti
  std::size_t gender = 0;      ///< 0 female, 1 male
  std::size_t cluster = 0;     ///< its pair, counted within the type
};

struct ConditionFacts {
  std::string label;
  std::string augmentation;
  std::string attribute;
  std::string privilege;  ///< "privileged", "disadvantaged", ""
};

/// Contexts of one condition.
struct ConditionNumbers {
  std::vector<stats::CoreferenceMetrics> sentences;  ///< mean over the questions; NaN unless all have numbers
  /// Slice of the score table: [measure, template, rephrasing, item].
  std::vector<double> scores;
  std::vector<results::ScoreStatus> score_statuses;
  std::vector<std::uint64_t> cells_by_status;
};

class CoreferenceReader {
 public:
  /// `file` is borrowed. Throws InputError if it is no coreference result.
  explicit CoreferenceReader(const results::ResultFile& file);
  const std::vector<ConditionFacts>& conditions() const { return conditions_; }
  const std::vector<SentenceFacts>& sentences() const { return sentences_; }
  /// Of a type.
  std::size_t num_clusters(std::size_t type) const { return num_clusters_[type]; }
  const std::vector<std::string>& status_names() const { return status_names_; }
  /// Measures: README.md. Subjects are the conditions, items the roles of the occupations; one replicate.
  results::ScoreTableAxes score_axes() const;
  ConditionNumbers read(std::size_t condition, stats::Ties ties) const;

 private:
  std::size_t column(const std::string& name) const;
  void set_scores(std::size_t context, const std::array<std::span<const double>, 2>& tokens,
                  const stats::CoreferenceMetrics* metrics, ConditionNumbers& result) const;

  const results::ResultFile& file_;
  std::vector<ConditionFacts> conditions_;
  std::vector<SentenceFacts> sentences_;
  std::array<std::size_t, 2> num_clusters_{};
  std::size_t num_questions_ = 0;
  std::size_t num_subwords_ = 0;
  std::vector<std::string> status_names_;
};

stats::Ties ties_of(const CoreferenceStatistics& settings);

/// The whole score table. Throws InputError if `file` is no coreference result.
results::ScoreTable score_table(const results::ResultFile& file, stats::Ties ties);

}  // namespace stereosweep::probes::coreference
