#include "engine/LargestLogits.hpp"

#include <algorithm>
#include <functional>

#include "base/VectorClones.hpp"

namespace stereosweep::engine {
namespace {

// Largest entry of each column of a matrix of `columns` columns, row by row in memory: lanes run along the columns.
STEREOSWEEP_VECTOR_CLONES
void column_maxima(const float* row, std::size_t rows, std::size_t columns, float* maxima) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float* line = row + i * columns;
    for (std::size_t j = 0; j < columns; ++j) {
      maxima[j] = line[j] > maxima[j] ? line[j] : maxima[j];
    }
  }
}

// How many of 64 entries reach the threshold, without a branch.
STEREOSWEEP_VECTOR_CLONES
unsigned count_reaching(const float* entries, float threshold) {
  unsigned count = 0;
  for (std::size_t j = 0; j < 64; ++j) {
    count += entries[j] >= threshold ? 1U : 0U;
  }
  return count;
}

}  // namespace

std::vector<std::uint32_t> find_largest(std::span<const float> row, std::size_t wanted) {
  std::vector<std::uint32_t> found;
  const std::size_t columns = (wanted + wanted / 2 + 15) / 16 * 16;  // more columns than wanted: few ties of place
  const std::size_t rows = columns == 0 ? 0 : row.size() / columns;
  if (rows < 4) {  // nothing to be gained
    found.resize(row.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      found[i] = i;
    }
    return found;
  }
  std::vector<float> maxima(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
  column_maxima(row.data(), rows, columns, maxima.data());
  // `wanted` columns hold an entry that reaches this threshold, so at least `wanted` entries do.
  const auto place = maxima.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(maxima.begin(), place, maxima.end(), std::greater<>());
  const float threshold = *place;
  std::size_t i = 0;
  for (; i + 64 <= row.size(); i += 64) {
    if (count_reaching(row.data() + i, threshold) == 0) {
      continue;
    }
    for (std::size_t j = i; j < i + 64; ++j) {
      if (row[j] >= threshold) {
        found.push_back(static_cast<std::uint32_t>(j));
      }
    }
  }
  for (; i < row.size(); ++i) {
    if (row[i] >= threshold) {
      found.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return found;
}

}  // namespace stereosweep::engine
