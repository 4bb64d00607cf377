// Errors of the whole program. Message grammar: problem (why it is one). Suggestion.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::base {

/// Exit status of the program (README, «Commands»).
enum class ExitCode : int { done = 0, error = 1, usage = 2, resume = 75 };

/// Anything that ends the current command; `exit_code` says how the program ends.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode exit_code = ExitCode::error)
      : std::runtime_error(message), exit_code_(exit_code) {}
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// The user's input is at fault: exit status 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(message, ExitCode::usage) {}
};

/// "problem (why)"; with a suggestion two sentences: "problem (why). Suggestion." Empty parts are left out.
std::string describe(std::string_view problem, std::string_view why, std::string_view suggestion = "");

/// Throws InputError, as `describe` words it.
[[noreturn]] void refuse(std::string_view problem, std::string_view why, std::string_view suggestion = "");
/// The same where `is_wrong`. The words are made in any case.
void refuse_if(bool is_wrong, std::string_view problem, std::string_view why, std::string_view suggestion = "");
/// The same with an Error: the input is not at fault.
[[noreturn]] void fail(std::string_view problem, std::string_view why = "", std::string_view suggestion = "");
void fail_if(bool is_wrong, std::string_view problem, std::string_view why = "", std::string_view suggestion = "");

/// Throws std::logic_error "file:line: broken contract: condition (detail)".
[[noreturn]] void contract_broken(const char* file, int line, const char* condition, const std::string& detail);

/// What is told of an exception: its text; where memory or a thread was refused, with advice.
std::string message_of(const std::exception& error);
/// How the program ends for it: as an Error says, else `error`.
ExitCode exit_code_of(const std::exception& error);

/// Where in the user's files a problem sits; empty parts are not printed.
struct Place {
  std::string file;
  int line = 0;              ///< 1-based; 0: unknown
  std::string key;           ///< dotted path: "axes.groups[3].plural"
  std::string text() const;  ///< "file:line:key"
};

/// Collects every problem of an input, so that one report names them all.
class Problems {
 public:
  void add(const Place& place, std::string_view problem, std::string_view why, std::string_view suggestion = "");
  /// Where `is_wrong`; the words are made in any case.
  void add_if(bool is_wrong, const Place& place, std::string_view problem, std::string_view why,
              std::string_view suggestion = "");
  bool empty() const { return lines_.empty(); }
  std::size_t size() const { return lines_.size(); }
  const std::vector<std::string>& lines() const { return lines_; }
  /// Throws InputError with `headline` and all lines if there is any problem.
  void raise_if_any(std::string_view headline) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace stereosweep::base

// Contracts, always checked: a broken one is a bug of this program.
#define STEREOSWEEP_ASSERT(condition, detail)                                         \
  do {                                                                                \
    if (!(condition)) {                                                               \
      ::stereosweep::base::contract_broken(__FILE__, __LINE__, #condition, (detail)); \
    }                                                                                 \
  } while (false)
