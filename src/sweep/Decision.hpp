// What a job wants to know of its contrasts, so that a sweep can tell when it knows (`statistics.decide`). Plain
// values.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sweep/Keys.hpp"

namespace stereosweep::sweep {

/// Tests that are adjusted together: rows of one contrast and measure, of one measure, or all.
enum class TestFamily : std::uint8_t { contrast, measure, all };
inline const std::vector<std::string> test_family_names = {"contrast", "measure", "all"};

struct DecideRequest {
  static constexpr const char* key_form = "{want: [sign, {equivalence: 0.1}, {width: 0.2}], target: prompts} or all";
  /// One thing that a row wants.
  struct Want {
    static constexpr const char* key_form = "sign, {equivalence: MARGIN} or {width: WIDTH}";
    enum class Claim : std::uint8_t { none, sign };
    inline static const std::vector<std::string> claim_names = {"none", "sign"};
    Claim claim = Claim::none;
    double equivalence = 0;  ///< the difference lies within -+ this, in the score's unit; 0: not wanted
    double width = 0;        ///< the interval is at most as wide, in the score's unit; 0: not wanted
    static void each_key(auto& self, auto& keys) {
      keys.unless_default().alone().choice("claim", self.claim, claim_names, "sign: on which side of zero it lies");
      keys.unless_default().number("equivalence", self.equivalence, 0, 1e9, "within so much of zero, in score units");
      keys.unless_default().number("width", self.width, 0, 1e9, "an interval of at most this width, in score units");
    }
    std::vector<KeyFault> faults() const {
      const int count = (claim == Claim::sign ? 1 : 0) + (equivalence > 0 ? 1 : 0) + (width > 0 ? 1 : 0);
      return fault_if(count != 1, {.problem = count == 0 ? "nothing is wanted" : "several things in one",
                                   .reason = "an entry is one of sign, an equivalence above 0, a width above 0",
                                   .suggestion = std::string("Write ") + key_form + "."});
    }
    bool operator==(const Want&) const = default;
  };
  /// Variances that the rounds are planned with, as ratios. They are declared before the first score: wrong ones cost
  /// passes, not errors.
  struct Plan {
    static constexpr const char* key_form = "{templates: 1, rephrasings: 0.05, cells: 0.5} or {pilot: DIR}";
    double templates = 1;
    double rephrasings = 0.05;
    double cells = 0.5;
    std::string pilot = {};  ///< a finished run whose differences vary so; "": declared
    static void each_key(auto& self, auto& keys) {
      keys.number("templates", self.templates, 0, 1e9);
      keys.number("rephrasings", self.rephrasings, 0, 1e9);
      keys.number("cells", self.cells, 0, 1e9);
      keys.path("pilot", self.pilot, "a finished run of the same contrasts that tells these three");
    }
    std::vector<KeyFault> faults() const {
      return fault_if(templates + cells <= 0, {.problem = "no variance of templates or cells is planned",
                                               .reason = "more passes would then say nothing new",
                                               .suggestion = std::string("Give ") + key_form,
                                               .of = {"templates", "cells"}});
    }
    bool operator==(const Plan&) const = default;
  };
  /// One contrast in one measure for one item, by their labels.
  struct Row {
    static constexpr const char* key_form = "{contrast: NAME, measure: LABEL, item: LABEL}";
    std::string contrast = {};
    std::string measure = {};
    std::string item = {};
    static void each_key(auto& self, auto& keys) {
      keys.required_line("contrast", self.contrast);
      keys.required_line("measure", self.measure);
      keys.required_line("item", self.item);
    }
    auto operator<=>(const Row&) const = default;
  };
  /// An earlier run of other templates, whose undecided rows are asked again.
  struct After {
    static constexpr const char* key_form = "DIR";
    std::string run = {};        ///< its directory
    std::vector<Row> rows = {};  ///< that it left undecided, in order; empty: not read yet
    static void each_key(auto& self, auto& keys) {
      keys.needed().alone().path("run", self.run, "its directory");
      keys.unless_default().items("rows", self.rows, "of a resolved job");
    }
    std::vector<KeyFault> faults() const {
      return fault_if(!std::ranges::is_sorted(rows, std::less_equal{}),
                      {"rows", "rows that are not in order", "the earlier run's list is"});
    }
    bool operator==(const After&) const = default;
  };
  /// Of what mean: over templates and rephrasings that could have been asked, or of exactly those of the job.
  enum class Target : std::uint8_t { prompts, product };
  inline static const std::vector<std::string> target_names = {"prompts", "product"};
  /// At which looks all that is said holds together: at the rounds that are declared, or at any.
  enum class Looks : std::uint8_t { declared, any };
  inline static const std::vector<std::string> looks_names = {"declared", "any"};

