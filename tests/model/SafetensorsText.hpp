// Safetensors files as texts, for tests: right ones, and wrong ones on purpose.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace stereosweep::model::testing {

/// Length, header and data one after the other, whatever they say.
inline std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

/// One entry of a header.
inline std::string entry_of(const std::string& name, const std::string& dtype, const std::string& shape,
                            std::uint64_t begin, std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

inline std::string floats(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace stereosweep::model::testing
