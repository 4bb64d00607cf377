// Takes stored tensors by name and turns them into torch's, once each.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {

/// "[2, 3]", as messages write it.
std::string text_of(const std::vector<std::int64_t>& shape);

class TensorReader {
 public:
  /// `place` stands in messages about tensors that are missing; `options` is what the tensors become.
  TensorReader(StoredTensors stored, std::string place, at::TensorOptions options)
      : stored_(std::move(stored)), place_(std::move(place)), options_(options) {}

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
  /// Throws InputError where it is missing or has another shape: before memory is taken for it.
  void expect(const std::string& name, std::initializer_list<std::int64_t> shape) const;
  /// Marks a tensor as known and not needed.
  void ignore(const std::string& name) { taken_.insert(name); }
  /// After the last `take`: throws InputError for a tensor that was neither taken nor ignored and is not harmless (it
  /// means another architecture), and where any other floating tensor holds NaN or infinity: such a file is damaged,
  /// even if the damage is in a part that is not needed.
  void check_left(const std::function<bool(const std::string& name)>& is_harmless) const;

 private:
  const StoredTensor& find(const std::string& name) const;

  StoredTensors stored_;
  std::string place_;
  at::TensorOptions options_;
  std::set<std::string> taken_;    // known: taken or ignored
  std::set<std::string> checked_;  // taken
};

}  // namespace stereosweep::model
