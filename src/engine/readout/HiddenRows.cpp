#include "engine/readout/HiddenRows.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>
#include <string>

#include "base/Error.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::engine {

namespace {

// More logits than caches hold are no gain.
constexpr std::int64_t rows_per_projection = 128;
constexpr std::int64_t logits_per_projection = std::int64_t{1} << 25;
// A device waits for the host after each product, so that products are large there.
constexpr std::int64_t rows_on_device = 4096;
constexpr std::int64_t logits_on_device = std::int64_t{1} << 26;
// oneDNN compiles its kernels for each number of rows, some milliseconds each: so these numbers are kept few.
constexpr std::int64_t projection_unit = 32;

}  // namespace

at::Tensor on_host(const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kFloat).contiguous(); }

std::span<const float> row_of(const at::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<float>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

ProjectionQueue::ProjectionQueue(std::int64_t vocabulary, model::Kernels kernels) {
  const bool own = kernels == model::Kernels::own_kernels;
  const auto logits = own ? logits_per_projection : logits_on_device;
  rows_per_product_ = std::clamp<std::int64_t>(logits / std::max<std::int64_t>(1, vocabulary), 1,
                                               own ? rows_per_projection : rows_on_device);
  unit_ = own ? projection_unit : 1;
}

void ProjectionQueue::add(const at::Tensor& hidden, std::span<const std::int64_t> rows) {
  if (rows.empty()) {
    return;
  }
  // On a device numbers may stay where they are: the rows are distinct and sorted, so that as many as there are are
  // all.
  const bool takes_all = !hidden.is_cpu() && std::ssize(rows) == hidden.size(0);
  const std::vector<std::int32_t> picked(rows.begin(), rows.end());
  hidden_.push_back(takes_all ? hidden : model::rows_of(hidden, picked));
  size_ += std::ssize(rows);
}

ProjectionQueue::Rows ProjectionQueue::take() {
  const auto count = std::min(rows_per_product_, size_);
  const auto all = hidden_.size() == 1 ? hidden_.front() : at::cat(hidden_);
  hidden_.assign(1, all.narrow(0, count, all.size(0) - count));
  size_ -= count;
  if (size_ == 0) {
    hidden_.clear();
  }
  auto rows = all.narrow(0, 0, count);
  if (const auto spare = (unit_ - count % unit_) % unit_; spare > 0) {
    rows = at::cat({rows, at::zeros({spare, rows.size(1)}, rows.options())});
  }
  return {rows, count};
}

query::QueryError not_finite_error(query::Dtype dtype) {
  const std::string problem = "the model's numbers are not finite";
  return {dtype == query::Dtype::float16
              ? base::describe(problem, "float16 ends at 65504, and a value in its layers went beyond",
                               "take the dtype bfloat16 or float32")
              : base::describe(problem, "a value overflowed in its layers"),
          query::QueryFault::other};
}

void VectorPools::add(std::size_t query, std::span<const double> sums, std::int64_t count) {
  auto& pool = pools_[query];
  pool.sums.resize(sums.size());
  pool.count += static_cast<double>(count);
  std::ranges::transform(sums, pool.sums, pool.sums.begin(), std::plus<>());
}

void VectorPools::finish(std::span<query::Answer> answers, query::Dtype dtype) const {
  for (std::size_t query = 0; query < pools_.size(); ++query) {
    const auto& pool = pools_[query];
    if (pool.count == 0) {
      continue;
    }
    query::EmbedAnswer answer;
    answer.vector.reserve(pool.sums.size());
    bool finite = true;
    for (const double sum : pool.sums) {
      finite = finite && std::isfinite(sum);
      answer.vector.push_back(static_cast<float>(sum / pool.count));
    }
    if (finite) {
      answers[query] = std::move(answer);
    } else {
      answers[query] = not_finite_error(dtype);
    }
  }
}

Later<void> pool_rows(const at::Tensor& hidden, std::span<const PooledRow> rows, VectorPools& pools) {
  struct Span {
    std::size_t query = 0;
    std::vector<std::int32_t> rows = {};
  };
  std::map<std::size_t, std::size_t> place_of_query;
  std::vector<Span> spans;
  for (const auto& [query, row] : rows) {
    const auto [place, is_new] = place_of_query.try_emplace(query, spans.size());
    if (is_new) {
      spans.push_back({query});
    }
    spans[place->second].rows.push_back(static_cast<std::int32_t>(row));
  }
  // The longest first: then the spans that have a token number i stand side by side, and one sum takes them all.
  std::ranges::stable_sort(spans, std::ranges::greater(), [](const Span& span) { return span.rows.size(); });
  model::Staging staging;
  std::vector<std::int64_t> counts;  // of the spans that have a token number i
  for (std::size_t i = 0; i < spans.front().rows.size(); ++i) {
    std::vector<std::int32_t> own;
    for (const auto& span : spans) {
      if (i < span.rows.size()) {
        own.push_back(span.rows[i]);
      }
    }
    counts.push_back(std::ssize(own));
    staging.add(own);
  }
  staging.send(hidden.device());
  const auto sums = hidden.index_select(0, staging.at(0)).to(at::kDouble);
  for (std::size_t i = 1; i < counts.size(); ++i) {
    sums.narrow(0, 0, counts[i]).add_(hidden.index_select(0, staging.at(i)));
  }
  return [&pools, spans = std::move(spans), numbers = Download({sums})]() mutable {
    const auto host = numbers.parts().front();
    const auto width = static_cast<std::size_t>(host.size(1));
    const auto* row = host.const_data_ptr<double>();
    for (const auto& span : spans) {
      pools.add(span.query, std::span(row, width), std::ssize(span.rows));
      row += width;
    }
  };
}

void ReaderQueue::add(const at::Tensor& hidden, std::span<const RowReader> readers) {
  std::vector<std::int64_t> projected;
  std::vector<PooledRow> pooled;
  for (const auto& [row, uses] : readers) {
    for (const auto& use : uses) {
      if (use.is_vector()) {
        pooled.push_back({use.query, row});
      }
    }
    if (!std::ranges::all_of(uses, &Use::is_vector)) {
      projected.push_back(row);
      waiting_.push_back(uses);
    }
  }
  pool(hidden, pooled);
  projection_.add(hidden, projected);
  while (projection_.is_full()) {
    project_oldest();
  }
}

void ReaderQueue::close(std::span<const QueryTokens> input_rows, const FetchRows& fetch) {
  while (!waiting_.empty()) {
    project_oldest();
  }
  std::vector<query::TokenId> ids;
  for (const auto& tokens : input_rows) {
    ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
  }
  ids = sorted_distinct(std::move(ids));
  std::vector<PooledRow> rows;
  for (const auto& tokens : input_rows) {
    for (const auto id : tokens.ids) {
      rows.push_back({tokens.query, std::ranges::lower_bound(ids, id) - ids.begin()});
    }
  }
  if (!rows.empty()) {
    pool(fetch(ids), rows);
  }
}

void ReaderQueue::read(std::span<query::Answer> answers) {
  read_all_but(0);
  pools_.finish(answers, dtype_);
}

void ReaderQueue::pool(const at::Tensor& hidden, std::span<const PooledRow> rows) {
  if (!rows.empty()) {
    read_later(pool_rows(hidden, rows, pools_));
  }
}

void ReaderQueue::project_oldest() {
  auto [hidden, count] = projection_.take();
  Rows rows{std::move(hidden), count, {}};
  for (std::int64_t row = 0; row < count; ++row) {
    for (const auto& use : waiting_[static_cast<std::size_t>(row)]) {
      if (!use.is_vector()) {
        rows.uses.emplace_back(row, &use);
      }
    }
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  read_later(project_(std::move(rows)));
}

void ReaderQueue::read_later(Later<void> reading) {
  unread_.push_back(std::move(reading));
  read_all_but(most_unread_);
}

void ReaderQueue::read_all_but(std::size_t count) {
  for (; unread_.size() > count; unread_.pop_front()) {
    unread_.front()();
  }
}

}  // namespace stereosweep::engine
