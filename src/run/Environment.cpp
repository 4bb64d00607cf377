#include "run/Environment.hpp"

#include <array>
#include <cstdlib>
#include <ctime>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::run {

std::string text_from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double seconds_from_environment(const char* name, double otherwise) {
  const auto text = text_from_environment(name);
  if (text.empty()) {
    return otherwise;
  }
  const auto seconds = base::parse_double(text);
  if (!seconds || *seconds <= 0) {
    throw base::InputError(base::describe(std::string(name) + "=" + text, "it must be a positive number of seconds"));
  }
  return *seconds;
}

std::string utc_now() {
  std::array<char, 32> text{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace stereosweep::run
