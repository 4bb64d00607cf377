// Cells and rows of CSV, Markdown and LaTeX, with hostile names.
#include "results/tables/TableFormats.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/Error.hpp"

namespace stereosweep::results {
namespace {

std::string written(TableFormat format, const std::vector<std::string>& cells) {
  std::ostringstream out;
  const std::vector<std::string> head = {"group", "value"};
  TableWriter writer(format, out);
  writer.begin("a & b", head, 1);
  writer.add(cells);
  writer.end();
  return out.str();
}

std::string csv_cell(const std::string& text) {
  const auto row = written(TableFormat::csv_as_is, {text}).substr(std::string("group,value\r\n").size());
  return row.substr(0, row.size() - std::string("\r\n").size());
}

/// What stands between the last rule and the end of the only row.
std::string cell_of(TableFormat format, const std::string& text, const std::string& rule, const std::string& end) {
  const auto table = written(format, {text});
  const auto begin = table.rfind(rule) + rule.size();
  return table.substr(begin, table.rfind(end) - begin);
}
std::string markdown_cell(const std::string& text) {
  return cell_of(TableFormat::markdown, text, "---: |\n| ", " |\n");
}
std::string latex_cell(const std::string& text) {
  return cell_of(TableFormat::latex, text, "\\endfoot\n", " \\\\\n\\end{longtable}");
}

TEST(TableFormat, QuotesCsvAsRfc4180) {
  EXPECT_EQ(csv_cell("plain; text"), "plain; text");
  EXPECT_EQ(csv_cell("say \"hi\", they said"), "\"say \"\"hi\"\", they said\"");
  EXPECT_EQ(csv_cell("two\r\nlines"), "\"two\r\nlines\"");
  EXPECT_EQ(csv_cell(" outer"), "\" outer\"");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(written(TableFormat::csv, {"a,b", "1.5"}), "group,value\r\n\"a,b\",1.5\r\n");
}

TEST(TableFormat, KeepsSpreadsheetsFromComputing) {
  for (const std::string text : {"=1+1", "+x", "-y (z)", "@SUM(A1)", "\t=1"}) {
    EXPECT_EQ(written(TableFormat::csv, {text, "-1.5"}).find("\r\n" + csv_cell("'" + text) + ",-1.5\r\n"), 11U) << text;
    EXPECT_EQ(written(TableFormat::csv_as_is, {text, "1"}).find("\r\n" + csv_cell(text) + ",1\r\n"), 11U) << text;
  }
  for (const std::string number : {"-1.5", "-2.1e-09", "-"}) {
    EXPECT_EQ(written(TableFormat::csv, {number, "1"}), "group,value\r\n" + number + ",1\r\n");
  }
}

TEST(TableFormat, EscapesMarkdown) {
  EXPECT_EQ(markdown_cell("a|b *c* _d_ `e` [f](g) <h>"), "a\\|b \\*c\\* \\_d\\_ \\`e\\` \\[f\\](g) \\<h\\>");
  EXPECT_EQ(markdown_cell("two\r\nlines\nand \\"), "two lines and \\\\");
  EXPECT_EQ(written(TableFormat::markdown, {"a|b", "1.5"}),
            "**a \\& b**\n\n| group | value |\n| --- | ---: |\n| a\\|b | 1.5 |\n");
}

TEST(TableFormat, EscapesLatex) {
  EXPECT_EQ(latex_cell("50 % of R&D costs $1 #2 a_b {c} ~ ^ \\x"),
            "50 \\% of R\\&D costs \\$1 \\#2 a\\_b \\{c\\} \\textasciitilde{} \\textasciicircum{} \\textbackslash{}x");
  EXPECT_EQ(latex_cell("<1e-300 | \"größte\""),
            "\\textless{}1e-300 \\textbar{} \\textquotedbl{}größte\\textquotedbl{}");
  const auto table = written(TableFormat::latex, {"[1] \\input{x}", "1.5"});
  EXPECT_NE(table.find("\\begin{longtable}{lr}\n\\caption{a \\& b}\\\\\n\\toprule\ngroup & value \\\\\n\\midrule"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\n{}[1] \\textbackslash{}input\\{x\\} & 1.5 \\\\\n\\end{longtable}\n"), std::string::npos)
      << table;
}

TEST(TableFormat, NamesItsFormats) {
  EXPECT_EQ(table_format("latex"), TableFormat::latex);
  EXPECT_THROW(table_format("html"), base::InputError);
}

}  // namespace
}  // namespace stereosweep::results
