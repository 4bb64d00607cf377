#include "findings/Cells.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "findings/Names.hpp"

namespace stereosweep::findings {
namespace {

using results::ScoreStatus;

/// Sums in long double, as stats::mean.
struct Sum {
  long double sum = 0;
  std::int32_t count = 0;

  void add(double value) {
    if (std::isfinite(value)) {
      sum += value;
      ++count;
    }
  }
  CellMean mean() const { return {count > 0 ? static_cast<double>(sum / count) : stats::nan, count}; }
};

}  // namespace

Cells::Cells(const Scores& scores, std::span<const double> values, std::span<const std::uint8_t> statuses)
    : values_(values), statuses_(statuses), num_replicates_(scores.length(replicate_axis)) {
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
    lengths_[axis] = axis == measure_axis || axis == replicate_axis ? 1 : scores.length(axis);
  }
  STEREOSWEEP_ASSERT(values.size() == lengths_[subject_axis] * num_sentences() * num_replicates_ * lengths_[item_axis],
                     "all scores of one measure");
  mean_replicate_ = results::place_of(scores.axes[replicate_axis]->labels, results::ScoreTable::mean_replicate)
                        .value_or(num_replicates_);
  *this = of_replicates(std::vector<bool>(num_replicates_, true));
}

Cells Cells::of_replicates(const std::vector<bool>& chosen) const {
  Cells some = *this;
  const bool takes_mean = mean_replicate_ < num_replicates_ && chosen[mean_replicate_];
  some.replicates_ = takes_mean ? std::vector{mean_replicate_} : places_with(chosen, true);
  return some;
}

std::vector<Cells> Cells::rounds() const {
  std::vector<Cells> rounds;
  for (std::size_t replicate = 0; replicate < num_replicates_; ++replicate) {
    if (replicate != mean_replicate_) {
      rounds.push_back(*this);
      rounds.back().replicates_ = {replicate};
    }
  }
  return rounds;
}

double Cells::at(std::size_t subject, std::size_t sentence, std::size_t item) const {
  const auto first = (subject * num_sentences() + sentence) * num_replicates_;
  if (replicates_.size() == 1) {
    const double value = values_[(first + replicates_.front()) * lengths_[item_axis] + item];
    return std::isfinite(value) ? value : stats::nan;
  }
  Sum sum;
  for (const auto replicate : replicates_) {
    sum.add(values_[(first + replicate) * lengths_[item_axis] + item]);
  }
  return sum.mean().value;
}

CellState Cells::state(std::size_t subject, std::size_t sentence, std::size_t item) const {
  const auto first = (subject * num_sentences() + sentence) * num_replicates_;
  auto state = CellState::not_applicable;
  for (const auto replicate : replicates_) {
    const auto place = (first + replicate) * lengths_[item_axis] + item;
    const bool is_applicable = std::isinf(values_[place]) || statuses_.empty() ||
                               statuses_[place] != static_cast<std::uint8_t>(ScoreStatus::not_applicable);
    const auto own = std::isfinite(values_[place]) ? CellState::scored
                     : is_applicable               ? CellState::missing
                                                   : CellState::not_applicable;
    state = std::min(state, own);
  }
  return state;
}

CellMean Cells::mean(std::size_t subject, std::span<const std::size_t> items) const {
  Sum sum;
  for (const auto item : items) {
    for (std::size_t sentence = 0; sentence < num_sentences(); ++sentence) {
      sum.add(at(subject, sentence, item));
    }
  }
  return sum.mean();
}

std::int32_t Cells::num_answers(std::size_t subject, std::span<const std::size_t> items, std::int32_t in_score) const {
  std::int32_t count = 0;
  for (std::size_t sentence = 0; sentence < num_sentences(); ++sentence) {
    for (const auto item : items) {
      count += num_answers(subject, sentence, item, in_score);
    }
  }
  return count;
}

std::int32_t Cells::num_answers(std::size_t subject, std::size_t sentence, std::size_t item,
                                std::int32_t in_score) const {
  std::int32_t count = 0;
  const bool is_mean = base::contains(replicates_, mean_replicate_);  // of all others
  for (std::size_t replicate = 0; replicate < num_replicates_ && in_score > 0 && !statuses_.empty(); ++replicate) {
    const auto row = (subject * num_sentences() + sentence) * num_replicates_ + replicate;
    const auto status = static_cast<ScoreStatus>(statuses_[row * lengths_[item_axis] + item]);
    const bool is_taken = replicate != mean_replicate_ && (is_mean || base::contains(replicates_, replicate));
    count += !is_taken ? 0 : status == ScoreStatus::ok ? in_score : status == ScoreStatus::partial ? 1 : 0;
  }
  return count;
}

std::vector<CellMean> Cells::means(std::initializer_list<std::size_t> kept_axes) const {
  std::array<std::size_t, 6> strides = {};  // 0: averaged
  std::size_t size = 1;
  for (const std::size_t axis : {item_axis, rephrasing_axis, template_axis, subject_axis}) {
    if (base::contains(kept_axes, axis)) {
      strides[axis] = size;
      size *= lengths_[axis];
    }
  }
  std::vector<Sum> sums(size);
  for (std::size_t subject = 0; subject < lengths_[subject_axis]; ++subject) {
    for (std::size_t sentence = 0; sentence < num_sentences(); ++sentence) {
      const auto first = subject * strides[subject_axis] +
                         sentence / lengths_[rephrasing_axis] * strides[template_axis] +
                         sentence % lengths_[rephrasing_axis] * strides[rephrasing_axis];
      for (std::size_t item = 0; item < lengths_[item_axis]; ++item) {
        sums[first + item * strides[item_axis]].add(at(subject, sentence, item));
      }
    }
  }
  return base::mapped(sums, &Sum::mean);
}

std::vector<double> Cells::values() const {
  return base::mapped(means({subject_axis, template_axis, rephrasing_axis, item_axis}), &CellMean::value);
}

}  // namespace stereosweep::findings
