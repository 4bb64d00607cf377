#include "stats/sequential/VisitingOrder.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/Error.hpp"

namespace stereosweep::stats {

std::vector<PlannedLook> planned_looks(std::size_t num_rows, std::size_t num_columns) {
  constexpr std::size_t usual_first = 12;
  constexpr std::size_t most_close = 8;  // from there on the next look has at least half of all
  STEREOSWEEP_ASSERT(num_rows > 0 && num_columns > 0, "a table with cells");
  std::vector<PlannedLook> looks;
  if (num_rows >= fewest_rows_looked_at) {
    const auto share = [&](std::size_t tenths) { return (num_rows * tenths + 9) / 10; };
    const auto sizes = num_columns == 1 ? std::set{share(3), share(5), share(7)}
                                        : std::set{usual_first, std::min(num_rows, num_columns)};
    for (const auto size : sizes) {
      if (size >= fewest_rows_looked_at && size < num_rows) {
        looks.push_back({size, 1});
      }
    }
    for (std::size_t layers = 1; layers < num_columns && (layers <= most_close || 2 * layers <= num_columns);
         layers *= 2) {
      looks.push_back({num_rows, layers});
    }
  }
  looks.push_back({num_rows, num_columns});
  return looks;
}

std::vector<std::size_t> looks_of_cells(std::size_t num_rows, std::size_t num_columns,
                                        const std::vector<PlannedLook>& looks) {
  const auto cycle = num_columns / std::gcd(num_rows, num_columns);
  std::vector<std::size_t> found(num_rows * num_columns, looks.size());
  for (std::size_t layer = 0; layer < num_columns; ++layer) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      const auto column = (layer * num_rows + row + layer / cycle) % num_columns;
      const auto look = std::ranges::find_if(
          looks, [&](const PlannedLook& one) { return row < one.num_rows && layer < one.num_layers; });
      found[row * num_columns + column] = static_cast<std::size_t>(look - looks.begin());
    }
  }
  return found;
}

}  // namespace stereosweep::stats
