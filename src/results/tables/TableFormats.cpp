#include "results/tables/TableFormats.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {
namespace {

constexpr const char* latex_packages =
    "% \\usepackage{booktabs,longtable}, and UTF-8 (\\usepackage[T1]{fontenc} with pdflatex)\n";

/// Line breaks would end a row.
std::string on_one_line(std::string_view text) {
  auto line = base::replace_all(std::string(text), "\r\n", " ");
  std::ranges::replace_if(
      line, [](char byte) { return static_cast<unsigned char>(byte) < 0x20; }, ' ');
  return line;
}

std::string csv_cell(std::string_view text) {
  const bool is_plain = text.find_first_of("\",\r\n") == std::string_view::npos && base::trim(text) == text;
  return is_plain ? std::string(text) : '"' + base::replace_all(std::string(text), "\"", "\"\"") + '"';
}

/// Spreadsheets compute a cell that begins so; an apostrophe before it makes it a text.
std::string guarded_csv_cell(std::string_view text) {
  const bool is_formula = text.size() > 1 &&
                          std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
                          !base::parse_double(text);
  return csv_cell(is_formula ? "'" + std::string(text) : std::string(text));
}

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char byte : on_one_line(text)) {
    if (std::string_view("\\`*_[]<>|~$&#").find(byte) != std::string_view::npos) {
      cell += '\\';
    }
    cell += byte;
  }
  return cell;
}

std::string latex_cell(std::string_view text) {
  static const std::map<char, std::string> commands = {
      {'\\', "\\textbackslash{}"}, {'~', "\\textasciitilde{}"}, {'^', "\\textasciicircum{}"}, {'<', "\\textless{}"},
      {'>', "\\textgreater{}"},    {'|', "\\textbar{}"},        {'"', "\\textquotedbl{}"}};
  std::string cell;
  for (const char byte : on_one_line(text)) {
    const auto command = commands.find(byte);
    const bool is_special = std::string_view("&%$#_{}").find(byte) != std::string_view::npos;
    cell += command != commands.end() ? command->second : (is_special ? "\\" : "") + std::string(1, byte);
  }
  return cell;
}

/// Of the rows of a format, in the order of TableFormat.
struct RowMarks {
  const char* begin;
  const char* between;
  const char* end;
  std::string (*cell)(std::string_view text);
};
constexpr std::array<RowMarks, 4> row_marks = {{{"", ",", "\r\n", guarded_csv_cell},
                                                {"", ",", "\r\n", csv_cell},
                                                {"| ", " | ", " |\n", markdown_cell},
                                                {"", " & ", " \\\\\n", latex_cell}}};

}  // namespace

TableFormat table_format(std::string_view name) {
  constexpr std::array<std::string_view, 4> names = {"csv", "csv-as-is", "markdown", "latex"};  // as TableFormat
  const auto place = std::ranges::find(names, name) - names.begin();
  base::refuse_if(place == std::ssize(names), "unknown format '" + std::string(name) + "'",
                  "a table is text, csv, csv-as-is, markdown or latex");
  return static_cast<TableFormat>(place);
}

void TableWriter::begin(const std::string& title, std::span<const std::string> head, std::size_t num_labels) {
  const bool is_first = std::exchange(is_first_, false);
  if (format_ == TableFormat::markdown) {
    out_ << (is_first ? "" : "\n") << "**" << markdown_cell(title) << "**\n\n";
    add(head);
    for (std::size_t column = 0; column < head.size(); ++column) {
      out_ << (column < num_labels ? "| --- " : "| ---: ");
    }
    out_ << "|\n";
  } else if (format_ == TableFormat::latex) {  // longtable breaks over pages
    out_ << (is_first ? latex_packages : "") << "\\begin{longtable}{" << std::string(num_labels, 'l')
         << std::string(head.size() - num_labels, 'r') << "}\n\\caption{" << latex_cell(title) << "}\\\\\n\\toprule\n";
    add(head);
    out_ << "\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n";
  } else {
    add(head);
  }
}

void TableWriter::add(std::span<const std::string> cells) {
  const auto& marks = row_marks.at(static_cast<std::size_t>(format_));
  const auto row = base::join(base::mapped(cells, marks.cell), marks.between);
  // a bracket behind \\ of the line before would be its argument
  const bool is_argument = format_ == TableFormat::latex && (row.starts_with('[') || row.starts_with('*'));
  out_ << (is_argument ? "{}" : marks.begin) << row << marks.end;
}

void TableWriter::end() {
  if (format_ == TableFormat::latex) {
    out_ << "\\end{longtable}\n";
  }
}

}  // namespace stereosweep::results
