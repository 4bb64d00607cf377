// Reads single keys of config.json (or of ELMo's options file), strictly: a wrong type or an impossible number is an
// error that names the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"

namespace stereosweep::model {

/// One JSON object of the file. Unless said otherwise null counts as left out. Cheap to copy.
class ConfigFields {
 public:
  enum class Flag { off, on };

  /// The whole file. Throws InputError where it is missing, no JSON or no object.
  explicit ConfigFields(const base::FileSet& files, const std::string& file = "config.json");

  /// Throws InputError "directory/file:key: problem (why)".
  [[noreturn]] void refuse(std::string_view key, std::string_view problem, std::string_view why) const;
  void refuse_if(bool is_wrong, std::string_view key, std::string_view problem, std::string_view why) const;

  const base::Json& object() const { return *json_; }
  /// Nothing where the key is left out or null.
  const base::Json* find(const char* key) const;
  bool is_null(const char* key) const;
  /// The first of these keys that is there: families have several names for one size.
  const char* first_of(std::initializer_list<const char*> keys) const;

  std::string text(const char* key, const char* otherwise) const;
  /// A whole number of at least `least` and below 2^31.
  std::int64_t size(const char* key, std::int64_t otherwise, std::int64_t least = 1) const;
  /// The same where null means "none" and a key that is left out means `otherwise`.
  std::optional<std::int64_t> size_or_none(const char* key, std::optional<std::int64_t> otherwise) const;
  /// A number between 0 and 1, both excluded.
  double positive(const char* key, double otherwise) const;
  /// A number from 1e-12 to 1e12.
  double number(const char* key, double otherwise) const;
  /// The same where null means "none" and a key that is left out means `otherwise`.
  std::optional<double> number_or_none(const char* key, std::optional<double> otherwise) const;
  Flag flag(const char* key, Flag otherwise) const;
  bool is_on(const char* key, Flag otherwise = Flag::off) const { return flag(key, otherwise) == Flag::on; }
  /// Such numbers; empty where left out.
  std::vector<double> numbers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  /// An object inside this one.
  std::optional<ConfigFields> section(const char* key) const;
  /// These fields, which are the whole file, and one more.
  ConfigFields with(const char* key, base::Json value) const;

 private:
  ConfigFields(const ConfigFields& parent, const char* key, const base::Json* json);
  template <class Value, class Fits>
  Value checked(const char* key, Value otherwise, const Fits& fits, std::string_view needed) const;

  std::string place_;
  std::string path_;  // keys that lead here, each with a dot
  std::shared_ptr<const base::Json> root_;
  const base::Json* json_ = nullptr;
};

}  // namespace stereosweep::model
