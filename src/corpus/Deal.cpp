#include "corpus/Deal.hpp"

#include <algorithm>
#include <numeric>

#include "base/Check.hpp"

namespace stereosweep::corpus {
namespace {

/// A compressed byte costs about as much as so many plain ones: it becomes three to four, and inflating is slow.
constexpr std::uint64_t compressed_cost = 8;

// How many plain bytes each shard reads, so that the loads become level.
std::vector<std::uint64_t> fill_up(const std::vector<std::uint64_t>& loads, std::uint64_t plain) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] < loads[b]; });
  // the `filled` least loaded ones reach a common level
  std::size_t filled = 1;
  std::uint64_t below = 0;  // bytes that lift the first `filled` to the load of the last of them
  while (filled < order.size()) {
    const auto step = (loads[order[filled]] - loads[order[filled - 1]]) * filled;
    if (below + step > plain) {
      break;
    }
    below += step;
    ++filled;
  }
  const auto level = loads[order[filled - 1]] + (plain - below) / filled;
  auto more = (plain - below) % filled;
  std::vector<std::uint64_t> amounts(loads.size());
  for (std::size_t i = 0; i < filled; ++i) {
    amounts[order[i]] = level - loads[order[i]] + (more > 0 ? 1 : 0);
    more -= more > 0 ? 1 : 0;
  }
  return amounts;
}

}  // namespace

std::vector<Piece> deal(std::span<const CorpusFile> files, Shard shard) {
  STEREOSWEEP_ASSERT(shard.index < shard.count, "shard " + std::to_string(shard.index));
  std::vector<Piece> pieces;
  std::vector<std::size_t> compressed;
  std::uint64_t plain = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].compression == Compression::none) {
      plain += files[i].size;
    } else {
      compressed.push_back(i);
    }
  }
  std::stable_sort(compressed.begin(), compressed.end(),
                   [&](std::size_t a, std::size_t b) { return files[a].size > files[b].size; });
  std::vector<std::uint64_t> loads(shard.count);
  for (const auto file : compressed) {
    const auto least = std::min_element(loads.begin(), loads.end());
    if (least - loads.begin() == static_cast<std::ptrdiff_t>(shard.index)) {
      pieces.push_back({file, 0, files[file].size});
    }
    *least += files[file].size * compressed_cost;
  }
  const auto amounts = fill_up(loads, plain);
  const auto begin =
      std::accumulate(amounts.begin(), amounts.begin() + static_cast<std::ptrdiff_t>(shard.index), std::uint64_t{0});
  const auto end = begin + amounts[shard.index];
  std::uint64_t at = 0;  // where a file begins among all plain bytes
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].compression != Compression::none) {
      continue;
    }
    const auto from = std::max(begin, at);
    const auto to = std::min(end, at + files[i].size);
    if (from < to || (files[i].size == 0 && shard.index == 0)) {  // an empty file still counts as one
      pieces.push_back({i, files[i].size == 0 ? 0 : from - at, files[i].size == 0 ? 0 : to - at});
    }
    at += files[i].size;
  }
  return pieces;
}

}  // namespace stereosweep::corpus
