// The run's log: one line per event on standard error, with UTC time and rank.
#pragma once

#include <string_view>

namespace stereosweep::base {

enum class LogLevel { info, warning, error };

/// Rank that stands in every line; -1 (the default) prints none.
void set_log_rank(int rank);
/// Also appends every line to this file (empty: none). Errors of the file are warned of once: a full disk must not end
/// a run.
void set_log_file(std::string_view path);
/// What stands in the terminal's last line: `bar` is text without an end, which the next line of the log takes the
/// place of.
enum class OpenLine { none, bar };
void set_open_line(OpenLine line);
/// Writes one line in one call, so that lines of several ranks do not mix.
void log(LogLevel level, std::string_view message);

/// Writes the line where `set_log_rank` has given rank zero or none, so that it stands there once.
void log_once(LogLevel level, std::string_view message);

}  // namespace stereosweep::base
