// Tables of text: human ratings, and the lists of the published ABC data set (Cao et al., NAACL 2022) as axes. First
// line: column names, separated by tabs, else by semicolons or commas; a cell may stand in double quotes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/yaml/Yaml.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::config {

/// A table read with limits: at most 8 MiB, 100,000 rows; every row has as many cells as the head. Empty lines and a
/// byte order mark are passed over.
struct Table {
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< [row, column]
  std::vector<int> lines;                      ///< of the file, from 1, where a row stands
  /// Index of a column; nothing (reported) where it is missing.
  std::optional<std::size_t> column(const std::string& name, base::Problems& problems) const;
};
Table read_table(const std::string& path, base::Problems& problems);

// Tables as a list in a job would write them, so that the same readers check them.

/// Columns singular, plural. The generic last row ("person", "people") is the word of the prior, no group.
Node read_group_table(const std::string& path, sweep::Priors& priors, base::Problems& problems);
/// Columns kind, group_form (singular, plural, plural_capitalised), template with <group> and <mask>.
Node read_template_table(const std::string& path, base::Problems& problems);
/// Columns dimension, pair, pole (left, right), trait, adjectives (separated by '|').
Node read_trait_table(const std::string& path, base::Problems& problems);

}  // namespace stereosweep::config
