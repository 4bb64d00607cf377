#include "probes/coreference/CoreferenceStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "base/Error.hpp"
#include "probes/Probe.hpp"
#include "results/RawBlock.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Bootstrap.hpp"

namespace stereosweep::probes::coreference {
namespace {

using stats::nan;

/// What the axis of the sentences says.
struct SentenceFacts {
  std::size_t type = 0;        ///< index into type_names
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
  results::ScoreTableWriter::Part scores;            ///< all its sentences
  std::vector<std::uint64_t> cells_by_status;
};

struct MeasureText {
  const char* name;
  const char* units;
  const char* description;
  const char* lowest = "";   ///< least score possible; "": there is none
  const char* highest = "";  ///< greatest
};
constexpr std::size_t num_measures = 10;
constexpr std::size_t first_metric = 4;     ///< from here on the metrics of stats/Answers.hpp
constexpr std::size_t first_of_prompt = 7;  ///< from here on one number of the prompt, which stands at the referent
const std::vector<MeasureText> measure_table = {
    {"log_probability", "nat", "sum of ln p over the subwords of the occupation"},
    {"mean_log_probability", "nat", "mean of ln p over the subwords of the occupation"},
    {"token_probability_sum", "1", "sum of p over the subwords of the occupation"},
    {"token_probability_mean", "1", "mean of p over the subwords of the occupation", "0", "1"},
    {"probability", "1", "exp of log_probability", "0", "1"},
    {"share", "1", "probability divided by the sum of both occupations' probabilities", "0", "1"},
    {"share_per_subword", "1", "the same of exp of mean_log_probability", "0", "1"},
    {"accuracy", "1", "1 where the referent is more probable, 0 where it is less; ties: attribute ties", "0", "1"},
    {"entropy", "nat", "of the two shares"},
    {"margin", "nat", "log_probability of the referent minus that of the other occupation"},
};
/// Of one prompt: [measure, role]; NaN where there is none.
using PromptScores = std::array<std::array<double, 2>, num_measures>;

/// `metrics`: null unless both occupations have numbers.
PromptScores scores_of(const std::array<std::span<const double>, 2>& tokens, const stats::CoreferenceMetrics* metrics) {
  PromptScores scores;
  scores.fill({nan, nan});
  for (std::size_t role = 0; role < 2; ++role) {
    if (!tokens[role].empty()) {
      const auto sum = std::accumulate(tokens[role].begin(), tokens[role].end(), 0.0);
      scores[0][role] = sum;
      const auto length = static_cast<double>(tokens[role].size());
      scores[1][role] = sum / length;
      scores[2][role] = 0;
      for (const double logprob : tokens[role]) {
        scores[2][role] += std::exp(logprob);
      }
      scores[3][role] = scores[2][role] / length;
      scores[first_metric][role] = std::exp(sum);
    }
  }
  for (std::size_t metric = 0; metrics != nullptr && metric < metrics->size(); ++metric) {
    scores[first_metric + metric][0] = (*metrics)[metric];
  }
  if (metrics != nullptr) {
    scores[first_metric + 1][1] = stats::logistic(scores[0][1] - scores[0][0]);
    scores[first_metric + 2][1] = stats::logistic(scores[1][1] - scores[1][0]);
  }
  return scores;
}

[[noreturn]] void refuse_result(const results::ResultFile& file, const std::string& why) {
  throw base::InputError(base::describe("cannot compute statistics of '" + file.path().string() + "'", why));
}

std::size_t index_of(const results::ResultFile& file, const std::string& value, const std::string& first,
                     const std::string& second) {
  if (value != first && value != second) {
    refuse_result(file, "'" + value + "' is neither '" + first + "' nor '" + second + "'");
  }
  return value == first ? 0 : 1;
}

/// The axis of the sentences with one coordinate more: what sentences about the same two occupations have in common.
results::AxisSchema with_occupations(results::AxisSchema sentences) {
  const auto& referents = coordinate_of(sentences, "referent");
  const auto& others = coordinate_of(sentences, "other");
  std::vector<std::string> both;
  for (std::size_t i = 0; i < referents.size(); ++i) {
    both.push_back(std::min(referents[i], others[i]) + ", " + std::max(referents[i], others[i]));
  }
  sentences.coordinates.push_back({"occupations", "both occupations in alphabetical order", std::move(both)});
  return sentences;
}

/// Reads a result condition by condition.
struct ResultReader {
  /// Throws InputError if it is no coreference result.
  explicit ResultReader(const results::ResultFile& source);
  /// Measures: README.md. Subjects are the conditions, items the roles of the occupations; one replicate.
  results::ScoreTableAxes score_axes() const;
  ConditionNumbers read(std::size_t condition, stats::Ties ties) const;

