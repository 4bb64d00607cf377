// Everything a statistics file has found as tidy rows: one row a number, whatever statistic it is. Nothing here knows a
// statistic: the attributes `role` and `of` of the file's arrays (elsewhere their names) say what stands beside what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hdf5/File.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

/// NaN: the file has no such number.
struct StatisticsRow {
  std::string statistic;            ///< name of the array
  std::vector<std::string> labels;  ///< of each of the block's columns
  double value = 0;
  std::string unit;  ///< "nat"; "" where the file names none
  double n = 0;      ///< how many cells, templates, subjects, ... the value is made of
  double low = 0;
  double high = 0;
  double p = 0;
  double p_adjusted = 0;
  std::string adjustment;  ///< "max_t", "holm", ...; "" without an adjusted p
  std::string status;      ///< the file's flag; without one "ok" or "no_value"
};

/// An array of numbers (or of flags that belong to no number: their words are statuses) and the arrays beside it.
struct StatisticsBlock {
  std::string statistic;
  std::string long_name;
  std::vector<std::string> columns;  ///< of the labels: axes; of a list of findings its coordinates, too
};

class StatisticsRows {
 public:
  /// A finished statistics file of one run or of several. Throws InputError naming the file where it has no intact seal
  /// or its arrays do not fit their axes.
  explicit StatisticsRows(const std::filesystem::path& path);
  /// In the file's order; without single scores (arrays over template, rephrasing and what is scored).
  const std::vector<StatisticsBlock>& blocks() const { return blocks_; }
  /// Calls `use` for each row of a block, in row-major order of its axes.
  void read(std::size_t block, const std::function<void(const StatisticsRow&)>& use) const;

 private:
  struct Array {
    std::string name;
    std::vector<std::string> axes;
    std::vector<std::string> flags;  ///< meanings; empty: numbers
    std::string unit;
    std::string long_name;
    std::string role;             ///< attribute `role`; "": it is no finding, and nothing belongs to it
    std::vector<std::string> of;  ///< attribute `of`: the values it belongs to
  };
  struct Adjusted {
    std::string name;
    std::string adjustment;
  };
  /// Names of arrays; "": none.
  struct Companions {
    std::string low;
    std::string high;
    std::string n;
    std::string p;
    std::string status;
    std::vector<Adjusted> adjusted;  ///< the first that is a number stands in the row
  };
  void find_arrays();
  void find_blocks();
  const Array* find(const std::string& name) const;
  Companions companions_of(const Array& main) const;
  hdf5::Shape shape_of(const Array& array) const;
  std::vector<double> numbers(const Array& array) const;
  std::vector<double> numbers_over(const Array& main, const std::string& companion) const;

  std::filesystem::path path_;
  std::uint64_t file_bytes_ = 0;
  hdf5::File file_;
  std::vector<Array> arrays_;
  std::map<std::string, AxisSchema> axes_;
  std::vector<StatisticsBlock> blocks_;
  std::vector<std::size_t> array_of_block_;
};

}  // namespace stereosweep::results
