// People's answers about subjects on items: their means, and the means of annotators drawn with replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::findings {

/// By places; a mean is the answer of one annotator.
struct PlacedAnswer {
  std::size_t subject = 0;
  std::size_t item = 0;
  std::size_t annotator = 0;
  double value = 0;  ///< on the table's scale
};

struct AnswerScale {
  double low = 0;  ///< at the left pole
  double high = 100;
};

/// Which replicates of a bootstrap.
struct Replicates {
  std::size_t first = 0;  ///< a multiple of a power of two that is at least `count`
  std::size_t count = 0;
  std::uint64_t seed = 0;
};

/// What a bootstrap draws around, by cells.
struct DrawnCells {
  std::vector<double> means;
  std::vector<double> noise;      ///< variance of each mean over other draws of as many; 0: nothing to draw
  std::vector<double> expansion;  ///< sqrt(n / (n - 1)) of n to draw from: by so much a replicate varies too little
};

/// Draws of annotators.
struct DrawnAnswers {
  std::vector<double> means;   ///< [replicate, subject, item], on the table's scale
  std::vector<double> levels;  ///< [subject, replicate]: ClusterBootstrap::noise_level
};

class AnswerTable {
 public:
  AnswerTable(std::span<const PlacedAnswer> answers, std::size_t num_subjects, std::size_t num_items,
              const AnswerScale& scale);

  /// [subject, item], 0 (left pole) .. 100 (right pole); NaN: nobody answered. Averaged on the table's scale, so that
  /// equal means of whole numbers are equal.
  std::vector<double> means() const;
  /// Answers by subject and by annotator: several annotators answered about one subject.
  bool has_several_annotators() const;
  /// 0: nobody answered about the subject.
  std::size_t num_annotators(std::size_t subject) const { return subjects_[subject].num_annotators; }
  /// Each subject's annotators are drawn with replacement, each with all its answers about the subject. An annotator of
  /// several subjects is drawn for each of them by itself.
  DrawnAnswers drawn(const Replicates& replicates) const;
  /// Of drawn means, on the table's scale: [subject, item].
  DrawnCells drawn_cells() const;
  std::size_t num_items() const { return num_items_; }
  std::size_t num_subjects() const { return subjects_.size(); }

 private:
  struct Subject {
    std::size_t num_annotators = 0;
    std::vector<double> values;   ///< [annotator, item]; 0: no answer
    std::vector<double> present;  ///< the same: 1 or 0
  };
  double rescaled(long double sum, double count) const;

  std::size_t num_items_;
  AnswerScale scale_;
  std::vector<Subject> subjects_;
};

}  // namespace stereosweep::findings
