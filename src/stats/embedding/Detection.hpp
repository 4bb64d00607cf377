// Detection of intersectional (IBD) and emergent intersectional biases (EIBD): which words belong to a group, by a
// threshold on WEFAT scores (guo2021 §8.2 and the published ibd.py), and how well that agrees with validated words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// Effect sizes of every word, finite.
struct DetectionScores {
  std::size_t num_words = 0;
  std::vector<std::vector<double>> against;      ///< [comparison, word]: the group against each other group
  std::vector<std::vector<double>> single_axis;  ///< [comparison, word]: each part of it against the others of its axis
};

enum class DetectionKind : std::uint8_t { intersectional, emergent };

/// The words that are detected, ascending. IBD: some `against` score is above the threshold (W_IB). EIBD: W_EIB = union
/// over i of (W_IB - W_i), W_i the words of W_IB whose score in `single_axis` i is above the same threshold. So a word
/// stays unless all of its single-axis scores are above it.
std::vector<std::size_t> detect(const DetectionScores& scores, DetectionKind kind, double threshold);

/// Detected words against validated ones.
struct DetectionPoint {
  double threshold = nan;
  std::size_t true_positives = 0;
  std::size_t false_positives = 0;
  double true_positive_rate = nan;
  double false_positive_rate = nan;
  double accuracy = nan;  ///< (true positives + true negatives) / words

  std::size_t num_detected() const { return true_positives + false_positives; }
};

/// `no_values`: no word is validated, or all are; no number exists then, and nothing is counted.
struct DetectionCurve {
  Reason reason = Reason::no_values;
  std::vector<DetectionPoint> points;  ///< one per threshold
  std::size_t most_accurate = 0;       ///< the first point of highest accuracy
  std::size_t most_separating = 0;     ///< the first point of highest true minus false positive rate
  double chance = nan;  ///< validated words / words: the published "random chance of correct classification"
  /// Of IBD, over all thresholds: the probability that a validated word's largest `against` score is above another
  /// word's, a tie one half. EIBD has none: as the threshold falls, words leave again, and the points form no curve
  /// from corner to corner.
  double area = nan;
};

/// `validated` [word]: 1 for the words that belong.
DetectionCurve detection_curve(const DetectionScores& scores, DetectionKind kind,
                               std::span<const std::uint8_t> validated, std::span<const double> thresholds);

/// -2, -1.95, ..., 2: the thresholds of the published code.
std::vector<double> published_thresholds();

}  // namespace stereosweep::stats
