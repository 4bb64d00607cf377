#include "probes/coreference/CoreferenceStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/PendingFile.hpp"
#include "base/Sha256.hpp"
#include "hdf5/File.hpp"
#include "probes/coreference/CoreferenceScores.hpp"
#include "results/CubeKinds.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"
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

using results::CubeSchema;
using results::ElementType;
using Names = std::vector<std::string>;

template <class Strings>
results::AxisSchema labelled_axis(const char* name, const char* long_name, const Strings& labels) {
  return {name, long_name, Names(labels.begin(), labels.end()), {}};
}

template <class T>
void write_all(hdf5::DataSet dataset, const std::vector<T>& values) {
  dataset.write(dataset.all(), std::span<const T>(values));
}

/// One table over all summaries.
template <class Table>
std::vector<Estimate> all_of(const std::vector<SentenceSummary>& summaries, Table table) {
  std::vector<Estimate> result;
  for (const auto& summary : summaries) {
    const auto& estimates = summary.*table;
    result.insert(result.end(), estimates.begin(), estimates.end());
  }
  return result;
}

std::vector<std::int32_t> counts_of(const std::vector<SentenceSummary>& summaries) {
  std::vector<std::int32_t> result;
  for (const auto& summary : summaries) {
    result.insert(result.end(), summary.counts.begin(), summary.counts.end());
  }
  return result;
}

/// The file coreference.stats.h5; same conventions as an exported result.
class CoreferenceFile {
 public:
  /// `source` is borrowed until `finish`.
  CoreferenceFile(const CoreferenceReader& reader, const results::ResultFile& source, const CoreferenceOptions& options,
                  const std::filesystem::path& target);
  /// Scores of the contexts of one condition.
  void add(std::size_t condition, const ConditionNumbers& numbers);
  /// Writes the tables, then makes the file appear under its name.
  void finish(const CoreferenceResult& result);

 private:
  void write_attributes(const CoreferenceOptions& options);
  void add_axes();
  /// NAME, NAME_low, NAME_high and NAME_status over `axes`.
  void write_estimates(const std::string& name, const std::string& long_name, const std::vector<std::string>& axes,
                       const std::vector<Estimate>& estimates);
  void write_privilege(const CoreferenceResult& result);

  const results::ResultFile& source_;
  base::PendingFile pending_;
  hdf5::File file_;
  std::unique_ptr<results::Layout> layout_;
  std::optional<results::ScoreTableWriter> scores_;
  hdf5::Rectangle part_;  ///< of the score table: one condition
};

CoreferenceFile::CoreferenceFile(const CoreferenceReader& reader, const results::ResultFile& source,
                                 const CoreferenceOptions& options, const std::filesystem::path& target)
    : source_(source), pending_(target), file_(hdf5::File::create(pending_.path())) {
  write_attributes(options);
  layout_ = std::make_unique<results::Layout>(file_.root());
  add_axes();
  const auto axes = reader.score_axes();
  scores_.emplace(*layout_, axes);
  for (const auto& axis : axes) {
    part_.start.push_back(0);
    part_.count.push_back(axis.labels.size());
  }
  part_.count[1] = 1;
}

void CoreferenceFile::write_attributes(const CoreferenceOptions& options) {
  auto& root = file_.root();
  results::write_statistics_attributes(root, source_, "coreference");
  const bool half = options.settings.ties == CoreferenceStatistics::Ties::half;
  root.write_attribute("ties", half ? "half" : "loss");
  root.write_attribute("bootstrap_replicates", std::int64_t{options.settings.replicates});
  root.write_attribute("bootstrap_seed", std::to_string(options.seed));
  root.write_attribute("confidence", options.settings.confidence);
}

