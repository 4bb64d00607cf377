// The bytes of a file, decompressed as they are read, and cut into blocks of whole lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"

namespace stereosweep::corpus {

enum class Compression { none, gzip, bzip2, zstd };
/// Endings of their names, in no order.
constexpr std::array<std::string_view, 3> compressed_endings = {".gz", ".bz2", ".zst"};
/// By the first bytes of the open file. Throws InputError for other well-known formats (xz, zip), and where the name
/// ends as a compressed file's and the bytes are something else.
Compression compression_of(const std::filesystem::path& path, const base::SharedBytes& file);

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Up to `to.size()` decompressed bytes; 0 only at the end. Throws InputError naming the file and the offset where
  /// it is truncated or corrupt.
  virtual std::size_t read(std::span<char> to) = 0;
  /// Bytes of the file, as stored, that were taken.
  virtual std::uint64_t stored_position() const = 0;
};

/// From byte `begin` on; with compression from the start. Memory does not grow with the file: gzip takes 64 KiB, bzip2
/// 4 MB, zstd the window that the file was packed with: up to 8 MiB by its usual levels, 2 GiB with --long=31.
std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& path, Compression compression,
                                        std::uint64_t begin = 0);

/// What comes next in a stream, looked at before it is taken.
class ReadAhead {
 public:
  /// Told of every read, so that also a line of gigabytes can be interrupted: the place in the stored file, and the
  /// bytes that were read.
  using Hook = std::function<void(std::uint64_t stored, std::uint64_t bytes)>;

  /// `offset`: where the stream stands.
  explicit ReadAhead(ByteStream& stream, std::uint64_t offset = 0, Hook hook = {})
      : stream_(stream), offset_(offset), hook_(std::move(hook)) {}
  /// At least `size` bytes, or all that are left. Valid until the next call.
  std::string_view ahead(std::size_t size);
  /// Of what was looked at.
  void take(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// Of the first byte that is not taken.
  std::uint64_t offset() const { return offset_; }

 private:
  ByteStream& stream_;
  std::uint64_t offset_;
  Hook hook_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
};

/// As `open_stream`. Where a file's first 256 KiB have a carriage return and no line feed, carriage returns are its
/// line ends (old Macintosh files), and are given as line feeds.
std::unique_ptr<ByteStream> open_lines(const std::filesystem::path& path, Compression compression, std::uint64_t begin);

/// Longer lines are left out.
constexpr std::size_t max_line_bytes = std::size_t{1} << 20;

/// One or more whole lines; the last byte is a line feed, except at the end of the file.
struct LineBlock {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the first byte in the stream
};

/// Cuts a stream into blocks of whole lines. A line ends with a line feed or with the file.
class LineReader {
 public:
  /// Told the offset of a line that is longer than allowed, and how many bytes it takes with its end.
  using LongLine = std::function<void(std::uint64_t offset, std::uint64_t bytes)>;

  /// Lines that begin in [begin, end) of the stream, which must stand at max(begin, 1) - 1.
  LineReader(ByteStream& stream, std::uint64_t begin, std::uint64_t end, LongLine long_line, ReadAhead::Hook hook = {});
  /// Valid until the next call.
  std::optional<LineBlock> next();

 private:
  bool leave_line(std::uint64_t limit);

  ReadAhead bytes_;
  std::uint64_t end_;
  LongLine long_line_;
  std::size_t handed_out_ = 0;  // of what is ahead
  bool at_start_of_line_;
};

}  // namespace stereosweep::corpus
