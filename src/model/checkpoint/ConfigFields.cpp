#include "model/checkpoint/ConfigFields.hpp"

#include <algorithm>

#include "base/Error.hpp"

namespace stereosweep::model {

namespace {

constexpr std::int64_t max_size = std::int64_t{1} << 31;  // of one side of a matrix

// Within what float32 can hold, products of a few of them included.
bool is_positive(const base::Json& value) {
  return value.is_number() && value.get<double>() >= 1e-12 && value.get<double>() <= 1e12;
}

bool is_text(const base::Json& value) { return value.is_string(); }

bool is_list_of(const base::Json& value, bool (*fits)(const base::Json&)) {
  return value.is_array() && std::all_of(value.begin(), value.end(), fits);
}

}  // namespace

ConfigFields::ConfigFields(const base::FileSet& files, const std::string& file)
    : place_(files.directory() + "/" + file),
      root_(std::make_shared<base::Json>(base::parse_json(files.at(file).text(), place_))),
      json_(root_.get()) {
  refuse_if(!json_->is_object(), "", "no JSON object", "a model's settings are needed");
}

ConfigFields::ConfigFields(const ConfigFields& parent, const char* key, const base::Json* json)
    : place_(parent.place_), path_(parent.path_ + key + "."), root_(parent.root_), json_(json) {}

ConfigFields ConfigFields::with(const char* key, base::Json value) const {
  auto more = *this;
  auto root = std::make_shared<base::Json>(*root_);
  (*root)[key] = std::move(value);
  more.json_ = root.get();
  more.root_ = std::move(root);
  return more;
}

void ConfigFields::refuse(std::string_view key, std::string_view problem, std::string_view why) const {
  throw base::InputError(base::Place{place_, 0, path_ + std::string(key)}.text() + ": " + base::describe(problem, why));
}

void ConfigFields::refuse_if(bool is_wrong, std::string_view key, std::string_view problem,
                             std::string_view why) const {
  if (is_wrong) {
    refuse(key, problem, why);
  }
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

template <class Value, class Fits>
Value ConfigFields::checked(const char* key, Value otherwise, const Fits& fits, std::string_view needed) const {
  const auto* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!fits(*value)) {
    refuse(key, value->dump(), needed);
  }
  return value->get<Value>();
}

std::string ConfigFields::text(const char* key, const char* otherwise) const {
  return checked(key, std::string(otherwise), is_text, "a text is needed");
}

std::int64_t ConfigFields::size(const char* key, std::int64_t otherwise, std::int64_t least) const {
  const auto fits = [&](const base::Json& value) {
    return value.is_number_integer() && value >= least && value < max_size;
  };
  return checked(key, otherwise, fits, "a whole number from " + std::to_string(least) + " to 2^31-1 is needed");
}

std::optional<std::int64_t> ConfigFields::size_or_none(const char* key, std::optional<std::int64_t> otherwise) const {
  return find(key) != nullptr ? size(key, 0) : is_null(key) ? std::nullopt : otherwise;
}

double ConfigFields::positive(const char* key, double otherwise) const {
  const auto fits = [](const base::Json& value) {
    return value.is_number() && value.get<double>() > 0 && value.get<double>() < 1;
  };
  return checked(key, otherwise, fits, "a number between 0 and 1 is needed");
}

double ConfigFields::number(const char* key, double otherwise) const {
  return checked(key, otherwise, is_positive, "a number from 1e-12 to 1e12 is needed");
}

std::optional<double> ConfigFields::number_or_none(const char* key, std::optional<double> otherwise) const {
  return find(key) != nullptr ? number(key, 0) : is_null(key) ? std::nullopt : otherwise;
}

ConfigFields::Flag ConfigFields::flag(const char* key, Flag otherwise) const {
  const auto fits = [](const base::Json& value) { return value.is_boolean(); };
  return checked(key, otherwise == Flag::on, fits, "true or false is needed") ? Flag::on : Flag::off;
}

std::vector<double> ConfigFields::numbers(const char* key) const {
  const auto fits = [](const base::Json& value) { return is_list_of(value, is_positive); };
  return checked(key, std::vector<double>(), fits, "a list of numbers from 1e-12 to 1e12 is needed");
}

std::vector<std::string> ConfigFields::texts(const char* key) const {
  const auto fits = [](const base::Json& value) { return is_list_of(value, is_text); };
  return checked(key, std::vector<std::string>(), fits, "a list of texts is needed");
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
