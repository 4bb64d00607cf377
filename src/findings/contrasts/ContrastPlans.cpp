#include "findings/contrasts/ContrastPlans.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "findings/Names.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;
using sweep::Contrast;
using sweep::Selection;

/// Where the names of one contrast are looked up; every fault is collected.
struct Lookup {
  const Scores& scores;
  const AxisNames& names;
  std::string key;  ///< of the contrast, for messages
  std::vector<std::string>& faults;

  Side side(const std::vector<Selection>& selections) const {
    Side side;
    for (std::size_t axis = 0; axis < side.size(); ++axis) {
      side[axis].assign(scores.length(subject_axis + axis), true);
    }
    for (const auto& selection : selections) {
      if (const auto selected = names.select(selection, key, faults)) {
        auto& mask = side[selected->axis - subject_axis];
        std::transform(mask.begin(), mask.end(), selected->takes.begin(), mask.begin(), std::logical_and());
      }
    }
    return side;
  }
};

/// All sides take the same labels of this axis.
bool sides_agree(const ContrastPlan& plan, std::size_t axis) {
  return std::ranges::all_of(
      plan.sides, [&](const PlannedSide& side) { return side.takes[axis] == plan.sides.front().takes[axis]; });
}

/// Templates are blocks by themselves, or those with one value of the coordinate `paired` together.
void plan_blocks(const Contrast& contrast, const Lookup& lookup, ContrastPlan& plan) {
  constexpr std::size_t axis = template_axis - subject_axis;
  const auto& sides = plan.sides;
  plan.blocks.assign(sides.front().takes[axis].size(), no_block);
  std::vector<std::string> labels = lookup.scores.axes[template_axis]->labels;
  if (!contrast.paired.empty()) {
    const auto named = lookup.names.find(contrast.paired, lookup.key, lookup.faults);
    if (!named) {
      return;
    }
    if (named->axis != template_axis) {
      lookup.faults.push_back(base::describe(lookup.key + ": 'paired: " + contrast.paired + "' names no templates",
                                             "what is paired are sentences", "Give 'paired: template.COORDINATE'."));
      return;
    }
    labels = *named->values;
  } else if (!sides_agree(plan, axis)) {
    lookup.faults.push_back(base::describe(lookup.key + ": left and right are of different templates",
                                           "nothing says which of them belong together",
                                           "Give 'paired: template.COORDINATE'."));
    return;
  }
  std::map<std::string, std::vector<bool>> on_sides;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    auto& on_side = on_sides.try_emplace(labels[place], sides.size(), false).first->second;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      on_side[side] = on_side[side] || sides[side].takes[axis][place];
    }
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    const auto& on_side = on_sides.at(labels[place]);
    if (!labels[place].empty() && !base::contains(on_side, false)) {
      plan.blocks[place] = places.try_emplace(labels[place], places.size()).first->second;
    }
  }
  plan.num_blocks = places.size();
  for (const auto& [label, place] : places) {
    plan.blocks_key += label + '\n';
  }
}

/// Rephrasings are compared each with itself; different ones on both sides by their means.
void plan_columns(ContrastPlan& plan) {
  constexpr std::size_t axis = rephrasing_axis - subject_axis;
  plan.columns.assign(plan.sides.front().takes[axis].size(), no_block);
  for (std::size_t place = 0; place < plan.columns.size(); ++place) {
    if (std::ranges::any_of(plan.sides, [&](const auto& side) { return side.takes[axis][place]; })) {
      plan.columns[place] = sides_agree(plan, axis) ? plan.num_columns++ : 0;
    }
  }
  plan.num_columns = std::max<std::size_t>(plan.num_columns, 1);
}

/// All subjects of the left side's kinds that it does not have.
Side rest_of(const Side& left, const AxisSchema& subjects) {
  Side rest = left;
  const auto* kinds = subjects.find_coordinate("kind");
  for (std::size_t place = 0; place < rest[0].size(); ++place) {
    bool is_alike = kinds == nullptr;
    for (std::size_t other = 0; !is_alike && other < left[0].size(); ++other) {
      is_alike = left[0][other] && (*kinds)[other] == (*kinds)[place];
    }
    rest[0][place] = !left[0][place] && is_alike;
  }
  return rest;
}

/// No subject, template, rephrasing or replicate has all that is selected.
bool is_contradictory(const Side& side) {
  return std::ranges::any_of(side, [](const auto& mask) { return !mask.empty() && !base::contains(mask, true); });
}

std::string axis_of(const std::string& name) { return name.substr(0, name.find('.')); }

/// With the label of `each`, unless a selection is on its axis.
std::vector<Selection> narrowed(std::vector<Selection> selections, const std::optional<Selection>& each) {
  const auto is_on_its_axis = [&](const Selection& selection) {
    return axis_of(selection.axis) == axis_of(each->axis);
  };
  if (each && std::ranges::none_of(selections, is_on_its_axis)) {
    selections.push_back(*each);
  }
  return selections;
}

