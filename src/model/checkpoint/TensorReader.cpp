#include "model/checkpoint/TensorReader.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::model {

at::Tensor Upload::next(std::int64_t count, at::ScalarType type) {
  current_ = (current_ + 1) % buffers_.size();
  auto& buffer = buffers_[current_];
  if (buffer.copied) {
    buffer.copied->synchronize();
  }
  const auto bytes = count * static_cast<std::int64_t>(c10::elementSize(type));
  if (!buffer.bytes.defined() || buffer.bytes.numel() < bytes) {
    buffer.bytes = at::empty({std::max(usual_bytes, bytes)}, at::TensorOptions(at::kByte).pinned_memory(true));
  }
  filled_ = buffer.bytes.slice(0, 0, bytes).view(type);
  return filled_;
}

void Upload::send(const at::Tensor& destination) {
  auto& buffer = buffers_[current_];
  destination.copy_(filled_.view(destination.sizes()), /*non_blocking=*/true);
  if (!buffer.copied) {
    buffer.copied.emplace(device_.type());
  }
  buffer.copied->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(destination.device()));
}

namespace {

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
      base::refuse(stored.file + ": tensor " + json_quote(name) + " is stored as " + name_of(stored.type),
                   "weights are floating-point numbers");
  }
}

/// GPTQ's first writers gave one to every matrix.
bool is_bias_of_zeros(const std::string& name, const StoredTensor& stored) {
  const bool is_bias = name.ends_with(".bias") && is_floating(stored.type);
  std::vector<float> numbers(is_bias ? static_cast<std::size_t>(stored.count()) : 0);
  read_numbers(stored, 0, numbers);
  return is_bias && std::ranges::all_of(numbers, [](float number) { return number == 0; });
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

/// A stored tensor as a matrix, and what is taken of it.
struct Selection {
  std::int64_t columns = 1;   // of the stored matrix
  std::vector<Range> rows;    // taken, in their order
  std::vector<Range> parts;   // taken of each row
  std::int64_t width = 1;     // numbers that these are
  std::int64_t num_rows = 0;  // taken

  /// Where number `index` of the rows from `first` on is stored.
  std::int64_t place(std::int64_t first, std::int64_t index) const {
    auto left = index % width;
    auto part = parts.begin();
    for (; left >= part->count; ++part) {
      left -= part->count;
    }
    return (first + index / width) * columns + part->first + left;
  }
};

/// Ranges that follow on each other become one.
std::vector<Range> joined(const std::vector<Range>& ranges) {
  std::vector<Range> all;
  for (const auto& range : ranges) {
    if (!all.empty() && all.back().first + all.back().count == range.first) {
      all.back().count += range.count;
    } else {
      all.push_back(range);
    }
  }
  return all;
}

/// Whole rows become one column, so that they are read at once.
Selection select(const StoredTensor& stored, const Cut& cut) {
  std::int64_t numbers = 1;
  for (const auto size : stored.shape) {
    numbers *= size;
  }
  const auto columns = stored.shape.size() < 2 ? 1 : stored.shape.back();
  Selection selection;
  selection.rows = cut.rows.empty() ? std::vector<Range>{{0, columns == 0 ? 0 : numbers / columns}} : joined(cut.rows);
  const auto parts = joined(cut.columns);
  if (parts.empty() || (parts.size() == 1 && parts.front().count == columns)) {
    for (auto& range : selection.rows) {
      range = {range.first * columns, range.count * columns};
    }
    selection.parts = {{0, 1}};
  } else {
    selection.columns = columns;
    selection.parts = parts;
    selection.width = total(parts);
  }
  selection.num_rows = total(selection.rows);
  return selection;
}

/// The selected numbers of some stored rows, one after the other.
void read_rows(const StoredTensor& stored, const Selection& selection, Range rows, const at::Tensor& out) {
  const auto bytes = static_cast<std::int64_t>(bytes_per_number(stored.type));
  auto* to = static_cast<std::byte*>(out.mutable_data_ptr());
  const auto read = [&](std::int64_t first, std::int64_t count) {
    const auto size = static_cast<std::size_t>(count * bytes);
    if (stored.source) {
      stored.source->read(first, {reinterpret_cast<float*>(to), static_cast<std::size_t>(count)});
      to += size;
      return;
    }
    stored.content.read(stored.offset + static_cast<std::uint64_t>(first * bytes), {to, size});
    to += size;
  };
  if (selection.columns == 1) {
    read(rows.first, rows.count);
    return;
  }
  for (auto row = rows.first; row < rows.first + rows.count; ++row) {
    for (const auto& part : selection.parts) {
      read(row * selection.columns + part.first, part.count);
    }
  }
}

// `numbers`: what is stored as `raw` in another type; number `index` of them is stored at place(index).
void check_finite(const at::Tensor& numbers, const at::Tensor& raw, const StoredTensor& stored, const std::string& name,
                  const auto& place) {
  const auto index = first_not_finite(numbers);
  if (index < 0) {
    return;
  }
  const auto at = std::to_string(place(index));
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
    : stored_(std::move(stored)), place_(std::move(place)), options_(options), upload_(options.device()) {
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
  torch_type(stored, name);  // refuses what is no weight
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
  const auto selection = select(stored, cut);
  const auto count = selection.num_rows * selection.width;
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
  if (options_.device().is_meta()) {
    return;
  }
  const auto flat = destination.view({-1});
  const auto type = destination.scalar_type();
  const auto part = [&](std::int64_t begin, std::int64_t count) { return flat.slice(0, begin, begin + count); };
  if (options_.device().is_cpu()) {
    read_pieces(stored, name, cut, type, part, [](std::int64_t, std::int64_t) {});
    return;
  }
  read_pieces(
      stored, name, cut, type, [&](std::int64_t, std::int64_t count) { return upload_.next(count, type); },
      [&](std::int64_t begin, std::int64_t count) { upload_.send(part(begin, count)); });
}

void TensorReader::read_pieces(const StoredTensor& stored, const std::string& name, const Cut& cut, at::ScalarType type,
                               const Target& target, const Done& done) {
  const auto stored_type = torch_type(stored, name);
  const auto selection = select(stored, cut);
  const auto widest = static_cast<std::int64_t>(std::max(c10::elementSize(stored_type), c10::elementSize(type)));
  const auto most_rows = std::max<std::int64_t>(1, Upload::usual_bytes / widest / selection.width);
  std::int64_t begin = 0;
  for (const auto& range : selection.rows) {
    const auto end = range.first + range.count;
    for (auto first = range.first; first < end; first += most_rows) {
      const auto rows = std::min(most_rows, end - first);
      const auto count = rows * selection.width;
      const auto numbers = target(begin, count);
      const auto raw = stored_type == type ? numbers : scratch(count, stored_type);
      read_rows(stored, selection, {first, rows}, raw);
      if (stored_type != type) {
        numbers.copy_(raw);
      }
      check_finite(numbers, raw, stored, name, [&](std::int64_t index) { return selection.place(first, index); });
      done(begin, count);
      begin += count;
    }
  }
}

at::Tensor TensorReader::scratch(std::int64_t count, at::ScalarType type) {
  const auto bytes = count * static_cast<std::int64_t>(c10::elementSize(type));
  if (!scratch_.defined() || scratch_.numel() < bytes) {
    scratch_ = at::empty({std::max(Upload::usual_bytes, bytes)}, at::TensorOptions(at::kByte));
  }
  return scratch_.slice(0, 0, bytes).view(type);
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
      const auto type = stored.type == StoredType::float64 ? at::kFloat : torch_type(stored, name);
      const auto fresh = [&](std::int64_t, std::int64_t count) { return at::empty({count}, at::TensorOptions(type)); };
      read_pieces(stored, name, {}, type, fresh, [](std::int64_t, std::int64_t) {});
    }
  }
}

}  // namespace stereosweep::model
