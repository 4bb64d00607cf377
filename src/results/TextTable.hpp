// A table for the terminal: first column to the left, numbers to the right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::results {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  /// As many cells as the head has.
  void add(std::vector<std::string> row);
  /// Head, rule, rows; each line ends with a newline.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "0.123", "-1.500"; "-" for NaN.
std::string fixed(double value, int digits = 3);
/// "0.012", "2.1e-09"; "-" for NaN.
std::string p_value(double value);
/// At most `length` code points, the last one an ellipsis where it was cut.
std::string shortened(std::string_view text, std::size_t length);

}  // namespace stereosweep::results
