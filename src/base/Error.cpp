#include "base/Error.hpp"

namespace stereosweep::base {

std::string describe(std::string_view problem, std::string_view why, std::string_view suggestion) {
  std::string text(problem);
  if (!why.empty()) {
    text.append(" (").append(why).append(")");
  }
  if (!suggestion.empty()) {
    text.append(" ").append(suggestion);
  }
  return text;
}

std::string Place::text() const {
  std::string out = file;
  if (line > 0) {
    out += (out.empty() ? "line " : ":") + std::to_string(line);
  }
  if (!key.empty()) {
    out += (out.empty() ? "" : ":") + key;
  }
  return out;
}

void Problems::add(const Place& place, std::string_view problem, std::string_view why, std::string_view suggestion) {
  const std::string where = place.text();
  lines_.push_back((where.empty() ? "" : where + ": ") + describe(problem, why, suggestion));
}

void Problems::raise_if_any(std::string_view headline) const {
  if (lines_.empty()) {
    return;
  }
  std::string text(headline);
  for (const auto& line : lines_) {
    text += "\n  " + line;
  }
  throw InputError(text);
}

}  // namespace stereosweep::base