  const results::ResultFile& file;  ///< borrowed
  std::vector<ConditionFacts> conditions;
  std::vector<SentenceFacts> sentences;
  std::array<std::size_t, 2> num_clusters{};  ///< of a type
  std::size_t num_questions = 0;
  std::size_t num_subwords = 0;
  std::array<std::size_t, 3> columns{};  ///< of the cubes logprob, num_subwords, status
  std::vector<std::string> status_names;
};

ResultReader::ResultReader(const results::ResultFile& source) : file(source) {
  if (file.text("schema") != "stereosweep/coreference") {
    refuse_result(file, "it is no result of the probe 'coreference'");
  }
  const auto& axes = file.schema().outer_axes;
  if (axes.size() != 3 || axes[0].name != "group" || axes[1].name != "rephrasing" || axes[2].name != "template") {
    refuse_result(file, "its axes are not group, rephrasing, template: export the run anew");
  }
  const auto& augmentations = coordinate_of(axes[0], "augmentation");
  const auto& attributes = coordinate_of(axes[0], "attribute");
  const auto& privileges = coordinate_of(axes[0], "privilege");
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    conditions.push_back({axes[0].labels[i], augmentations[i], attributes[i], privileges[i]});
  }
  num_questions = axes[1].labels.size();
  const auto& types = coordinate_of(axes[2], "type");
  const auto& stereotypes = coordinate_of(axes[2], "stereotype");
  const auto& genders = coordinate_of(axes[2], "gender");
  const auto& pairs = coordinate_of(axes[2], "pair");
  std::array<std::map<std::string, std::size_t>, 2> clusters;
  for (std::size_t i = 0; i < axes[2].labels.size(); ++i) {
    SentenceFacts facts;
    facts.type = index_of(file, types[i], type_names[0], type_names[1]);
    facts.stereotype = index_of(file, stereotypes[i], "pro", "anti");
    facts.gender = index_of(file, genders[i], "female", "male");
    facts.cluster = clusters[facts.type].emplace(pairs[i], clusters[facts.type].size()).first->second;
    sentences.push_back(facts);
  }
  num_clusters = {clusters[0].size(), clusters[1].size()};
  num_subwords = file.schema().inner_axis("subword").labels.size();
  const auto& cubes = file.schema().cubes;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = std::array{"logprob", "num_subwords", "status"}[i];
    const auto found = std::ranges::find(cubes, name, &results::CubeSchema::name);
    if (found == cubes.end()) {
      refuse_result(file, "it has no cube '" + name + "'");
    }
    columns[i] = static_cast<std::size_t>(found - cubes.begin());
  }
  status_names = cubes[columns[2]].flag_meanings;
}

results::ScoreTableAxes ResultReader::score_axes() const {
  const auto& raw = file.schema().outer_axes;
  auto subjects = raw[0];
  subjects.name = "subject";
  const std::vector<std::string> none(2);
  return {axis_of("measure", "what is computed of one prompt", measure_table, &MeasureText::name,
                  {{"units", "unit", &MeasureText::units},
                   {"description", "definition", &MeasureText::description},
                   {"lowest", "least score possible", &MeasureText::lowest},
                   {"highest", "greatest score possible", &MeasureText::highest}}),
          std::move(subjects),
          with_occupations(raw[2]),
          raw[1],
          results::ScoreTable::no_axis(4),
          {"item",
           "role of the occupation in the sentence",
           {"referent", "other"},
           {{"dimension", "none here", none}, {"left", "none here", none}, {"right", "none here", none}}}};
}

