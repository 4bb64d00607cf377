// One value of a JSON document with its place, so that every refusal names file and key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/Json.hpp"

namespace stereosweep::base {

class FileSet;

/// A view of a value, or of the place of one that is left out: document and file name outlive it. null counts as left
/// out. All that it throws are InputErrors "file:key: problem (why)"; what takes a value throws where there is none or
/// one of another kind, and the forms that end with `_or` return `otherwise` where there is none.
class JsonValue {
 public:
  JsonValue(const Json& value, const std::string& file, std::string path = "")
      : JsonValue(&value, file, std::move(path)) {}
  JsonValue(Json&&, const std::string&, std::string = "") = delete;  // it would be gone

  [[noreturn]] void refuse(std::string_view problem, std::string_view why) const;
  /// The same where `is_wrong`. The words are made in any case.
  void refuse_if(bool is_wrong, std::string_view problem, std::string_view why) const;

  explicit operator bool() const { return !json().is_null(); }
  bool says_null() const { return value_ != nullptr && value_->is_null(); }
  /// null where it is left out.
  const Json& json() const;
  const std::string& path() const { return path_; }
  const std::string& file() const { return *file_; }

  /// A member of this object, or its place.
  JsonValue operator[](const std::string& key) const;
  std::vector<std::pair<std::string, JsonValue>> members() const;
  /// Throws where this object has a member of another name.
  void refuse_others(std::initializer_list<const char*> known) const;
  std::vector<JsonValue> items() const;
  const Json& object() const;
  const Json& list() const;

  std::string text() const;
  std::string text_or(std::string_view otherwise) const { return *this ? text() : std::string(otherwise); }
  std::vector<std::string> texts() const;
  bool flag() const;
  bool flag_or(bool otherwise) const { return *this ? flag() : otherwise; }

  template <class Whole>
  Whole whole(Whole least = std::numeric_limits<Whole>::min(), Whole most = std::numeric_limits<Whole>::max()) const {
    const auto in_range = [&](auto number) {
      return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most);
    };
    const auto& value = json();
    const bool fits = value.is_number_unsigned()
                          ? in_range(value.template get<std::uint64_t>())
                          : value.is_number_integer() && in_range(value.template get<std::int64_t>());
    if (!fits) {
      refuse_found(
          "a whole number from " + std::to_string(least) +
          (sizeof(most) == 8 && most == std::numeric_limits<Whole>::max() ? " on" : " to " + std::to_string(most)));
    }
    return value.template get<Whole>();
  }
  template <class Whole>
  Whole whole_or(std::type_identity_t<Whole> otherwise) const {
    return *this ? whole<Whole>() : otherwise;
  }
  /// From `least` to 2^31-1.
  std::int64_t size(std::int64_t least = 1) const { return whole<std::int64_t>(least, INT32_MAX); }
  std::int64_t size_or(std::int64_t otherwise, std::int64_t least = 1) const { return *this ? size(least) : otherwise; }

  double number() const;
  double number_or(double otherwise) const { return *this ? number() : otherwise; }
  /// From 1e-12 to 1e12, so that float32 holds products of a few.
  double positive() const;
  double positive_or(double otherwise) const { return *this ? positive() : otherwise; }
  /// Between 0 and 1, both excluded.
  double fraction() const;
  double fraction_or(double otherwise) const { return *this ? fraction() : otherwise; }

 private:
  JsonValue(const Json* value, const std::string& file, std::string path)
      : value_(value), file_(&file), path_(std::move(path)) {}
  std::string path_of(const std::string& key) const;
  const Json& of_kind(bool is_right, std::string_view needed) const;
  [[noreturn]] void refuse_found(std::string_view needed) const;

  const Json* value_;  ///< null: left out
  const std::string* file_;
  std::string path_;
};

/// A document and the file that messages about it name.
struct JsonDocument {
  std::string file;
  Json root = Json::object();
  JsonValue value() const { return {root, file}; }
  JsonValue operator[](const std::string& key) const { return value()[key]; }
};

/// A file of the directory that must hold an object.
JsonDocument read_json(const FileSet& files, const std::string& name);
/// The same; an empty object where there is no such file.
JsonDocument find_json(const FileSet& files, const std::string& name);

}  // namespace stereosweep::base