void CoreferenceFile::add_axes() {
  const auto& schema = source_.schema();
  for (const auto& outer : schema.outer_axes) {
    layout_->add_axis(outer);
  }
  layout_->add_axis(labelled_axis("type", "type of the sentences", sentence_types));
  layout_->add_axis(labelled_axis("stereotype", "sentences that count", stereotype_sets));
  layout_->add_axis(labelled_axis("gender", "pronouns that count", gender_sets));
  layout_->add_axis(labelled_axis("metric", "number of a sentence", stats::coreference_metric_names));
}

void CoreferenceFile::add(std::size_t condition, const ConditionNumbers& numbers) {
  part_.start[1] = condition;
  scores_->write(part_, numbers.scores, numbers.score_statuses);
}

void CoreferenceFile::write_estimates(const std::string& name, const std::string& long_name, const Names& axes,
                                      const std::vector<Estimate>& estimates) {
  std::vector<double> values;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<std::uint8_t> reasons;
  for (const auto& estimate : estimates) {
    values.push_back(estimate.value);
    low.push_back(estimate.low);
    high.push_back(estimate.high);
    reasons.push_back(static_cast<std::uint8_t>(estimate.reason));
  }
  const auto number = [&](const std::string& suffix, const std::string& text) {
    return layout_->add_cube(results::number_cube(name + suffix, "", text), axes);
  };
  write_all(number("", long_name), values);
  write_all(number("_low", "lower end of the bootstrap interval of " + name), low);
  write_all(number("_high", "upper end of the bootstrap interval of " + name), high);
  const CubeSchema status{name + "_status",
                          ElementType::uint8,
                          {},
                          "",
                          "why a number or its interval is missing",
                          "",
                          {"ok", "no_values", "too_few"}};
  write_all(layout_->add_cube(status, axes), reasons);
}

void CoreferenceFile::write_privilege(const CoreferenceResult& result) {
  layout_->add_axis(
      labelled_axis("attribute", "attribute with a privileged and a disadvantaged side", result.attributes));
  layout_->add_axis(labelled_axis("placement", "where the markers stand; aug3: aug3a against aug3b", placements));
  const Names axes = {"attribute", "placement", "type", "stereotype", "gender", "metric"};
  write_estimates("privileged_minus_disadvantaged",
                  "mean over sentences of the mean over privileged minus the mean over disadvantaged markers", axes,
                  all_of(result.privilege, &SentenceSummary::means));
}

void CoreferenceFile::finish(const CoreferenceResult& result) {
  scores_.reset();
  const Names sets = {"group", "type", "stereotype", "gender"};
  const Names means = {"group", "type", "stereotype", "gender", "metric"};
  const Names disparities = {"group", "type", "gender", "metric"};
  const CubeSchema count{
      "num_sentences", ElementType::int32, {}, "1", "sentences with numbers for all questions", "", {}};
  write_all(layout_->add_cube(count, sets), counts_of(result.summaries));
  write_estimates("mean", "mean over sentences", means, all_of(result.summaries, &SentenceSummary::means));
  write_estimates("pro_minus_anti", "mean over pro sentences minus mean over anti sentences", disparities,
                  all_of(result.summaries, &SentenceSummary::pro_minus_anti));
  write_estimates("baseline_minus_condition", "mean over sentences of the number without markers minus the number with",
                  means, all_of(result.from_baseline, &SentenceSummary::means));
  write_estimates("baseline_minus_condition_pro_minus_anti", "pro minus anti of baseline_minus_condition", disparities,
                  all_of(result.from_baseline, &SentenceSummary::pro_minus_anti));
  if (!result.attributes.empty()) {
    write_privilege(result);
  }
  layout_.reset();
  file_.root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  results::commit_sealed(pending_);
}

CoreferenceResult stream(const CoreferenceReader& reader, const CoreferenceOptions& options, CoreferenceFile* writer) {
  const auto ties = ties_of(options.settings);
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
  CoreferenceFile writer(reader, file, options, target);
  auto result = stream(reader, options, &writer);
  writer.finish(result);
  return result;
}

}  // namespace stereosweep::probes::coreference
