// Cuts a stream into blocks of whole lines. A line ends with a line feed or with the file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "corpus/ByteStream.hpp"

namespace stereosweep::corpus {

/// One or more whole lines; the last byte is a line feed, except at the end of the file. `LineReader::padding` bytes
/// behind the text may be read (their values mean nothing).
struct LineBlock {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the first byte in the stream
};

class LineReader {
 public:
  static constexpr std::size_t padding = 64;
  /// Told the offset of a line that is longer than allowed, and how many bytes it takes with its end.
  using LongLine = std::function<void(std::uint64_t offset, std::uint64_t bytes)>;

  /// Lines that begin in [begin, end) of the stream, which must stand at max(begin, 1) - 1.
  LineReader(ByteStream& stream, std::uint64_t begin, std::uint64_t end, LongLine long_line);
  /// Valid until the next call.
  std::optional<LineBlock> next();

 private:
  void drop_first();
  bool fill(std::size_t size);
  void skip_line();

  ByteStream& stream_;
  std::uint64_t end_;
  LongLine long_line_;
  std::vector<char> buffer_;
  std::size_t taken_ = 0;   // bytes of the buffer that were handed out
  std::size_t filled_ = 0;  // bytes of the buffer that were read
  std::uint64_t offset_;    // in the stream, of the buffer's first byte
  bool at_start_of_line_;
  bool ended_ = false;
};

}  // namespace stereosweep::corpus
