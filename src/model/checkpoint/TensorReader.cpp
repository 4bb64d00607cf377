#include "model/checkpoint/TensorReader.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::model {

namespace {

using base::json_quote;

/// GPTQ's first writers gave one to every matrix.
bool is_bias_of_zeros(const std::string& name, const StoredTensor& stored) {
  return name.ends_with(".bias") && is_floating(stored.type) && !read_tensor(stored).any().item<bool>();
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

/// The cut of a stored tensor as numbers that lie behind each other, stretch after stretch.
std::vector<Range> stretches_of(const StoredTensor& stored, const Cut& cut) {
  const auto columns = stored.shape.size() < 2 ? 1 : stored.shape.back();
  const auto rows = columns == 0 ? 0 : stored.count() / columns;
  std::vector<Range> stretches;
  const auto add = [&](Range next) {
    if (!stretches.empty() && stretches.back().first + stretches.back().count == next.first) {
      stretches.back().count += next.count;
    } else {
      stretches.push_back(next);
    }
  };
  for (const auto& range : cut.rows.empty() ? std::vector<Range>{{0, rows}} : cut.rows) {
    if (cut.columns.empty()) {
      add({range.first * columns, range.count * columns});
    }
    for (auto row = range.first; !cut.columns.empty() && row < range.first + range.count; ++row) {
      for (const auto& part : cut.columns) {
        add({row * columns + part.first, part.count});
      }
    }
  }
  return stretches;
}

// `numbers`: what is stored as `raw`, in another type, at these stretches.
void check_finite(const at::Tensor& numbers, const at::Tensor& raw, const StoredTensor& stored, const std::string& name,
                  const std::vector<Range>& stretches) {
  const auto index = first_not_finite(numbers);
  if (index < 0) {
    return;
  }
  auto left = index;
  auto stretch = stretches.begin();
  for (; left >= stretch->count; ++stretch) {
    left -= stretch->count;
  }
  const auto at = std::to_string(stretch->first + left);
  const double number = raw[index].item<double>();
  base::refuse_if(
      numbers.scalar_type() == at::kHalf && std::isfinite(number),
      stored.file + ": tensor " + json_quote(name) + " holds " + std::to_string(number) + " at number " + at,
      "float16 ends at 65504", "Take the dtype bfloat16 or float32.");
  base::refuse(stored.file + ": tensor " + json_quote(name) + " holds NaN or infinity at number " + at,
               "every score would be NaN", "Is the file damaged?");
}

}  // namespace

std::int64_t total(const std::vector<Range>& ranges) {
  std::int64_t sum = 0;
  for (const auto& range : ranges) {
    sum += range.count;
  }
  return sum;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const auto size : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

TensorReader::TensorReader(StoredTensors stored, std::string place, at::TensorOptions options)
    : stored_(std::move(stored)), place_(std::move(place)), options_(options) {
  for (auto it = stored_.begin(); it != stored_.end();) {
    if (it->second.absent) {
      absent_[it->first] = it->second.file;
      it = stored_.erase(it);
    } else {
      ++it;
    }
  }
}

const StoredTensor& TensorReader::find(const std::string& name) const {
  const auto it = stored_.find(name);
  base::refuse_if(it == stored_.end(), place_ + ": tensor " + json_quote(name) + " is missing",
                  "config.json asks for it");
  return it->second;
}

at::Tensor TensorReader::take(const std::string& name, std::initializer_list<std::int64_t> shape) {
  return take_as(name, shape, c10::typeMetaToScalarType(options_.dtype()));
}

void TensorReader::expect(const std::string& name, std::initializer_list<std::int64_t> shape) const {
  const auto& stored = find(name);
  base::refuse_if(!std::equal(shape.begin(), shape.end(), stored.shape.begin(), stored.shape.end()),
                  stored.file + ": tensor " + json_quote(name) + " has shape " + text_of(stored.shape),
                  "config.json asks for " + text_of(std::vector<std::int64_t>(shape)));
}

const StoredTensor& TensorReader::find_to_take(const std::string& name, std::initializer_list<std::int64_t> shape) {
  expect(name, shape);
  const auto& stored = find(name);
  base::refuse_if(!is_floating(stored.type),
                  stored.file + ": tensor " + json_quote(name) + " is stored as " + name_of(stored.type),
                  "weights are floating-point numbers");
  taken_.insert(name);
  checked_.insert(name);
  return stored;
}

at::Tensor TensorReader::take_as(const std::string& name, std::initializer_list<std::int64_t> shape,
                                 at::ScalarType type) {
  const auto& stored = find_to_take(name, shape);
  const auto tensor = at::empty(stored.shape, options_.dtype(type));
  read_into(tensor, stored, name, {});
  return tensor;
}

at::Tensor TensorReader::take_cut(const std::string& name, std::initializer_list<std::int64_t> shape, const Cut& cut) {
  const auto& stored = find_to_take(name, shape);
  const auto count = total(stretches_of(stored, cut));
  std::vector<std::int64_t> sizes{count};
  if (stored.shape.size() > 1) {
    const auto columns = cut.columns.empty() ? stored.shape.back() : total(cut.columns);
    sizes = {count / std::max<std::int64_t>(1, columns), columns};
  }
  const auto tensor = at::empty(sizes, options_);
  read_into(tensor, stored, name, cut);
  return tensor;
}

void TensorReader::take_cut_into(const at::Tensor& destination, const std::string& name,
                                 std::initializer_list<std::int64_t> shape, const Cut& cut) {
  read_into(destination, find_to_take(name, shape), name, cut);
}

void TensorReader::read_into(const at::Tensor& destination, const StoredTensor& stored, const std::string& name,
                             const Cut& cut) {
  if (!options_.device().is_meta()) {
    read_pieces(stored, name, cut, destination.scalar_type(), destination.view({-1}));
  }
}

void TensorReader::read_pieces(const StoredTensor& stored, const std::string& name, const Cut& cut, at::ScalarType type,
                               const at::Tensor& destination) {
  const auto bytes = static_cast<std::int64_t>(c10::elementSize(stored.type));
  const auto most = piece_bytes / std::max(bytes, static_cast<std::int64_t>(c10::elementSize(type)));
  std::vector<Range> piece;
  std::int64_t begin = 0;
  std::int64_t count = 0;  // numbers of the piece
  const auto finish = [&] {
    if (count == 0) {
      return;
    }
    const auto own = destination.defined() ? destination.slice(0, begin, begin + count) : destination;
    const auto numbers = own.defined() && own.is_cpu()
                             ? own
                             : at::empty({piece_bytes}, at::TensorOptions(at::kByte).pinned_memory(own.defined()))
                                   .view(type)
                                   .slice(0, 0, count);
    if (stored.type != type && !scratch_.defined()) {
      scratch_ = at::empty({piece_bytes}, at::TensorOptions(at::kByte));
    }
    const auto raw = stored.type == type ? numbers : scratch_.view(stored.type).slice(0, 0, count);
    auto* to = static_cast<std::byte*>(raw.mutable_data_ptr());
    for (const auto& stretch : piece) {
      const std::span into(to, static_cast<std::size_t>(stretch.count * bytes));
      if (stored.source) {
        stored.source->read(stretch.first, {reinterpret_cast<float*>(to), static_cast<std::size_t>(stretch.count)});
      } else {
        stored.content.read(stored.offset + static_cast<std::uint64_t>(stretch.first * bytes), into);
      }
      to += into.size();
    }
    if (stored.type != type) {
      numbers.copy_(raw);
    }
    check_finite(numbers, raw, stored, name, piece);
    if (own.defined() && !own.is_cpu()) {
      send(numbers, own);
    }
    begin += count;
    count = 0;
    piece.clear();
  };
  for (auto left : stretches_of(stored, cut)) {
    while (left.count > 0) {
      if (left.count > most - count) {
        finish();
      }
      const auto some = std::min(left.count, most);
      piece.push_back({left.first, some});
      count += some;
      left = {left.first + some, left.count - some};
    }
  }
  finish();
}

// Torch gives pinned memory out again once the copies of it have ended.
void TensorReader::send(const at::Tensor& numbers, const at::Tensor& destination) {
  destination.copy_(numbers, /*non_blocking=*/true);
  const auto device = destination.device();
  c10::Event copied(device.type());
  copied.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  if (last_copy_) {
    last_copy_->synchronize();
  }
  last_copy_.emplace(std::move(copied));
}

bool TensorReader::has_any(const std::string& beginning) const {
  const auto first = stored_.lower_bound(beginning);
  return first != stored_.end() && first->first.starts_with(beginning);
}

void TensorReader::check_left(const std::function<bool(const std::string& name)>& is_harmless) {
  for (const auto& [name, file] : absent_) {
    base::refuse_if(!is_harmless(name), file + ": tensor " + json_quote(name) + " is missing",
                    "model.safetensors.index.json lists it");
  }
  for (const auto& [name, stored] : stored_) {
    base::refuse_if(!taken_.contains(name) && !is_harmless(name) && !is_bias_of_zeros(name, stored),
                    stored.file + ": tensor " + json_quote(name) + " is not expected",
                    "it belongs to no part of the model that config.json describes");
  }
  for (const auto& [name, stored] : stored_) {
    if (!checked_.contains(name) && is_floating(stored.type) && !options_.device().is_meta()) {
      const auto type = stored.type == at::kDouble ? at::kFloat : stored.type;
      read_pieces(stored, name, {}, type, {});
    }
  }
}

}  // namespace stereosweep::model
