#include "engine/readout/Readout.hpp"

#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
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

#include "engine/readout/ProjectionQueue.hpp"
#include "engine/readout/SetDistance.hpp"

namespace stereosweep::engine {
namespace {

// Reads several slots off one row; what they share (sums, the kept top) is computed once. Owns nothing it is given.
class RowReadout {
 public:
  // `logits`, `bias` [vocabulary]; `head_input` [hidden]: the vector that the decoder multiplied.
  RowReadout(std::span<const float> logits, std::span<const float> head_input, std::span<const float> bias,
             const ClassMask& classes)
      : logits_(logits), head_input_(head_input), bias_(bias), sums_(log_sums(logits, classes)) {}

  // False if a logit is not finite: then there are no numbers.
  bool usable() const { return sums_.has_value(); }

  // Fills `answer` for the targets of `slot` as `fill` asks.
  void read(const query::Fill& fill, const query::MaskSlot& slot, query::SlotAnswer& answer) {
    answer.logprob.reserve(slot.targets.size());
    for (const auto target : slot.targets) {
      answer.logprob.push_back(static_cast<double>(logits_[static_cast<std::size_t>(target)]) - sums_->total);
    }
    if (fill.class_masses) {
      answer.log_mass_initial = sums_->initial - sums_->total;
      answer.log_mass_continuation = sums_->continuation - sums_->total;
    }
    if (!fill.set_distances) {
      return;
    }
    prepare_set();
    answer.set.reserve(slot.targets.size());
    for (const auto target : slot.targets) {
      const auto with_bias = with_bias_->solve(static_cast<std::size_t>(target));
      const auto plain = plain_->solve(static_cast<std::size_t>(target));
      answer.set.push_back({with_bias.distance, plain.distance, with_bias.active, plain.active, with_bias.threshold,
                            plain.threshold, with_bias.status, plain.status});
    }
  }

 private:
  void prepare_set() {
    if (with_bias_) {
      return;
    }
    double squared_norm = 0;
    for (const float value : head_input_) {
      squared_norm += static_cast<double>(value) * static_cast<double>(value);
    }
    plain_logits_.resize(logits_.size());
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      plain_logits_[i] = logits_[i] - bias_[i];
    }
    with_bias_.emplace(logits_, squared_norm + 1);  // the bias is a column that meets a 1
    plain_.emplace(plain_logits_, squared_norm);
  }

  std::span<const float> logits_;
  std::span<const float> head_input_;
  std::span<const float> bias_;
  std::optional<LogSums> sums_;
  std::vector<float> plain_logits_;
  std::optional<SetRow> with_bias_;
  std::optional<SetRow> plain_;
};

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

SlotsReader::SlotsReader(ClassMask classes, at::Tensor bias, model::Kernels kernels)
    : classes_(std::move(classes)),
      kernels_(kernels),
      bias_(std::move(bias)),
      only_initial_(penalties(classes_, 0U, bias_.device())),
      only_continuation_(penalties(classes_, ~0U, bias_.device())) {
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
  return kernels_ == model::Kernels::own_kernels ? read_with_kernels(on_host(logits), on_host(head_input), asked)
                                                 : read_with_operators(logits, head_input, asked);
}

std::vector<std::optional<query::SlotAnswer>> SlotsReader::read_with_kernels(const at::Tensor& logits,
                                                                             const at::Tensor& head_input,
                                                                             std::span<const SlotAtRow> asked) const {
  std::vector<std::optional<query::SlotAnswer>> answers;
  std::optional<RowReadout> readout;  // neighbours of `asked` share a row
  std::int64_t row = -1;
  for (const auto& one : asked) {
    if (one.row != row) {
      row = one.row;
      readout.emplace(row_of(logits, row), row_of(head_input, row), host_bias_, classes_);
    }
    auto& answer = answers.emplace_back();
    if (readout->usable()) {
      readout->read(*one.fill, *one.slot, answer.emplace());
    }
  }
  return answers;
}

std::vector<std::optional<query::SlotAnswer>> SlotsReader::read_with_operators(const at::Tensor& logits,
                                                                               const at::Tensor& head_input,
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

namespace {

// NaN for a row with NaN or -infinity, else 0 or -0: 0 times an infinite number is NaN.
at::Tensor faults_below(const at::Tensor& logits) { return at::amin(logits, 1).mul_(0); }

// The sums of the rows, then the wanted logits: one wait for the device.
at::Tensor sums_and_logits(const at::Tensor& logits, const std::vector<TokenAtRow>& wanted) {
  auto places = at::empty({std::ssize(wanted)}, at::TensorOptions(at::kLong));
  auto* place = places.mutable_data_ptr<std::int64_t>();
  for (const auto& [row, token] : wanted) {
    *place++ = row * logits.size(1) + token;
  }
  // An infinite logit makes the sum infinite; one of -infinity would not show there.
  const auto sums = at::logsumexp(logits, 1).add_(faults_below(logits));
  return on_host(at::cat({sums, at::take(logits, places.to(logits.device()))}));
}

}  // namespace

std::vector<double> LogitsReader::log_probabilities(const at::Tensor& logits, std::int64_t rows,
                                                    const std::vector<TokenAtRow>& wanted) const {
  std::vector<double> values;
  values.reserve(wanted.size());
  if (kernels_ == model::Kernels::operators) {
    const auto found = sums_and_logits(logits, wanted);
    const float* const sums = found.const_data_ptr<float>();
    const float* const own = sums + logits.size(0);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      values.push_back(static_cast<double>(own[i]) - static_cast<double>(sums[wanted[i].row]));
    }
    return values;
  }
  std::vector<double> totals;
  totals.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto sums = log_sums(row_of(logits, row), no_classes_);
    totals.push_back(sums ? sums->total : std::numeric_limits<double>::quiet_NaN());
  }
  for (const auto& [row, token] : wanted) {
    const double logit = row_of(logits, row)[static_cast<std::size_t>(token)];
    values.push_back(logit - totals[static_cast<std::size_t>(row)]);
  }
  return values;
}

std::vector<std::optional<query::TokenId>> most_probable(const at::Tensor& logits) {
  const auto faults = faults_below(logits).add_(at::amax(logits, 1).mul_(0));
  const auto found = on_host(at::stack({at::argmax(logits, 1).to(at::kFloat), faults}));
  std::vector<std::optional<query::TokenId>> tokens;
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    const bool finite = !std::isnan(row_of(found, 1)[static_cast<std::size_t>(row)]);
    const auto token = static_cast<query::TokenId>(row_of(found, 0)[static_cast<std::size_t>(row)]);
    tokens.push_back(finite ? std::optional(token) : std::nullopt);
  }
  return tokens;
}

}  // namespace stereosweep::engine
