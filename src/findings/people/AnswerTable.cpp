#include <algorithm>
#include <cmath>
#include <map>

#include "base/Lists.hpp"
#include "findings/Streams.hpp"
#include "findings/people/People.hpp"
#include "stats/CrossedTable.hpp"

namespace stereosweep::findings {

AnswerTable::AnswerTable(std::span<const PlacedAnswer> answers, std::size_t num_subjects, std::size_t num_items,
                         const AnswerScale& scale)
    : num_items_(num_items), scale_(scale), subjects_(num_subjects) {
  std::vector<std::map<std::size_t, std::size_t>> rows(num_subjects);  // of each subject: annotator -> row
  for (const auto& answer : answers) {
    rows[answer.subject].emplace(answer.annotator, 0);
  }
  for (std::size_t place = 0; place < num_subjects; ++place) {
    auto& subject = subjects_[place];
    for (auto& [annotator, row] : rows[place]) {
      row = subject.num_annotators++;
    }
    subject.values.assign(subject.num_annotators * num_items, stats::nan);
  }
  for (const auto& answer : answers) {
    const auto place = rows[answer.subject].at(answer.annotator) * num_items + answer.item;
    subjects_[answer.subject].values[place] = answer.value;
  }
}

std::vector<double> AnswerTable::means() const {
  std::vector<double> means;
  for (const auto& subject : subjects_) {
    for (const double mean : means_of_columns(subject.values, num_items_)) {
      means.push_back(100 * (mean - scale_.low) / (scale_.high - scale_.low));
    }
  }
  return means;
}

bool AnswerTable::has_several_annotators() const {
  return std::ranges::any_of(subjects_, [](const Subject& subject) { return subject.num_annotators > 1; });
}

DrawnAnswers AnswerTable::drawn(const Replicates& which) const {
  const auto row_length = subjects_.size() * num_items_;
  DrawnAnswers drawn{std::vector<double>(which.count * row_length, 0),
                     std::vector<double>(subjects_.size() * which.count, 0)};
  for (std::size_t place = 0; place < subjects_.size(); ++place) {
    const auto& subject = subjects_[place];
    auto* const means = drawn.means.data() + place * num_items_;
    const auto stream = start_of(Stream::annotators) + (std::uint64_t{place} << 20U);
    const stats::ClusterBootstrap draws(subject.num_annotators, which.count, which.seed, stream ^ which.first);
    const auto own = stats::crossed_means(subject.values, draws, {1, which.count}, num_items_);
    for (std::size_t replicate = 0; replicate < which.count; ++replicate) {
      std::copy_n(&own[replicate * num_items_], num_items_, means + replicate * row_length);
      drawn.levels[place * which.count + replicate] = draws.noise_level(replicate);
    }
  }
  return drawn;
}

DrawnCells AnswerTable::drawn_cells() const {
  DrawnCells cells;
  cells.means =
      base::mapped(means(), [&](double mean) { return scale_.low + mean * (scale_.high - scale_.low) / 100; });
  for (const auto& subject : subjects_) {
    const auto n = static_cast<double>(subject.num_annotators);
    for (std::size_t item = 0; item < num_items_; ++item) {
      cells.noise.push_back(stats::crossed_squares(column_of(subject.values, item, num_items_), 1).rows);
      cells.expansion.push_back(n > 1 ? std::sqrt(n / (n - 1)) : 1);
    }
  }
  return cells;
}

}  // namespace stereosweep::findings
