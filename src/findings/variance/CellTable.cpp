#include "findings/variance/CellTable.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "results/ScoreTable.hpp"

namespace stereosweep::findings {
namespace {

class CompletePart {
 public:
  explicit CompletePart(const CellTable& table) : table_(table), num_kept_(table.lengths) {
    for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
      missing_[axis].assign(table.lengths[axis], 0);
      kept_[axis].assign(table.lengths[axis], true);
    }
    each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
      if (!std::isfinite(table_.values[place])) {
        holes_.push_back(at);
        for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
          ++missing_[axis][at[axis]];
        }
      }
    });
    while (!holes_.empty()) {
      drop_worst();
    }
  }

  CellTable part() const {
    CellTable part{num_kept_, {}};
    part.values.reserve(std::accumulate(num_kept_.begin(), num_kept_.end(), std::size_t{1}, std::multiplies<>()));
    each_cell(table_.lengths, [&](const CellIndex& at, std::size_t place) {
      bool is_kept = true;
      for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
        is_kept = is_kept && kept_[axis][at[axis]];
      }
      if (is_kept) {
        part.values.push_back(table_.values[place]);
      }
    });
    return part;
  }

 private:
  void drop_worst() {
    std::size_t worst_axis = 0;
    std::size_t worst = 0;
    std::size_t most = 0;
    for (const auto order : {CellAxis::template_, CellAxis::subject, CellAxis::rephrasing, CellAxis::replicate,
                             CellAxis::item, CellAxis::run}) {
      const auto axis = static_cast<std::size_t>(order);
      for (std::size_t label = 0; label < missing_[axis].size(); ++label) {
        // the share of missing cells, times a number that is the same for all labels
        const auto share = missing_[axis][label] * num_kept_[axis];
        if (share > most) {
          most = share;
          worst_axis = axis;
          worst = label;
        }
      }
    }
    std::erase_if(holes_, [&](const CellIndex& at) {
      if (at[worst_axis] != worst) {
        return false;
      }
      for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
        --missing_[axis][at[axis]];
      }
      return true;
    });
    kept_[worst_axis][worst] = false;
    --num_kept_[worst_axis];
  }

  const CellTable& table_;
  std::vector<CellIndex> holes_;                                 ///< missing cells among those kept
  std::array<std::vector<std::size_t>, num_cell_axes> missing_;  ///< [axis][label]: how many of them
  std::array<std::vector<bool>, num_cell_axes> kept_;
  CellIndex num_kept_;
};

}  // namespace

CellTable complete_part(CellTable table) {
  const bool is_complete = std::ranges::all_of(table.values, [](double value) { return std::isfinite(value); });
  return is_complete ? table : CompletePart(table).part();
}

CellTable without_mean_replicate(CellTable table, const std::vector<std::string>& replicates) {
  const auto mean = std::ranges::find(replicates, results::ScoreTable::mean_replicate);
  if (mean == replicates.end()) {
    return table;
  }
  constexpr auto axis = static_cast<std::size_t>(CellAxis::replicate);
  CellTable others{table.lengths, {}};
  others.lengths[axis] -= 1;
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    if (std::cmp_not_equal(at[axis], mean - replicates.begin())) {
      others.values.push_back(table.values[place]);
    }
  });
  const bool has_others = std::ranges::any_of(others.values, [](double value) { return std::isfinite(value); });
  return has_others ? others : table;
}

std::vector<double> means_over(const CellTable& table, const std::vector<CellAxis>& axes) {
  std::size_t size = 1;
  for (const auto axis : axes) {
    size *= table.length(axis);
  }
  std::vector<double> means(size, 0);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    std::size_t index = 0;
    for (const auto axis : axes) {
      index = index * table.length(axis) + at[static_cast<std::size_t>(axis)];
    }
    means[index] += table.values[place];
  });
  const auto each = static_cast<double>(table.values.size() / size);
  std::ranges::for_each(means, [&](double& mean) { mean /= each; });
  return means;
}

}  // namespace stereosweep::findings
