#include "probes/coreference/CoreferenceScores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "base/Error.hpp"
#include "probes/ProbeKind.hpp"
#include "results/RawBlock.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::coreference {
namespace {

using stats::nan;

struct MeasureText {
  const char* name;
  const char* units;
  const char* description;
  const char* lowest = "";   ///< least score possible; "": there is none
  const char* highest = "";  ///< greatest
};
constexpr std::size_t num_measures = 10;
constexpr std::size_t first_metric = 4;     ///< from here on the metrics of stats/OptionProbabilities.hpp
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
  throw base::InputError(base::describe("cannot compute scores of '" + file.path().string() + "'", why));
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
  /// All sentences of one condition; counts their cells in `cells_by_status`.
  results::ScoreTableWriter::Part read(std::size_t condition, stats::Ties ties,
                                       std::vector<std::uint64_t>& cells_by_status) const;

  const results::ResultFile& file;  ///< borrowed
  std::size_t num_conditions = 0;
  std::size_t num_sentences = 0;
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
  num_conditions = axes[0].labels.size();
  num_questions = axes[1].labels.size();
  num_sentences = axes[2].labels.size();
  num_subwords = file.schema().inner_axis("subword").labels.size();
  const auto& cubes = file.schema().cubes;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = std::array{"logprob", "num_subwords", "status"}[i];
    const auto found = file.schema().find_cube(name);
    if (!found) {
      refuse_result(file, "it has no cube '" + name + "'");
    }
    columns[i] = *found;
  }
  status_names = cubes[columns[2]].flag_meanings;
}

results::ScoreTableWriter::Part ResultReader::read(std::size_t condition, stats::Ties ties,
                                                   std::vector<std::uint64_t>& cells_by_status) const {
  const auto num_contexts = num_questions * num_sentences;
  results::ScoreTableWriter::Part result = {condition, 0, num_contexts, {}, {}};
  result.values.resize(num_measures * 2 * num_contexts);
  result.statuses.resize(result.values.size());
  const auto block = file.read(condition * num_contexts, num_contexts);
  const auto& logprob = std::get<std::vector<double>>(block.columns[columns[0]]);
  const auto& counts = std::get<std::vector<std::int32_t>>(block.columns[columns[1]]);
  const auto& statuses = std::get<std::vector<std::uint8_t>>(block.columns[columns[2]]);
  for (std::size_t context = 0; context < num_contexts; ++context) {
    std::array<std::span<const double>, 2> tokens;
    for (std::size_t role = 0; role < 2; ++role) {
      const auto cell = 2 * context + role;
      ++cells_by_status.at(statuses[cell]);
      const auto count = std::clamp<std::int64_t>(counts[cell], 0, static_cast<std::int64_t>(num_subwords));
      if (statuses[cell] == 0 && count > 0) {
        tokens[role] = std::span(logprob).subspan(cell * num_subwords, static_cast<std::size_t>(count));
      }
    }
    std::optional<stats::CoreferenceMetrics> metrics;
    if (!tokens[0].empty() && !tokens[1].empty()) {
      metrics = stats::coreference_metrics(tokens[0], tokens[1], ties);
    }
    const auto scores = scores_of(tokens, metrics ? &*metrics : nullptr);
    const auto place = context % num_sentences * num_questions + context / num_sentences;
    for (std::size_t cell = 0; cell < 2 * num_measures; ++cell) {
      const auto measure = cell / 2;
      const auto at = (measure * num_contexts + place) * 2 + cell % 2;
      const auto value = scores[measure][cell % 2];
      result.values[at] = value;
      result.statuses[at] = cell % 2 == 1 && measure >= first_of_prompt ? results::ScoreStatus::not_applicable
                            : std::isnan(value)                         ? results::ScoreStatus::missing
                            : std::isinf(value)                         ? results::ScoreStatus::infinite
                                                                        : results::ScoreStatus::ok;
    }
  }
  return result;
}

/// Hands the scores of one condition after another to `take`.
std::string read_all(const ResultReader& reader, stats::Ties ties,
                     const std::function<void(const results::ScoreTableWriter::Part&)>& take) {
  std::vector<std::uint64_t> cells_by_status(reader.status_names.size());
  for (std::size_t condition = 0; condition < reader.num_conditions; ++condition) {
    take(reader.read(condition, ties, cells_by_status));
  }
  return cells_text(reader.status_names, cells_by_status);
}

}  // namespace

results::ScoreTableAxes score_axes(const std::vector<results::AxisSchema>& raw) {
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

std::string status_text(const results::ResultFile& file) {
  return read_all(ResultReader(file), stats::Ties::half, [](const auto& /*scores*/) {});
}

std::string write_scores(const results::ResultFile& file, stats::Ties ties, const results::StatisticsTarget& target) {
  const ResultReader reader(file);
  results::StatisticsFile written(file, Coreference::probe_name, target);
  written.root().write_attribute("ties", CoreferenceStatistics::ties_names[static_cast<std::size_t>(ties)]);
  std::string text;
  {
    results::ScoreTableWriter scores(written.layout(), score_axes(file.schema().outer_axes));
    text = read_all(reader, ties, [&](const auto& part) { scores.add(part); });
    scores.flush();
  }
  written.commit();
  return text;
}

}  // namespace stereosweep::probes::coreference
