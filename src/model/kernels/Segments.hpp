// Where the sequences of a packed batch lie, on the host and, for CUDA, on the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::model {

/// Neighbouring sequences that an operator computes as one, so that short ones fill its tiles: bundle i has the rows
/// between its begins, and `bias` hides the keys of the other sequences from a query.
struct Bundles {
  at::Tensor key_begin;    ///< [bundles + 1] int32, on the device
  at::Tensor query_begin;  ///< likewise
  at::Tensor bias;         ///< 0 or -inf: [bundles, bundle_rows, bundle_rows] numbers, and what as_strided may reach
  std::int64_t longest_key = 0;
  std::int64_t longest_query = 0;
};
/// Rows of an operator's tile: no bundle has more.
inline constexpr std::int64_t bundle_rows = 64;

/// Sequence i has the key rows [key_begin[i], key_begin[i+1]) and the query rows [query_begin[i], query_begin[i+1]),
/// which may be none.
struct Segments {
  std::vector<std::int32_t> key_begin;    ///< [sequences + 1]
  std::vector<std::int32_t> query_begin;  ///< [sequences + 1]
  at::Tensor device_key_begin;            ///< the same numbers on the device, int32; undefined on the CPU
  at::Tensor device_query_begin;
  std::optional<Bundles> bundles = {};  ///< where an operator should take them in place of the sequences
};

/// Stops where rows are not sorted and distinct, or not from `begin` to before `end`.
void check_rows(std::span<const std::int64_t> rows, std::int64_t begin, std::int64_t end);

/// The longest of the ranges that `begins` cuts.
std::int64_t longest(std::span<const std::int32_t> begins);

/// All small lists that a batch needs, put into one buffer so that one copy takes them to the device.
class Staging {
 public:
  /// Remembers a list; returns its number.
  std::size_t add(std::span<const std::int32_t> values);
  std::size_t add(std::span<const float> values);
  std::size_t add(std::span<const double> values);
  /// Copies everything to `device`; where that is not the processor nobody waits for the copy.
  void send(const at::Device& device);
  /// List number `index`, of its own type, on the device.
  at::Tensor at(std::size_t index) const;

 private:
  struct List {
    std::int64_t begin = 0;  ///< bytes
    std::int64_t end = 0;
    at::ScalarType type = at::kInt;
  };
  std::size_t append(std::span<const std::byte> bytes, at::ScalarType type);

  std::vector<std::byte> bytes_;
  std::vector<List> lists_;
  at::Tensor sent_;
};

/// A copy of a tensor of the processor's on the device, through pinned memory, so that the host does not wait.
at::Tensor sent_to(const at::Tensor& host, const at::Device& device);
/// One list, int32, on the device.
at::Tensor on_device(std::span<const std::int32_t> values, const at::Device& device);
/// matrix[rows]: [rows, columns], on the matrix's device.
at::Tensor rows_of(const at::Tensor& matrix, std::span<const std::int32_t> rows);
/// Writes rows[i] to target[places[i]], in place; no two of the places (int64) are equal. Only the thread that computes
/// may call it, since torch's setting of determinism changes meanwhile.
void put_rows(at::Tensor target, const at::Tensor& places, const at::Tensor& rows);

// Tokens of a batch that are alike before the first layer: same id, same position.

struct DistinctTokens {
  std::vector<query::TokenId> ids;      ///< each (id, position) once, in the order of the first that has it
  std::vector<std::int32_t> positions;  ///< beside `ids`
  std::vector<std::int32_t> rows;       ///< of each token of the batch: where its pair stands
};

/// `ids` and `positions` of the same length.
DistinctTokens find_distinct(std::span<const query::TokenId> ids, std::span<const std::int32_t> positions);

}  // namespace stereosweep::model
