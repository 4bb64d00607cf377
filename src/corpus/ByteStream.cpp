#include "corpus/ByteStream.hpp"

#include <bzlib.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::size_t usual_block = std::size_t{256} << 10;  // stays in the second-level cache
constexpr std::size_t capacity = max_line_bytes + 1;         // the longest line, with its end

// Published collections of comments are packed with --long=31, the largest that zstd knows: 2 GiB.
constexpr int largest_window_log = 31;

// As many bytes as there are, up to `to.size()`; fewer only at the end.
std::size_t read_at(const base::SharedBytes& file, std::uint64_t offset, std::span<char> to) {
  const auto part = to.first(std::min<std::uint64_t>(to.size(), file.size() - std::min(offset, file.size())));
  if (!part.empty()) {
    file.read(offset, std::as_writable_bytes(part));
  }
  return part.size();
}

bool is_zstd(std::string_view head) {
  return head.starts_with("\x28\xB5\x2F\xFD") ||  // a frame, or one that is to be skipped
         (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0) == 0x50 &&
          head.substr(1, 3) == "\x2A\x4D\x18");
}

// The head of a stream, and of its first block or of the end of an empty one.
bool is_bzip2(std::string_view head) {
  return head.size() >= 6 && head.starts_with("BZh") && head[3] >= '1' && head[3] <= '9' &&
         (head.substr(4, 2) == "1A" || head.substr(4, 2) == "\x17\x72");
}

class PlainStream : public ByteStream {
 public:
  PlainStream(const std::filesystem::path& path, std::uint64_t begin)
      : file_(base::open_file(path)), position_(begin) {}
  std::size_t read(std::span<char> to) override {
    const auto count = read_at(file_, position_, to);
    position_ += count;
    return count;
  }
  std::uint64_t stored_position() const override { return position_; }

 private:
  base::SharedBytes file_;
  std::uint64_t position_;
};

// Members (gzip), streams (bzip2) or frames (zstd), one behind the other.
class PackedStream : public ByteStream {
 public:
  PackedStream(const std::filesystem::path& path, const char* format)
      : path_(path), format_(format), file_(path, 0), stored_(file_) {}
  PackedStream(const PackedStream&) = delete;
  PackedStream& operator=(const PackedStream&) = delete;

  std::size_t read(std::span<char> to) override {
    std::size_t made = 0;
    while (made < to.size() && (is_inside_ || !stored_.ahead(1).empty())) {
      const auto input = stored_.ahead(1);
      const auto count = unpack(input, to.subspan(made));
      made += count;
      if (input.empty() && is_inside_ && count == 0) {
        refuse(std::string("the ") + format_ + " data end too early", "it was cut, or is still written");
      }
    }
    return made;
  }
  std::uint64_t stored_position() const override { return stored_.offset(); }

 protected:
  /// Returns how many bytes it has made of `input`, takes what it read from `stored_` and sets `is_inside_`.
  virtual std::size_t unpack(std::string_view input, std::span<char> to) = 0;
  /// The status of a library's `call`, whose `state` counts down what is left of both sides, and how much it made.
  std::pair<int, std::size_t> count_down(auto& state, std::string_view input, std::span<char> to, auto call) {
    const auto room = static_cast<unsigned>(std::min<std::size_t>(to.size(), 1U << 30));
    state.next_in = reinterpret_cast<decltype(state.next_in)>(const_cast<char*>(input.data()));  // only read
    state.avail_in = static_cast<unsigned>(input.size());
    state.next_out = reinterpret_cast<decltype(state.next_out)>(to.data());
    state.avail_out = room;
    const auto status = call();
    stored_.take(input.size() - state.avail_in);
    return {status, room - state.avail_out};
  }
  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const {
    throw base::InputError(
        base::describe(path_.string() + ": " + problem + " at byte " + std::to_string(stored_.offset()), why));
  }

 private:
  std::filesystem::path path_;
  const char* format_;
  PlainStream file_;

 protected:
  ReadAhead stored_;
  bool is_inside_ = false;  ///< of a member
};

// RFC 1952.
class GzipStream : public PackedStream {
 public:
  explicit GzipStream(const std::filesystem::path& path) : PackedStream(path, "gzip") {
    if (inflateInit2(&state_, 15 + 16) != Z_OK) {
      base::fail("zlib cannot start", state_.msg == nullptr ? "no memory" : state_.msg);
    }
  }
  ~GzipStream() override { inflateEnd(&state_); }

