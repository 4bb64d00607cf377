#include "probes/coreference/CoreferenceFile.hpp"

#include "base/Sha256.hpp"
#include "probes/coreference/Coreference.hpp"
#include "results/CubeKinds.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"

namespace stereosweep::probes::coreference {
namespace {

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

}  // namespace

CoreferenceFile::CoreferenceFile(const results::ResultFile& source, const CoreferenceOptions& options,
                                 const std::filesystem::path& target)
    : source_(source), pending_(target), file_(hdf5::File::create(pending_.path())) {
  write_attributes(options);
  layout_ = std::make_unique<results::Layout>(file_.root());
  add_axes();
  const Names axes = {"condition", "question", "sentence", "occupation"};
  scores_.push_back(
      layout_->add_cube(results::number_cube("log_probability", "nat", "sum over the occupation's subwords"), axes));
  scores_.push_back(layout_->add_cube(
      results::number_cube("mean_log_probability", "nat", "mean over the occupation's subwords"), axes));
  scores_.push_back(
      layout_->add_cube(results::number_cube("share", "1", "probability normalised over the two occupations"), axes));
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
  layout_->add_axis(schema.inner_axis("occupation"));
  layout_->add_axis(labelled_axis("type", "type of the sentences", sentence_types));
  layout_->add_axis(labelled_axis("stereotype", "sentences that count", stereotype_sets));
  layout_->add_axis(labelled_axis("gender", "pronouns that count", gender_sets));
  layout_->add_axis(labelled_axis("metric", "number of a sentence", stats::coreference_metric_names));
}

void CoreferenceFile::add(std::size_t condition, const ConditionNumbers& numbers) {
  auto where = scores_.front().all();
  where.start[0] = condition;
  where.count[0] = 1;
  scores_[0].write(where, std::span<const double>(numbers.log_probability));
  scores_[1].write(where, std::span<const double>(numbers.mean_log_probability));
  scores_[2].write(where, std::span<const double>(numbers.share));
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
  scores_.clear();
  const Names sets = {"condition", "type", "stereotype", "gender"};
  const Names means = {"condition", "type", "stereotype", "gender", "metric"};
  const Names disparities = {"condition", "type", "gender", "metric"};
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

}  // namespace stereosweep::probes::coreference
