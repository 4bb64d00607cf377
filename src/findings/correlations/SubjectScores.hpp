// Mean scores of subjects on items or on what items have in common (a dimension). Knows no probe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "findings/Cells.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::findings {

/// Items that are averaged: one by its label, or all with one value of a coordinate.
struct ItemGroup {
  std::string name;
  std::vector<std::size_t> items;  ///< places on the table's axis, ascending
};

std::vector<std::string> names_of(const std::vector<ItemGroup>& groups);

/// [subject, group]: mean over the cells (item, template, rephrasing) with a score. NaN: no score.
std::vector<double> subject_means(const Cells& cells, const std::vector<ItemGroup>& groups);

/// A correlation over fewer subjects has a warning.
constexpr std::size_t few_subjects = 10;
/// Of so many correlations, of all.
std::string few_subjects_warning(std::size_t count, std::size_t all);

/// Makes numbers equal that differ by no more than rounding (1e-12 of the largest magnitude): means of other cells that
/// are equal would else be ranked. NaN stays.
void equalise(std::vector<double>& values);

/// Groups of the items that `selections` name, in its order ("item" by label, "item.COORDINATE" by value), each once.
/// What the table does not have is added to `faults` under `key`.
std::vector<ItemGroup> item_groups(const Scores& scores, const std::vector<sweep::Selection>& selections,
                                   const std::string& key, std::vector<std::string>& faults);

/// A group of each item by itself.
std::vector<ItemGroup> single_items(const results::AxisSchema& items);

/// A group of every value of `item.dimension`, in the order of the items; none where no item has one.
std::vector<ItemGroup> dimension_groups(const results::AxisSchema& items);

}  // namespace stereosweep::findings
