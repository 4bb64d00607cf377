// The tidy rows of a statistics file as one table (CSV) or as one table for each group of statistics over the same axes
// (Markdown, LaTeX).
#pragma once

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

#include "results/tables/TableFormats.hpp"

namespace stereosweep::results {

/// Columns: statistic, labels, value, unit, n, low, high, p, p_adjusted, adjustment, status. CSV: a column for each
/// axis of any statistic, empty where one lacks it, and numbers with all digits; else rounded. `only`: statistics whose
/// names begin with one of them; empty: all. Throws InputError where none begins so, and for files without
/// an intact seal, or whose arrays do not fit their axes.
void write_statistics_table(const std::filesystem::path& file, TableFormat format, std::span<const std::string> only,
                            std::ostream& out);

}  // namespace stereosweep::results
