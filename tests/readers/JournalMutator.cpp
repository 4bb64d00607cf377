// Of four changed journals three get right checksums: else nothing behind a checksum would be tried.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "results/Journal.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace stereosweep::readers {
namespace {

// As results/Journal.hpp describes the file.
constexpr std::size_t length_place = 8;
constexpr std::size_t content_place = 12;
constexpr std::size_t head_size = 96;
constexpr std::size_t checksum_size = 4;

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t place) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

std::uint32_t put_checksum(std::span<std::byte> bytes, std::size_t begin, std::size_t end, std::uint32_t seed) {
  const auto checksum = results::crc_of(bytes.subspan(begin, end - begin), seed);
  std::memcpy(bytes.data() + end, &checksum, checksum_size);
  return checksum;
}

void make_checksums_right(std::span<std::byte> bytes) {
  if (bytes.size() < content_place) {
    return;
  }
  std::size_t at = content_place + number_at<std::uint32_t>(bytes, length_place);
  if (at + checksum_size > bytes.size()) {
    return;
  }
  put_checksum(bytes, 0, at, 0);
  at += checksum_size;
  while (bytes.size() - at >= head_size + checksum_size) {
    const auto seed = put_checksum(bytes, at, at + head_size, 0);
    const auto size = number_at<std::uint64_t>(bytes, at + length_place);
    at += head_size + checksum_size;
    if (bytes.size() - at < checksum_size || size > bytes.size() - at - checksum_size) {
      return;
    }
    put_checksum(bytes, at, at + size, seed);
    at += size + checksum_size;
  }
}

}  // namespace
}  // namespace stereosweep::readers

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  const auto changed = LLVMFuzzerMutate(data, size, max_size);
  const char* name = std::getenv("STEREOSWEEP_FUZZ");
  if (name != nullptr && std::string_view(name) == "journal" && seed % 4 != 0) {
    stereosweep::readers::make_checksums_right(std::as_writable_bytes(std::span(data, changed)));
  }
  return changed;
}
