#include "corpus/LineReader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "corpus/Collect.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::size_t usual_block = std::size_t{256} << 10;  // stays in the second-level cache
constexpr std::size_t capacity = max_line_bytes + 1;         // the longest line, with its end

}  // namespace

LineReader::LineReader(ByteStream& stream, std::uint64_t begin, std::uint64_t end, LongLine long_line)
    : stream_(stream),
      end_(end),
      long_line_(std::move(long_line)),
      buffer_(capacity + padding),
      offset_(begin > 0 ? begin - 1 : 0),
      at_start_of_line_(begin == 0) {}

// Reads until `size` bytes are in the buffer or the stream ends; false: it has ended.
bool LineReader::fill(std::size_t size) {
  while (filled_ < size && !ended_) {
    const auto count = stream_.read({buffer_.data() + filled_, size - filled_});
    ended_ = count == 0;
    filled_ += count;
  }
  return !ended_;
}

// The line that began before our part belongs to somebody else. It may be long: nothing of it is kept.
void LineReader::drop_first() {
  while (!at_start_of_line_ && offset_ < end_) {
    fill(usual_block);
    const auto* found = filled_ == 0 ? nullptr : static_cast<char*>(std::memchr(buffer_.data(), '\n', filled_));
    const auto dropped = found == nullptr ? filled_ : static_cast<std::size_t>(found - buffer_.data()) + 1;
    at_start_of_line_ = found != nullptr;
    taken_ = dropped;
    if (found == nullptr) {
      offset_ += filled_;
      taken_ = filled_ = 0;
      if (ended_) {
        return;
      }
    }
  }
}

// The buffer holds the first part of a line that is too long, from its first byte.
void LineReader::skip_line() {
  const auto begin = offset_;
  for (;;) {
    const auto* found = static_cast<char*>(std::memchr(buffer_.data(), '\n', filled_));
    if (found != nullptr) {
      taken_ = static_cast<std::size_t>(found - buffer_.data()) + 1;
      long_line_(begin, offset_ + taken_ - begin);
      return;
    }
    offset_ += filled_;
    taken_ = filled_ = 0;
    fill(usual_block);
    if (filled_ == 0) {
      long_line_(begin, offset_ - begin);
      return;
    }
  }
}

std::optional<LineBlock> LineReader::next() {
  drop_first();
  for (;;) {
    std::memmove(buffer_.data(), buffer_.data() + taken_, filled_ - taken_);
    offset_ += taken_;
    filled_ -= taken_;
    taken_ = 0;
    if (offset_ >= end_ || !at_start_of_line_) {
      return std::nullopt;
    }
    const auto wanted = std::max(usual_block, filled_);
    fill(wanted);
    const void* last = ::memrchr(buffer_.data(), '\n', filled_);
    if (last == nullptr && !ended_) {
      fill(capacity);
      last = ::memrchr(buffer_.data(), '\n', filled_);
    }
    if (filled_ == 0) {
      return std::nullopt;
    }
    if (last == nullptr && filled_ == capacity) {
      skip_line();
      continue;
    }
    taken_ = ended_ || last == nullptr ? filled_
                                       : static_cast<std::size_t>(static_cast<const char*>(last) - buffer_.data()) + 1;
    if (offset_ + taken_ > end_) {  // the last line that is ours begins before `end_`
      const auto from = end_ - 1 - offset_;
      const void* found = std::memchr(buffer_.data() + from, '\n', taken_ - from);
      taken_ =
          found == nullptr ? taken_ : static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
    }
    return LineBlock{{buffer_.data(), taken_}, offset_};
  }
}

}  // namespace stereosweep::corpus
