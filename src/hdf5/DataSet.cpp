#include "hdf5/DataSet.hpp"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/Error.hpp"
#include "hdf5/Chunks.hpp"

namespace stereosweep::hdf5 {

namespace {

herr_t take_scale_name(hid_t /*dataset*/, unsigned /*axis*/, hid_t scale, void* data) {
  auto& name = *static_cast<std::string*>(data);
  const auto length = H5Iget_name(scale, nullptr, 0);
  if (length > 0) {
    name.resize(static_cast<std::size_t>(length) + 1);
    H5Iget_name(scale, name.data(), name.size());
    name.pop_back();
  }
  return 1;
}

}  // namespace

std::string Object::where(const std::string& attribute) const {
  return "the attribute '" + attribute + "' of '" + name_ + "'";
}

void Object::write_attribute(const std::string& name, const AttributeValue& value) {
  const auto write = [&](Id type, int rank, hsize_t length, const void* data) {
    const Handle space(H5Screate_simple(rank, &length, nullptr), H5Sclose, "cannot shape " + where(name));
    Handle attribute(H5Acreate2(id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                     "cannot create " + where(name));
    checked(H5Awrite(attribute.id(), type, data), "cannot write " + where(name));
    attribute.close("cannot close " + where(name));
  };
  if (const auto* text = std::get_if<std::string>(&value)) {
    require_no_zero_byte(*text, where(name));
    const char* data = text->c_str();
    write(text_type().id(), 0, 0, &data);
  } else if (const auto* flags = std::get_if<std::span<const std::uint8_t>>(&value)) {
    write(H5T_NATIVE_UINT8, 1, flags->size(), flags->data());
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    write(H5T_NATIVE_INT64, 0, 0, whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    write(H5T_NATIVE_DOUBLE, 0, 0, number);
  } else {
    write(H5T_NATIVE_FLOAT, 0, 0, &std::get<float>(value));
  }
}

std::optional<std::string> Object::text_attribute(const std::string& name) const {
  if (checked(H5Aexists(id(), name.c_str()), "cannot look for " + where(name)) == 0) {
    return std::nullopt;
  }
  const Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), H5Aclose, "cannot open " + where(name));
  const Handle type(H5Aget_type(attribute.id()), H5Tclose, "cannot read the type of " + where(name));
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, "cannot read the shape of " + where(name));
  base::fail_if(H5Tis_variable_str(type.id()) <= 0 || H5Sget_simple_extent_npoints(space.id()) != 1,
                "cannot read " + where(name), "it is no single variable-length text");
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
  base::fail_if(H5Sget_simple_extent_npoints(space.id()) != 1, "cannot read " + where(name), "it is no single number");
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

std::uint64_t product(std::span<const std::uint64_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{1}, std::multiplies<>());
}

Shape coordinates_of(std::uint64_t element, const Shape& shape) {
  Shape place(shape.size());
  for (auto axis = shape.size(); axis-- > 0;) {
    place[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return place;
}

Shape canonical_chunk(const Shape& shape, std::uint64_t element_bytes, std::uint64_t max_bytes) {
  Shape chunk(shape.size(), 1);
  auto room = std::max<std::uint64_t>(1, max_bytes / element_bytes);
  for (auto axis = shape.size(); axis-- > 0;) {
    chunk[axis] = std::max<std::uint64_t>(1, std::min(shape[axis], room));
    room /= chunk[axis];
    if (chunk[axis] < shape[axis]) {
      break;
    }
  }
  return chunk;
}

ElementType DataSet::type() const {
  const Handle type(H5Dget_type(id()), H5Tclose, "cannot read the type of '" + name() + "'");
  if (H5Tis_variable_str(type.id()) > 0) {
    return ElementType::text;
  }
  for (const auto known : {ElementType::float64, ElementType::int32, ElementType::uint8, ElementType::float32}) {
    if (H5Tequal(type.id(), file_type(known).id()) > 0) {
      return known;
    }
  }
  base::fail("cannot read '" + name() + "'", "its element type is none that results have");
}

Shape DataSet::shape() const {
  const Handle space(H5Dget_space(id()), H5Sclose, "cannot read the shape of '" + name() + "'");
  const auto rank = checked(H5Sget_simple_extent_ndims(space.id()), "cannot read the shape of '" + name() + "'");
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank));
  checked(H5Sget_simple_extent_dims(space.id(), lengths.data(), nullptr), "cannot read the shape of '" + name() + "'");
  return {lengths.begin(), lengths.end()};
}

