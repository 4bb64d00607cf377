// Whole chunks of an array, compressed here and handed to HDF5 as they lie in the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdf5/DataSet.hpp"

namespace stereosweep::hdf5 {

/// Writes the chunks that `where` covers, up to the array's edges, and returns the rectangles of `where` that are left,
/// for the ordinary way. `values` holds the rectangle's elements of `type`, as bytes. Nothing is written where the
/// array is not one of `Group::create_dataset` (its chunks, shuffled and deflated). What lies outside of the array in a
/// chunk at its edge is zero. Throws base::Error with HDF5's reason.
std::vector<Rectangle> write_whole_chunks(const DataSet& dataset, const Rectangle& where, ElementType type,
                                          std::span<const std::uint8_t> values);

/// Copies a rectangle out of the elements of `whole`: `from` lies inside of it, and both are parts of one array.
std::vector<std::uint8_t> part_of(const Rectangle& whole, std::span<const std::uint8_t> values, const Rectangle& from,
                                  std::uint64_t element_bytes);

}  // namespace stereosweep::hdf5
