// Little-endian byte records: messages between ranks and the journal use the same encoding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/Error.hpp"

namespace stereosweep::base {

static_assert(std::endian::native == std::endian::little, "records are written in the host's order");

/// Appends numbers, texts and arrays to a growing buffer.
class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> ByteWriter& number(T value) { return plain(value); }
  /// A value without padding, as it lies in memory: a digest, counts of one type.
  template <class T>
  requires std::has_unique_object_representations_v<T> || std::is_floating_point_v<T> ByteWriter& plain(
      const T& value) {
    return raw(std::as_bytes(std::span(&value, 1)));
  }
  ByteWriter& text(std::string_view value) {
    return number(std::uint64_t{value.size()}).raw(std::as_bytes(std::span(value)));
  }
  ByteWriter& raw(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> ByteWriter& array(std::span<const T> values) {
    number(std::uint64_t{values.size()});
    return raw(std::as_bytes(values));
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote; every length is checked against what is left. Throws Error on a short record.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class T>
  requires std::is_arithmetic_v<T> T number() { return plain<T>(); }
  template <class T>
  requires std::has_unique_object_representations_v<T> || std::is_floating_point_v<T> T plain() {
    T value{};
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string text() {
    const auto bytes = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> array() {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / sizeof(T)) {
      short_record();
    }
    std::vector<T> values(count);
    const auto bytes = take(count * sizeof(T));
    if (count > 0) {
      std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    }
    return values;
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) {
      short_record();
    }
    const auto part = left_.first(count);
    left_ = left_.subspan(count);
    return part;
  }
  std::span<const std::byte> rest() const { return left_; }
  bool done() const { return left_.empty(); }

 private:
  [[noreturn]] static void short_record() { fail("a record ends too early", "its lengths do not fit its size"); }
  std::span<const std::byte> left_;
};

}  // namespace stereosweep::base
