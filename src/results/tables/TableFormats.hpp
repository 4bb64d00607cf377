// Tables as text that other programs read: CSV (RFC 4180), Markdown, LaTeX with booktabs. Any UTF-8 may stand in a
// cell.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace stereosweep::results {

/// csv: a text that a spreadsheet would compute (= + - @) gets an apostrophe before it; csv_as_is: it stays as it is.
enum class TableFormat { csv, csv_as_is, markdown, latex };
inline bool is_csv(TableFormat format) { return format == TableFormat::csv || format == TableFormat::csv_as_is; }

/// Throws InputError "unknown ..." for other names than csv, csv-as-is, markdown, latex.
TableFormat table_format(std::string_view name);

/// Writes tables, one row at a time, to a stream that is borrowed. CSV has no titles; its lines end with CR LF. Cells
/// are escaped. CSV: quotes where there are quotes, commas, line breaks or outer blanks. Markdown: pipes and what would
/// begin markup, line breaks become blanks. LaTeX: its ten special characters, and < > | which the default font lacks.
class TableWriter {
 public:
  TableWriter(TableFormat format, std::ostream& out) : format_(format), out_(out) {}
  /// Head of a table. `num_labels`: that many first columns are texts, the others numbers (set to the right).
  void begin(const std::string& title, std::span<const std::string> head, std::size_t num_labels);
  void add(std::span<const std::string> cells);
  void end();

 private:
  TableFormat format_;
  std::ostream& out_;
  bool is_first_ = true;
};

}  // namespace stereosweep::results
