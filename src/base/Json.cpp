#include "base/Json.hpp"

#include <string>
#include <unordered_set>
#include <vector>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::base {
namespace {

// Watches the events of a parse for what the library lets pass.
class Guard : public nlohmann::json_sax<nlohmann::json> {
 public:
  Guard(std::string_view name, const JsonLimits& limits) : name_(name), limits_(limits) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      throw InputError(name_ + ": " +
                       describe("key " + json_quote(name) + " appears twice", "readers disagree on which one counts"));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    throw InputError(name_ + ": " + describe("no valid JSON at byte " + std::to_string(position), error.what()));
  }

 private:
  bool deeper() {
    if (++depth_ > limits_.max_depth) {
      throw InputError(
          name_ + ": " +
          describe("JSON nested deeper than " + std::to_string(limits_.max_depth), "no file of this kind needs it"));
    }
    return true;
  }
  std::string name_;
  JsonLimits limits_;
  std::size_t depth_ = 0;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw InputError(std::string(name) + ": " +
                     describe(std::to_string(text.size()) + " bytes of JSON",
                              "at most " + std::to_string(limits.max_bytes) + " are read"));
  }
  Guard guard(name, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &guard);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {  // numbers out of range and the like
    throw InputError(std::string(name) + ": " + describe("no valid JSON", error.what()));
  }
}

}  // namespace stereosweep::base
