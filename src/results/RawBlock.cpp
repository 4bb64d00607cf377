#include "results/RawBlock.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Packing.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {

namespace {

constexpr std::uint32_t block_magic = 0x31424152;  // "RAB1"

void refuse_if(bool is_wrong, std::string_view why) { base::fail_if(is_wrong, "no valid raw block", why); }

std::uint64_t checked_product(std::uint64_t left, std::uint64_t right) {
  base::refuse_if(right != 0 && left > std::numeric_limits<std::int64_t>::max() / right, "a cube has too many values",
                  "more than 2^63");
  return left * right;
}

static_assert(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) == 0x7ff8000000000000);
static_assert(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()) == 0x7fc00000);

template <class T>
void feed(base::Sha256& hash, const std::vector<T>& values) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::ranges::any_of(values, [](T value) { return std::isnan(value); })) {
      auto canonical = values;
      std::ranges::replace_if(
          canonical, [](T value) { return std::isnan(value); }, std::numeric_limits<T>::quiet_NaN());
      hash.update(std::as_bytes(std::span(canonical)));
      return;
    }
  }
  hash.update(std::as_bytes(std::span(values)));
}

void feed(base::Sha256& hash, const std::vector<std::string>& values) {
  for (const auto& value : values) {
    hash.field(value);
  }
}

}  // namespace

std::optional<std::size_t> place_of(const std::vector<std::string>& labels, const std::string& label) {
  const auto found = std::ranges::find(labels, label);
  return found == labels.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - labels.begin()));
}

const std::vector<std::string>* AxisSchema::find_coordinate(const std::string& coordinate) const {
  const auto found = std::ranges::find(coordinates, coordinate, &Coordinate::name);
  return found == coordinates.end() ? nullptr : &found->values;
}

std::string AxisSchema::value(const std::string& coordinate, std::size_t place) const {
  const auto* values = find_coordinate(coordinate);
  return values == nullptr ? "" : values->at(place);
}

AxisSchema AxisSchema::part(const std::vector<std::size_t>& places) const {
  const auto chosen = [&](const std::vector<std::string>& values) {
    return base::mapped(places, [&](std::size_t place) { return values[place]; });
  };
  auto some = *this;
  some.labels = chosen(labels);
  for (auto& coordinate : some.coordinates) {
    coordinate.values = chosen(coordinate.values);
  }
  return some;
}

const std::vector<std::string>& coordinate_of(const AxisSchema& axis, const std::string& name) {
  const auto* values = axis.find_coordinate(name);
  base::refuse_if(values == nullptr, "the axis '" + axis.name + "' has no coordinate '" + name + "'",
                  "this is no result of the probe");
  return *values;
}

RawColumn empty_column(ElementType type) {
  static const std::array<RawColumn, std::variant_size_v<RawColumn>> columns = {
      std::vector<double>(), std::vector<std::int32_t>(), std::vector<std::uint8_t>(), std::vector<std::string>(),
      std::vector<float>()};
  return columns.at(static_cast<std::size_t>(type));
}

void check_values(const CubeSchema& cube, const RawColumn& column) {
  const auto* flags = std::get_if<std::vector<std::uint8_t>>(&column);
  const auto known = cube.flag_meanings.size();
  refuse_if(flags != nullptr && known > 0 && std::ranges::any_of(*flags, [&](auto flag) { return flag >= known; }),
            "cube '" + cube.name + "' holds a flag without a meaning");
  const auto* texts = std::get_if<std::vector<std::string>>(&column);
  refuse_if(texts != nullptr &&
                std::ranges::any_of(*texts, [](const auto& text) { return base::find_invalid_utf8(text).has_value(); }),
            "a text is no UTF-8");
}

void append(RawColumn& target, RawColumn&& more) {
  std::visit(
      [&](auto& values) {
        auto& added = std::get<std::remove_reference_t<decltype(values)>>(more);
        values.insert(values.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
      },
      target);
}

RawColumn take_first(RawColumn& column, std::uint64_t count) {
  return std::visit(
      [&](auto& values) -> RawColumn {
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
        std::remove_reference_t<decltype(values)> rest(std::make_move_iterator(end),
                                                       std::make_move_iterator(values.end()));
        values.erase(end, values.end());
        return std::exchange(values, std::move(rest));
      },
      column);
}

void RawBlock::put(const RawBlock& from, const std::vector<std::uint64_t>& places, std::uint64_t num_contexts) {
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::visit(
        [&](auto& values) {
          const auto& source = std::get<std::remove_reference_t<decltype(values)>>(from.columns.at(column));
          const auto length = values.size() / num_contexts;
          STEREOSWEEP_ASSERT(source.size() == length * places.size(), "both have the same values for each context");
          for (std::size_t context = 0; context < places.size(); ++context) {
            std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(context * length), length,
                        values.begin() + static_cast<std::ptrdiff_t>(places[context] * length));
          }
        },
        columns[column]);
  }
}

const AxisSchema& RawSchema::inner_axis(const std::string& name) const {
  const auto found = std::ranges::find(inner_axes, name, &AxisSchema::name);
  STEREOSWEEP_ASSERT(found != inner_axes.end(), "a schema has the inner axis '" + name + "'");
  return *found;
}

std::optional<std::size_t> RawSchema::find_cube(const std::string& name) const {
  const auto found = std::ranges::find(cubes, name, &CubeSchema::name);
  return found == cubes.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - cubes.begin()));
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
    out.number(static_cast<std::uint8_t>(column.index()));
    std::visit([&](const auto& values) { base::pack(out, values); }, column);
  }
}

RawBlock RawBlock::read(base::ByteReader& in, const RawSchema& schema, std::uint64_t num_contexts) {
  refuse_if(in.number<std::uint32_t>() != block_magic, "magic number");
  refuse_if(in.number<std::uint32_t>() != schema.cubes.size(), "number of cubes");
  RawBlock block;
  for (const auto& cube : schema.cubes) {
    const auto expected = checked_product(schema.values_per_context(cube), num_contexts);
    refuse_if(in.number<std::uint8_t>() != static_cast<std::uint8_t>(cube.type), "element type");
    auto& column = block.columns.emplace_back(empty_column(cube.type));
    std::visit(
        [&](auto& values) {
          base::unpack(in, values);
          refuse_if(values.size() != expected, "number of values");
        },
        column);
    check_values(cube, column);
  }
  return block;
}

void RawDigest::add(const RawBlock& contexts) {
  STEREOSWEEP_ASSERT(contexts.columns.size() == hashes_.size(), "a block has other cubes than its schema");
  for (std::size_t index = 0; index < hashes_.size(); ++index) {
    std::visit([&](const auto& values) { feed(hashes_[index], values); }, contexts.columns[index]);
  }
}

base::Digest RawDigest::finish() {
  auto order = base::places_below(cubes_.size());
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return cubes_[left].name < cubes_[right].name; });
  base::Sha256 all;
  for (const auto index : order) {
    all.field(cubes_[index].name).number(static_cast<std::uint64_t>(cubes_[index].type));
    const auto digest = hashes_[index].finish();
    all.update(std::as_bytes(std::span(digest)));
  }
  return all.finish();
}

}  // namespace stereosweep::results
