#include "results/tables/TerminalTable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <ranges>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "base/text/Utf8.hpp"

namespace stereosweep::results {

namespace {

constexpr std::size_t gap = 2;           ///< between two columns
constexpr std::size_t label_indent = 2;  ///< of rows below labels that stand in lines of their own
constexpr std::size_t least_name = 20;   ///< names are not broken below this; numbers and intervals are never longer
constexpr std::string_view name_breaks = " _-+/";
std::size_t columns_of_screen = widest_screen;

std::size_t width(std::string_view text) { return base::count_characters(text); }

/// Offset of the code point `number`, or the text's end.
std::size_t offset_of(std::string_view text, std::size_t number) {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (base::begins_character(text[offset]) && number-- == 0) {
      break;
    }
  }
  return offset;
}

std::string formatted(const char* format, int digits, double value) {
  char buffer[64];
  const auto length = std::snprintf(buffer, sizeof buffer, format, digits, value);
  return {buffer, static_cast<std::size_t>(length)};
}

/// Lines of at most `most` columns, broken behind `breaks` where there are any.
std::vector<std::string> broken(std::string_view text, std::size_t most, std::string_view breaks) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(breaks), text.size() - 1) + 1;
    const auto part = text.substr(0, end);
    const auto visible = part.substr(0, part.find_last_not_of(' ') + 1);
    if (!lines.back().empty() && width(lines.back()) + width(visible) > most) {
      lines.back().erase(lines.back().find_last_not_of(' ') + 1);
      lines.emplace_back();
    }
    lines.back() += part;
    text.remove_prefix(end);
  }
  return lines;
}

using Lines = std::vector<std::string>;

/// As `broken`, but no line is wider than `most`: a name without a place to break is cut into pieces.
Lines folded(std::string_view text, std::size_t most) {
  Lines lines;
  for (const auto& line : broken(text, most, name_breaks)) {
    std::string_view rest = line;
    for (; width(rest) > most; rest.remove_prefix(offset_of(rest, most))) {
      lines.emplace_back(rest.substr(0, offset_of(rest, most)));
    }
    lines.emplace_back(rest.substr(0, rest.find_last_not_of(' ') + 1));
  }
  return lines;
}

std::size_t widest(auto&& lines) {
  std::size_t most = 0;
  for (const std::string& line : lines) {
    most = std::max(most, width(line));
  }
  return most;
}

/// One column: the head's lines, the texts below it and the lines that each is broken into.
struct Column {
  Lines head;
  std::vector<std::string> texts;
  std::vector<Lines> cells;
  std::size_t head_width() const { return widest(head); }
  std::size_t cells_width() const { return widest(cells | std::views::join); }
  std::size_t width() const { return std::max(head_width(), cells_width()); }
};

/// Of the column that has most.
std::size_t most_lines(const std::vector<const Column*>& columns, const auto& lines_of) {
  return std::ranges::max(base::mapped(columns, [&](const Column* column) { return lines_of(*column).size(); }));
}

std::size_t total_width(const std::vector<Column>& columns) {
  return std::accumulate(columns.begin(), columns.end(), std::size_t{0},
                         [](auto sum, const auto& column) { return sum + column.width() + gap; }) -
         gap;
}

void fit(std::vector<Column>& columns, std::size_t most) {
  if (total_width(columns) > most) {
    for (auto& column : columns) {
      column.head = broken(column.head.front(), column.cells_width(), " _");
    }
  }
  for (auto total = total_width(columns); total > most; total = total_width(columns)) {
    auto& longest = *std::max_element(columns.begin(), columns.end(), [](const auto& left, const auto& right) {
      return left.cells_width() < right.cells_width();
    });
    const auto length = longest.cells_width();
    if (length <= least_name) {
      return;
    }
    // step by step, so that two long columns lose alike
    const auto wanted = std::max({least_name, length - std::min(length, total - most), length - 4});
    std::ranges::transform(longest.texts, longest.cells.begin(),
                           [&](const std::string& text) { return folded(text, wanted); });
    if (longest.head_width() > wanted) {
      return;  // its head alone keeps it wide
    }
  }
}

/// `labels`: a column whose cells stand in lines of their own above the rows; null: there is none.
std::string lines_of(const std::vector<const Column*>& columns, const Column* labels) {
  const std::string indent(labels == nullptr ? 0 : label_indent, ' ');
  const auto head_lines = most_lines(columns, [](const Column& column) -> const Lines& { return column.head; });
  std::string result;
  std::size_t longest = 0;
  const auto add_line = [&](const auto& cell_of) {
    std::string line = indent;
    for (const auto* column : columns) {
      const std::string& cell = cell_of(*column);
      const std::string padding(column->width() - width(cell), ' ');
      line += column == columns.front() ? cell + padding : std::string(gap, ' ') + padding + cell;
    }
    longest = std::max(longest, width(line));
    result += line.erase(line.find_last_not_of(' ') + 1) + '\n';
  };
  const std::string nothing;
  const auto line_of = [&](const Lines& cell, std::size_t line) -> const std::string& {
    return line < cell.size() ? cell[line] : nothing;
  };
  const auto add_label = [&](const std::string& label) {
    for (const auto& line : folded(label, screen_width())) {
      longest = std::max(longest, width(line));
      result += line + '\n';
    }
  };
  if (labels != nullptr) {
    add_label(labels->head.front());
  }
  for (std::size_t line = 0; line < head_lines; ++line) {
    add_line([&](const Column& column) -> const std::string& {
      const auto missing = head_lines - column.head.size();
      return line < missing ? nothing : column.head[line - missing];
    });
  }
  result += std::string(longest, '-') + '\n';
  for (std::size_t row = 0; row < columns.front()->cells.size(); ++row) {
    if (labels != nullptr) {
      add_label(labels->texts[row]);
    }
    const auto row_lines = most_lines(columns, [&](const Column& column) -> const Lines& { return column.cells[row]; });
    for (std::size_t line = 0; line < row_lines; ++line) {
      add_line([&](const Column& column) -> const std::string& { return line_of(column.cells[row], line); });
    }
  }
  return result;
}

}  // namespace