ConditionNumbers ResultReader::read(std::size_t condition, stats::Ties ties) const {
  const auto num_contexts = num_questions * sentences.size();
  ConditionNumbers result;
  result.cells_by_status.assign(status_names.size(), 0);
  result.scores = {condition, 0, num_contexts, {}, {}};
  result.scores.values.resize(num_measures * 2 * num_contexts);
  result.scores.statuses.resize(result.scores.values.size());
  result.sentences.assign(sentences.size(), {});
  const auto block = file.read(condition * num_contexts, num_contexts);
  const auto& logprob = std::get<std::vector<double>>(block.columns[columns[0]]);
  const auto& counts = std::get<std::vector<std::int32_t>>(block.columns[columns[1]]);
  const auto& statuses = std::get<std::vector<std::uint8_t>>(block.columns[columns[2]]);
  for (std::size_t context = 0; context < num_contexts; ++context) {
    std::array<std::span<const double>, 2> tokens;
    for (std::size_t role = 0; role < 2; ++role) {
      const auto cell = 2 * context + role;
      ++result.cells_by_status.at(statuses[cell]);
      const auto count = std::clamp<std::int64_t>(counts[cell], 0, static_cast<std::int64_t>(num_subwords));
      if (statuses[cell] == 0 && count > 0) {
        tokens[role] = std::span(logprob).subspan(cell * num_subwords, static_cast<std::size_t>(count));
      }
    }
    auto& sentence = result.sentences[context % sentences.size()];
    std::optional<stats::CoreferenceMetrics> metrics;
    if (tokens[0].empty() || tokens[1].empty()) {
      sentence.fill(nan);
    } else {
      metrics = stats::coreference_metrics(tokens[0], tokens[1], ties);
    }
    for (std::size_t metric = 0; metrics && metric < metrics->size(); ++metric) {
      sentence[metric] += (*metrics)[metric] / static_cast<double>(num_questions);
    }
    const auto scores = scores_of(tokens, metrics ? &*metrics : nullptr);
    const auto place = context % sentences.size() * num_questions + context / sentences.size();
    for (std::size_t cell = 0; cell < 2 * num_measures; ++cell) {
      const auto measure = cell / 2;
      const auto at = (measure * num_contexts + place) * 2 + cell % 2;
      const auto value = scores[measure][cell % 2];
      result.scores.values[at] = value;
      result.scores.statuses[at] = cell % 2 == 1 && measure >= first_of_prompt ? results::ScoreStatus::not_applicable
                                   : std::isnan(value)                         ? results::ScoreStatus::missing
                                   : std::isinf(value)                         ? results::ScoreStatus::infinite
                                                                               : results::ScoreStatus::ok;
    }
  }
  return result;
}

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
  Summariser(const ResultReader& reader, const CoreferenceOptions& options, std::size_t type)
      : reader_(reader),
        confidence_(options.settings.confidence),
        type_(type),
        bootstrap_(reader.num_clusters[type], static_cast<std::size_t>(options.settings.replicates), options.seed,
                   (std::uint64_t{1} + type) << 32U) {}

  SentenceSummary operator()(const Sentences& sentences) const {
    std::vector<double> values(bootstrap_.num_clusters() * width, 0);
    std::vector<double> total(width, 0);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const auto& facts = reader_.sentences[i];
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

  const ResultReader& reader_;
  double confidence_;
  std::size_t type_;
  stats::ClusterBootstrap bootstrap_;
};

/// One minus the other, sentence by sentence; undefined where one is.
Sentences difference(const Sentences& left, const Sentences& right) {
  Sentences result = left;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::ranges::transform(left[i], right[i], result[i].begin(), std::minus());
  }
  return result;
}

