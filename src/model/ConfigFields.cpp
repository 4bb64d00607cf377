#include "model/ConfigFields.hpp"

#include <algorithm>

#include "base/Error.hpp"

namespace stereosweep::model {
namespace {

constexpr std::int64_t max_size = std::int64_t{1} << 31;  // of one side of a matrix

// Within what float32 can hold, products of a few of them included.
bool is_positive(const base::Json& value) {
  return value.is_number() && value.get<double>() >= 1e-12 && value.get<double>() <= 1e12;
}

}  // namespace

ConfigFields::ConfigFields(const base::FileSet& files, const std::string& file)
    : place_(files.directory() + "/" + file),
      root_(std::make_shared<base::Json>(base::parse_json(files.at(file).text(), place_))),
      json_(root_.get()) {
  if (!json_->is_object()) {
    refuse("", "no JSON object", "a model's settings are needed");
  }
}

ConfigFields::ConfigFields(const ConfigFields& parent, const char* key, const base::Json* json)
    : place_(parent.place_), path_(parent.path_ + key + "."), root_(parent.root_), json_(json) {}

void ConfigFields::refuse(std::string_view key, std::string_view problem, std::string_view why) const {
  throw base::InputError(base::Place{place_, 0, path_ + std::string(key)}.text() + ": " + base::describe(problem, why));
}

const base::Json* ConfigFields::find(const char* key) const {
  const auto it = json_->find(key);
  return it == json_->end() || it->is_null() ? nullptr : &*it;
}

bool ConfigFields::is_null(const char* key) const {
  const auto it = json_->find(key);
  return it != json_->end() && it->is_null();
}

const char* ConfigFields::first_of(std::initializer_list<const char*> keys) const {
  const auto* found = std::find_if(keys.begin(), keys.end(), [&](const char* key) { return find(key) != nullptr; });
  return found == keys.end() ? *keys.begin() : *found;
}

std::string ConfigFields::text(const char* key, const char* otherwise) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string()) {
    refuse(key, value->dump(), "a text is needed");
  }
  return value->get<std::string>();
}

std::int64_t ConfigFields::size(const char* key, std::int64_t otherwise, std::int64_t least) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number_integer() || *value < least || *value >= max_size) {
    refuse(key, value->dump(), "a whole number from " + std::to_string(least) + " to 2^31-1 is needed");
  }
  return value->get<std::int64_t>();
}

std::optional<std::int64_t> ConfigFields::size_or_none(const char* key, std::optional<std::int64_t> otherwise) const {
  if (find(key) == nullptr) {
    return is_null(key) ? std::nullopt : otherwise;
  }
  return size(key, 0);
}

double ConfigFields::positive(const char* key, double otherwise) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number() || !(value->get<double>() > 0) || !(value->get<double>() < 1)) {
    refuse(key, value->dump(), "a number between 0 and 1 is needed");
  }
  return value->get<double>();
}

double ConfigFields::number(const char* key, double otherwise) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!is_positive(*value)) {
    refuse(key, value->dump(), "a number from 1e-12 to 1e12 is needed");
  }
  return value->get<double>();
}

std::optional<double> ConfigFields::number_or_none(const char* key, std::optional<double> otherwise) const {
  if (find(key) == nullptr) {
    return is_null(key) ? std::nullopt : otherwise;
  }
  return number(key, 0);
}

ConfigFields::Flag ConfigFields::flag(const char* key, Flag otherwise) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    refuse(key, value->dump(), "true or false is needed");
  }
  return value->get<bool>() ? Flag::on : Flag::off;
}

std::vector<double> ConfigFields::numbers(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_positive)) {
    refuse(key, "no list of numbers", "numbers from 1e-12 to 1e12 are needed");
  }
  return value->get<std::vector<double>>();
}

std::vector<std::string> ConfigFields::texts(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_array() ||
      !std::all_of(value->begin(), value->end(), [](const base::Json& entry) { return entry.is_string(); })) {
    refuse(key, "no list of texts", "a list of texts is needed");
  }
  return value->get<std::vector<std::string>>();
}

std::optional<ConfigFields> ConfigFields::section(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    refuse(key, value->dump(), "a JSON object is needed");
  }
  return ConfigFields(*this, key, value);
}

}  // namespace stereosweep::model
