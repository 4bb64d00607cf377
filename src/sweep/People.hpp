// What `stats` is asked of a score table and a table of people's answers (`statistics.people`). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/KeyFault.hpp"
#include "sweep/Selection.hpp"

namespace stereosweep::sweep {

struct People {
  static constexpr const char* key_form = "{ratings: TABLE.tsv}";
  /// What is drawn with replacement for intervals.
  enum class Drawn : std::uint8_t { annotators, templates, rephrasings };
  inline static const std::vector<std::string> drawn_names = {"annotator", "template", "rephrasing"};
  /// Some of the annotators.
  struct Annotators {
    static constexpr const char* key_form = "[ANNOTATOR, ANNOTATOR] or {share: 0.25, seed: 1}";
    std::vector<std::string> names = {};  ///< empty: see `share`
    double share = 0;                     ///< of all, drawn with `seed`; 0: none
    std::uint64_t seed = 0;
    template <class Self, class Keys>
    static void each_key(Self& self, Keys& keys) {
      keys.unless_default().alone().lines("names", self.names);
      keys.unless_default().number("share", self.share, 0.001, 0.999, "of all, drawn");
      keys.unless_default().seed("seed", self.seed);
    }
    bool operator==(const Annotators&) const = default;
  };
  /// Data that choose the templates; all that is none of it judges them.
  struct Pilot {
    static constexpr const char* key_form =
        "{pilot_subjects: [LABEL], pilot_annotators: {share: 0.25, seed: 1}, most: 2}";
    std::vector<std::string> subjects = {};  ///< empty: not split by subjects
    Annotators annotators = {};              ///< none: not split by annotators
    std::int64_t most = 2;                   ///< templates whose scores are averaged: 1 or 2
    template <class Self, class Keys>
    static void each_key(Self& self, Keys& keys) {
      keys.unless_default().lines("pilot_subjects", self.subjects);
      keys.unless_default().item("pilot_annotators", self.annotators);
      keys.integer("most", self.most, 1, 2, "templates whose scores are averaged");
    }
    std::vector<KeyFault> faults() const {
      return subjects.empty() && annotators.names.empty() && annotators.share == 0
                 ? std::vector<KeyFault>{{"", "no pilot is named", "what chooses the templates must not judge them",
                                          "Give 'pilot_subjects', 'pilot_annotators' or both."}}
                 : std::vector<KeyFault>();
    }
    bool operator==(const Pilot&) const = default;
  };

  std::string ratings = {};                                       ///< path of the table
  std::vector<std::pair<std::string, std::string>> aliases = {};  ///< name in the table -> label of the score table
  double low = 0;                                                 ///< ends of the table's scale
  double high = 100;
  std::vector<Selection> only = {};        ///< rows of the table that count; all must hold
  std::string subgroups = {};              ///< column whose values are told apart; "": none
  std::vector<std::string> measures = {};  ///< empty: all
  std::vector<Drawn> over = {};            ///< empty: all that the data have more than one of
  std::optional<Pilot> pilot = {};
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.needed().path("ratings", self.ratings, "the table");
    keys.names("aliases", self.aliases, "name in the table: label of the score table");
    keys.range("scale", self.low, self.high, "ends of the table's scale");
    keys.unless_default().selections("only", self.only, "rows of the table that count");
    keys.line("subgroups", self.subgroups, "a column whose values are told apart");
    keys.labels("measures", self.measures);
    keys.unless_default().choices("over", self.over, drawn_names, "what is drawn for intervals");
    keys.optional_item("selection", self.pilot, "data that choose the templates");
  }
  bool operator==(const People&) const = default;
};

}  // namespace stereosweep::sweep
