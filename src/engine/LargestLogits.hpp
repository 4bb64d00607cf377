// Selection of the largest entries of a row without sorting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::engine {

/// Indices of at least min(wanted, size) largest entries: every entry that is not listed is at most the smallest
/// listed one. In ascending order of index. Entries must be finite.
std::vector<std::uint32_t> find_largest(std::span<const float> row, std::size_t wanted);

}  // namespace stereosweep::engine
