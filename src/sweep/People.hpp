// What `stats` is asked of a score table and a table of people's answers (`statistics.people`). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/Selection.hpp"

namespace stereosweep::sweep {

struct People {
  /// What is drawn with replacement for intervals.
  enum class Drawn : std::uint8_t { annotators, templates, rephrasings };
  /// Data that choose the templates; all that is none of it judges them.
  struct Pilot {
    std::vector<std::string> subjects = {};    ///< empty: not split by subjects
    std::vector<std::string> annotators = {};  ///< empty: see `share`
    double share = 0;                          ///< of the annotators, drawn with `seed`; 0: not split by annotators
    std::uint64_t seed = 0;
    std::int64_t most = 2;  ///< templates whose scores are averaged: 1 or 2
    bool operator==(const Pilot&) const = default;
  };

  std::string ratings = {};                                       ///< path of the table
  std::vector<std::pair<std::string, std::string>> aliases = {};  ///< name in the table -> label of the score table
  double low = 0;                                                 ///< ends of the table's scale
  double high = 100;
  std::vector<Selection> only = {};             ///< rows of the table that count; all must hold
  std::string subgroups = {};                   ///< column whose values are told apart; "": none
  std::vector<std::string> measures = {};       ///< empty: all
  std::optional<std::vector<Drawn>> over = {};  ///< nothing: all that the data have more than one of
  std::optional<Pilot> pilot = {};
  bool operator==(const People&) const = default;
};

}  // namespace stereosweep::sweep
