// Answers of scipy, statsmodels and mpmath, written by make_context_goldens.py.
#pragma once

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {

inline const base::Json& context_goldens() {
  static const auto parsed = base::parse_json(base::read_file(source_directory() + "/tests/stats/context_goldens.json"),
                                              "context_goldens.json");
  return parsed;
}

}  // namespace stereosweep::stats
