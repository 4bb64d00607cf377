#include "base/Error.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/text/Text.hpp"

namespace stereosweep::base {

namespace {

/// With a capital, unless it begins with a name that must be written as it is, and a full stop.
std::string sentence_of(std::string text) {
  const auto first = std::string_view(text).substr(0, text.find(' '));
  const auto is_lower = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  if (std::ranges::all_of(first, is_lower) && first != "stereosweep") {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text + (std::string_view(".?!:").find(text.back()) == std::string_view::npos ? "." : "");
}

}  // namespace

std::string describe(std::string_view problem, std::string_view why, std::string_view suggestion) {
  constexpr std::size_t most = 2000;  // bytes: what a file holds is quoted here, and a hostile one holds megabytes
  std::string text = excerpt(problem, most);
  if (!why.empty()) {
    text.append(" (").append(excerpt(why, most)).append(")");
  }
  return suggestion.empty() ? text : text + ". " + sentence_of(excerpt(suggestion, most));
}

void refuse(std::string_view problem, std::string_view why, std::string_view suggestion) {
  throw InputError(describe(problem, why, suggestion));
}

void refuse_if(bool is_wrong, std::string_view problem, std::string_view why, std::string_view suggestion) {
  if (is_wrong) {
    refuse(problem, why, suggestion);
  }
}

void fail(std::string_view problem, std::string_view why, std::string_view suggestion) {
  throw Error(describe(problem, why, suggestion));
}

void fail_if(bool is_wrong, std::string_view problem, std::string_view why, std::string_view suggestion) {
  if (is_wrong) {
    fail(problem, why, suggestion);
  }
}

std::string message_of(const std::exception& error) {
  constexpr std::string_view advice =
      "start fewer ranks on a node, ask for more memory, or raise the limits (ulimit -u -v -s shows them)";
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return describe("there is not enough memory", "the system has refused it", advice);
  }
  const auto* refused = dynamic_cast<const std::system_error*>(&error);
  if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again) {
    return describe("a thread could not be started", "a limit of processes or of memory is reached", advice);
  }
  if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return describe("cannot look at " + of_file->path1().string(), of_file->code().message());
  }
  return error.what();
}

ExitCode exit_code_of(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const auto* refused = dynamic_cast<const std::system_error*>(&error);
  if (refused != nullptr && (refused->code() == std::errc::too_many_symbolic_link_levels ||
                             refused->code() == std::errc::filename_too_long)) {
    return ExitCode::usage;
  }
  return known != nullptr ? known->exit_code() : ExitCode::error;
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

void Problems::add_if(bool is_wrong, const Place& place, std::string_view problem, std::string_view why,
                      std::string_view suggestion) {
  if (is_wrong) {
    add(place, problem, why, suggestion);
  }
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

void contract_broken(const char* file, int line, const char* condition, const std::string& detail) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": broken contract: " + condition + " (" +
                         detail + ")");
}

}  // namespace stereosweep::base
