// A difference between labels of a score table. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweep/KeyFault.hpp"
#include "sweep/Selection.hpp"

namespace stereosweep::sweep {

/// Left minus right. What no selection names is there on both sides.
struct Contrast {
  static constexpr const char* key_form = "{name: ..., left: {subject: ...}, right: {subject: ...}}";
  static constexpr const char* listed_as = "contrast";
  static constexpr const char* side_form = "{subject: LABEL, template.COORDINATE: [VALUE, VALUE]}";
  /// selected: `right` says what; zero: the left side's mean against 0; rest: all subjects that are not on the left.
  enum class Against : std::uint8_t { selected, zero, rest };
  /// Which scores are compared where subjects lack cells (findings/README.md).
  enum class Cells : std::uint8_t { adjusted, common, all };
  inline static const std::vector<std::string> cells_names = {"adjusted", "common", "all"};
  std::string name = {};
  std::vector<Selection> left = {};  ///< all must hold
  std::vector<Selection> right = {};
  Against against = Against::selected;
  std::string each = {};                   ///< one contrast for every label of this axis or coordinate; "": one
  std::string paired = {};                 ///< "template.pair": templates with one value are a pair; "": each by itself
  std::vector<std::string> measures = {};  ///< empty: all
  Cells cells = Cells::adjusted;
  /// A second difference that is taken from the first (an interaction). `each` narrows it too, but not a side of it
  /// that selects on the axis of `each` itself.
  struct Minus {
    static constexpr const char* key_form = "{left: {...}, right: {...}}";
    std::vector<Selection> left = {};
    std::vector<Selection> right = {};
    Against against = Against::zero;  ///< selected or zero
    template <class Self, class Keys>
    static void each_key(Self& self, Keys& keys) {
      keys.needed().selections("left", self.left);
      keys.selections_or("right", self.right, self.against, {"zero"});
    }
    bool operator==(const Minus&) const = default;
  };
  std::optional<Minus> minus = {};

  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.required_line("name", self.name);
    keys.unless_default().selections("left", self.left, side_form);
    keys.selections_or("right", self.right, self.against, {"zero", "rest"},
                       "a side, zero (the default), or rest: all other subjects");
    keys.line("each", self.each, "one contrast for every label of this axis or coordinate");
    keys.line("paired", self.paired, "templates with one value of this coordinate are a pair");
    keys.unless_default().labels("measures", self.measures);
    keys.unless_default().choice("cells", self.cells, cells_names, "compared where subjects lack some");
    keys.optional_item("minus", self.minus, "a second difference that is taken from the first");
  }
  std::vector<KeyFault> faults() const {
    return left.empty() && each.empty()
               ? std::vector<KeyFault>{{"", "nothing is selected on the left",
                                        "a contrast needs a label there, or 'each'",
                                        std::string("Give 'left: ") + side_form + "' or 'each: AXIS'."}}
               : std::vector<KeyFault>();
  }
  bool operator==(const Contrast&) const = default;
};

}  // namespace stereosweep::sweep