/// Means over the conditions of each side of an attribute.
class PrivilegeMeans {
 public:
  explicit PrivilegeMeans(const std::vector<std::string>& attributes)
      : attributes_(attributes), sides_(attributes.size() * placements.size() * 2) {}
  void add(const ConditionFacts& condition, const Sentences& sentences) {
    const auto attribute = std::ranges::find(attributes_, condition.attribute);
    const auto placement = std::ranges::find_if(
        placements, [&](const std::string& name) { return condition.augmentation.starts_with(name); });
    if (attribute == attributes_.end() || placement == placements.end() || condition.privilege.empty()) {
      return;
    }
    const auto cell = static_cast<std::size_t>(attribute - attributes_.begin()) * placements.size() +
                      static_cast<std::size_t>(placement - placements.begin());
    auto& side = sides_[2 * cell + (condition.privilege == "privileged" ? 0 : 1)];
    side.sums.resize(sentences.size());
    ++side.num_conditions;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      std::ranges::transform(side.sums[i], sentences[i], side.sums[i].begin(), std::plus());
    }
  }
  /// Of attribute and placement: privileged minus disadvantaged; none where a side has no condition.
  Sentences contrast(std::size_t cell) const {
    const auto privileged = mean_of(sides_[2 * cell]);
    const auto disadvantaged = mean_of(sides_[2 * cell + 1]);
    return privileged.empty() || disadvantaged.empty() ? Sentences() : difference(privileged, disadvantaged);
  }

 private:
  struct Side {
    Sentences sums;
    std::size_t num_conditions = 0;
  };
  static Sentences mean_of(const Side& side) {
    auto result = side.sums;
    for (auto& metrics : result) {
      for (auto& value : metrics) {
        value /= static_cast<double>(side.num_conditions);
      }
    }
    return result;
  }

  const std::vector<std::string>& attributes_;
  std::vector<Side> sides_;  ///< [attribute, placement, side]
};

std::vector<std::string> attributes_of(const ResultReader& reader) {
  std::vector<std::string> attributes;
  for (const auto& [label, augmentation, attribute, privilege] : reader.conditions) {
    if (!privilege.empty() && std::ranges::find(attributes, attribute) == attributes.end()) {
      attributes.push_back(attribute);
    }
  }
  return attributes;
}

using Names = std::vector<std::string>;

/// One table over all summaries.
template <class Table>
auto all_of(const std::vector<SentenceSummary>& summaries, Table table) {
  std::vector<typename std::decay_t<decltype(summaries.front().*table)>::value_type> result;
  for (const auto& summary : summaries) {
    result.insert(result.end(), (summary.*table).begin(), (summary.*table).end());
  }
  return result;
}

/// Attributes and axes of the file.
void describe_file(results::StatisticsFile& file, const results::ResultFile& source,
                   const CoreferenceOptions& options) {
  const bool half = options.settings.ties == stats::Ties::half;
  file.root().write_attribute("ties", half ? "half" : "loss");
  file.root().write_attribute("bootstrap_replicates", std::int64_t{options.settings.replicates});
  file.root().write_attribute("bootstrap_seed", std::to_string(options.seed));
  file.root().write_attribute("confidence", options.settings.confidence);
  for (const auto& outer : source.schema().outer_axes) {
    file.layout().add_axis(outer.name == "template" ? with_occupations(outer) : outer);
  }
  file.layout().add_axis({"type", "type of the sentences", type_names, {}});
  file.layout().add_axis({"stereotype", "sentences that count", stereotype_sets, {}});
  file.layout().add_axis({"gender", "pronouns that count", gender_sets, {}});
  file.layout().add_axis({"metric",
                          "number of a sentence",
                          {stats::coreference_metric_names.begin(), stats::coreference_metric_names.end()},
                          {}});
}

/// NAME, NAME_low, NAME_high and NAME_status over `axes`.
void write_estimates(results::Layout& layout, const std::string& name, const std::string& long_name, const Names& axes,
                     const std::vector<Estimate>& estimates) {
  const std::string of = " of the bootstrap interval of " + name;
  layout.write(results::number_cube(name, "", long_name), axes, estimates, &Estimate::value);
  layout.write(results::number_cube(name + "_low", "", "lower end" + of), axes, estimates, &Estimate::low);
  layout.write(results::number_cube(name + "_high", "", "upper end" + of), axes, estimates, &Estimate::high);
  layout.write(
      results::flag_cube(name + "_status", "why a number or its interval is missing", {"ok", "no_values", "too_few"}),
      axes, estimates, &Estimate::reason);
}

