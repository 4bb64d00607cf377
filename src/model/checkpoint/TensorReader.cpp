#include "model/checkpoint/TensorReader.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::model {

namespace {

using base::describe;
using base::InputError;
using base::json_quote;

at::ScalarType torch_type(const StoredTensor& stored, const std::string& name) {
  switch (stored.type) {
    case StoredType::float16:
      return at::kHalf;
    case StoredType::bfloat16:
      return at::kBFloat16;
    case StoredType::float32:
      return at::kFloat;
    case StoredType::float64:
      return at::kDouble;
    default:
      throw InputError(stored.file + ": " +
                       describe("tensor " + json_quote(name) + " is stored as " + name_of(stored.type),
                                "weights are floating-point numbers"));
  }
}

// Index of the first NaN or infinity: all exponent bits set. -1 where there is none.
template <class Bits>
std::int64_t first_not_finite(const void* data, std::int64_t count, Bits exponent) {
  const auto* bits = static_cast<const Bits*>(data);
  constexpr std::int64_t stride = 4096;
  for (std::int64_t begin = 0; begin < count; begin += stride) {
    const auto end = std::min(count, begin + stride);
    bool found = false;
    for (auto i = begin; i < end; ++i) {
      found |= (bits[i] & exponent) == exponent;
    }
    for (auto i = begin; found && i < end; ++i) {
      if ((bits[i] & exponent) == exponent) {
        return i;
      }
    }
  }
  return -1;
}

std::int64_t first_not_finite(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return first_not_finite<std::uint32_t>(tensor.const_data_ptr(), tensor.numel(), 0x7f800000U);
    case at::kBFloat16:
      return first_not_finite<std::uint16_t>(tensor.const_data_ptr(), tensor.numel(), 0x7f80U);
    default:
      return first_not_finite<std::uint16_t>(tensor.const_data_ptr(), tensor.numel(), 0x7c00U);
  }
}

// `tensor`: what is stored as `raw` in another type.
void check_finite(const at::Tensor& tensor, const at::Tensor& raw, const StoredTensor& stored,
                  const std::string& name) {
  const auto at = first_not_finite(tensor);
  if (at < 0) {
    return;
  }
  const double number = raw.flatten()[at].item<double>();
  if (tensor.scalar_type() == at::kHalf && std::isfinite(number)) {
    throw InputError(
        stored.file + ": " +
        describe("tensor " + json_quote(name) + " holds " + std::to_string(number) + " at number " + std::to_string(at),
                 "float16 ends at 65504", "Take the dtype bfloat16 or float32."));
  }
  throw InputError(stored.file + ": " +
                   describe("tensor " + json_quote(name) + " holds NaN or infinity at number " + std::to_string(at),
                            "every score would be NaN", "Is the file damaged?"));
}

// The stored numbers in `type`, all of them finite.
at::Tensor converted(const StoredTensor& stored, const std::string& name, at::ScalarType type) {
  auto raw = at::empty(stored.shape, at::TensorOptions(torch_type(stored, name)));
  stored.content.read(stored.offset, {static_cast<std::byte*>(raw.mutable_data_ptr()), stored.num_bytes});
  auto tensor = raw.to(type);
  check_finite(tensor, raw, stored, name);
  return tensor;
}

}  // namespace

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const auto size : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

const StoredTensor& TensorReader::find(const std::string& name) const {
  const auto it = stored_.find(name);
  if (it == stored_.end()) {
    throw InputError(place_ + ": " + describe("tensor " + json_quote(name) + " is missing", "config.json asks for it"));
  }
  return it->second;
}

at::Tensor TensorReader::take(const std::string& name, std::initializer_list<std::int64_t> shape) {
  return take_as(name, shape, c10::typeMetaToScalarType(options_.dtype()));
}

void TensorReader::expect(const std::string& name, std::initializer_list<std::int64_t> shape) const {
  const auto& stored = find(name);
  if (!std::equal(shape.begin(), shape.end(), stored.shape.begin(), stored.shape.end())) {
    throw InputError(stored.file + ": " +
                     describe("tensor " + json_quote(name) + " has shape " + text_of(stored.shape),
                              "config.json asks for " + text_of(std::vector<std::int64_t>(shape))));
  }
}

at::Tensor TensorReader::take_as(const std::string& name, std::initializer_list<std::int64_t> shape,
                                 at::ScalarType type) {
  expect(name, shape);
  const auto& stored = find(name);
  taken_.insert(name);
  checked_.insert(name);
  if (options_.device().is_meta()) {
    torch_type(stored, name);  // refuses what is no weight
    return at::empty(stored.shape, options_.dtype(type));
  }
  return converted(stored, name, type).to(options_.device());
}

bool TensorReader::has_any(const std::string& beginning) const {
  const auto first = stored_.lower_bound(beginning);
  return first != stored_.end() && first->first.starts_with(beginning);
}

void TensorReader::check_left(const std::function<bool(const std::string& name)>& is_harmless) const {
  for (const auto& [name, stored] : stored_) {
    if (!taken_.contains(name) && !is_harmless(name)) {
      throw InputError(stored.file + ": " +
                       describe("tensor " + json_quote(name) + " is not expected",
                                "it belongs to no part of the model that config.json describes"));
    }
  }
  for (const auto& [name, stored] : stored_) {
    if (!checked_.contains(name) && is_floating(stored.type) && !options_.device().is_meta()) {
      converted(stored, name, at::kFloat);
    }
  }
}

}  // namespace stereosweep::model
