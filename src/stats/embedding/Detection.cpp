#include "stats/embedding/Detection.hpp"

#include <algorithm>

#include "base/Error.hpp"

namespace stereosweep::stats {
namespace {

std::size_t count_ones(std::span<const std::uint8_t> flags) {
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), std::uint8_t{1}));
}

}  // namespace

std::vector<std::uint8_t> detect(const DetectionScores& scores, DetectionKind kind, double threshold) {
  std::vector<std::uint8_t> detected(scores.num_words, 0);
  for (std::size_t word = 0; word < scores.num_words; ++word) {
    const auto is_above = [&](const std::vector<double>& comparison) { return comparison[word] > threshold; };
    const bool stays = kind == DetectionKind::intersectional || !std::ranges::all_of(scores.single_axis, is_above);
    detected[word] = stays && std::ranges::any_of(scores.against, is_above) ? 1 : 0;
  }
  return detected;
}

DetectionCurve detection_curve(const DetectionScores& scores, DetectionKind kind,
                               std::span<const std::uint8_t> validated, std::span<const double> thresholds) {
  STEREOSWEEP_ASSERT(validated.size() == scores.num_words, "one flag per word");
  DetectionCurve curve{.points = std::vector<DetectionPoint>(thresholds.size())};
  const auto num_true = count_ones(validated);
  const auto num_false = scores.num_words - num_true;
  if (num_true == 0 || num_false == 0 || thresholds.empty()) {
    return curve;
  }
  const auto words = static_cast<double>(scores.num_words);
  curve.chance = static_cast<double>(num_true) / words;
  for (std::size_t place = 0; place < thresholds.size(); ++place) {
    auto& point = curve.points[place];
    point.threshold = thresholds[place];
    const auto detected = detect(scores, kind, point.threshold);
    for (std::size_t word = 0; word < scores.num_words; ++word) {
      if (detected[word] == 1) {
        ++(validated[word] == 1 ? point.true_positives : point.false_positives);
      }
    }
    point.true_positive_rate = static_cast<double>(point.true_positives) / static_cast<double>(num_true);
    point.false_positive_rate = static_cast<double>(point.false_positives) / static_cast<double>(num_false);
    point.accuracy = static_cast<double>(point.true_positives + num_false - point.false_positives) / words;
    const auto separation = [](const DetectionPoint& at) { return at.true_positive_rate - at.false_positive_rate; };
    curve.most_accurate = point.accuracy > curve.points[curve.most_accurate].accuracy ? place : curve.most_accurate;
    curve.most_separating =
        separation(point) > separation(curve.points[curve.most_separating]) ? place : curve.most_separating;
  }
  curve.reason = Reason::ok;
  return curve;
}

std::vector<double> published_thresholds() {
  std::vector<double> thresholds;
  for (int step = -40; step <= 40; ++step) {
    thresholds.push_back(step / 20.0);
  }
  return thresholds;
}

Value intersectional_area(const DetectionScores& scores, std::span<const std::uint8_t> validated) {
  STEREOSWEEP_ASSERT(validated.size() == scores.num_words, "one flag per word");
  const auto num_true = count_ones(validated);
  const auto num_false = scores.num_words - num_true;
  if (num_true == 0 || num_false == 0 || scores.against.empty()) {
    return {};
  }
  auto largest = scores.against.front();
  for (const auto& comparison : scores.against) {
    for (std::size_t word = 0; word < scores.num_words; ++word) {
      largest[word] = std::max(largest[word], comparison[word]);
    }
  }
  const auto ranks = average_ranks(largest);
  double sum = 0;
  for (std::size_t word = 0; word < scores.num_words; ++word) {
    sum += validated[word] == 1 ? ranks[word] : 0;
  }
  const auto positives = static_cast<double>(num_true);  // Mann and Whitney's U from the rank sum
  const double larger = sum - positives * (positives + 1) / 2;
  return {larger / (positives * static_cast<double>(num_false)), Reason::ok};
}

}  // namespace stereosweep::stats
