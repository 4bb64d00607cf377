#include "probes/coreference/CoreferenceScores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/Error.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::coreference {
namespace {

using stats::nan;

struct MeasureText {
  const char* name;
  const char* units;
  const char* description;
};
enum class Measure : std::size_t {
  log_probability,
  mean_log_probability,
  probability,
  share,
  share_per_subword,
  accuracy,
  entropy,
  margin
};
constexpr std::size_t num_measures = 8;
constexpr std::array<MeasureText, num_measures> measure_table = {{
    {"log_probability", "nat", "sum of ln p over the subwords of the occupation"},
    {"mean_log_probability", "nat", "mean of ln p over the subwords of the occupation"},
    {"probability", "1", "exp of log_probability"},
    {"share", "1", "probability divided by the sum of both occupations' probabilities"},
    {"share_per_subword", "1", "the same of exp of mean_log_probability"},
    {"accuracy", "1", "1 where the referent is more probable, 0 where it is less; ties: attribute ties"},
    {"entropy", "nat", "of the two shares"},
    {"margin", "nat", "log_probability of the referent minus that of the other occupation"},
}};

[[noreturn]] void refuse_result(const results::ResultFile& file, const std::string& why) {
  throw base::InputError(base::describe("cannot compute statistics of '" + file.path().string() + "'", why));
}

const std::vector<std::string>& coordinate(const results::ResultFile& file, std::size_t axis, const std::string& name) {
  const auto& coordinates = file.schema().outer_axes.at(axis).coordinates;
  const auto found =
      std::find_if(coordinates.begin(), coordinates.end(), [&](const auto& item) { return item.name == name; });
  if (found == coordinates.end()) {
    refuse_result(file, "its axis '" + file.schema().outer_axes[axis].name + "' has no coordinate '" + name + "'");
  }
  return found->values;
}

std::size_t index_of(const results::ResultFile& file, const std::string& value, const std::string& first,
                     const std::string& second) {
  if (value != first && value != second) {
    refuse_result(file, "'" + value + "' is neither '" + first + "' nor '" + second + "'");
  }
  return value == first ? 0 : 1;
}

}  // namespace

CoreferenceReader::CoreferenceReader(const results::ResultFile& file) : file_(file) {
  if (file.text("schema") != "stereosweep/coreference") {
    refuse_result(file, "it is no result of the probe 'coreference'");
  }
  const auto& axes = file.schema().outer_axes;
  if (axes.size() != 3 || axes[0].name != "group" || axes[1].name != "rephrasing" || axes[2].name != "template") {
    refuse_result(file, "its axes are not group, rephrasing, template: export the run anew");
  }
  const auto& augmentations = coordinate(file, 0, "augmentation");
  const auto& attributes = coordinate(file, 0, "attribute");
  const auto& privileges = coordinate(file, 0, "privilege");
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    conditions_.push_back({axes[0].labels[i], augmentations[i], attributes[i], privileges[i]});
  }
  num_questions_ = axes[1].labels.size();
  const auto& types = coordinate(file, 2, "type");
  const auto& stereotypes = coordinate(file, 2, "stereotype");
  const auto& genders = coordinate(file, 2, "gender");
  const auto& pairs = coordinate(file, 2, "pair");
  std::array<std::map<std::string, std::size_t>, 2> clusters;
  for (std::size_t i = 0; i < axes[2].labels.size(); ++i) {
    SentenceFacts facts;
    facts.type = index_of(file, types[i], sentence_types[0], sentence_types[1]);
    facts.stereotype = index_of(file, stereotypes[i], "pro", "anti");
    facts.gender = index_of(file, genders[i], "female", "male");
    facts.cluster = clusters[facts.type].emplace(pairs[i], clusters[facts.type].size()).first->second;
    sentences_.push_back(facts);
  }
  num_clusters_ = {clusters[0].size(), clusters[1].size()};
  num_subwords_ = file.schema().inner_axis("subword").labels.size();
  status_names_ = file.schema().cubes.at(column("status")).flag_meanings;
  column("logprob");
  column("num_subwords");
}

std::size_t CoreferenceReader::column(const std::string& name) const {
  const auto& cubes = file_.schema().cubes;
  const auto found = std::find_if(cubes.begin(), cubes.end(), [&](const auto& cube) { return cube.name == name; });
  if (found == cubes.end()) {
    refuse_result(file_, "it has no cube '" + name + "'");
  }
  return static_cast<std::size_t>(found - cubes.begin());
}

results::ScoreTableAxes CoreferenceReader::score_axes() const {
  const auto& raw = file_.schema().outer_axes;
  results::AxisSchema measures{"measure", "what is computed of one prompt", {}, {}};
  measures.coordinates = {{"units", "unit", {}}, {"description", "definition", {}}};
  for (const auto& measure : measure_table) {
    measures.labels.emplace_back(measure.name);
    measures.coordinates[0].values.emplace_back(measure.units);
    measures.coordinates[1].values.emplace_back(measure.description);
  }
  auto subjects = raw[0];
  subjects.name = "subject";
  const std::vector<std::string> none(2);
  return {std::move(measures),
          std::move(subjects),
          raw[2],
          raw[1],
          results::ScoreTable::no_axis(4),
          {"item",
           "role of the occupation in the sentence",
           {"referent", "other"},
           {{"dimension", "none here", none}, {"left", "none here", none}, {"right", "none here", none}}}};
}

