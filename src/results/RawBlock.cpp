#include "results/RawBlock.hpp"

#include <limits>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::results {

namespace {

constexpr std::uint32_t block_magic = 0x31424152;  // "RAB1"

[[noreturn]] void refuse(const std::string& why) { throw base::Error(base::describe("no valid raw block", why)); }

void write_column(base::ByteWriter& out, const RawColumn& column) {
  out.number(static_cast<std::uint8_t>(column.index()));
  if (const auto* texts = std::get_if<std::vector<std::string>>(&column)) {
    out.number(std::uint64_t{texts->size()});
    for (const auto& text : *texts) {
      out.text(text);
    }
    return;
  }
  std::visit(
      [&](const auto& values) {
        using Element = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (!std::is_same_v<Element, std::string>) {
          out.array(std::span<const Element>(values));
        }
      },
      column);
}

std::vector<std::string> read_texts(base::ByteReader& in, std::uint64_t expected) {
  const auto count = in.number<std::uint64_t>();
  // A text takes at least its length field; checked before anything is allocated.
  if (count != expected || count > in.rest().size() / sizeof(std::uint64_t)) {
    refuse("number of texts");
  }
  std::vector<std::string> texts(count);
  for (auto& text : texts) {
    text = in.text();
    if (base::find_invalid_utf8(text)) {
      refuse("a text is no UTF-8");
    }
  }
  return texts;
}

RawColumn read_column(base::ByteReader& in, ElementType type, std::uint64_t expected) {
  if (in.number<std::uint8_t>() != static_cast<std::uint8_t>(type)) {
    refuse("element type");
  }
  const auto sized = [&](auto values) -> RawColumn {
    if (values.size() != expected) {
      refuse("number of values");
    }
    return values;
  };
  switch (type) {
    case ElementType::float64:
      return sized(in.array<double>());
    case ElementType::int32:
      return sized(in.array<std::int32_t>());
    case ElementType::uint8:
      return sized(in.array<std::uint8_t>());
    case ElementType::text:
      return read_texts(in, expected);
    case ElementType::float32:
      return sized(in.array<float>());
  }
  refuse("element type");
}

void check_flags(const CubeSchema& cube, const RawColumn& column) {
  const auto* flags = std::get_if<std::vector<std::uint8_t>>(&column);
  if (flags == nullptr || cube.flag_meanings.empty()) {
    return;
  }
  for (const std::uint8_t flag : *flags) {
    if (flag >= cube.flag_meanings.size()) {
      refuse("cube '" + cube.name + "' holds a flag without a meaning");
    }
  }
}

std::uint64_t checked_product(std::uint64_t left, std::uint64_t right) {
  if (right != 0 && left > std::numeric_limits<std::int64_t>::max() / right) {
    throw base::InputError(base::describe("a cube has too many values", "more than 2^63"));
  }
  return left * right;
}

}  // namespace

const AxisSchema& RawSchema::inner_axis(const std::string& name) const {
  for (const auto& axis : inner_axes) {
    if (axis.name == name) {
      return axis;
    }
  }
  throw std::logic_error("schema without the inner axis '" + name + "'");
}

std::uint64_t RawSchema::values_per_context(const CubeSchema& cube) const {
  std::uint64_t count = 1;
  for (const auto& name : cube.inner_axes) {
    count = checked_product(count, inner_axis(name).labels.size());
  }
  return count;
}

void RawBlock::write(base::ByteWriter& out) const {
  out.number(block_magic).number(static_cast<std::uint32_t>(columns.size()));
  for (const auto& column : columns) {
    write_column(out, column);
  }
}

RawBlock RawBlock::read(base::ByteReader& in, const RawSchema& schema, std::uint64_t num_contexts) {
  if (in.number<std::uint32_t>() != block_magic) {
    refuse("magic number");
  }
  if (in.number<std::uint32_t>() != schema.cubes.size()) {
    refuse("number of cubes");
  }
  RawBlock block;
  for (const auto& cube : schema.cubes) {
    block.columns.push_back(read_column(in, cube.type, checked_product(schema.values_per_context(cube), num_contexts)));
    check_flags(cube, block.columns.back());
  }
  return block;
}

}  // namespace stereosweep::results
