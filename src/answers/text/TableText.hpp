// Tables in an answer as lines of text, so that one set of rules reads lists and tables.
#pragma once

#include <string>
#include <string_view>

namespace stereosweep::answers {

/// A plain text with its tables (two lines or more with "|") as lines "- name: value - other cells": the name is the
/// first cell with words, the value that of the column whose head says so ("Rating"), else the first one behind the
/// name; cells that count the rows are left out. A head that names what is rated gives lines "name: value", a tick
/// below a number that number. Lines with one "|" alone stay as they are. The text ends with a line end.
std::string with_tables_as_lines(std::string_view plain);

}  // namespace stereosweep::answers