 private:
  std::size_t unpack(std::string_view input, std::span<char> to) override {
    if (!is_inside_) {
      if (stored_.offset() > 0 && input[0] == '\0') {  // zeros that some tapes and tools add
        stored_.take(1);
        padded_ = true;
        return 0;
      }
      if (padded_ || input[0] != '\x1f') {
        refuse("no gzip data", "something else stands behind the end of a member");
      }
      inflateReset(&state_);
    }
    const auto [status, count] = count_down(state_, input, to, [this] { return inflate(&state_, Z_NO_FLUSH); });
    if (status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR) {
      refuse("broken gzip data", state_.msg == nullptr ? "" : state_.msg);
    }
    is_inside_ = status != Z_STREAM_END;
    return count;
  }

  z_stream state_{};
  bool padded_ = false;
};

// As parallel packers and Wikipedia's dumps have them.
class Bzip2Stream : public PackedStream {
 public:
  explicit Bzip2Stream(const std::filesystem::path& path) : PackedStream(path, "bzip2") {}
  ~Bzip2Stream() override {
    if (is_inside_) {
      BZ2_bzDecompressEnd(&state_);
    }
  }

 private:
  std::size_t unpack(std::string_view input, std::span<char> to) override {
    if (!is_inside_ && BZ2_bzDecompressInit(&state_, 0, 0) != BZ_OK) {
      base::fail("bzip2 cannot start", "no memory");
    }
    is_inside_ = true;
    const auto [status, count] = count_down(state_, input, to, [this] { return BZ2_bzDecompress(&state_); });
    if (status == BZ_DATA_ERROR_MAGIC) {
      refuse("no bzip2 data", "something else stands behind the end of a stream");
    }
    if (status != BZ_OK && status != BZ_STREAM_END) {
      refuse("broken bzip2 data", status == BZ_MEM_ERROR ? "no memory" : "a checksum or a code is wrong");
    }
    if (status == BZ_STREAM_END) {
      BZ2_bzDecompressEnd(&state_);
      is_inside_ = false;
    }
    return count;
  }

  bz_stream state_{};
};

// RFC 8878.
class ZstdStream : public PackedStream {
 public:
  explicit ZstdStream(const std::filesystem::path& path) : PackedStream(path, "zstd"), state_(ZSTD_createDStream()) {
    if (state_ == nullptr) {
      base::fail("zstd cannot start", "no memory");
    }
    ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, largest_window_log);
  }

 private:
  std::size_t unpack(std::string_view input, std::span<char> to) override {
    ZSTD_outBuffer made{to.data(), to.size(), 0};
    ZSTD_inBuffer read{input.data(), input.size(), 0};
    const auto hint = ZSTD_decompressStream(state_.get(), &made, &read);
    stored_.take(read.pos);
    if (ZSTD_isError(hint) != 0) {
      refuse("broken zstd data", ZSTD_getErrorName(hint));
    }
    is_inside_ = hint != 0;
    return made.pos;
  }

  struct Release {
    void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Release> state_;
};

// With line feeds for carriage returns.
class CarriageReturns final : public ByteStream {
 public:
  explicit CarriageReturns(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
  std::size_t read(std::span<char> to) override {
    const auto count = stream_->read(to);
    std::ranges::replace(to.first(count), '\r', '\n');
    return count;
  }
  std::uint64_t stored_position() const override { return stream_->stored_position(); }

 private:
  std::unique_ptr<ByteStream> stream_;
};

}  // namespace

Compression compression_of(const std::filesystem::path& path, const base::SharedBytes& file) {
  std::array<char, 6> bytes{};
  const std::string_view head(bytes.data(), read_at(file, 0, bytes));
  if (head.starts_with("\x1f\x8b")) {
    return Compression::gzip;
  }
  if (is_zstd(head)) {
    return Compression::zstd;
  }
  if (is_bzip2(head)) {
    return Compression::bzip2;
  }
  using Magic = std::pair<const char*, std::string_view>;
  for (const auto& [name, magic] : {Magic{"xz", "\3757zXZ"}, Magic{"zip", "PK\x03\x04"}}) {
    base::refuse_if(head.starts_with(magic), path.string() + " is compressed with " + name,
                    "only gzip, bzip2 and zstd are read", "compress it with zstd");
  }
  const auto ending = path.extension();
  base::refuse_if(base::contains(compressed_endings, ending.string()) && file.size() > 0,
                  path.string() + " is not what its name says",
                  "it does not begin as a file that gzip, bzip2 or zstd wrote");
  return Compression::none;
}

