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
  void add(std::size_t query, std::span<const double> sums, std::int64_t count);
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
Later<void> pool_rows(const at::Tensor& hidden, std::span<const PooledRow> rows, VectorPools& pools);

/// Rows of the input embedding matrix: ids -> [ids, hidden].
using FetchRows = std::function<at::Tensor(std::span<const query::TokenId>)>;

/// Hidden states of one call on their way to their readers: vectors are pooled at once, rows for the head wait until a
/// product is full. What a device computes is read when the next product has been started there, so that neither waits
/// for the other.
class ReaderQueue {
 public:
  /// The oldest rows that wait, and the uses that read them, by row.
  struct Rows {
    at::Tensor hidden;
    std::int64_t count = 0;
    std::vector<UseAtRow> uses;
  };
  /// Reads rows through the head: what comes back waits for the device and writes the answers.
  using Project = std::function<Later<void>(Rows)>;

  ReaderQueue(const model::ModelShape& shape, std::size_t num_queries, Project project)
      : projection_(shape.vocabulary, shape.kernels),
        dtype_(shape.dtype),
        most_unread_(shape.kernels == model::Kernels::operators ? 1 : 0),
        project_(std::move(project)),
        pools_(num_queries) {}

  /// Rows of `hidden` and who reads them.
  void add(const at::Tensor& hidden, std::span<const RowReader> readers);
  /// After the last batch: starts to read the rows that still wait, and those of the input embedding matrix, each
  /// distinct one once.
  void close(std::span<const QueryTokens> input_rows, const FetchRows& fetch);
  /// After `close`: waits for the device and writes all answers that are left.
  void read(std::span<query::Answer> answers);

 private:
  void pool(const at::Tensor& hidden, std::span<const PooledRow> rows);
  void project_oldest();
  void read_later(Later<void> reading);
  void read_all_but(std::size_t count);

  ProjectionQueue projection_;
  query::Dtype dtype_;
  std::size_t most_unread_;
  Project project_;
  std::vector<std::span<const Use>> waiting_;  ///< of each row of `projection_`
  VectorPools pools_;
  std::deque<Later<void>> unread_;
};

}  // namespace stereosweep::engine
