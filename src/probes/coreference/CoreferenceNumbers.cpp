#include "probes/coreference/CoreferenceNumbers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/Error.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::coreference {
namespace {

using stats::nan;

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
  if (axes.size() != 3 || axes[0].name != "condition" || axes[1].name != "question" || axes[2].name != "sentence") {
    refuse_result(file, "its axes are not condition, question, sentence");
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

ConditionNumbers CoreferenceReader::read(std::size_t condition, stats::Ties ties) const {
  const auto num_contexts = num_questions_ * sentences_.size();
  ConditionNumbers result;
  result.cells_by_status.assign(status_names_.size(), 0);
  result.log_probability.assign(2 * num_contexts, nan);
  result.mean_log_probability = result.share = result.log_probability;
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
        const auto sum = std::accumulate(tokens[role].begin(), tokens[role].end(), 0.0);
        result.log_probability[cell] = sum;
        result.mean_log_probability[cell] = sum / static_cast<double>(count);
      }
    }
    auto& sentence = result.sentences[context % sentences_.size()];
    if (tokens[0].empty() || tokens[1].empty()) {
      sentence.fill(nan);
      continue;
    }
    const auto metrics = stats::coreference_metrics(tokens[0], tokens[1], ties);
    result.share[2 * context] = stats::logistic(metrics.back());
    result.share[2 * context + 1] = stats::logistic(-metrics.back());
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      sentence[metric] += metrics[metric] / static_cast<double>(num_questions_);
    }
  }
  return result;
}

}  // namespace stereosweep::probes::coreference
