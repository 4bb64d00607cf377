#include "results/tables/StatisticsTable.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/TextTable.hpp"
#include "results/tables/StatisticsRows.hpp"

namespace stereosweep::results {
namespace {

using Texts = std::vector<std::string>;

const Texts number_names = {"value", "unit", "n", "low", "high", "p", "p_adjusted", "adjustment", "status"};

std::string digits(double value) { return std::isnan(value) ? "" : base::format_double(value); }

std::string rounded(double value) {
  const bool is_whole = std::abs(value) < 1e15 && value == std::floor(value);
  return std::isnan(value) ? "" : is_whole ? base::format_double(value) : significant(value);
}

std::string rounded_p(double value) { return std::isnan(value) ? "" : p_value(value); }

Texts numbers_of(const StatisticsRow& row, TableFormat format) {
  const auto number = format == TableFormat::csv ? digits : rounded;
  const auto chance = format == TableFormat::csv ? digits : rounded_p;
  return {number(row.value),      row.unit,       number(row.n), number(row.low), number(row.high), chance(row.p),
          chance(row.p_adjusted), row.adjustment, row.status};
}

std::vector<std::size_t> chosen(const std::vector<StatisticsBlock>& blocks, std::span<const std::string> only) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < blocks.size(); ++place) {
    if (only.empty() ||
        std::ranges::any_of(only, [&](const auto& begin) { return blocks[place].statistic.starts_with(begin); })) {
      places.push_back(place);
    }
  }
  if (places.empty() && !only.empty()) {
    const auto names = base::mapped(blocks, &StatisticsBlock::statistic);
    throw base::InputError(base::describe("no statistic begins with '" + base::join(only, "' or '") + "'",
                                          "the file has " + base::join(names, ", ")));
  }
  return places;
}

/// Columns of labels in the order in which statistics bring them.
Texts columns_of(const std::vector<StatisticsBlock>& blocks, std::span<const std::size_t> places) {
  Texts columns;
  for (const auto place : places) {
    for (const auto& column : blocks[place].columns) {
      base::add_once(columns, column);
    }
  }
  return columns;
}

/// One table of the statistics at `places`.
void write_table(const StatisticsRows& rows, std::span<const std::size_t> places, TableFormat format,
                 TableWriter& writer) {
  const auto& blocks = rows.blocks();
  const auto columns = columns_of(blocks, places);
  Texts head = {"statistic"};
  head.insert(head.end(), columns.begin(), columns.end());
  head.insert(head.end(), number_names.begin(), number_names.end());
  const auto title =
      base::mapped(places, [&](auto place) { return blocks[place].statistic + ": " + blocks[place].long_name; });
  writer.begin(base::join(title, "; "), head, 1 + columns.size());
  for (const auto place : places) {
    const auto own =
        base::mapped(blocks[place].columns, [&](const auto& column) { return *place_of(columns, column); });
    rows.read(place, [&](const StatisticsRow& row) {
      Texts cells(1 + columns.size());
      cells.front() = row.statistic;
      for (std::size_t label = 0; label < own.size(); ++label) {
        cells[1 + own[label]] = row.labels[label];
      }
      const auto numbers = numbers_of(row, format);
      cells.insert(cells.end(), numbers.begin(), numbers.end());
      writer.add(cells);
    });
  }
  writer.end();
}

}  // namespace

void write_statistics_table(const std::filesystem::path& file, TableFormat format, std::span<const std::string> only,
                            std::ostream& out) {
  const StatisticsRows rows(file);
  const auto places = chosen(rows.blocks(), only);
  const auto writer = table_writer(format, out);
  if (format == TableFormat::csv) {
    write_table(rows, places, format, *writer);
  } else {
    for (std::size_t first = 0; first < places.size();) {
      auto last = first + 1;
      while (last < places.size() && rows.blocks()[places[last]].columns == rows.blocks()[places[first]].columns) {
        ++last;
      }
      write_table(rows, std::span(places).subspan(first, last - first), format, *writer);
      first = last;
    }
  }
  out.flush();
  if (!out) {
    throw base::Error("the table cannot be written (disk full, or the reader has gone)");
  }
}

}  // namespace stereosweep::results
