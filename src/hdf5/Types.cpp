#include "hdf5/Types.hpp"

#include <hdf5.h>

#include "base/Error.hpp"

namespace stereosweep::hdf5 {

namespace {

Handle copy_type(hid_t type) { return {H5Tcopy(type), H5Tclose, "cannot copy an HDF5 type"}; }

struct Numbers {
  hid_t in_file;
  hid_t in_memory;
  std::uint64_t size;
};

/// Of the types that are no text.
Numbers numbers_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizeof(double)};
    case ElementType::int32:
      return {H5T_STD_I32LE, H5T_NATIVE_INT32, sizeof(std::int32_t)};
    case ElementType::uint8:
      return {H5T_STD_U8LE, H5T_NATIVE_UINT8, sizeof(std::uint8_t)};
    default:
      return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, sizeof(float)};
  }
}

}  // namespace

Handle text_type() {
  auto type = copy_type(H5T_C_S1);
  checked(H5Tset_size(type.id(), H5T_VARIABLE), "cannot make a text type");
  checked(H5Tset_cset(type.id(), H5T_CSET_UTF8), "cannot make a text type");
  return type;
}

Handle file_type(ElementType type) {
  return type == ElementType::text ? text_type() : copy_type(numbers_of(type).in_file);
}

Handle memory_type(ElementType type) {
  return type == ElementType::text ? text_type() : copy_type(numbers_of(type).in_memory);
}

std::uint64_t element_size(ElementType type) {
  return type == ElementType::text ? sizeof(char*) : numbers_of(type).size;
}

void require_no_zero_byte(std::string_view text, const std::string& where) {
  if (text.find('\0') != std::string_view::npos) {
    throw base::Error(base::describe("cannot write " + where, "its text holds a zero byte, where HDF5 would cut it"));
  }
}

}  // namespace stereosweep::hdf5
