#include "hdf5/Types.hpp"

#include <hdf5.h>

#include "base/Error.hpp"

namespace stereosweep::hdf5 {

namespace {

Handle copy_type(hid_t type) { return {H5Tcopy(type), H5Tclose, "cannot copy an HDF5 type"}; }

}  // namespace

Handle text_type() {
  auto type = copy_type(H5T_C_S1);
  checked(H5Tset_size(type.id(), H5T_VARIABLE), "cannot make a text type");
  checked(H5Tset_cset(type.id(), H5T_CSET_UTF8), "cannot make a text type");
  return type;
}

Handle file_type(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return copy_type(H5T_IEEE_F64LE);
    case ElementType::int32:
      return copy_type(H5T_STD_I32LE);
    case ElementType::uint8:
      return copy_type(H5T_STD_U8LE);
    case ElementType::float32:
      return copy_type(H5T_IEEE_F32LE);
    case ElementType::text:
      break;
  }
  return text_type();
}

Handle memory_type(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return copy_type(H5T_NATIVE_DOUBLE);
    case ElementType::int32:
      return copy_type(H5T_NATIVE_INT32);
    case ElementType::uint8:
      return copy_type(H5T_NATIVE_UINT8);
    case ElementType::float32:
      return copy_type(H5T_NATIVE_FLOAT);
    case ElementType::text:
      break;
  }
  return text_type();
}

std::uint64_t element_size(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return sizeof(double);
    case ElementType::int32:
      return sizeof(std::int32_t);
    case ElementType::uint8:
      return sizeof(std::uint8_t);
    case ElementType::float32:
      return sizeof(float);
    case ElementType::text:
      break;
  }
  return sizeof(char*);
}

void require_no_zero_byte(std::string_view text, const std::string& where) {
  if (text.find('\0') != std::string_view::npos) {
    throw base::Error(base::describe("cannot write " + where, "its text holds a zero byte, where HDF5 would cut it"));
  }
}

}  // namespace stereosweep::hdf5
