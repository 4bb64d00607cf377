#include "results/tables/TableFormats.hpp"

#include <cstddef>
#include <map>
#include <ostream>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {
namespace {

/// Line breaks would end a row.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (text[place] == '\r' && place + 1 < text.size() && text[place + 1] == '\n') {
      continue;
    }
    line += static_cast<unsigned char>(text[place]) < 0x20 ? ' ' : text[place];
  }
  return line;
}

std::string escaped_row(std::span<const std::string> cells, std::string_view between, auto escape) {
  std::string line;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    line += (cell == 0 ? "" : std::string(between)) + escape(cells[cell]);
  }
  return line;
}

/// Spreadsheets compute a cell that begins so; an apostrophe before it makes it a text.
std::string guarded(const std::string& text) {
  const bool is_formula = text.size() > 1 &&
                          std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
                          !base::parse_double(text);
  return is_formula ? "'" + text : text;
}

class CsvWriter final : public TableWriter {
 public:
  CsvWriter(std::ostream& out, TableFormat format) : out_(out), guards_(format == TableFormat::csv) {}
  void begin(const std::string& /*title*/, std::span<const std::string> head, std::size_t /*num_labels*/) override {
    add(head);
  }
  void add(std::span<const std::string> cells) override {
    const auto cell = [this](const std::string& text) { return csv_cell(guards_ ? guarded(text) : text); };
    out_ << escaped_row(cells, ",", cell) << "\r\n";
  }
  void end() override {}

 private:
  std::ostream& out_;
  bool guards_;
};

class MarkdownWriter final : public TableWriter {
 public:
  explicit MarkdownWriter(std::ostream& out) : out_(out) {}
  void begin(const std::string& title, std::span<const std::string> head, std::size_t num_labels) override {
    out_ << (is_first_ ? "" : "\n") << "**" << markdown_cell(title) << "**\n\n";
    is_first_ = false;
    add(head);
    for (std::size_t column = 0; column < head.size(); ++column) {
      out_ << (column < num_labels ? "| --- " : "| ---: ");
    }
    out_ << "|\n";
  }
  void add(std::span<const std::string> cells) override {
    out_ << "| " << escaped_row(cells, " | ", markdown_cell) << " |\n";
  }
  void end() override {}

 private:
  std::ostream& out_;
  bool is_first_ = true;
};

/// longtable, which breaks over pages.
class LatexWriter final : public TableWriter {
 public:
  explicit LatexWriter(std::ostream& out) : out_(out) {
    out_ << "% \\usepackage{booktabs,longtable}, and UTF-8 (\\usepackage[T1]{fontenc} with pdflatex)\n";
  }
  void begin(const std::string& title, std::span<const std::string> head, std::size_t num_labels) override {
    out_ << "\\begin{longtable}{" << std::string(num_labels, 'l');
    for (std::size_t column = num_labels; column < head.size(); ++column) {
      out_ << 'r';
    }
    out_ << "}\n\\caption{" << latex_cell(title) << "}\\\\\n\\toprule\n";
    add(head);
    out_ << "\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n";
  }
  void add(std::span<const std::string> cells) override {
    // a bracket behind \\ of the line before would be its argument
    const auto line = escaped_row(cells, " & ", latex_cell);
    out_ << (line.starts_with('[') || line.starts_with('*') ? "{}" : "") << line << " \\\\\n";
  }
  void end() override { out_ << "\\end{longtable}\n"; }

 private:
  std::ostream& out_;
};

}  // namespace

TableFormat table_format(std::string_view name) {
  if (name == "csv" || name == "csv-as-is") {
    return name == "csv" ? TableFormat::csv : TableFormat::csv_as_is;
  }
  if (name == "markdown") {
    return TableFormat::markdown;
  }
  base::refuse_if(name != "latex", "unknown format '" + std::string(name) + "'",
                  "a table is text, csv, csv-as-is, markdown or latex");
  return TableFormat::latex;
}

std::string csv_cell(std::string_view text) {
  const bool is_plain = text.find_first_of("\",\r\n") == std::string_view::npos && base::trim(text) == text;
  return is_plain ? std::string(text) : '"' + base::replace_all(std::string(text), "\"", "\"\"") + '"';
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

std::unique_ptr<TableWriter> table_writer(TableFormat format, std::ostream& out) {
  switch (format) {
    case TableFormat::csv:
    case TableFormat::csv_as_is:
      return std::make_unique<CsvWriter>(out, format);
    case TableFormat::markdown:
      return std::make_unique<MarkdownWriter>(out);
    case TableFormat::latex:
      break;
  }
  return std::make_unique<LatexWriter>(out);
}

}  // namespace stereosweep::results
