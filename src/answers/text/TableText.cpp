#include "answers/text/TableText.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using Row = std::vector<std::string_view>;

/// The cells of a line; empty: it is no row.
Row cells_of(std::string_view line) {
  if (line.find('|') == std::string_view::npos || line.size() < 2) {
    return {};
  }
  line.remove_prefix(line.starts_with('|') ? 1 : 0);
  line.remove_suffix(line.ends_with('|') ? 1 : 0);
  return parts_between(line, "|");
}

bool is_rule(const Row& row) {
  return std::ranges::all_of(row, [](std::string_view cell) {
    return !cell.empty() && cell.find_first_not_of("-:= ") == std::string_view::npos;
  });
}

bool has_letter(std::string_view cell) { return std::ranges::any_of(cell, is_letter); }

bool is_number_cell(std::string_view cell) {
  return !cell.empty() && !has_letter(cell) && cell.find_first_of("0123456789") != std::string_view::npos;
}

class TableReader {
 public:
  explicit TableReader(std::vector<Row> rows) : rows_(std::move(rows)) {
    const auto rule = std::ranges::find_if(rows_, is_rule);
    const auto has_number = [](const Row& row) { return std::ranges::any_of(row, is_number_cell); };
    if (rule == rows_.end() && !has_number(rows_.front()) &&
        std::ranges::count_if(rows_, has_number) + 1 == std::ssize(rows_)) {
      head_ = rows_.front();
      first_ = 1;
    }
    const bool is_above = rule != rows_.end() && rule != rows_.begin();
    const bool has_head = is_above && !(rule - 1)->back().ends_with('.');  // a sentence is no head
    if (rule != rows_.end()) {
      first_ = is_above && !has_head ? 0 : static_cast<std::size_t>(rule - rows_.begin()) + 1;
      head_ = has_head ? *(rule - 1) : Row{};
    }
    for (std::size_t column = 0; column < num_columns(); ++column) {
      is_left_out_.push_back(is_count(column));
    }
  }

  std::string lines() const {
    std::string text;
    const auto rated = rating_column();
    for (auto row = first_; row < rows_.size(); ++row) {
      if (!is_rule(rows_[row])) {
        text += names_items(row, rated) ? head_lines(row) : line_of(row, rated);
      }
    }
    return text;
  }

 private:
  std::size_t num_columns() const {
    std::size_t most = 0;
    for (const auto& row : rows_) {
      most = std::max(most, row.size());
    }
    return most;
  }

  std::string_view cell(std::size_t row, std::size_t column) const {
    return column < rows_[row].size() ? rows_[row][column] : std::string_view();
  }
  std::string_view head(std::size_t column) const { return column < head_.size() ? head_[column] : std::string_view(); }

  /// Headed "#", "No.", "rank", "n", or 1, 2, 3, ... in front of words.
  bool is_count(std::size_t column) const {
    static constexpr std::string_view counting[] = {"#",     "no",   "nr",    "number", "rank", "n",
                                                    "index", "item", "count", "id",     "sd",   "year"};
    const auto name = head(column);
    const bool holds_words = first_ < rows_.size() && has_letter(cell(first_, column));
    if (!holds_words && (name == "#" || has_word(base::lower_ascii(name), counting))) {
      return true;
    }
    bool counts = rows_.size() > first_ + 1 && column + 1 < num_columns();
    double next = 1;
    for (auto row = first_; row < rows_.size(); ++row, next += 1) {
      auto text = cell(row, column);
      text.remove_suffix(text.ends_with('.') || text.ends_with(')') ? 1 : 0);
      counts = counts && base::parse_double(text) == next && has_letter(cell(row, column + 1));
    }
    return counts;
  }

  std::optional<std::size_t> rating_column() const {
    static constexpr std::string_view rating[] = {"rating", "ratings", "score", "scores", "value",
                                                  "rate",   "answer",  "mean",  "points", "response"};
    for (std::size_t column = 0; column < head_.size(); ++column) {
      if (!is_left_out_[column] && has_word(base::lower_ascii(head_[column]), rating)) {
        return column;
      }
    }
    return std::nullopt;
  }

  /// Whether the row's numbers, all or more than one, stand below words that no column of ratings is among.
  bool names_items(std::size_t row, std::optional<std::size_t> rated) const {
    std::size_t num_numbers = 0;
    bool all = true;
    for (std::size_t column = 0; column < rows_[row].size(); ++column) {
      const bool is_number = !is_left_out_[column] && is_number_cell(cell(row, column)) && has_letter(head(column));
      num_numbers += is_number ? 1 : 0;
      all = all && (is_number || is_left_out_[column]);
    }
    return num_numbers > 0 && (all || (num_numbers > 1 && !rated));
  }

  std::string head_lines(std::size_t row) const {
    std::string text;
    for (std::size_t column = 0; column < rows_[row].size(); ++column) {
      if (!is_left_out_[column] && has_letter(head(column)) && is_number_cell(cell(row, column))) {
        text += std::string(head(column)) + ": " + std::string(cell(row, column)) + "\n";
      }
    }
    return text;
  }

  std::string line_of(std::size_t row, std::optional<std::size_t> rated) const {
    std::vector<std::size_t> columns;
    for (std::size_t column = 0; column < rows_[row].size(); ++column) {
      if (!is_left_out_[column] && !cell(row, column).empty()) {
        columns.push_back(column);
      }
    }
    static constexpr std::string_view naming[] = {"trait",   "item",      "keyword",   "word",          "adjective",
                                                  "emotion", "attribute", "dimension", "characteristic"};
    const auto named =
        std::ranges::find_if(columns, [&](std::size_t one) { return has_word(base::lower_ascii(head(one)), naming); });
    const auto name = named != columns.end()
                          ? named
                          : std::ranges::find_if(columns, [&](std::size_t one) { return has_letter(cell(row, one)); });
    if (name != columns.end()) {
      std::rotate(columns.begin(), name, name + 1);
    }
    const auto value = rated ? std::ranges::find(columns, *rated) : columns.end();
    if (value != columns.end() && value != columns.begin()) {
      std::rotate(columns.begin() + 1, value, value + 1);
    }
    std::string text;
    for (std::size_t place = 0; place < columns.size(); ++place) {
      const bool is_ticked = columns.size() == 2 && place == 1 && is_number_cell(head(columns[place])) &&
                             !is_number_cell(cell(row, columns[place]));
      const auto written = is_ticked ? head(columns[place]) : cell(row, columns[place]);
      text += (place == 0 ? "- " : place == 1 ? ": " : " - ") + std::string(written);
    }
    return text + "\n";
  }

  std::vector<Row> rows_;
  Row head_;
  std::size_t first_ = 0;  ///< row below the head
  std::vector<bool> is_left_out_;
};

}  // namespace

std::string with_tables_as_lines(std::string_view plain) {
  std::string text;
  std::vector<Row> rows;
  std::string raw;
  const auto close = [&] {
    text += rows.size() > 1 ? TableReader(std::move(rows)).lines() : raw;
    rows.clear();
    raw.clear();
  };
  for (std::size_t first = 0; first <= plain.size();) {
    const auto last = std::min(plain.find('\n', first), plain.size());
    const auto whole = plain.substr(first, last - first);
    auto row = cells_of(base::trim(whole));
    if (row.empty()) {
      close();
      text += std::string(whole) + "\n";
    } else {
      rows.push_back(std::move(row));
      raw += std::string(whole) + "\n";
    }
    first = last + 1;
  }
  close();
  text.pop_back();
  return text;
}

}  // namespace stereosweep::answers
