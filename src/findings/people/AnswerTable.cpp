#include <algorithm>
#include <map>

#include "base/Lists.hpp"
#include "findings/people/People.hpp"

namespace stereosweep::findings {

AnswerTable::AnswerTable(std::span<const Rating> answers, std::size_t num_subjects, std::size_t num_items,
                         const stats::ScaleEnds& scale)
    : num_items_(num_items), scale_(scale), subjects_(num_subjects) {
  std::vector<std::map<std::string, std::size_t>> rows(num_subjects);  // of each subject: annotator -> row
  for (const auto& answer : answers) {
    rows[*answer.subject].emplace(answer.annotator, 0);
  }
  for (std::size_t place = 0; place < num_subjects; ++place) {
    auto& subject = subjects_[place];
    for (auto& [annotator, row] : rows[place]) {
      row = subject.num_annotators++;
    }
    subject.values.assign(subject.num_annotators * num_items, stats::nan);
  }
  for (const auto& answer : answers) {
    const auto place = rows[*answer.subject].at(answer.annotator) * num_items + *answer.item;
    subjects_[*answer.subject].values[place] = answer.mean;
  }
}

std::vector<double> AnswerTable::means() const {
  std::vector<double> means;
  for (const auto& subject : subjects_) {
    for (const double mean : means_of_columns(subject.values, num_items_)) {
      means.push_back(100 * (mean - scale_.lowest) / (scale_.highest - scale_.lowest));
    }
  }
  return means;
}

bool AnswerTable::has_several_annotators() const {
  return std::ranges::any_of(subjects_, [](const Subject& subject) { return subject.num_annotators > 1; });
}

std::vector<double> AnswerTable::means_on_own_scale() const {
  return base::mapped(means(),
                      [&](double mean) { return scale_.lowest + mean * (scale_.highest - scale_.lowest) / 100; });
}

}  // namespace stereosweep::findings
