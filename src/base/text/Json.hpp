// Strict JSON: duplicate keys, depth over a limit, invalid UTF-8 and trailing text are errors.
// nlohmann-json keeps the last of two equal keys and copies deep trees by recursion; hostile files use both.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/Error.hpp"

namespace stereosweep::base {

using Json = nlohmann::ordered_json;

/// Limits of one document.
struct JsonLimits {
  std::size_t max_depth = 32;
  std::size_t max_bytes = std::size_t{1} << 30;
};

/// The parsed document. Throws InputError "name: problem (why)" with the byte offset of the fault.
Json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

/// Fields of one JSON object that a user wrote: each is asked for by name, what nobody asks for is refused. All errors
/// are InputErrors that name the field.
class JsonFields {
 public:
  /// Keeps the reference. Throws where `object`, which errors call `what`, is no object.
  JsonFields(const Json& object, const std::string& what);

  /// Nothing: the field is left out.
  const Json* find(const std::string& name);
  const Json& need(const std::string& name);
  /// Reads a field that may be left out by `read(value, name)`.
  void take(const std::string& name, auto& target, const auto& read) {
    if (const auto* found = find(name)) {
      target = read(*found, name);
    }
  }
  /// Fields that were neither found nor needed so far.
  void refuse_unknown() const;

 private:
  const Json& object_;
  std::vector<std::string> known_;
};

/// Values of the field `name`.
std::string json_text(const Json& value, const std::string& name);
bool json_boolean(const Json& value, const std::string& name);
/// Not finite: an error.
double json_number(const Json& value, const std::string& name);
const Json& json_list(const Json& value, const std::string& name);
std::vector<std::string> json_texts(const Json& value, const std::string& name);

template <class T>
T json_integer(const Json& value, const std::string& name) {
  refuse_if(!value.is_number_integer(), "field \"" + name + "\" is no integer", "found " + value.dump());
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                               : std::in_range<T>(value.get<std::int64_t>());
  refuse_if(!fits, "field \"" + name + "\" is out of range", value.dump() + " is below or above what it can hold");
  return value.get<T>();
}

}  // namespace stereosweep::base
