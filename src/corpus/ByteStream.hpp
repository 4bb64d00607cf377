// The bytes of a file, decompressed as they are read, and cut into blocks of whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stereosweep::corpus {

/// A regular file, open for reading. Throws InputError where there is none.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Of its content, in ns since 1970, as the file system keeps it.
  std::int64_t modified() const { return modified_; }
  /// As many bytes as there are, up to `to.size()`; fewer only at the end. Throws Error where reading fails.
  std::size_t read_at(std::uint64_t offset, std::span<char> to) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::int64_t modified_ = 0;
};

enum class Compression { none, gzip, zstd };
/// By the file's first bytes. Throws InputError for other well-known formats (bzip2, xz, zip), and where the name ends
/// in .gz or .zst and the bytes are something else.
Compression compression_of(const InputFile& file);

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Up to `to.size()` decompressed bytes; 0 only at the end. Throws InputError naming the file and the offset where
  /// it is truncated or corrupt.
  virtual std::size_t read(std::span<char> to) = 0;
  /// Bytes of the file, as stored, that were taken.
  virtual std::uint64_t stored_position() const = 0;
};

/// From byte `begin` on; with compression from the start. Memory does not grow with the file: gzip takes 64 KiB, zstd
/// up to the 128 MiB of its largest usual window (--long=31 is refused).
std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& path, Compression compression,
                                        std::uint64_t begin = 0);

/// Longer lines are left out.
constexpr std::size_t max_line_bytes = std::size_t{1} << 20;

/// One or more whole lines; the last byte is a line feed, except at the end of the file. `LineReader::padding` bytes
/// behind the text may be read (their values mean nothing).
struct LineBlock {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the first byte in the stream
};

/// Cuts a stream into blocks of whole lines. A line ends with a line feed or with the file.
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
