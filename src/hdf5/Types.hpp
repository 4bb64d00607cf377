// The element types that a result may have: those that every reader opens (netCDF4, h5netcdf, h5py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hdf5/Handle.hpp"

namespace stereosweep::hdf5 {

/// The numbers stand in journals and digests.
enum class ElementType : std::uint8_t { float64 = 0, int32 = 1, uint8 = 2, text = 3, float32 = 4 };

/// The variable-length UTF-8 text type.
Handle text_type();
/// Type in files: little-endian numbers, UTF-8 text.
Handle file_type(ElementType type);
/// Type in memory: double, std::int32_t, std::uint8_t, char*, float.
Handle memory_type(ElementType type);
/// Bytes of one element in memory.
std::uint64_t element_size(ElementType type);

/// HDF5 ends a text at its first zero byte and would lose the rest. Throws base::Error that names `where`.
void require_no_zero_byte(std::string_view text, const std::string& where);

}  // namespace stereosweep::hdf5