/// Calls `transfer` for each of the fewest rectangles that the range is made of, in order, with its place in there and
/// HDF5's spaces: the rectangle in the file, and one of the same shape in memory. Of other shapes HDF5 walks through
/// the elements one by one, which takes longer than all else.
void DataSet::each_rectangle(std::uint64_t first, std::uint64_t count, auto&& transfer) const {
  const auto lengths = shape();
  STEREOSWEEP_ASSERT(first + count <= product(lengths), "a range outside of '" + name() + "'");
  for (std::uint64_t place = 0; place < count;) {
    const auto corner = coordinates_of(first + place, lengths);
    const std::vector<hsize_t> start(corner.begin(), corner.end());
    std::vector<hsize_t> size(start.size(), 1);
    std::uint64_t taken = 1;
    for (auto axis = size.size(); axis-- > 0;) {
      size[axis] = std::min(lengths[axis] - corner[axis], (count - place) / taken);
      taken *= size[axis];
      if (size[axis] < lengths[axis]) {
        break;
      }
    }
    const Handle file(H5Dget_space(id()), H5Sclose, "cannot read the shape of '" + name() + "'");
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose,
                        "cannot shape a part of '" + name() + "'");
    if (!start.empty()) {
      checked(H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr),
              "cannot select a part of '" + name() + "'");
    }
    transfer(place, memory.id(), file.id());
    place += taken;
  }
}

void DataSet::write_raw(std::uint64_t first, ElementType type, std::uint64_t count, const void* values) {
  each_rectangle(first, count, [&](std::uint64_t place, Id memory, Id file) {
    const auto* from = static_cast<const std::byte*>(values) + place * element_size(type);
    checked(H5Dwrite(id(), memory_type(type).id(), memory, file, H5P_DEFAULT, from), "cannot write '" + name() + "'");
  });
}

void DataSet::read_raw(std::uint64_t first, ElementType type, std::uint64_t count, void* values) const {
  each_rectangle(first, count, [&](std::uint64_t place, Id memory, Id file) {
    auto* to = static_cast<std::byte*>(values) + place * element_size(type);
    checked(H5Dread(id(), memory_type(type).id(), memory, file, H5P_DEFAULT, to), "cannot read '" + name() + "'");
  });
}

void DataSet::write(std::uint64_t first, ConstElements values) {
  write(first, values, ChunkCompressor(*this).compress(first, values));
}

void DataSet::write(std::uint64_t first, ConstElements values, const CompressedPart& compressed) {
  const auto type = static_cast<ElementType>(values.index());
  if (const auto* texts = std::get_if<std::span<const std::string>>(&values)) {
    std::vector<const char*> pointers;
    pointers.reserve(texts->size());
    for (const auto& text : *texts) {
      require_no_zero_byte(text, "'" + name() + "'");
      pointers.push_back(text.c_str());
    }
    write_raw(first, type, pointers.size(), pointers.data());
    return;
  }
  for (const auto& chunk : compressed.chunks) {
    const std::vector<hsize_t> start(chunk.start.begin(), chunk.start.end());
    checked(H5Dwrite_chunk(id(), H5P_DEFAULT, 0, start.data(), chunk.bytes.size(), chunk.bytes.data()),
            "cannot write '" + name() + "'");
  }
  for (const auto& part : compressed.rest) {
    write_raw(part.first, type, part.count, bytes_of(values).data() + (part.first - first) * element_size(type));
  }
}

void DataSet::read(std::uint64_t first, Elements values) const {
  const auto wanted = static_cast<ElementType>(values.index());
  if (wanted == ElementType::text) {
    read_texts(first, std::get<std::span<std::string>>(values));
  } else {
    std::visit([&](const auto& numbers) { read_raw(first, wanted, numbers.size(), numbers.data()); }, values);
  }
}

void DataSet::read_texts(std::uint64_t first, std::span<std::string> values) const {
  base::fail_if(type() != ElementType::text, "cannot read '" + name() + "'", "it does not hold texts");
  std::vector<char*> pointers(values.size(), nullptr);
  read_raw(first, ElementType::text, values.size(), pointers.data());
  for (std::size_t index = 0; index < values.size(); ++index) {
    values[index] = pointers[index] != nullptr ? pointers[index] : "";
  }
  const hsize_t length = pointers.size();
  const Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose, "cannot free '" + name() + "'");
  checked(H5Dvlen_reclaim(text_type().id(), space.id(), H5P_DEFAULT, pointers.data()), "cannot free '" + name() + "'");
}

void DataSet::make_scale() { checked(H5DSset_scale(id(), name().c_str()), "cannot make '" + name() + "' a scale"); }

void DataSet::attach_scale(const DataSet& scale, unsigned axis) {
  checked(H5DSattach_scale(id(), scale.id(), axis), "cannot attach '" + scale.name() + "' to '" + name() + "'");
}

std::string DataSet::scale_name(unsigned axis) const {
  std::string name_of_scale;
  base::fail_if(H5DSiterate_scales(id(), axis, nullptr, take_scale_name, &name_of_scale) < 0 || name_of_scale.empty(),
                "cannot read '" + name() + "'", "its axis " + std::to_string(axis) + " has no scale");
  return name_of_scale.substr(name_of_scale.find_first_not_of('/'));
}

}  // namespace stereosweep::hdf5
