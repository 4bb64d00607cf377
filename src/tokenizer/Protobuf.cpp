#include "tokenizer/Protobuf.hpp"

#include <bit>

#include "base/Error.hpp"

namespace stereosweep::tokenizer {

void ProtobufReader::refuse(const std::string& problem, const std::string& why) const {
  throw base::InputError(where_ + ": " + base::describe(problem, why));
}

std::uint64_t ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  refuse("an integer of more than ten bytes", "no protobuf message has one");
}

std::string_view ProtobufReader::take(std::uint64_t length) {
  if (length > rest_.size()) {
    refuse("the message is cut off: " + std::to_string(length) + " bytes needed, " + std::to_string(rest_.size()) +
               " left",
           "a whole protobuf message is needed");
  }
  const auto taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

bool ProtobufReader::next() {
  if (rest_.empty()) {
    return false;
  }
  const auto key = read_varint();
  number_ = key >> 3;
  wire_ = static_cast<Wire>(key & 7);
  switch (wire_) {
    case Wire::varint:
      integer_ = read_varint();
      return true;
    case Wire::fixed64:
      bytes_ = take(8);
      return true;
    case Wire::bytes:
      bytes_ = take(read_varint());
      return true;
    case Wire::fixed32:
      bytes_ = take(4);
      return true;
  }
  refuse("field " + std::to_string(number_) + " has wire type " + std::to_string(key & 7),
         "integers, bytes and fixed numbers are there to be read");
}

void ProtobufReader::expect(Wire wire) const {
  if (wire_ != wire) {
    refuse("field " + std::to_string(number_) + " has wire type " + std::to_string(static_cast<int>(wire_)),
           "type " + std::to_string(static_cast<int>(wire)) + " is needed");
  }
}

std::uint64_t ProtobufReader::integer() const {
  expect(Wire::varint);
  return integer_;
}

float ProtobufReader::real() const {
  expect(Wire::fixed32);
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {  // little-endian
    bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
  }
  return std::bit_cast<float>(bits);
}

std::string_view ProtobufReader::bytes() const {
  expect(Wire::bytes);
  return bytes_;
}

}  // namespace stereosweep::tokenizer
