// Small text helpers. All text is UTF-8; offsets are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::base {

/// A half-open range of bytes of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Span&) const = default;
};

/// One code point and how many bytes it took (1-4).
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};

/// The code point at `text[position]`; nothing where the bytes are not valid UTF-8 (overlong, surrogate, cut).
std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t position);
/// Offset of the first byte that is not valid UTF-8; nothing where all of it is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
/// Appends a code point as UTF-8.
void append_utf8(std::string& text, char32_t value);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
/// Without ASCII white space at both ends.
std::string_view trim(std::string_view text);
/// Letters beyond ASCII stay as they are.
std::string lower_ascii(std::string_view text);
/// `text` with every `from` replaced by `to`.
std::string replace_all(std::string text, std::string_view from, std::string_view to);
/// How often `part`, which is not empty, stands in `text`, without overlaps.
std::size_t count_of(std::string_view text, std::string_view part);
/// Shortest decimal that reads back the same double; "NaN", "Infinity", "-Infinity" otherwise. Locale-free.
std::string format_double(double value);
/// The whole text as a finite double / integer; nothing if it is not one or overflows. Locale-free.
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
/// 31 years; clocks and timers, which count nanoseconds or 32-bit seconds, hold it.
constexpr std::int64_t longest_wait_s = 1'000'000'000;
/// Seconds of a length of time as batch systems write it: minutes, minutes:seconds, hours:minutes:seconds, or with days
/// before it (1-02:30:00), at most `longest_wait_s`; nothing if it is not one, or zero.
std::optional<std::int64_t> parse_time(std::string_view text);
/// `text` as a JSON string with its quotes; control characters escaped, UTF-8 kept, invalid bytes replaced.
std::string json_quote(std::string_view text);
/// The candidate nearest to `word` (edit distance at most a third of its length), as "did you mean 'x'?"; "" if none.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
/// "1,234,567"
std::string with_thousands(std::uint64_t value);
/// "1 rank", "1,234 ranks"; `noun` takes an s.
std::string counted(std::uint64_t value, std::string_view noun);

/// Offset of the first control character (of ASCII, of Latin-1, or one that turns the direction of what follows) that
/// is not among the `allowed` bytes; npos where there is none. `text` is UTF-8.
std::size_t find_control(std::string_view text, std::string_view allowed);
/// Control characters but line feeds and tabs, and bytes that are no UTF-8, as "\\x1b", "\\u202e".
std::string printable(std::string_view text);
/// At most `max_bytes` of `text`, whole characters, with "..." behind where it was cut.
std::string excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace stereosweep::base