SideWords words_of(const Contrast& contrast, const std::optional<Selection>& each, std::vector<Selection> left,
                   std::vector<Selection> right) {
  constexpr std::size_t most = 3;
  const bool is_of_minus = contrast.minus && contrast.against == Contrast::Against::zero &&
                           contrast.minus->against == Contrast::Against::zero;
  if (is_of_minus) {
    right = narrowed(contrast.minus->left, each);
  }
  const bool is_compared = is_of_minus || (!contrast.minus && contrast.against != Contrast::Against::zero);
  const bool is_rest = contrast.against == Contrast::Against::rest;
  SideWords words;
  const auto add = [&](const Selection& selection, std::string& side) {
    side += (side.empty() ? "" : ", ") + results::first_names(selection.values, most);
  };
  const bool names_each = each && is_compared && !is_rest && !base::contains(right, *each);
  for (const auto& selection : left) {
    if (is_compared && !is_rest && base::contains(right, selection)) {
      add(selection, words.both);
    } else if (!names_each || selection == *each) {  // the label of `each` says all that others say
      add(selection, words.left);
    }
  }
  std::ranges::for_each(is_compared && !is_rest ? right : std::vector<Selection>(), [&](const auto& selection) {
    if (!base::contains(left, selection)) {
      add(selection, words.right);
    }
  });
  words.right = is_compared && is_rest ? "all others" : words.right;
  words.are_groups = words.both.empty() && left.size() == 1 && left.front().axis == "subject";
  if (words.left.empty() || (is_compared && words.right.empty()) || (contrast.minus && !is_of_minus)) {
    words = {};
    words.left = "the left of '" + contrast.name + (each ? ": " + each->values.front() : "") + "'";
    words.right = is_compared || contrast.minus ? "its right" : "";
  }
  return words;
}

/// `each`: its label, where there is one.
void plan_one(const Contrast& contrast, const std::optional<Selection>& each, const Lookup& lookup,
              std::vector<ContrastPlan>& plans) {
  ContrastPlan plan;
  plan.name = contrast.name + (each ? ": " + each->values.front() : "");
  auto left = contrast.left;
  auto right = contrast.right;
  if (each) {
    left.push_back(*each);
    right.push_back(*each);
  }
  const auto add = [&](Side takes, double to_left, double to_right) {
    plan.sides.push_back({std::move(takes), to_left, to_right});
  };
  plan.words = words_of(contrast, each, left, right);
  add(lookup.side(left), 1, 0);
  if (each && is_contradictory(plan.sides.front().takes)) {
    return;
  }
  const double right_to_left = contrast.minus ? -1 : 0;  // left of an interaction is the whole first difference
  if (contrast.against == Contrast::Against::selected) {
    add(lookup.side(right), right_to_left, 1 + right_to_left);
  } else if (contrast.against == Contrast::Against::rest) {
    add(rest_of(plan.sides.front().takes, *lookup.scores.axes[subject_axis]), right_to_left, 1 + right_to_left);
  }
  if (contrast.minus) {
    add(lookup.side(narrowed(contrast.minus->left, each)), 0, 1);
    if (contrast.minus->against == Contrast::Against::selected) {
      add(lookup.side(narrowed(contrast.minus->right, each)), 0, -1);
    }
  }
  plan_blocks(contrast, lookup, plan);
  plan_columns(plan);
  plan.measures = chosen_measures(lookup.scores, contrast.measures, lookup.key, lookup.faults);
  plan.cells = contrast.cells;
  plans.push_back(std::move(plan));
}

}  // namespace

std::string family_of(const std::string& contrast, const std::string& measure, sweep::TestFamily family) {
  switch (family) {
    case sweep::TestFamily::contrast:
      return contrast + '\n' + measure;
    case sweep::TestFamily::measure:
      return measure;
    case sweep::TestFamily::all:
      break;
  }
  return "";
}

std::vector<ContrastPlan> plan_contrasts_of(const Scores& scores, const sweep::Comparison& comparison) {
  const AxisNames names(scores, subject_axis, replicate_axis);
  std::vector<std::string> faults;
  std::vector<ContrastPlan> plans;
  for (const auto& contrast : comparison.contrasts) {
    const Lookup lookup{scores, names, "statistics.contrasts '" + contrast.name + "'", faults};
    const auto named = contrast.each.empty() ? std::nullopt : names.find(contrast.each, lookup.key, faults);
    if (!named) {
      plan_one(contrast, std::nullopt, lookup, plans);
      continue;
    }
    std::vector<std::string> labels;
    std::ranges::for_each(*named->values, [&](const auto& label) { base::add_once(labels, label); });
    std::erase(labels, "");
    for (const auto& label : labels) {
      plan_one(contrast, Selection{contrast.each, {label}}, lookup, plans);
    }
  }
  require_no_faults(faults);
  return plans;
}

}  // namespace stereosweep::findings
