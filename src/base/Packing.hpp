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

/// Appends a value: of a tuple its members, of a record what `fields_of` it ties, of a text or a list its length and
/// what is in it, else its bytes as they lie in memory.
template <class... Fields>
void pack(ByteWriter& out, const std::tuple<Fields&...>& fields) {
  std::apply([&](const auto&... field) { (pack(out, field), ...); }, fields);
}
template <class Value>
void pack(ByteWriter& out, const Value& value) {
  if constexpr (requires { fields_of(value); }) {
    pack(out, fields_of(value));
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    out.text(value);
  } else if constexpr (std::is_trivially_copyable_v<Value>) {
    out.raw(std::as_bytes(std::span(&value, 1)));
  } else if constexpr (std::is_trivially_copyable_v<typename Value::value_type>) {
    out.array(std::span<const typename Value::value_type>(value));
  } else {
    if constexpr (requires { value.capacity(); }) {  // an array has no length to tell
      out.number(std::uint64_t{value.size()});
    }
    for (const auto& element : value) {
      pack(out, element);
    }
  }
}

/// Reads into the fields of a value what `pack` wrote of them; throws as ByteReader does.
template <class... Fields>
void unpack(ByteReader& in, const std::tuple<Fields&...>& fields) {
  std::apply([&](auto&... field) { (unpack(in, field), ...); }, fields);
}
template <class Value>
void unpack(ByteReader& in, Value& value) {
  if constexpr (requires { fields_of(value); }) {
    unpack(in, fields_of(value));
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    value = in.text();
  } else if constexpr (std::is_trivially_copyable_v<Value>) {
    std::memcpy(static_cast<void*>(&value), in.take(sizeof(Value)).data(), sizeof(Value));
  } else if constexpr (std::is_trivially_copyable_v<typename Value::value_type>) {
    value = in.array<typename Value::value_type>();
  } else if constexpr (requires { value.capacity(); }) {
    value.clear();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {  // a wrong length ends with the bytes
      unpack(in, value.emplace_back());
    }
  } else {
    for (auto& element : value) {
      unpack(in, element);
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

}  // namespace stereosweep::base