std::unique_ptr<ByteStream> open_stream(const std::filesystem::path& path, Compression compression,
                                        std::uint64_t begin) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<GzipStream>(path);
    case Compression::bzip2:
      return std::make_unique<Bzip2Stream>(path);
    case Compression::zstd:
      return std::make_unique<ZstdStream>(path);
    case Compression::none:
      break;
  }
  return std::make_unique<PlainStream>(path, begin);
}

std::string_view ReadAhead::ahead(std::size_t size) {
  const auto wanted = std::max(size, usual_block);
  if (end_ - begin_ < size) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    buffer_.resize(std::max(buffer_.size(), wanted));
  }
  while (end_ - begin_ < size && !ended_) {
    const auto count = stream_.read({buffer_.data() + end_, wanted - end_});
    if (hook_) {
      hook_(stream_.stored_position(), count);
    }
    ended_ = count == 0;
    end_ += count;
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

std::unique_ptr<ByteStream> open_lines(const std::filesystem::path& path, Compression compression,
                                       std::uint64_t begin) {
  const auto first = open_stream(path, compression);
  ReadAhead bytes(*first);
  const auto head = bytes.ahead(usual_block);
  const bool has_returns = head.find('\n') == std::string_view::npos && head.find('\r') != std::string_view::npos;
  auto stream = open_stream(path, compression, begin);
  return has_returns ? std::make_unique<CarriageReturns>(std::move(stream)) : std::move(stream);
}

LineReader::LineReader(ByteStream& stream, std::uint64_t begin, std::uint64_t end, LongLine long_line,
                       ReadAhead::Hook hook)
    : bytes_(stream, begin > 0 ? begin - 1 : 0, std::move(hook)),
      end_(end),
      long_line_(std::move(long_line)),
      at_start_of_line_(begin == 0) {}

// Goes behind the next line feed of what begins before `limit`; false: there is none. What stands before it may be
// long: nothing of it is kept.
bool LineReader::leave_line(std::uint64_t limit) {
  while (bytes_.offset() < limit) {
    const auto text = bytes_.ahead(usual_block);
    const auto found = text.find('\n');
    if (found != std::string_view::npos) {
      bytes_.take(found + 1);
      return true;
    }
    bytes_.take(text.size());
    if (text.size() < usual_block) {
      return false;
    }
  }
  return false;
}

std::optional<LineBlock> LineReader::next() {
  bytes_.take(std::exchange(handed_out_, 0));
  // the line that began before our part belongs to somebody else
  at_start_of_line_ = at_start_of_line_ || leave_line(end_);
  while (at_start_of_line_ && bytes_.offset() < end_) {
    const auto offset = bytes_.offset();
    auto text = bytes_.ahead(usual_block);
    bool has_ended = text.size() < usual_block;
    const void* last = ::memrchr(text.data(), '\n', text.size());
    if (last == nullptr && !has_ended) {
      text = bytes_.ahead(capacity);
      has_ended = text.size() < capacity;
      last = ::memrchr(text.data(), '\n', text.size());
    }
    if (last == nullptr && !has_ended) {
      leave_line(~std::uint64_t{0});
      long_line_(offset, bytes_.offset() - offset);
      continue;
    }
    const auto size_to = [&](const void* end_of_line) {
      return static_cast<std::size_t>(static_cast<const char*>(end_of_line) - text.data()) + 1;
    };
    handed_out_ = has_ended ? text.size() : size_to(last);
    if (offset + handed_out_ > end_) {  // the last line that is ours begins before `end_`
      const auto from = end_ - 1 - offset;
      const void* found = std::memchr(text.data() + from, '\n', handed_out_ - from);
      handed_out_ = found == nullptr ? handed_out_ : size_to(found);
    }
    return text.empty() ? std::nullopt : std::optional(LineBlock{text.substr(0, handed_out_), offset});
  }
  return std::nullopt;
}

}  // namespace stereosweep::corpus
