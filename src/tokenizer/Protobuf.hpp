// One protobuf message, field by field, from bytes that may be hostile: every length is checked, nothing is copied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stereosweep::tokenizer {

class ProtobufReader {
 public:
  /// A view: `bytes` outlives it. `where` names file and message in errors.
  ProtobufReader(std::string_view bytes, std::string where) : rest_(bytes), where_(std::move(where)) {}

  /// Reads the next field; false at the end. Throws InputError for what is cut off or no field (groups included).
  bool next();
  std::uint64_t number() const { return number_; }  ///< of the field
  /// The field's value. Throw InputError if it is of another wire type.
  std::uint64_t integer() const;
  bool flag() const { return integer() != 0; }
  float real() const;
  std::string_view bytes() const;

  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const;

 private:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint64_t read_varint();
  std::string_view take(std::uint64_t length);
  void expect(Wire wire) const;

  std::string_view rest_;
  std::string where_;
  std::uint64_t number_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t integer_ = 0;
  std::string_view bytes_;
};

}  // namespace stereosweep::tokenizer
