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
#include <functional>
#include <limits>
#include <utility>

#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/SetDistance.hpp"

namespace stereosweep::engine {
namespace {

double squared_norm_of(std::span<const float> numbers) {
  double sum = 0;
  for (const float number : numbers) {
    sum += static_cast<double>(number) * static_cast<double>(number);
  }
  return sum;
}

at::Tensor penalties(const ClassMask& classes, std::uint32_t kept, const c10::Device& device) {
  auto row = at::empty({std::ssize(classes.bits())}, at::TensorOptions(at::kFloat));
  std::transform(classes.bits().begin(), classes.bits().end(), row.mutable_data_ptr<float>(),
                 [&](std::uint32_t bits) { return bits == kept ? 0.0F : -std::numeric_limits<float>::infinity(); });
  return row.to(device);
}

// The numbers at these places of a matrix, counted row by row, on the host.
at::Tensor pick(const at::Tensor& matrix, const std::vector<std::int64_t>& places) {
  auto wanted = at::empty({std::ssize(places)}, at::TensorOptions(at::kLong));
  std::copy(places.begin(), places.end(), wanted.mutable_data_ptr<std::int64_t>());
  return on_host(at::take(matrix, wanted.to(matrix.device())));
}

// Of what `sums_of` gives; nothing where a logit of the row is not finite.
std::optional<LogSums> finite_sums(const at::Tensor& sums, std::int64_t row) {
  const auto of = [&](std::int64_t kind) { return row_of(sums, kind)[static_cast<std::size_t>(row)]; };
  return std::isfinite(of(0)) ? std::optional(LogSums{of(0), of(1), of(2)}) : std::nullopt;
}

// NaN for a row with NaN or -infinity, else 0 or -0: 0 times an infinite number is NaN.
at::Tensor faults_below(const at::Tensor& logits) { return at::amin(logits, 1).mul_(0); }

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

struct SlotsReader::Sets {
  Largest with_bias;
  Largest plain;
  at::Tensor squared_norms;  // [rows] float64
};

// SeT of the targets of one row. Where the row is elsewhere its largest logits are at hand; all of them are fetched for
// a target that needs more.
class SlotsReader::RowSets {
 public:
  // `bias`: what the plain logits lack. With it the bias is a column that meets a 1.
  RowSets(std::span<const float> logits, std::span<const float> bias, double norm) : bias_(bias), norm_(norm) {
    keep_whole(logits, SetRow::default_kept);
  }
  RowSets(const at::Tensor& logits, std::int64_t row, std::span<const float> bias, const Sets& sets)
      : row_(logits.narrow(0, row, 1)), bias_(bias), norm_(sets.squared_norms.const_data_ptr<double>()[row]) {
    const auto size = static_cast<std::size_t>(logits.size(1));
    kept_with_bias_.emplace(sets.with_bias.of(row), size, norm_ + 1);
    kept_plain_.emplace(sets.plain.of(row), size, norm_);
  }

  query::SetDistance solve(query::TokenId target, float logit) {
    const auto place = static_cast<std::size_t>(target);
    const auto with_bias = solve_one(kept_with_bias_, with_bias_, place, logit);
    const auto plain = solve_one(kept_plain_, plain_, place, logit - bias_[place]);
    return {with_bias.distance,  plain.distance,  with_bias.active, plain.active,
            with_bias.threshold, plain.threshold, with_bias.status, plain.status};
  }

 private:
  SetSolution solve_one(const std::optional<SetRow>& kept, std::optional<SetRow>& whole, std::size_t place,
                        float logit) {
    if (!whole) {
      if (const auto found = kept->solve_kept(place, logit)) {
        return *found;
      }
      fetched_ = on_host(row_);
      keep_whole(row_of(fetched_, 0), SetRow::default_kept * 8);
    }
    return whole->solve(place);
  }

  void keep_whole(std::span<const float> logits, std::size_t kept) {
    plain_logits_.resize(logits.size());
    std::transform(logits.begin(), logits.end(), bias_.begin(), plain_logits_.begin(), std::minus<>());
    with_bias_.emplace(logits, norm_ + 1, kept);
    plain_.emplace(plain_logits_, norm_, kept);
  }

  at::Tensor row_;
  std::span<const float> bias_;
  double norm_;
  std::optional<SetRow> kept_with_bias_;
  std::optional<SetRow> kept_plain_;
  at::Tensor fetched_;
  std::vector<float> plain_logits_;
  std::optional<SetRow> with_bias_;  // of the whole row
  std::optional<SetRow> plain_;
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

// [3, rows]: log of the sum of exponentials over all tokens, those that begin a word, the others. A row with a number
// that is not finite shows it in the first.
at::Tensor SlotsReader::sums_of(const at::Tensor& logits) const {
  return on_host(
      at::stack({at::logsumexp(logits, 1).add_(faults_below(logits)), at::logsumexp(logits.add(only_initial_), 1),
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
  const bool own = kernels_ == model::Kernels::own_kernels;
  const auto rows = own ? on_host(logits) : logits;
  const auto sums = own ? at::Tensor() : sums_of(rows);
  const auto logits_of_targets = pick(rows, places);
  std::optional<Sets> sets;
  if (any_set && !own) {
    sets.emplace(read_sets(rows, head_input));
  }
  std::optional<LogSums> row_sums;  // neighbours of `asked` share a row
  std::optional<RowSets> row_sets;
  std::int64_t row = -1;
  std::vector<std::optional<query::SlotAnswer>> answers;
  const float* next = logits_of_targets.const_data_ptr<float>();
  for (const auto& one : asked) {
    if (one.row != row) {
      row = one.row;
      row_sets.reset();
      row_sums = own ? log_sums(row_of(rows, row), classes_) : finite_sums(sums, row);
    }
    auto& answer = answers.emplace_back();
    const float* const logit = std::exchange(next, next + one.slot->targets.size());
    if (!row_sums) {
      continue;
    }
    answer.emplace();
    if (any_set && one.fill->set_distances && !row_sets) {
      own ? row_sets.emplace(row_of(rows, row), host_bias_, squared_norm_of(row_of(on_host(head_input), row)))
          : row_sets.emplace(rows, row, host_bias_, *sets);
    }
    for (std::size_t i = 0; i < one.slot->targets.size(); ++i) {
      answer->logprob.push_back(static_cast<double>(logit[i]) - row_sums->total);
      if (one.fill->set_distances) {
        answer->set.push_back(row_sets->solve(one.slot->targets[i], logit[i]));
      }
    }
    if (one.fill->class_masses) {
      answer->log_mass_initial = row_sums->initial - row_sums->total;
      answer->log_mass_continuation = row_sums->continuation - row_sums->total;
    }
  }
  return answers;
}

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
