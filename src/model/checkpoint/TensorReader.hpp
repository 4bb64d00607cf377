// Takes stored tensors by name and turns them, or the parts of them that a rank needs, into torch's.
//
// Numbers pass piece by piece: on the CPU they are read to where they belong, other types through a piece of memory; to
// a device they go through two pinned buffers. So beside the tensors themselves little memory is taken, and bytes that
// are not needed are not read.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <array>
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

/// Numbers on their way from the host to a device: two pinned buffers, of which one is filled while the other is
/// copied.
class Upload {
 public:
  /// Of one buffer, unless more is asked for at once.
  static constexpr std::int64_t usual_bytes = std::int64_t{4} << 20;

  /// Takes no memory yet.
  explicit Upload(c10::Device device) : device_(device) {}

  /// Pinned memory of the host for `count` numbers, free to be written: waits for the copy that last read it.
  at::Tensor next(std::int64_t count, at::ScalarType type);
  /// Enqueues the copy of what `next` returned last to `destination`, on the current stream; does not wait.
  void send(const at::Tensor& destination);

 private:
  struct Buffer {
    at::Tensor bytes;
    std::optional<c10::Event> copied;
  };
  c10::Device device_;
  std::array<Buffer, 2> buffers_;
  std::size_t current_ = 0;
  at::Tensor filled_;
};

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
  /// Memory of the host for `count` numbers of a tensor, which are number `begin` and the next of those taken.
  using Target = std::function<at::Tensor(std::int64_t begin, std::int64_t count)>;
  /// What becomes of them once they lie there.
  using Done = std::function<void(std::int64_t begin, std::int64_t count)>;

  const StoredTensor& find(const std::string& name) const;
  /// Checked and marked as taken.
  const StoredTensor& find_to_take(const std::string& name, std::initializer_list<std::int64_t> shape);
  void read_into(const at::Tensor& destination, const StoredTensor& stored, const std::string& name, const Cut& cut);
  /// Piece by piece, converted and checked.
  void read_pieces(const StoredTensor& stored, const std::string& name, const Cut& cut, at::ScalarType type,
                   const Target& target, const Done& done);
  /// At least as large as asked for.
  at::Tensor scratch(std::int64_t count, at::ScalarType type);

  StoredTensors stored_;
  std::map<std::string, std::string> absent_;  // tensors that the index lists for a file which lacks them
  std::string place_;
  at::TensorOptions options_;
  Upload upload_;
  at::Tensor scratch_;             // stored numbers of another type, before they are converted
  std::set<std::string> taken_;    // known: taken or ignored
  std::set<std::string> checked_;  // taken
};

}  // namespace stereosweep::model
