#include <algorithm>

#include "answers/text/PlainText.hpp"
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

/// Rows as lines of text, without rules and the columns that count rows.
class Table {
 public:
  explicit Table(std::vector<Row> rows) : rows_(std::move(rows)) {
    take_head();
    std::erase_if(rows_, is_rule);
    auto width = head_.size();
    for (const auto& row : rows_) {
      width = std::max(width, row.size());
    }
    head_.resize(width);
    for (auto& row : rows_) {
      row.resize(width);
    }
    for (std::size_t column = 0; column < head_.size();) {
      if (!is_count(column)) {
        ++column;
        continue;
      }
      const auto place = static_cast<std::ptrdiff_t>(column);
      head_.erase(head_.begin() + place);
      for (auto& row : rows_) {
        row.erase(row.begin() + place);
      }
    }
  }

  std::string lines() const {
    static constexpr auto naming =
        word_list<"trait item keyword word adjective emotion attribute dimension characteristic">;
    static constexpr auto rating = word_list<"rating ratings score scores value rate answer mean points response">;
    const auto name = column_headed(naming);
    const auto value = column_headed(rating);
    std::string text;
    for (const auto& row : rows_) {
      // Numbers, all or more than one, below words that no column of ratings is among: the head names what is rated.
      std::string items;
      std::size_t num_items = 0;
      for (std::size_t column = 0; column < row.size(); ++column) {
        if (is_number_cell(row[column]) && has_letter(head_[column])) {
          items += std::string(head_[column]) + ": " + std::string(row[column]) + "\n";
          ++num_items;
        }
      }
      text += num_items > 1 && value == head_.size() ? items : line_of(row, name, value);
    }
    return text;
  }

 private:
  /// The row above the rule, if it is no sentence; without a rule the first one, if it alone has no number.
  void take_head() {
    const auto has_number = [](const Row& row) { return std::ranges::any_of(row, is_number_cell); };
    const auto rule = std::ranges::find_if(rows_, is_rule);
    const auto below = rule == rows_.end() ? rows_.begin() + 1 : rule;
    const bool has_head = rule == rows_.end() ? !has_number(rows_.front()) &&
                                                    std::ranges::count_if(rows_, has_number) + 1 == std::ssize(rows_)
                                              : rule != rows_.begin() && !(rule - 1)->back().ends_with('.');
    if (has_head) {
      head_ = *(below - 1);
      rows_.erase(rows_.begin(), below);
    }
  }

  /// Headed "#", "No.", "rank", "n", or 1, 2, 3, ... in front of words.
  bool is_count(std::size_t column) const {
    static constexpr auto counting = word_list<"# no nr number rank n index item count id sd year">;
    const auto name = head_[column];
    const bool holds_words = !rows_.empty() && has_letter(rows_.front()[column]);
    if (!holds_words && (name == "#" || has_word(base::lower_ascii(name), counting))) {
      return true;
    }
    bool counts = rows_.size() > 1 && column + 1 < head_.size();
    double next = 1;
    for (auto row = rows_.begin(); counts && row != rows_.end(); ++row, next += 1) {
      auto text = (*row)[column];
      text.remove_suffix(text.ends_with('.') || text.ends_with(')') ? 1 : 0);
      counts = base::parse_double(text) == next && has_letter((*row)[column + 1]);
    }
    return counts;
  }

  /// The number of columns: no head has one of the words.
  std::size_t column_headed(Words words) const {
    const auto found =
        std::ranges::find_if(head_, [&](std::string_view cell) { return has_word(base::lower_ascii(cell), words); });
    return static_cast<std::size_t>(found - head_.begin());
  }

  std::string line_of(const Row& row, std::size_t name, std::size_t value) const {
    std::vector<std::size_t> columns;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool is_beside =
          value < row.size() && !row[value].empty() && column != value && is_number_cell(row[column]);
      if (!row[column].empty() && !is_beside) {
        columns.push_back(column);
      }
    }
    auto first = std::ranges::find(columns, name);
    if (first == columns.end()) {
      first = std::ranges::find_if(columns, [&](std::size_t one) { return has_letter(row[one]); });
    }
    if (first != columns.end()) {
      std::rotate(columns.begin(), first, first + 1);
    }
    const auto second = std::ranges::find(columns, value);
    if (second != columns.end() && second != columns.begin()) {
      std::rotate(columns.begin() + 1, second, second + 1);
    }
    std::string text;
    for (std::size_t place = 0; place < columns.size(); ++place) {
      const auto cell = row[columns[place]];
      const auto head = head_[columns[place]];
      const bool is_ticked = columns.size() == 2 && place == 1 && is_number_cell(head) && !is_number_cell(cell);
      text += (place == 0 ? "- " : place == 1 ? ": " : " - ") + std::string(is_ticked ? head : cell);
    }
    return text + "\n";
  }

  std::vector<Row> rows_;  ///< below the head
  Row head_;
};

}  // namespace

std::string with_tables_as_lines(std::string_view plain) {
  std::string text;
  std::vector<Row> rows;
  std::string raw;
  const auto close = [&] {
    text += rows.size() > 1 ? Table(std::move(rows)).lines() : raw;
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
  return text;
}

}  // namespace stereosweep::answers
