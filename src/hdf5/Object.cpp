#include "hdf5/Object.hpp"

#include <hdf5.h>

#include "base/Error.hpp"
#include "hdf5/Handle.hpp"

namespace stereosweep::hdf5 {

namespace {

/// Writes `data` of `type` as an attribute; `count` 0: a scalar.
void write_raw(Id object, const std::string& name, Id type, std::uint64_t count, const void* data,
               const std::string& where) {
  const hsize_t length = count;
  const Handle space(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr), H5Sclose,
                     "cannot shape " + where);
  Handle attribute(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                   "cannot create " + where);
  checked(H5Awrite(attribute.id(), type, data), "cannot write " + where);
  attribute.close("cannot close " + where);
}

}  // namespace

std::string Object::where(const std::string& attribute) const {
  return "the attribute '" + attribute + "' of '" + name_ + "'";
}

void Object::write_attribute(const std::string& name, const std::string& value) {
  require_no_zero_byte(value, where(name));
  const auto type = text_type();
  const char* data = value.c_str();
  write_raw(id(), name, type.id(), 0, &data, where(name));
}

void Object::write_attribute(const std::string& name, std::int64_t value) {
  write_raw(id(), name, H5T_NATIVE_INT64, 0, &value, where(name));
}

void Object::write_attribute(const std::string& name, double value) {
  write_raw(id(), name, H5T_NATIVE_DOUBLE, 0, &value, where(name));
}

void Object::write_attribute(const std::string& name, float value) {
  write_raw(id(), name, H5T_NATIVE_FLOAT, 0, &value, where(name));
}

void Object::write_attribute(const std::string& name, std::span<const std::uint8_t> values) {
  write_raw(id(), name, H5T_NATIVE_UINT8, values.size(), values.data(), where(name));
}

void Object::write_attribute(const std::string& name, std::span<const std::int64_t> values) {
  write_raw(id(), name, H5T_NATIVE_INT64, values.size(), values.data(), where(name));
}

std::optional<std::string> Object::text_attribute(const std::string& name) const {
  if (checked(H5Aexists(id(), name.c_str()), "cannot look for " + where(name)) == 0) {
    return std::nullopt;
  }
  const Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), H5Aclose, "cannot open " + where(name));
  const Handle type(H5Aget_type(attribute.id()), H5Tclose, "cannot read the type of " + where(name));
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, "cannot read the shape of " + where(name));
  if (H5Tis_variable_str(type.id()) <= 0 || H5Sget_simple_extent_npoints(space.id()) != 1) {
    throw base::Error(base::describe("cannot read " + where(name), "it is no single variable-length text"));
  }
  const auto memory_type = text_type();
  char* data = nullptr;
  checked(H5Aread(attribute.id(), memory_type.id(), &data), "cannot read " + where(name));
  std::string value = data != nullptr ? data : "";
  checked(H5Dvlen_reclaim(memory_type.id(), space.id(), H5P_DEFAULT, &data), "cannot free " + where(name));
  return value;
}

std::optional<std::int64_t> Object::number_attribute(const std::string& name) const {
  if (checked(H5Aexists(id(), name.c_str()), "cannot look for " + where(name)) == 0) {
    return std::nullopt;
  }
  const Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), H5Aclose, "cannot open " + where(name));
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, "cannot read the shape of " + where(name));
  if (H5Sget_simple_extent_npoints(space.id()) != 1) {
    throw base::Error(base::describe("cannot read " + where(name), "it is no single number"));
  }
  std::int64_t value = 0;
  checked(H5Aread(attribute.id(), H5T_NATIVE_INT64, &value), "cannot read " + where(name));
  return value;
}

std::vector<std::string> Object::attribute_names() const {
  std::vector<std::string> found;
  const auto collect = [](hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* data) {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  checked(H5Aiterate2(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &found),
          "cannot list the attributes of '" + name_ + "'");
  return found;
}

}  // namespace stereosweep::hdf5