void write_tables(results::Layout& layout, const CoreferenceResult& result) {
  const Names means = {"group", "type", "stereotype", "gender", "metric"};
  const Names disparities = {"group", "type", "gender", "metric"};
  layout.write(
      {"num_sentences", results::ElementType::int32, {}, "1", "sentences with numbers for all questions", "", {}},
      {"group", "type", "stereotype", "gender"}, all_of(result.summaries, &SentenceSummary::counts));
  write_estimates(layout, "mean", "mean over sentences", means, all_of(result.summaries, &SentenceSummary::means));
  write_estimates(layout, "pro_minus_anti", "mean over pro sentences minus mean over anti sentences", disparities,
                  all_of(result.summaries, &SentenceSummary::pro_minus_anti));
  write_estimates(layout, "baseline_minus_condition",
                  "mean over sentences of the number without markers minus the number with", means,
                  all_of(result.from_baseline, &SentenceSummary::means));
  write_estimates(layout, "baseline_minus_condition_pro_minus_anti", "pro minus anti of baseline_minus_condition",
                  disparities, all_of(result.from_baseline, &SentenceSummary::pro_minus_anti));
  if (!result.attributes.empty()) {
    layout.add_axis({"attribute", "attribute with a privileged and a disadvantaged side", result.attributes, {}});
    layout.add_axis({"placement", "where the markers stand; aug3: aug3a against aug3b", placements, {}});
    write_estimates(layout, "privileged_minus_disadvantaged",
                    "mean over sentences of the mean over privileged minus the mean over disadvantaged markers",
                    {"attribute", "placement", "type", "stereotype", "gender", "metric"},
                    all_of(result.privilege, &SentenceSummary::means));
  }
}

/// `scores`: null where no file is written.
CoreferenceResult stream(const ResultReader& reader, const CoreferenceOptions& options,
                         results::ScoreTableWriter* scores) {
  const std::array<Summariser, 2> summarise = {Summariser(reader, options, 0), Summariser(reader, options, 1)};
  CoreferenceResult result;
  result.confidence = options.settings.confidence;
  result.attributes = attributes_of(reader);
  result.status_names = reader.status_names;
  result.cells_by_status.assign(result.status_names.size(), 0);
  PrivilegeMeans privilege(result.attributes);
  std::optional<Sentences> baseline;
  for (std::size_t i = 0; i < reader.conditions.size(); ++i) {
    const auto& condition = reader.conditions[i];
    const auto numbers = reader.read(i, options.settings.ties);
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
    if (scores != nullptr) {
      scores->add(numbers.scores);
    }
  }
  for (std::size_t cell = 0; cell < result.attributes.size() * placements.size(); ++cell) {
    const auto contrast = privilege.contrast(cell);
    for (const auto& make : summarise) {
      result.privilege.push_back(make(contrast));
    }
  }
  return result;
}

}  // namespace

CoreferenceResult compute_coreference(const results::ResultFile& file, const CoreferenceOptions& options,
                                      const std::optional<results::StatisticsTarget>& target) {
  const ResultReader reader(file);
  if (!target) {
    return stream(reader, options, nullptr);
  }
  results::StatisticsFile written(file, Coreference::probe_name, *target);
  describe_file(written, file, options);
  CoreferenceResult result;
  {
    results::ScoreTableWriter scores(written.layout(), reader.score_axes());
    result = stream(reader, options, &scores);
    scores.flush();
  }
  write_tables(written.layout(), result);
  written.commit();
  return result;
}

results::ScoreTable score_table(const results::ResultFile& file, stats::Ties ties) {
  const ResultReader reader(file);
  results::ScoreTable table{reader.score_axes(), {}, {}};
  table.resize();
  const auto num_subjects = table.length(1);
  const auto size = static_cast<std::ptrdiff_t>(table.values.size() / num_measures / num_subjects);
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    const auto part = reader.read(subject, ties).scores;
    for (std::size_t measure = 0; measure < num_measures; ++measure) {
      const auto from = static_cast<std::ptrdiff_t>(measure) * size;
      const auto to = static_cast<std::ptrdiff_t>(measure * num_subjects + subject) * size;
      std::copy_n(part.values.begin() + from, size, table.values.begin() + to);
      std::copy_n(part.statuses.begin() + from, size, table.statuses.begin() + to);
    }
  }
  return table;
}

}  // namespace stereosweep::probes::coreference
