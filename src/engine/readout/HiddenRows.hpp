// Rows of hidden states on the way to those who read them: means of vectors, and rows of several forward passes that
// wait for the vocabulary projection, because more rows a product are better.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/QueryInput.hpp"
#include "engine/readout/Download.hpp"
#include "model/kernels/Kernels.hpp"
#include "query/Compute.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

template <class Value>
std::vector<Value> sorted_distinct(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// What the plans of a loaded model go by.
InputLimits limits_of(const model::ModelShape& shape);

/// `count` rounded up to a multiple of `unit`.
std::int64_t rounded_up(std::int64_t count, std::int64_t unit);
/// [row, column] float32 in the host's memory.
at::Tensor on_host(const at::Tensor& tensor);
/// One row of such a matrix; the matrix must outlive it.
std::span<const float> row_of(const at::Tensor& matrix, std::int64_t row);

/// First in, first out; one product has a bounded number of logits (128 MiB; 256 MiB where torch's operators read
/// them).
class ProjectionQueue {
 public:
  /// `vocabulary`: width of the logits; `kernels`: who reads them.
  ProjectionQueue(std::int64_t vocabulary, model::Kernels kernels);

  /// Appends the given rows of `hidden` [rows, width].
  void add(const at::Tensor& hidden, std::span<const std::int64_t> rows);
  std::int64_t size() const { return size_; }
  /// Whether `take` would give as many rows as a product has at most.
  bool is_full() const { return size_ >= rows_per_product_; }

  /// The oldest rows; what lies beyond `count` fills up to a round number.
  struct Rows {
    at::Tensor hidden;
    std::int64_t count = 0;
  };
  Rows take();

 private:
  std::int64_t rows_per_product_;
  std::int64_t unit_;  ///< numbers of rows are multiples of it
  std::int64_t size_ = 0;
  std::vector<at::Tensor> hidden_;  ///< together `size_` rows
};

/// The error of a query whose numbers are NaN or infinite; `dtype` is the model's.
query::QueryError not_finite_error(query::Dtype dtype);

/// Sums in float64, in the order of the calls.
class VectorPools {
 public:
  explicit VectorPools(std::size_t num_queries) : pools_(num_queries) {}
  /// The sums of `count` more tokens of the span of query number `query`.
  template <class Number>
  void add(std::size_t query, std::span<const Number> sums, std::int64_t count = 1) {
    auto& pool = pools_[query];
    pool.sums.resize(sums.size());
    pool.count += static_cast<double>(count);
    std::ranges::transform(sums, pool.sums, pool.sums.begin(), std::plus<>());
  }
  /// Writes the answers of all queries that got a vector: its mean, or an error where it is not finite.
  void finish(std::span<query::Answer> answers, query::Dtype dtype) const;

 private:
  struct Pool {
    std::vector<double> sums;  ///< [hidden]
    double count = 0;          ///< tokens
  };
  std::vector<Pool> pools_;  ///< by query
};

/// A row of hidden states that belongs to the span of a query.
struct PooledRow {
  std::size_t query = 0;
  std::int64_t row = 0;
};

/// Adds the rows up where they are, one query's in their order; what comes back waits for the device and adds the sums
/// to the pools. `rows` may not be empty.
Later<void> pool_on_device(const at::Tensor& hidden, std::span<const PooledRow> rows, VectorPools& pools);

// Vectors that are read off the input embedding matrix: each distinct row once.

/// Rows of the matrix: ids -> [ids, hidden].
using FetchRows = std::function<at::Tensor(std::span<const query::TokenId>)>;

/// Starts to fetch the rows; what comes back waits for them and adds those of every query, token after token.
/// `wanted` may not be empty.
Later<void> fetch_input_vectors(std::span<const InputRows> wanted, const FetchRows& fetch, VectorPools& pools);

/// Hidden states of one call on their way to their readers: vectors are pooled at once, rows for the head wait until a
/// product is full. What a device computes is read when the next product has been started there, so that neither waits
/// for the other. `Use` has `query` and `is_vector()`.
template <class Use>
class ReaderQueue {
 public:
  /// The oldest rows that wait, and the uses that read them, by row.
  struct Rows {
    at::Tensor hidden;
    std::int64_t count = 0;
    std::vector<std::pair<std::int64_t, const Use*>> uses;
  };
  /// Reads rows through the head: what comes back waits for the device and writes the answers.
  using Project = std::function<Later<void>(Rows)>;

  ReaderQueue(const model::ModelShape& shape, std::size_t num_queries, Project project)
      : projection_(shape.vocabulary, shape.kernels),
        kernels_(shape.kernels),
        dtype_(shape.dtype),
        project_(std::move(project)),
        pools_(num_queries) {}

  /// Rows of `hidden` and who reads them.
  void add(const at::Tensor& hidden, std::span<const RowReader<Use>> readers) {
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
      read_later(project_(take()));
    }
  }

  /// After the last batch: starts to read the rows that still wait, and those of the input embedding matrix.
  void close(std::span<const InputRows> input_rows, const FetchRows& fetch) {
    while (!waiting_.empty()) {
      read_later(project_(take()));
    }
    if (!input_rows.empty()) {
      read_later(fetch_input_vectors(input_rows, fetch, pools_));
    }
  }

  /// After `close`: waits for the device and writes all answers that are left.
  void read(std::span<query::Answer> answers) {
    read_all_but(0);
    pools_.finish(answers, dtype_);
  }

 private:
  void pool(const at::Tensor& hidden, std::span<const PooledRow> rows) {
    if (rows.empty()) {
      return;
    }
    if (kernels_ == model::Kernels::operators) {
      read_later(pool_on_device(hidden, rows, pools_));
      return;
    }
    const auto host = on_host(hidden);
    for (const auto& [query, row] : rows) {
      pools_.add(query, row_of(host, row));
    }
  }

  void read_later(Later<void> reading) {
    unread_.push_back(std::move(reading));
    read_all_but(kernels_ == model::Kernels::operators ? 1 : 0);
  }

  void read_all_but(std::size_t count) {
    for (; unread_.size() > count; unread_.pop_front()) {
      unread_.front()();
    }
  }

  Rows take() {
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
    return rows;
  }

  ProjectionQueue projection_;
  model::Kernels kernels_;
  query::Dtype dtype_;
  Project project_;
  std::vector<std::span<const Use>> waiting_;  ///< of each row of `projection_`
  VectorPools pools_;
  std::deque<Later<void>> unread_;
};

}  // namespace stereosweep::engine
