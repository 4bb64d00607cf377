// What a file holds: objects with attributes, and arrays among them, read and written in ranges of their canonical
// order. Shapes are outermost axis first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hdf5/Handle.hpp"

namespace stereosweep::hdf5 {

/// What an attribute holds: a text, a number, a list of flags.
using AttributeValue = std::variant<std::string, std::int64_t, double, float, std::span<const std::uint8_t>>;

/// A group or dataset. Attribute texts are variable-length UTF-8; a zero byte inside a text is an error.
/// All functions throw base::Error with HDF5's reason.
class Object {
 public:
  explicit Object(Handle handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  Id id() const { return handle_.id(); }
  const std::string& name() const { return name_; }

  void write_attribute(const std::string& name, const AttributeValue& value);

  /// Nothing where the attribute does not exist; an error where it has another type.
  std::optional<std::string> text_attribute(const std::string& name) const;
  std::optional<std::int64_t> number_attribute(const std::string& name) const;
  std::vector<std::string> attribute_names() const;

 protected:
  Handle handle_;

 private:
  std::string where(const std::string& attribute) const;
  std::string name_;
};

using Shape = std::vector<std::uint64_t>;

/// Elements of a shape.
std::uint64_t product(std::span<const std::uint64_t> lengths);

/// Coordinates of an element that is counted in canonical order.
Shape coordinates_of(std::uint64_t element, const Shape& shape);

/// A chunk shape that is contiguous in canonical order and at most `max_bytes`, so that writing in that order
/// compresses every chunk once.
Shape canonical_chunk(const Shape& shape, std::uint64_t element_bytes, std::uint64_t max_bytes);

struct DataSetSpec {
  ElementType type = ElementType::float64;
  Shape shape;                 ///< empty: a scalar
  std::optional<double> fill;  ///< what stands where nothing was written; nothing: 0, or "" for texts
};

/// Values in memory, in the order of ElementType.
using Elements = std::variant<std::span<double>, std::span<std::int32_t>, std::span<std::uint8_t>,
                              std::span<std::string>, std::span<float>>;
using ConstElements = std::variant<std::span<const double>, std::span<const std::int32_t>,
                                   std::span<const std::uint8_t>, std::span<const std::string>, std::span<const float>>;

struct CompressedPart;

/// Elements are counted in canonical (row-major) order: `first` and those behind it, as many as there are values. All
/// functions throw base::Error with HDF5's reason.
class DataSet : public Object {
 public:
  using Object::Object;
  ElementType type() const;
  Shape shape() const;
  void write(std::uint64_t first, ConstElements values);
  /// The same, of whose chunks this part (hdf5/Chunks.hpp) was compressed before.
  void write(std::uint64_t first, ConstElements values, const CompressedPart& compressed);
  void read(std::uint64_t first, Elements values) const;

  /// Makes this one-dimensional array the scale of an axis with its own name.
  void make_scale();
  /// Names the axis `axis` of this array by `scale`.
  void attach_scale(const DataSet& scale, unsigned axis);
  /// Name of the scale of an axis. Throws where an axis has none.
  std::string scale_name(unsigned axis) const;

 private:
  void each_rectangle(std::uint64_t first, std::uint64_t count, auto&& transfer) const;
  void read_raw(std::uint64_t first, ElementType type, std::uint64_t count, void* values) const;
  void write_raw(std::uint64_t first, ElementType type, std::uint64_t count, const void* values);
  void read_texts(std::uint64_t first, std::span<std::string> values) const;
};

}  // namespace stereosweep::hdf5
