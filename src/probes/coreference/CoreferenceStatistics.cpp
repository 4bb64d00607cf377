#include "probes/coreference/CoreferenceStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "probes/coreference/CoreferenceFile.hpp"
#include "probes/coreference/CoreferenceNumbers.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::coreference {
namespace {

using stats::nan;
constexpr std::size_t num_metrics = stats::num_coreference_metrics;
/// Columns of one [stereotype, gender]: how many sentences, then the sum of each metric.
constexpr std::size_t part_width = 1 + num_metrics;
constexpr std::size_t num_parts = 4;
constexpr std::size_t width = num_parts * part_width;

using Sentences = std::vector<stats::CoreferenceMetrics>;

bool is_defined(const stats::CoreferenceMetrics& metrics) { return !std::isnan(metrics.front()); }

/// Sum of one column over the parts of a set: 0, 1 or, for 2, both.
double column_sum(const double* row, std::size_t stereotype_set, std::size_t gender_set, std::size_t column) {
  double sum = 0;
  for (std::size_t part = 0; part < num_parts; ++part) {
    const bool in_stereotype = stereotype_set == 2 || part / 2 == stereotype_set;
    const bool in_gender = gender_set == 2 || part % 2 == gender_set;
    sum += in_stereotype && in_gender ? row[part * part_width + column] : 0;
  }
  return sum;
}

double mean_of(const double* row, std::size_t stereotype_set, std::size_t gender_set, std::size_t metric) {
  const double count = column_sum(row, stereotype_set, gender_set, 0);
  return count == 0 ? nan : column_sum(row, stereotype_set, gender_set, 1 + metric) / count;
}

/// Makes summaries of sentences of one type, all from the same draws.
class Summariser {
 public:
  Summariser(const CoreferenceReader& reader, const CoreferenceOptions& options, std::size_t type)
      : reader_(reader),
        confidence_(options.settings.confidence),
        type_(type),
        bootstrap_(reader.num_clusters(type), static_cast<std::size_t>(options.settings.replicates), options.seed,
                   (std::uint64_t{1} + type) << 32U) {}

  SentenceSummary operator()(const Sentences& sentences) const {
    std::vector<double> values(bootstrap_.num_clusters() * width, 0);
    std::vector<double> total(width, 0);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const auto& facts = reader_.sentences()[i];
      if (facts.type != type_ || !is_defined(sentences[i])) {
        continue;
      }
      const auto part = (2 * facts.stereotype + facts.gender) * part_width;
      for (auto* row : {values.data() + facts.cluster * width, total.data()}) {
        row[part] += 1;
        for (std::size_t metric = 0; metric < num_metrics; ++metric) {
          row[part + 1 + metric] += sentences[i][metric];
        }
      }
    }
    const auto draws = bootstrap_.sums(values, width);
    SentenceSummary summary;
    for (std::size_t stereotype = 0; stereotype < 3; ++stereotype) {
      for (std::size_t gender = 0; gender < 3; ++gender) {
        const auto set = 3 * stereotype + gender;
        summary.counts[set] = static_cast<std::int32_t>(column_sum(total.data(), stereotype, gender, 0));
        for (std::size_t metric = 0; metric < num_metrics; ++metric) {
          summary.means[set * num_metrics + metric] =
              estimate(total, draws, [&](const double* row) { return mean_of(row, stereotype, gender, metric); });
        }
      }
    }
    for (std::size_t gender = 0; gender < 3; ++gender) {
      for (std::size_t metric = 0; metric < num_metrics; ++metric) {
        summary.pro_minus_anti[gender * num_metrics + metric] = estimate(total, draws, [&](const double* row) {
          return mean_of(row, 0, gender, metric) - mean_of(row, 1, gender, metric);
        });
      }
    }
    return summary;
  }

 private:
  template <class Statistic>
  Estimate estimate(const std::vector<double>& total, const std::vector<double>& draws, Statistic statistic) const {
    Estimate result{statistic(total.data()), nan, nan, stats::Reason::no_values};
    if (std::isnan(result.value)) {
      return result;
    }
    std::vector<double> replicates;
    for (std::size_t first = 0; first < draws.size(); first += width) {
      replicates.push_back(statistic(draws.data() + first));
    }
    const auto interval = stats::percentile_interval(std::move(replicates), confidence_);
    result.reason = bootstrap_.num_clusters() < 2 ? stats::Reason::too_few : interval.reason;
    if (result.reason == stats::Reason::ok) {
      result.low = interval.low;
      result.high = interval.high;
    }
    return result;
  }

  const CoreferenceReader& reader_;
  double confidence_;
  std::size_t type_;
  stats::ClusterBootstrap bootstrap_;
};

/// One minus the other, sentence by sentence; undefined where one is.
Sentences difference(const Sentences& left, const Sentences& right) {
  Sentences result = left;
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t metric = 0; metric < num_metrics; ++metric) {
      result[i][metric] -= right[i][metric];
    }
  }
  return result;
}

