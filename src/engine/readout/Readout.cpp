#include "engine/readout/Readout.hpp"

#include <ATen/ops/amax.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/readout/HiddenRows.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::engine {
namespace {

double squared_norm_of(std::span<const float> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0,
                         [](double sum, double number) { return sum + number * number; });
}

at::Tensor penalties(const ClassMask& classes, std::uint32_t kept, const c10::Device& device) {
  auto row = at::empty({std::ssize(classes.bits())}, at::TensorOptions(at::kFloat));
  std::transform(classes.bits().begin(), classes.bits().end(), row.mutable_data_ptr<float>(),
                 [&](std::uint32_t bits) { return bits == kept ? 0.0F : -std::numeric_limits<float>::infinity(); });
  return row.to(device);
}

// Logarithms of the sums of exponentials of each row, `largest` its largest logit: that less the logarithm of its
// share, which lies between 0 and -log(width). Three kernels in place of logsumexp's nine.
at::Tensor row_sums(const at::Tensor& logits, const at::Tensor& largest) {
  return largest.sub(at::amax(at::log_softmax(logits, 1), 1));
}

// Of the columns of one class; `others` hides all but those.
at::Tensor class_sums(const at::Tensor& logits, const at::Tensor& others, bool has_columns) {
  if (!has_columns) {
    return at::full({logits.size(0)}, -std::numeric_limits<float>::infinity(), logits.options());
  }
  const auto own = logits.add(others);
  return row_sums(own, at::amax(own, 1));
}

std::vector<std::int32_t> places_of(std::span<const AskedRow> asked, std::int64_t stride) {
  std::vector<std::int32_t> places;
  for (const auto& one : asked) {
    for (const auto target : one.targets) {
      places.push_back(static_cast<std::int32_t>(one.row * stride + target));
    }
  }
  return places;
}

std::vector<float> without(std::span<const float> logits, std::span<const float> bias) {
  std::vector<float> plain(logits.size());
  std::transform(logits.begin(), logits.end(), bias.begin(), plain.begin(), std::minus<>());
  return plain;
}

}  // namespace

// SeT of the targets of one row, whose largest logits are at hand; all of it is read for a target that needs more.
class LogitsReader::RowSets {
 public:
  // `row` [1, vocabulary]; `bias`: what the plain logits lack. With it the bias is a column that meets a 1.
  RowSets(at::Tensor row, std::span<const float> bias, SetRow with_bias, SetRow plain)
      : row_(std::move(row)), bias_(bias), with_bias_(std::move(with_bias)), plain_(std::move(plain)) {}

  query::SetDistance solve(query::TokenId target, float logit) {
    const auto place = static_cast<std::size_t>(target);
    const auto with_bias = solve_one(with_bias_, place, logit, [](auto logits) { return logits; });
    const auto plain =
        solve_one(plain_, place, logit - bias_[place], [&](auto logits) { return without(logits, bias_); });
    return {with_bias.distance,  plain.distance,  with_bias.active, plain.active,
            with_bias.threshold, plain.threshold, with_bias.status, plain.status};
  }

 private:
  SetSolution solve_one(SetRow& kept, std::size_t place, float logit, const auto& own_logits) {
    auto found = kept.solve(place, logit);
    for (; !found; found = kept.solve(place, logit)) {
      row_ = on_host(row_);
      kept.widen(own_logits(row_of(row_, 0)));
    }
    return *found;
  }

  at::Tensor row_;
  std::span<const float> bias_;
  SetRow with_bias_;
  SetRow plain_;
};

// Rows that our own kernels read.
class LogitsReader::OwnRows {
 public:
  OwnRows(const LogitsReader& reader, const at::Tensor& logits, const at::Tensor& head_input)
      : reader_(reader), logits_(on_host(logits)), head_input_(head_input) {}

  std::optional<LogSums> sums(std::int64_t row) const { return log_sums(row_of(logits_, row), reader_.classes_); }
  RowSets sets(std::int64_t row) const {
    const auto logits = row_of(logits_, row);
    const auto& bias = reader_.host_bias_;
    const auto norm = squared_norm_of(row_of(on_host(head_input_), row));
    const auto keep = [](std::span<const float> all, double squared_norm) {
      return SetRow(find_largest(all, SetRow::usually_kept), all.size(), squared_norm);
    };
    return {logits_.narrow(0, row, 1), bias, keep(logits, norm + 1), keep(without(logits, bias), norm)};
  }
  float logit(std::int64_t row, query::TokenId target, std::size_t /*number*/) const {
    return row_of(logits_, row)[static_cast<std::size_t>(target)];
  }

 private:
  const LogitsReader& reader_;
  at::Tensor logits_;
  at::Tensor head_input_;
};

// Rows that lie on a device. What is asked of them is computed there and comes back in one copy.
class LogitsReader::DeviceRows {
 public:
  DeviceRows(const LogitsReader& reader, const at::Tensor& logits, const at::Tensor& head_input,
             std::span<const AskedRow> asked)
      : reader_(reader),
        any_set_(std::ranges::any_of(asked, &AskedRow::set_distances)),
        any_class_(std::ranges::any_of(asked, &AskedRow::class_masses)),
        numbers_(start(logits, head_input, asked)) {
    if (any_set_) {
      logits_ = logits;
    }
  }

