#include "base/text/Text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/text/Json.hpp"
#include "base/text/Utf8.hpp"

namespace stereosweep::base {

namespace {

// Letters put in, left out, replaced, or swapped with their neighbour: one edit each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], above[j - 2] + 1);
      }
    }
    std::swap(above, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

/// The whole text as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value);
  return status == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

/// What other programs call a value or key of ours.
constexpr std::pair<std::string_view, std::string_view> names_elsewhere[] = {
    {"fp32", "float32"}, {"f32", "float32"},     {"float", "float32"},     {"single", "float32"},
    {"fp16", "float16"}, {"f16", "float16"},     {"half", "float16"},      {"bf16", "bfloat16"},
    {"gpu", "cuda"},     {"precision", "dtype"}, {"torch_dtype", "dtype"}, {"batch_size", "batch_tokens"}};

/// Of ASCII and Latin-1; embeddings, overrides and isolates of the direction of writing.
bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || (value >= 0x202A && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t position) {
  text.remove_prefix(std::min(position, text.size()));
  utf8proc_int32_t value = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &value);
  return length > 0 ? std::optional(CodePoint{static_cast<char32_t>(value), static_cast<std::size_t>(length)})
                    : std::nullopt;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const auto point = decode_utf8(text, i);
    if (!point) {
      return i;
    }
    i += point->length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t value) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text.append(i == 0 ? std::string_view() : separator).append(parts[i]);
  }
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
  return text.substr(0, text.find_last_not_of(white) + 1);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t number = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++number;
  }
  return number;
}

std::string lower_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos && !from.empty(); at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string format_double(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  std::array<char, 32> buffer{};
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

std::optional<double> parse_double(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_number<std::int64_t>(text); }

std::optional<std::int64_t> parse_time(std::string_view text) {
  constexpr std::int64_t most = 100'000'000;  // of each part: three years of seconds
  const auto dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const auto parts = split(has_days ? text.substr(dash + 1) : text, ':');
  if (parts.size() > 3 || (has_days && parts.size() != 3)) {
    return std::nullopt;
  }
  std::int64_t seconds = 0;
  for (const auto& part : parts) {
    const auto number = parse_integer(part);
    if (!number || *number < 0 || *number > most) {
      return std::nullopt;
    }
    seconds = seconds * 60 + *number;
  }
  seconds *= parts.size() == 1 ? 60 : 1;
  if (has_days) {
    const auto days = parse_integer(text.substr(0, dash));
    if (!days || *days < 0 || *days > most) {
      return std::nullopt;
    }
    seconds += *days * 86'400;
  }
  return seconds > 0 ? std::optional(std::min(seconds, longest_wait_s)) : std::nullopt;
}

std::string json_quote(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  for (const auto& [elsewhere, here] : names_elsewhere) {
    if (word == elsewhere && std::find(candidates.begin(), candidates.end(), here) != candidates.end()) {
      return "did you mean '" + std::string(here) + "'?";
    }
  }
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto length = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    // Of other lengths it is no smaller: a file may hold a word of megabytes.
    const auto distance = length < best_distance ? edit_distance(word, candidate) : length;
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : "did you mean '" + *best + "'?";
}

std::string with_thousands(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string counted(std::uint64_t value, std::string_view noun) {
  const auto number = with_thousands(value) + " ";
  if (value != 1 && noun.size() > 1 && noun.back() == 'y' && !std::strchr("aeiou", noun[noun.size() - 2])) {
    return number + std::string(noun.substr(0, noun.size() - 1)) + "ies";
  }
  return number + std::string(noun) + (value == 1 ? "" : "s");
}

std::size_t find_control(std::string_view text, std::string_view allowed) {
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    if (point && is_control(point->value) && allowed.find(text[i]) == std::string_view::npos) {
      return i;
    }
    i += point ? point->length : 1;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    const bool is_white = text[i] == '\n' || text[i] == '\t';
    if (point && (is_white || !is_control(point->value))) {
      out += text.substr(i, point->length);
    } else {
      const auto value = point ? static_cast<unsigned>(point->value) : static_cast<unsigned char>(text[i]);
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), value < 0x100 ? "\\x%02x" : "\\u%04x", value);
      out += escape.data();
    }
    i += point ? point->length : 1;
  }
  return out;
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  while (max_bytes > 0 && !begins_character(text[max_bytes])) {
    --max_bytes;
  }
  return std::string(text.substr(0, max_bytes)) + "...";
}

}  // namespace stereosweep::base
