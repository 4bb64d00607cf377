// Records as bytes, in the encoding of Bytes.hpp: what a record is made of is said once, for both ways.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/Bytes.hpp"

namespace stereosweep::base {

/// A record to write, or one to read into: `auto fields_of(Either<Row> auto& row) { return std::tie(row.n, ...); }`.
template <class Value, class Record>
concept Either = std::same_as<std::remove_const_t<Value>, Record>;

/// What std::apply takes: a tuple, a pair, an array.
template <class Value>
concept Tuple = requires {
  std::tuple_size<std::remove_cvref_t<Value>>::value;
};

/// Appends a value: of a record what `fields_of` it ties, of a text or a list its length and what is in it, of a tuple
/// its members, of what is trivial its bytes as they lie in memory.
template <class Value>
void pack(ByteWriter& out, const Value& value) {
  if constexpr (requires { fields_of(value); }) {
    pack(out, fields_of(value));
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    out.text(value);
  } else if constexpr (std::is_trivially_copyable_v<Value>) {
    out.raw(std::as_bytes(std::span(&value, 1)));
  } else if constexpr (Tuple<Value>) {
    std::apply([&](const auto&... field) { (pack(out, field), ...); }, value);
  } else if constexpr (std::is_trivially_copyable_v<typename Value::value_type>) {
    out.array(std::span<const typename Value::value_type>(value));
  } else {
    out.number(std::uint64_t{value.size()});
    for (const auto& element : value) {
      pack(out, element);
    }
  }
}

/// Reads into a value, or into the fields that a tuple ties, what `pack` wrote of them; throws as ByteReader does.
template <class Reference>
void unpack(ByteReader& in, Reference&& value) {
  using Value = std::remove_cvref_t<Reference>;
  if constexpr (requires { fields_of(value); }) {
    unpack(in, fields_of(value));
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    value = in.text();
  } else if constexpr (std::is_trivially_copyable_v<Value>) {
    std::memcpy(static_cast<void*>(&value), in.take(sizeof(Value)).data(), sizeof(Value));
  } else if constexpr (Tuple<Value>) {
    std::apply([&](auto&... field) { (unpack(in, field), ...); }, value);
  } else if constexpr (std::is_trivially_copyable_v<typename Value::value_type>) {
    value = in.array<typename Value::value_type>();
  } else {
    value.clear();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {  // a wrong length ends with the bytes
      unpack(in, value.emplace_back());
    }
  }
}

std::vector<std::byte> packed(const auto& value) {
  ByteWriter out;
  pack(out, value);
  return out.take();
}
template <class... Fields>
void unpack(std::span<const std::byte> bytes, const std::tuple<Fields&...>& fields) {
  ByteReader in(bytes);
  unpack(in, fields);
}
template <class Value>
Value unpacked(std::span<const std::byte> bytes) {
  Value value{};
  unpack(bytes, std::tie(value));
  return value;
}

}  // namespace stereosweep::base
