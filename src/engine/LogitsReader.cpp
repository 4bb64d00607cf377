#include "engine/LogitsReader.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/take.h>

#include <limits>

#include "engine/ProjectionQueue.hpp"

namespace stereosweep::engine {
namespace {

// Logarithms of the sums of exponentials of each row; NaN where a logit is not finite.
std::vector<double> log_totals(const at::Tensor& logits, std::int64_t rows, const ClassMask& classes) {
  std::vector<double> totals;
  totals.reserve(static_cast<std::size_t>(rows));
  if (logits.is_cpu()) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto sums = log_sums(row_of(logits, row), classes);
      totals.push_back(sums ? sums->total : std::numeric_limits<double>::quiet_NaN());
    }
    return totals;
  }
  // 0 times an infinite number is NaN, also where it would not show in the sum of exponentials.
  const auto faults = at::sum(at::mul(logits, 0), 1);
  const auto found = on_host(at::logsumexp(logits, 1).add_(faults));
  totals.assign(found.const_data_ptr<float>(), found.const_data_ptr<float>() + rows);
  return totals;
}

}  // namespace

std::vector<double> LogitsReader::log_probabilities(const at::Tensor& logits, std::int64_t rows,
                                                    const std::vector<TokenAtRow>& wanted) const {
  const auto totals = log_totals(logits, rows, no_classes_);
  std::vector<double> values;
  values.reserve(wanted.size());
  if (logits.is_cpu()) {
    for (const auto& [row, token] : wanted) {
      const double logit = row_of(logits, row)[static_cast<std::size_t>(token)];
      values.push_back(logit - totals[static_cast<std::size_t>(row)]);
    }
    return values;
  }
  auto places = at::empty({std::ssize(wanted)}, at::TensorOptions(at::kLong));
  auto* place = places.mutable_data_ptr<std::int64_t>();
  for (const auto& [row, token] : wanted) {
    *place++ = row * logits.size(1) + token;
  }
  const auto picked = on_host(at::take(logits, places.to(logits.device())));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double logit = picked.const_data_ptr<float>()[i];
    values.push_back(logit - totals[static_cast<std::size_t>(wanted[i].row)]);
  }
  return values;
}

}  // namespace stereosweep::engine