/// Sums over the conditions of one side of an attribute.
struct SideSum {
  Sentences sums;
  std::size_t num_conditions = 0;
  void add(const Sentences& sentences) {
    if (sums.empty()) {
      sums.assign(sentences.size(), {});
    }
    ++num_conditions;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (std::size_t metric = 0; metric < num_metrics; ++metric) {
        sums[i][metric] += sentences[i][metric];
      }
    }
  }
  Sentences mean() const {
    auto result = sums;
    for (auto& metrics : result) {
      for (auto& value : metrics) {
        value /= static_cast<double>(num_conditions);
      }
    }
    return result;
  }
};

/// [attribute, placement, side]
class PrivilegeSums {
 public:
  explicit PrivilegeSums(const std::vector<std::string>& attributes)
      : attributes_(attributes), sides_(attributes.size() * placements.size() * 2) {}
  void add(const ConditionFacts& condition, const Sentences& sentences) {
    const auto attribute = std::find(attributes_.begin(), attributes_.end(), condition.attribute);
    const auto* placement = std::find_if(placements.begin(), placements.end(), [&](const std::string& name) {
      return condition.augmentation.starts_with(name);
    });
    if (attribute == attributes_.end() || placement == placements.end() || condition.privilege.empty()) {
      return;
    }
    const auto cell = static_cast<std::size_t>(attribute - attributes_.begin()) * placements.size() +
                      static_cast<std::size_t>(placement - placements.begin());
    sides_[2 * cell + (condition.privilege == "privileged" ? 0 : 1)].add(sentences);
  }
  /// Nothing where a side has no condition.
  std::optional<Sentences> contrast(std::size_t cell) const {
    const auto& privileged = sides_[2 * cell];
    const auto& disadvantaged = sides_[2 * cell + 1];
    if (privileged.num_conditions == 0 || disadvantaged.num_conditions == 0) {
      return std::nullopt;
    }
    return difference(privileged.mean(), disadvantaged.mean());
  }

 private:
  const std::vector<std::string>& attributes_;
  std::vector<SideSum> sides_;
};

std::vector<std::string> attributes_of(const CoreferenceReader& reader) {
  std::vector<std::string> attributes;
  for (const auto& condition : reader.conditions()) {
    if (!condition.privilege.empty() &&
        std::find(attributes.begin(), attributes.end(), condition.attribute) == attributes.end()) {
      attributes.push_back(condition.attribute);
    }
  }
  return attributes;
}

CoreferenceResult stream(const CoreferenceReader& reader, const CoreferenceOptions& options, CoreferenceFile* writer) {
  const auto ties = options.settings.ties == CoreferenceStatistics::Ties::half ? stats::Ties::half : stats::Ties::loss;
  const std::array<Summariser, 2> summarise = {Summariser(reader, options, 0), Summariser(reader, options, 1)};
  CoreferenceResult result;
  result.confidence = options.settings.confidence;
  result.attributes = attributes_of(reader);
  result.status_names = reader.status_names();
  result.cells_by_status.assign(result.status_names.size(), 0);
  PrivilegeSums privilege(result.attributes);
  std::optional<Sentences> baseline;
  for (std::size_t i = 0; i < reader.conditions().size(); ++i) {
    const auto& condition = reader.conditions()[i];
    const auto numbers = reader.read(i, ties);
    result.conditions.push_back(condition.label);
    for (std::size_t status = 0; status < numbers.cells_by_status.size(); ++status) {
      result.cells_by_status[status] += numbers.cells_by_status[status];
    }
    if (condition.augmentation == "baseline") {
      baseline = numbers.sentences;
    }
    privilege.add(condition, numbers.sentences);
    for (const auto& make : summarise) {
      result.summaries.push_back(make(numbers.sentences));
      result.from_baseline.push_back(baseline ? make(difference(*baseline, numbers.sentences)) : make({}));
    }
    if (writer != nullptr) {
      writer->add(i, numbers);
    }
  }
  for (std::size_t cell = 0; cell < result.attributes.size() * placements.size(); ++cell) {
    const auto contrast = privilege.contrast(cell);
    for (const auto& make : summarise) {
      result.privilege.push_back(make(contrast.value_or(Sentences())));
    }
  }
  return result;
}

}  // namespace

CoreferenceResult compute_coreference(const results::ResultFile& file, const CoreferenceOptions& options) {
  return stream(CoreferenceReader(file), options, nullptr);
}

CoreferenceResult write_coreference(const results::ResultFile& file, const CoreferenceOptions& options,
                                    const std::filesystem::path& target) {
  const CoreferenceReader reader(file);
  CoreferenceFile writer(file, options, target);
  auto result = stream(reader, options, &writer);
  writer.finish(result);
  return result;
}

}  // namespace stereosweep::probes::coreference
