// Takes stored tensors by name and turns them, or the parts of them that a rank needs, into torch's.
//
// Numbers pass piece by piece: on the CPU they are read to where they belong, other types through a piece of memory; to
// a device they go through pinned memory, where one piece is read while another is copied. So beside the tensors
// themselves little memory is taken, and bytes that are not needed are not read.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {

/// "[2, 3]", as messages write it.
std::string text_of(const std::vector<std::int64_t>& shape);

/// Consecutive rows or columns.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
std::int64_t total(const std::vector<Range>& ranges);

/// Some rows of a matrix, range below range, and of each some columns, range beside range. Empty: all of them. A vector
/// is one column; of a tensor of more than two dimensions the last one counts columns.
struct Cut {
  std::vector<Range> rows;
  std::vector<Range> columns;
};

class TensorReader {
 public:
  /// Of what passes at once.
  static constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;

  /// `place` stands in messages about tensors that are missing; `options` is what the tensors become.
  TensorReader(StoredTensors stored, std::string place, at::TensorOptions options);

  bool has(const std::string& name) const { return stored_.contains(name); }
  /// Whether some tensor's name begins so.
  bool has_any(const std::string& beginning) const;
  const StoredTensors& stored() const { return stored_; }
  const at::TensorOptions& options() const { return options_; }

  /// The tensor in the model's dtype on its device; on torch's device `meta` its shape alone, and no number is read.
  /// Throws InputError naming file and tensor where it is missing, has
  /// another shape, is not floating, or holds NaN or infinity (after conversion).
  at::Tensor take(const std::string& name, std::initializer_list<std::int64_t> shape);
  /// The same in another dtype.
  at::Tensor take_as(const std::string& name, std::initializer_list<std::int64_t> shape, at::ScalarType type);
  /// A part of the tensor, whose whole shape is given: [rows, columns], or [rows] of a vector. What is not in the part
  /// is not read, nor checked. A tensor can be taken in several parts.
  at::Tensor take_cut(const std::string& name, std::initializer_list<std::int64_t> shape, const Cut& cut);
  /// The same into contiguous memory of as many numbers, on the reader's device.
  void take_cut_into(const at::Tensor& destination, const std::string& name, std::initializer_list<std::int64_t> shape,
                     const Cut& cut);
  /// Throws InputError where it is missing or has another shape: before memory is taken for it.
  void expect(const std::string& name, std::initializer_list<std::int64_t> shape) const;
  /// Marks a tensor as known and not needed.
  void ignore(const std::string& name) { taken_.insert(name); }
  /// After the last `take`: throws InputError for a tensor that was neither taken nor ignored and is not harmless (it
  /// means another architecture), for one that a shard lacks and that is not harmless, and where any other floating
  /// tensor holds NaN or infinity: such a file is damaged, even if the damage is in a part that is not needed.
  void check_left(const std::function<bool(const std::string& name)>& is_harmless);

 private:
  const StoredTensor& find(const std::string& name) const;
  /// Checked and marked as taken.
  const StoredTensor& find_to_take(const std::string& name, std::initializer_list<std::int64_t> shape);
  void read_into(const at::Tensor& destination, const StoredTensor& stored, const std::string& name, const Cut& cut);
  /// Piece by piece, converted to the type and checked; to the destination, where there is one.
  void read_pieces(const StoredTensor& stored, const std::string& name, const Cut& cut, at::ScalarType type,
                   const at::Tensor& destination);
  /// Enqueues the copy to a device, and waits for the one before, so that one piece is read while another is copied.
  void send(const at::Tensor& numbers, const at::Tensor& destination);

  StoredTensors stored_;
  std::map<std::string, std::string> absent_;  // tensors that the index lists for a file which lacks them
  std::string place_;
  at::TensorOptions options_;
  at::Tensor scratch_;                   // stored numbers of another type, before they are converted
  std::optional<c10::Event> last_copy_;  // to a device
  std::set<std::string> taken_;          // known: taken or ignored
  std::set<std::string> checked_;        // taken
};

}  // namespace stereosweep::model