std::size_t screen_width() { return columns_of_screen; }

void set_screen_width(std::size_t columns) { columns_of_screen = std::clamp(columns, least_screen, widest_screen); }

void TerminalTable::add(std::vector<std::string> row) {
  STEREOSWEEP_ASSERT(row.size() == rows_.front().size(), "a row of another length");
  rows_.push_back(base::mapped(row, base::printable));  // labels come from files that anybody may have made
}

std::string TerminalTable::text() const {
  std::vector<Column> columns(rows_.front().size());
  for (std::size_t index = 0; index < columns.size(); ++index) {
    columns[index].head = {rows_.front()[index]};
    for (std::size_t row = 1; row < rows_.size(); ++row) {
      columns[index].texts.push_back(rows_[row][index]);
      columns[index].cells.push_back({rows_[row][index]});
    }
  }
  auto fitted = columns;
  fit(fitted, screen_width());
  const bool is_crowded = total_width(fitted) > screen_width() ||
                          std::ranges::any_of(fitted.front().cells, [](const auto& cell) { return cell.size() > 2; });
  const auto* labels = columns.size() > 2 && is_crowded ? &columns.front() : nullptr;
  auto most = screen_width();
  if (labels != nullptr) {
    fitted.assign(columns.begin() + 1, columns.end());
    most -= label_indent;
    fit(fitted, most);
  }
  std::string result;
  const std::size_t repeated = labels == nullptr ? 1 : 0;  // the first column, where it is no label
  for (std::size_t next = repeated; next < fitted.size() || result.empty();) {
    std::vector<const Column*> part;
    std::size_t total = 0;
    const auto add = [&](const Column& column) {
      total += (part.empty() ? 0 : gap) + column.width();
      part.push_back(&column);
    };
    std::for_each_n(fitted.begin(), repeated, add);
    while (next < fitted.size() && (part.size() <= repeated || total + gap + fitted[next].width() <= most)) {
      add(fitted[next++]);
    }
    result += (result.empty() ? "" : "\n") + lines_of(part, labels);
  }
  return result;
}

std::string fixed(double value, int digits) {
  const auto text = std::isnan(value) ? "-" : formatted("%.*f", digits, value);
  return text.find_first_not_of("-0.") == std::string::npos && text.size() > 1 ? formatted("%.*f", digits, 0.0) : text;
}

std::string significant(double value) {
  return std::abs(value) < 0.1 && value != 0 ? formatted("%#.*g", 3, value) : fixed(value);
}

std::string significant(double value, double size) {
  constexpr double rounding = 1e-10;
  return significant(std::abs(value) < rounding * size ? 0 : value);
}

std::string p_value(double value) {
  if (value < 1e-300) {
    return "<1e-300";  // an underflow, no certainty
  }
  return value < 1e-3 ? formatted("%.*e", 1, value) : fixed(value);
}

std::string percent(double share) {
  auto text = fixed(100 * share, 2);
  while (text.ends_with('0')) {
    text.pop_back();
  }
  return (text.ends_with('.') ? text.substr(0, text.size() - 1) : text) + " %";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (width(line) <= screen_width()) {  // text that is wrapped already stays as it is
      result += line;
    } else {
      const auto first = std::min(line.find_first_not_of(' '), line.size());
      const auto lines = broken(line.substr(first), screen_width() - std::min(first + indent, screen_width() / 2), " ");
      for (std::size_t index = 0; index < lines.size(); ++index) {
        result += (index == 0 ? "" : "\n" + std::string(indent, ' ')) + std::string(first, ' ') + lines[index];
      }
    }
    result += end < text.size() ? "\n" : "";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string rest_text(std::size_t shown, std::size_t total, std::string_view nouns) {
  return shown >= total ? ""
                        : "(" + base::with_thousands(shown) + " of " + base::with_thousands(total) + " " +
                              std::string(nouns) + "; --top " + std::to_string(total) + " shows all)\n";
}

std::string first_names(std::vector<std::string> names, std::size_t most) {
  const auto more = names.size() - std::min(most, names.size());
  names.resize(names.size() - more);
  return base::join(names, ", ") + (more > 0 ? " and " + base::with_thousands(more) + " more" : "");
}

}  // namespace stereosweep::results
