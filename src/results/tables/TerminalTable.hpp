// Text for the terminal, at most `screen_width` columns wide: tables and wrapped sentences.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::results {

constexpr std::size_t widest_screen = 100;
constexpr std::size_t least_screen = 50;

/// Columns that a line may have: `widest_screen` until they are set.
std::size_t screen_width();
/// Between `least_screen` and `widest_screen`, whatever is asked. Not while another thread makes text.
void set_screen_width(std::size_t columns);

/// First column to the left, numbers to the right. What is too wide is made narrower, in this order, until it fits:
/// the lines of its head break behind spaces and underscores, its longest names go on in a line below, its first column
/// stands above each row in lines of its own (where a name would take three lines, too), its last columns follow in a
/// second table. Nothing is cut.
class TerminalTable {
 public:
  explicit TerminalTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  /// As many cells as the head has.
  void add(std::vector<std::string> row);
  /// Head, rule, rows; each line ends with a newline.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "0.123", "-1.500"; "-" for NaN.
std::string fixed(double value, int digits = 3);
/// As `fixed` from 0.1 on; below with three significant digits, so that a small probability does not look like none:
/// "0.0123", "3.40e-07".
std::string significant(double value);
/// The same of one of a value and its ends, the largest of which is `size`: "0.000" where it is zero within rounding.
std::string significant(double value, double size);
/// "0.012", "2.1e-09"; "-" for NaN.
std::string p_value(double value);
/// "95 %", "99.9 %": at most two digits behind the point.
std::string percent(double share);
/// Every line of `text` broken at spaces to at most `screen_width` columns; what follows is indented.
std::string wrapped(std::string_view text, std::size_t indent = 0);
/// Below a table of the first rows: "(5 of 51 groups; --top 51 shows all)\n"; "" where it shows all.
std::string rest_text(std::size_t shown, std::size_t total, std::string_view nouns);
/// "women, men and 12 more"
std::string first_names(std::vector<std::string> names, std::size_t most);

}  // namespace stereosweep::results
