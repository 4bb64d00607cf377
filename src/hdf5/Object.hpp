// What a file's groups and datasets share: attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/Handle.hpp"

namespace stereosweep::hdf5 {

/// A group or dataset. Attribute texts are variable-length UTF-8; a zero byte inside a text is an error.
/// All functions throw base::Error with HDF5's reason.
class Object {
 public:
  explicit Object(Handle handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  Id id() const { return handle_.id(); }
  const std::string& name() const { return name_; }

  void write_attribute(const std::string& name, const std::string& value);
  void write_attribute(const std::string& name, const char* value) { write_attribute(name, std::string(value)); }
  void write_attribute(const std::string& name, std::int64_t value);
  void write_attribute(const std::string& name, double value);
  void write_attribute(const std::string& name, float value);
  void write_attribute(const std::string& name, std::span<const std::uint8_t> values);
  void write_attribute(const std::string& name, std::span<const std::int64_t> values);

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

}  // namespace stereosweep::hdf5