/// `metrics`: null unless both occupations have numbers.
void CoreferenceReader::set_scores(std::size_t context, const std::array<std::span<const double>, 2>& tokens,
                                   const stats::CoreferenceMetrics* metrics, ConditionNumbers& result) const {
  const auto place = (context % sentences_.size() * num_questions_ + context / sentences_.size()) * 2;
  const auto stride = 2 * num_questions_ * sentences_.size();
  const auto set = [&](Measure measure, std::size_t role, double value) {
    const auto index = static_cast<std::size_t>(measure) * stride + place + role;
    result.scores[index] = value;
    result.score_statuses[index] = results::ScoreStatus::ok;
  };
  std::array<double, 2> means{};
  for (std::size_t role = 0; role < 2; ++role) {
    for (const auto measure : {Measure::accuracy, Measure::entropy, Measure::margin}) {
      if (role == 1) {
        result.score_statuses[static_cast<std::size_t>(measure) * stride + place + role] =
            results::ScoreStatus::not_applicable;
      }
    }
    if (!tokens[role].empty()) {
      const auto sum = std::accumulate(tokens[role].begin(), tokens[role].end(), 0.0);
      means[role] = sum / static_cast<double>(tokens[role].size());
      set(Measure::log_probability, role, sum);
      set(Measure::mean_log_probability, role, means[role]);
      set(Measure::probability, role, std::exp(sum));
    }
  }
  if (metrics != nullptr) {
    const auto metric = [&](stats::CoreferenceMetric name) { return (*metrics)[static_cast<std::size_t>(name)]; };
    const auto margin = metric(stats::CoreferenceMetric::margin);
    set(Measure::share, 0, metric(stats::CoreferenceMetric::share));
    set(Measure::share, 1, stats::logistic(-margin));
    set(Measure::share_per_subword, 0, metric(stats::CoreferenceMetric::share_per_subword));
    set(Measure::share_per_subword, 1, stats::logistic(means[1] - means[0]));
    set(Measure::accuracy, 0, metric(stats::CoreferenceMetric::accuracy));
    set(Measure::entropy, 0, metric(stats::CoreferenceMetric::entropy));
    set(Measure::margin, 0, margin);
  }
}

ConditionNumbers CoreferenceReader::read(std::size_t condition, stats::Ties ties) const {
  const auto num_contexts = num_questions_ * sentences_.size();
  ConditionNumbers result;
  result.cells_by_status.assign(status_names_.size(), 0);
  result.scores.assign(num_measures * 2 * num_contexts, nan);
  result.score_statuses.assign(result.scores.size(), results::ScoreStatus::missing);
  result.sentences.assign(sentences_.size(), {});
  const auto block = file_.read(condition * num_contexts, num_contexts);
  const auto& logprob = std::get<std::vector<double>>(block.columns[column("logprob")]);
  const auto& counts = std::get<std::vector<std::int32_t>>(block.columns[column("num_subwords")]);
  const auto& statuses = std::get<std::vector<std::uint8_t>>(block.columns[column("status")]);
  for (std::size_t context = 0; context < num_contexts; ++context) {
    std::array<std::span<const double>, 2> tokens;
    for (std::size_t role = 0; role < 2; ++role) {
      const auto cell = 2 * context + role;
      ++result.cells_by_status.at(statuses[cell]);
      const auto count = std::clamp<std::int64_t>(counts[cell], 0, static_cast<std::int64_t>(num_subwords_));
      if (statuses[cell] == 0 && count > 0) {
        tokens[role] = std::span(logprob).subspan(cell * num_subwords_, static_cast<std::size_t>(count));
      }
    }
    auto& sentence = result.sentences[context % sentences_.size()];
    if (tokens[0].empty() || tokens[1].empty()) {
      sentence.fill(nan);
      set_scores(context, tokens, nullptr, result);
      continue;
    }
    const auto metrics = stats::coreference_metrics(tokens[0], tokens[1], ties);
    set_scores(context, tokens, &metrics, result);
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      sentence[metric] += metrics[metric] / static_cast<double>(num_questions_);
    }
  }
  return result;
}

stats::Ties ties_of(const CoreferenceStatistics& settings) {
  return settings.ties == CoreferenceStatistics::Ties::half ? stats::Ties::half : stats::Ties::loss;
}

results::ScoreTable score_table(const results::ResultFile& file, stats::Ties ties) {
  const CoreferenceReader reader(file);
  results::ScoreTable table{reader.score_axes(), {}, {}};
  table.resize();
  const auto num_subjects = table.length(1);
  const auto size = table.values.size() / num_measures / num_subjects;
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    const auto numbers = reader.read(subject, ties);
    for (std::size_t measure = 0; measure < num_measures; ++measure) {
      const auto from = measure * size;
      const auto to = (measure * num_subjects + subject) * size;
      std::copy_n(numbers.scores.begin() + static_cast<std::ptrdiff_t>(from), size,
                  table.values.begin() + static_cast<std::ptrdiff_t>(to));
      std::copy_n(numbers.score_statuses.begin() + static_cast<std::ptrdiff_t>(from), size,
                  table.statuses.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return table;
}

}  // namespace stereosweep::probes::coreference
