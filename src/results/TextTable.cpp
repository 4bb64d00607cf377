#include "results/TextTable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/Check.hpp"

namespace stereosweep::results {

namespace {

/// Code points: every byte but UTF-8's continuation bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::string formatted(const char* format, int digits, double value) {
  char buffer[64];
  const auto length = std::snprintf(buffer, sizeof buffer, format, digits, value);
  return {buffer, static_cast<std::size_t>(length)};
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  STEREOSWEEP_ASSERT(row.size() == rows_.front().size(), "a row of another length");
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], width(row[column]));
    }
  }
  std::string result;
  const auto add_line = [&](std::string line) { result += line.erase(line.find_last_not_of(' ') + 1) + '\n'; };
  for (std::size_t index = 0; index < rows_.size(); ++index) {
    std::string line;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      const auto& cell = rows_[index][column];
      const std::string padding(widths[column] - width(cell), ' ');
      line += column == 0 ? cell + padding : "  " + padding + cell;
    }
    add_line(line);
    if (index == 0) {
      add_line(std::string(width(line), '-'));
    }
  }
  return result;
}

std::string fixed(double value, int digits) {
  const auto text = std::isnan(value) ? "-" : formatted("%.*f", digits, value);
  return text.find_first_not_of("-0.") == std::string::npos && text.size() > 1 ? formatted("%.*f", digits, 0.0) : text;
}

std::string p_value(double value) {
  if (std::isnan(value)) {
    return "-";
  }
  if (value < 1e-300) {
    return "<1e-300";  // an underflow, no certainty
  }
  return value < 1e-3 ? formatted("%.*e", 1, value) : fixed(value);
}

std::string shortened(std::string_view text, std::size_t length) {
  if (width(text) <= length) {
    return std::string(text);
  }
  std::size_t points = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (starts && ++points == length) {
      break;
    }
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace stereosweep::results