  std::optional<LogSums> sums(std::int64_t row) {
    const auto of = [&](std::int64_t kind) { return row_of(numbers_.parts()[0], kind)[static_cast<std::size_t>(row)]; };
    if (!std::isfinite(of(0))) {
      return std::nullopt;
    }
    return any_class_ ? LogSums{of(0), of(1), of(2)} : LogSums{of(0)};
  }
  RowSets sets(std::int64_t row) {
    const auto& parts = numbers_.parts();
    const auto size = reader_.host_bias_.size();
    const auto norm = parts[6].const_data_ptr<double>()[row];
    return {logits_.narrow(0, row, 1),
            reader_.host_bias_,
            {logits_at(parts[2], parts[3], row), size, norm + 1},
            {logits_at(parts[4], parts[5], row), size, norm}};
  }
  float logit(std::int64_t /*row*/, query::TokenId /*target*/, std::size_t number) {
    return numbers_.parts()[1].const_data_ptr<float>()[number];
  }

 private:
  // [1 or 3, rows]: log of the sum of exponentials over all tokens, for masses of classes also over those that begin a
  // word and over the others. A row with a number that is not finite shows it in the first. Then the targets' logits.
  // For SeT the largest logits of every row and their columns, with the bias and without, and the squared norms.
  Download start(const at::Tensor& logits, const at::Tensor& head_input, std::span<const AskedRow> asked) const {
    const auto places = model::on_device(places_of(asked, logits.stride(0)), logits.device());
    auto sums = checked_sums(logits).unsqueeze(0);
    if (any_class_) {
      sums = at::stack({sums[0], class_sums(logits, reader_.only_initial_, reader_.classes_.any(0U)),
                        class_sums(logits, reader_.only_continuation_, reader_.classes_.any(~0U))});
    }
    std::vector<at::Tensor> parts{sums, numbers_at(logits, places)};
    if (any_set_) {
      for (const auto& rows : {logits, at::sub(logits, reader_.bias_)}) {
        const auto kept = std::min<std::int64_t>(SetRow::usually_kept, rows.size(1));
        const auto [numbers, columns] = at::topk(rows, kept, 1);
        parts.push_back(numbers);
        parts.push_back(columns.to(at::kInt));
      }
      parts.push_back(at::sum(head_input.to(at::kDouble).square_(), 1));
    }
    return Download(std::move(parts));
  }

  const LogitsReader& reader_;
  bool any_set_;
  bool any_class_;
  at::Tensor logits_;
  Download numbers_;
};

LogitsReader::LogitsReader(ClassMask classes, model::Kernels kernels, at::Tensor bias)
    : classes_(std::move(classes)), kernels_(kernels), bias_(std::move(bias)) {
  if (bias_.defined()) {
    only_initial_ = penalties(classes_, 0U, bias_.device());
    only_continuation_ = penalties(classes_, ~0U, bias_.device());
    const auto host = on_host(bias_);
    host_bias_.assign(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
  }
}

LogitsReader::Answers LogitsReader::read_rows(auto& rows, std::span<const AskedRow> asked) const {
  std::optional<LogSums> row_sums;  // neighbours of `asked` share a row
  std::optional<RowSets> row_sets;
  std::int64_t row = -1;
  std::size_t number = 0;  // of a target, over all of `asked`
  Answers answers;
  for (const auto& one : asked) {
    if (one.row != row) {
      row = one.row;
      row_sets.reset();
      row_sums = rows.sums(row);
    }
    auto& answer = answers.emplace_back();
    if (!row_sums) {
      number += one.targets.size();
      continue;
    }
    answer.emplace();
    if (one.set_distances && !row_sets) {
      row_sets.emplace(rows.sets(row));
    }
    for (const auto target : one.targets) {
      const float logit = rows.logit(row, target, number++);
      answer->logprob.push_back(static_cast<double>(logit) - row_sums->total);
      if (one.set_distances) {
        answer->set.push_back(row_sets->solve(target, logit));
      }
    }
    if (one.class_masses) {
      answer->log_mass_initial = row_sums->initial - row_sums->total;
      answer->log_mass_continuation = row_sums->continuation - row_sums->total;
    }
  }
  return answers;
}

Later<LogitsReader::Answers> LogitsReader::read(const at::Tensor& logits, const at::Tensor& head_input,
                                                std::vector<AskedRow> asked) const {
  if (kernels_ == model::Kernels::own_kernels) {
    OwnRows rows(*this, logits, head_input);
    return [answers = read_rows(rows, asked)]() mutable { return std::move(answers); };
  }
  return [this, rows = DeviceRows(*this, logits, head_input, asked), asked = std::move(asked)]() mutable {
    return read_rows(rows, asked);
  };
}

at::Tensor numbers_at(const at::Tensor& matrix, const at::Tensor& places) {
  // In memory, since what lies between the rows is not copied.
  const auto numbers = (matrix.size(0) - 1) * matrix.stride(0) + matrix.size(1);
  return matrix.as_strided({numbers}, {1}).index_select(0, places);
}

std::vector<Logit> logits_at(const at::Tensor& values, const at::Tensor& columns, std::int64_t row) {
  std::vector<Logit> logits;
  for (auto i = row * values.size(1); i < (row + 1) * values.size(1); ++i) {
    logits.push_back({columns.const_data_ptr<std::int32_t>()[i], values.const_data_ptr<float>()[i]});
  }
  return logits;
}

at::Tensor checked_sums(const at::Tensor& logits) {
  // An infinite logit makes the sum NaN; one of -infinity would not show there, but 0 times it is NaN.
  const auto [least, largest] = at::aminmax(logits, 1);
  return row_sums(logits, largest).add_(least, 0);
}

}  // namespace stereosweep::engine
