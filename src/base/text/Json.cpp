#include "base/text/Json.hpp"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

[[noreturn]] void refuse_text(std::string_view name, const std::string& problem, std::string_view why) {
  throw InputError(std::string(name) + ": " + describe(problem, why));
}

// Builds the document from the events of one parse. The library's own builder searches an object for each new key,
// which takes seconds for a vocabulary and hours for a hostile file; here a hash set knows the keys.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view name, const JsonLimits& limits) : name_(name), limits_(limits) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text holds none
  bool start_object(std::size_t) override {
    open(Json::object());
    keys_.emplace_back();
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    open(Json::array());
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      refuse_text(name_, "key " + json_quote(name) + " appears twice", "readers disagree on which one counts");
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    refuse_text(name_, "no valid JSON at byte " + std::to_string(position), error.what());
  }

 private:
  // Pointers into open_ stay valid: only the innermost container grows.
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
    }
    return &open_.back()->get_ref<Json::object_t&>().emplace_back(std::move(key_), std::move(value)).second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  void open(Json container) {
    if (open_.size() >= limits_.max_depth) {
      refuse_text(name_, "JSON nested deeper than " + std::to_string(limits_.max_depth),
                  "no file of this kind needs it");
    }
    open_.push_back(place(std::move(container)));
  }
  std::string name_;
  JsonLimits limits_;
  Json root_;
  std::string key_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    refuse_text(name, std::to_string(text.size()) + " bytes of JSON",
                "at most " + std::to_string(limits.max_bytes) + " are read");
  }
  Builder builder(name, limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace stereosweep::base
