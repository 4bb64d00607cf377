#include "engine/SlotsReader.hpp"

#include <ATen/ops/amin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/take.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/ProjectionQueue.hpp"
#include "engine/SetDistance.hpp"

namespace stereosweep::engine {
namespace {

at::Tensor penalties(const ClassMask& classes, std::uint32_t kept, const c10::Device& device) {
  auto row = at::empty({std::ssize(classes.bits())}, at::TensorOptions(at::kFloat));
  std::transform(classes.bits().begin(), classes.bits().end(), row.mutable_data_ptr<float>(),
                 [&](std::uint32_t bits) { return bits == kept ? 0.0F : -std::numeric_limits<float>::infinity(); });
  return row.to(device);
}

// The largest entries of every row.
struct Largest {
  Largest(const at::Tensor& rows, std::int64_t count) {
    const auto [numbers, columns] = at::topk(rows, std::min(count, rows.size(1)), 1);
    logits = on_host(numbers);
    indices = columns.to(at::kInt).to(at::kCPU);
  }

  std::vector<SetRow::Entry> of(std::int64_t row) const {
    std::vector<SetRow::Entry> entries;
    const auto kept = logits.size(1);
    for (std::int64_t i = row * kept; i < (row + 1) * kept; ++i) {
      entries.push_back(
          {logits.const_data_ptr<float>()[i], static_cast<std::uint32_t>(indices.const_data_ptr<std::int32_t>()[i])});
    }
    return entries;
  }

  at::Tensor logits;
  at::Tensor indices;
};

}  // namespace

struct SlotsReader::Sets {
  Largest with_bias;
  Largest plain;
  at::Tensor squared_norms;  // [rows] float64
};

// The targets of one row, which share its largest logits; all of them are fetched for a target that needs more.
class SlotsReader::RowSets {
 public:
  // `bias`: what the plain logits lack.
  RowSets(const Sets& sets, const at::Tensor& logits, std::int64_t row, std::span<const float> bias)
      : logits_(logits),
        row_(row),
        bias_(bias),
        norm_(sets.squared_norms.const_data_ptr<double>()[row]),
        with_bias_{SetRow(sets.with_bias.of(row), size(), norm_ + 1), {}, {}},  // the bias is a column that meets a 1
        plain_{SetRow(sets.plain.of(row), size(), norm_), {}, {}} {}

  std::int64_t row() const { return row_; }

  query::SetDistance solve(query::TokenId target, float logit) {
    const auto place = static_cast<std::size_t>(target);
    const auto with_bias = solve_one(with_bias_, place, logit, norm_ + 1, {});
    const auto plain = solve_one(plain_, place, logit - bias_[place], norm_, bias_);
    return {with_bias.distance,  plain.distance,  with_bias.active, plain.active,
            with_bias.threshold, plain.threshold, with_bias.status, plain.status};
  }

 private:
  struct One {
    SetRow kept;
    std::vector<float> numbers;  // the whole row, once it is fetched
    std::optional<SetRow> whole;
  };

  std::size_t size() const { return static_cast<std::size_t>(logits_.size(1)); }

  SetSolution solve_one(One& one, std::size_t place, float logit, double norm, std::span<const float> bias) const {
    if (!one.whole) {
      if (const auto found = one.kept.solve_kept(place, logit)) {
        return *found;
      }
      const auto fetched = on_host(logits_.narrow(0, row_, 1));
      one.numbers.assign(fetched.const_data_ptr<float>(), fetched.const_data_ptr<float>() + size());
      for (std::size_t i = 0; i < bias.size(); ++i) {
        one.numbers[i] -= bias[i];
      }
      one.whole.emplace(one.numbers, norm, SetRow::default_kept * 8);
    }
    return one.whole->solve(place);
  }

  const at::Tensor& logits_;
  std::int64_t row_;
  std::span<const float> bias_;
  double norm_;
  One with_bias_;
  One plain_;
};

SlotsReader::SlotsReader(const ClassMask& classes, at::Tensor bias)
    : bias_(std::move(bias)),
      only_initial_(penalties(classes, 0U, bias_.device())),
      only_continuation_(penalties(classes, ~0U, bias_.device())) {
  const auto host = on_host(bias_);
  host_bias_.assign(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
}

// [3, rows]: log of the sum of exponentials over all tokens, those that begin a word, the others. 0 times an infinite
// number is NaN: a row that has one shows it in the first.
at::Tensor SlotsReader::sums_of(const at::Tensor& logits) const {
  const auto faults = at::amin(logits, 1).mul_(0);
  return on_host(at::stack({at::logsumexp(logits, 1).add_(faults), at::logsumexp(logits.add(only_initial_), 1),
                            at::logsumexp(logits.add(only_continuation_), 1)}));
}

SlotsReader::Sets SlotsReader::read_sets(const at::Tensor& logits, const at::Tensor& head_input) const {
  constexpr auto kept = static_cast<std::int64_t>(SetRow::default_kept);
  return {Largest(logits, kept), Largest(at::sub(logits, bias_), kept),
          at::sum(head_input.to(at::kDouble).square_(), 1).to(at::kCPU)};
}

std::vector<std::optional<query::SlotAnswer>> SlotsReader::read(const at::Tensor& logits, const at::Tensor& head_input,
                                                                std::span<const SlotAtRow> asked) const {
  std::vector<std::int64_t> places;
  bool any_set = false;
  for (const auto& one : asked) {
    for (const auto target : one.slot->targets) {
      places.push_back(one.row * logits.size(1) + target);
    }
    any_set = any_set || (one.fill->set_distances && !one.slot->targets.empty());
  }
  const auto rows = logits.size(0);
  const auto sums = sums_of(logits);
  const float* const totals = sums.const_data_ptr<float>();
  auto wanted = at::empty({std::ssize(places)}, at::TensorOptions(at::kLong));
  std::copy(places.begin(), places.end(), wanted.mutable_data_ptr<std::int64_t>());
  const auto picked = on_host(at::take(logits, wanted.to(logits.device())));
  std::optional<Sets> sets;
  if (any_set) {
    sets.emplace(read_sets(logits, head_input));
  }
  std::optional<RowSets> row_sets;  // neighbours of `asked` share a row
  std::vector<std::optional<query::SlotAnswer>> answers;
  const float* next = picked.const_data_ptr<float>();
  for (const auto& one : asked) {
    const double total = totals[one.row];
    auto& answer = answers.emplace_back();
    const float* const own = std::exchange(next, next + one.slot->targets.size());
    if (!std::isfinite(total)) {
      continue;
    }
    answer.emplace();
    if (one.fill->set_distances && sets && (!row_sets || row_sets->row() != one.row)) {
      row_sets.emplace(*sets, logits, one.row, host_bias_);
    }
    for (std::size_t i = 0; i < one.slot->targets.size(); ++i) {
      answer->logprob.push_back(static_cast<double>(own[i]) - total);
      if (one.fill->set_distances) {
        answer->set.push_back(row_sets->solve(one.slot->targets[i], own[i]));
      }
    }
    if (one.fill->class_masses) {
      answer->log_mass_initial = totals[rows + one.row] - total;
      answer->log_mass_continuation = totals[2 * rows + one.row] - total;
    }
  }
  return answers;
}

}  // namespace stereosweep::engine
