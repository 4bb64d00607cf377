// `stats` of a coreference result: score table, means, disparities and their intervals, each defined in README.md of
// this room.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probes/coreference/Coreference.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Answers.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::coreference {

struct CoreferenceOptions {
  CoreferenceStatistics settings;  ///< replicates 0: no intervals
  std::uint64_t seed = 0;
};

/// A number with its percentile interval, and why what is missing is.
struct Estimate {
  double value;
  double low;
  double high;
  stats::Reason reason = stats::Reason::no_values;
};

inline const std::vector<std::string> stereotype_sets = {"pro", "anti", "all"};
inline const std::vector<std::string> gender_sets = {"female", "male", "all"};
inline const std::vector<std::string> placements = {"aug1", "aug2", "aug3", "aug4"};

/// Numbers of the sentences of one type under one condition, or differences of two conditions.
struct SentenceSummary {
  static constexpr std::size_t num_sets = 9;  ///< [stereotype set, gender set]
  std::array<std::int32_t, num_sets> counts{};
  std::array<Estimate, num_sets * stats::num_coreference_metrics> means{};    ///< [set, metric]
  std::array<Estimate, 3 * stats::num_coreference_metrics> pro_minus_anti{};  ///< [gender set, metric]
};

struct CoreferenceResult {
  std::vector<std::string> conditions;
  std::vector<std::string> attributes;  ///< with privileged and disadvantaged markers
  std::vector<std::string> status_names;
  std::vector<std::uint64_t> cells_by_status;
  std::vector<SentenceSummary> summaries;      ///< [condition, type]
  std::vector<SentenceSummary> from_baseline;  ///< [condition, type]: baseline minus condition, by sentence
  std::vector<SentenceSummary> privilege;      ///< [attribute, placement, type]: privileged minus disadvantaged
  double confidence = 0.95;
};

/// Streams through `file`, condition by condition, and writes `target` (as export_run does) where there is one: the
/// tables above, and the score table. Throws InputError if it is no result of the probe 'coreference'.
CoreferenceResult compute_coreference(const results::ResultFile& file, const CoreferenceOptions& options,
                                      const std::optional<results::StatisticsTarget>& target = {});

/// The whole score table. Throws InputError if `file` is no coreference result.
results::ScoreTable score_table(const results::ResultFile& file, stats::Ties ties);

}  // namespace stereosweep::probes::coreference
