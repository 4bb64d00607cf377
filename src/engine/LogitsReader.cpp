#include "engine/LogitsReader.hpp"

#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/take.h>

#include <cmath>
#include <limits>

#include "engine/ProjectionQueue.hpp"

namespace stereosweep::engine {
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
