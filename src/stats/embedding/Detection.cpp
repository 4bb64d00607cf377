#include "stats/embedding/Detection.hpp"

#include <algorithm>
#include <numeric>

#include "base/Error.hpp"

namespace stereosweep::stats {
namespace {

/// Of IBD; there is a word of either kind.
double area_of(const DetectionScores& scores, std::span<const std::uint8_t> validated, double num_true) {
  auto largest = scores.against.front();
  for (const auto& comparison : scores.against) {
    std::ranges::transform(largest, comparison, largest.begin(), std::ranges::max);
  }
  const auto ranks = average_ranks(largest);
  const double sum = std::inner_product(ranks.begin(), ranks.end(), validated.begin(), 0.0);
  const double larger = sum - num_true * (num_true + 1) / 2;  // Mann and Whitney's U from the rank sum
  return larger / (num_true * (static_cast<double>(validated.size()) - num_true));
}

}  // namespace

std::vector<std::size_t> detect(const DetectionScores& scores, DetectionKind kind, double threshold) {
  std::vector<std::size_t> detected;
  for (std::size_t word = 0; word < scores.num_words; ++word) {
    const auto is_above = [&](const std::vector<double>& comparison) { return comparison[word] > threshold; };
    const bool stays = kind == DetectionKind::intersectional || !std::ranges::all_of(scores.single_axis, is_above);
    if (stays && std::ranges::any_of(scores.against, is_above)) {
      detected.push_back(word);
    }
  }
  return detected;
}

DetectionCurve detection_curve(const DetectionScores& scores, DetectionKind kind,
                               std::span<const std::uint8_t> validated, std::span<const double> thresholds) {
  STEREOSWEEP_ASSERT(validated.size() == scores.num_words, "one flag per word");
  DetectionCurve curve{.points = std::vector<DetectionPoint>(thresholds.size())};
  const auto num_true = static_cast<std::size_t>(std::ranges::count(validated, std::uint8_t{1}));
  const auto num_false = scores.num_words - num_true;
  if (num_true == 0 || num_false == 0 || thresholds.empty()) {
    return curve;
  }
  const auto words = static_cast<double>(scores.num_words);
  curve.chance = static_cast<double>(num_true) / words;
  if (kind == DetectionKind::intersectional && !scores.against.empty()) {
    curve.area = area_of(scores, validated, static_cast<double>(num_true));
  }
  for (std::size_t place = 0; place < thresholds.size(); ++place) {
    auto& point = curve.points[place];
    point.threshold = thresholds[place];
    for (const auto word : detect(scores, kind, point.threshold)) {
      ++(validated[word] == 1 ? point.true_positives : point.false_positives);
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

}  // namespace stereosweep::stats