  std::vector<Want> want = {{.claim = Want::Claim::sign}};
  Target target = Target::prompts;
  double level = 0.05;  ///< chance that any decision of a family is wrong at any round, of this job and one after it
  double reserve = 0;   ///< share of the level that is kept for a job after this one
  TestFamily family = TestFamily::measure;
  Looks looks = Looks::declared;
  Plan plan = {};
  std::vector<std::string> measures = {};  ///< empty: those of the contrasts
  std::optional<After> after = {};         ///< then what it kept of its level is spent on its undecided rows alone

  /// What of the level this job may spend.
  double own_level() const { return level * (after ? reserve : 1 - reserve); }
  bool asks(const Row& row) const { return !after || std::ranges::binary_search(after->rows, row); }

  bool wants_sign() const {
    return std::ranges::any_of(want, [](const Want& one) { return one.claim == Want::Claim::sign; });
  }
  /// 0: not wanted.
  double margin() const { return sum_of(&Want::equivalence); }
  double width() const { return sum_of(&Want::width); }

  static void each_key(auto& self, auto& keys) {
    keys.items("want", self.want, "a row stops when all of it is known, or hopeless");
    keys.choice("target", self.target, target_names, "over other prompts, or of exactly these");
    keys.number("level", self.level, 1e-6, 0.5, "chance that any decision of a family is wrong");
    keys.choice("family", self.family, test_family_names, "what is decided together, by Holm");
    keys.unless_default().choice("looks", self.looks, looks_names, "what holds at the rounds, or at any look");
    keys.item("plan", self.plan, "variances that are expected, as ratios");
    keys.labels("measures", self.measures);
    keys.unless_default().number("reserve", self.reserve, 0, 0.9, "share of the level that is kept for a job after it");
    keys.optional_item("after", self.after, "a run that kept some of its level: its undecided rows, in new templates");
  }
  std::vector<KeyFault> faults() const {
    const auto count = [&](auto holds) { return std::ranges::count_if(want, holds); };
    const bool is_repeated = count([](const Want& one) { return one.claim == Want::Claim::sign; }) > 1 ||
                             count([](const Want& one) { return one.equivalence > 0; }) > 1 ||
                             count([](const Want& one) { return one.width > 0; }) > 1;
    std::vector<KeyFault> found;
    if (want.empty()) {
      found.push_back({"want", "nothing is wanted", "no row could ever be decided", "Write 'want: [sign]'."});
    } else if (is_repeated) {
      found.push_back({"want", "one thing is wanted twice", "a row has one sign, one margin and one width", ""});
    }
    if (after && !after->rows.empty() && reserve == 0) {
      found.push_back({"after",
                       "no level is kept",
                       "'reserve' says how much of it the earlier run kept",
                       "",
                       {"after", "reserve"}});
    }
    return found;
  }
  bool operator==(const DecideRequest&) const = default;

 private:
  double sum_of(double Want::*what) const {
    double sum = 0;
    for (const auto& one : want) {
      sum += one.*what;
    }
    return sum;
  }
};

}  // namespace stereosweep::sweep
