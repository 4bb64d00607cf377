// People's ratings of subjects on items, from a table, held against the names of a score table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/RawBlock.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Mean rating of a subject on an item, or one person's answer, on the table's scale; their places among the names,
/// nothing: not known there.
struct Rating {
  std::optional<std::size_t> subject = {};
  std::optional<std::size_t> item = {};
  double mean = 0;
  std::string annotator = {};  ///< "": a mean
  std::string subgroup = {};   ///< what stands in the column sweep::People::subgroups
};

/// Names that are not known are listed as the table spells them, so that nothing is lost in silence.
struct Ratings {
  std::vector<Rating> rows;
  std::vector<std::string> unmatched_groups;
  std::vector<std::string> unmatched_pairs;
  /// Names that matched by more than case and hyphens, a doubtful scale; a sentence each.
  std::vector<std::string> notes;
};

/// Reads the table, held against these subjects and items (`left` and `right`: their poles). First line: column names.
/// Subjects stand in the columns whose name begins with "group" (the first that is known counts), else "subject"; items
/// ("left - right") in `pair`, else `item`; single answers in `rating` where there is a column `annotator`, else means
/// in `mean`, else in the first column whose name begins with "mean". Names are compared without case, hyphens and
/// repeated spaces, after the aliases; an item also matches with one pole spelt slightly otherwise, or turned round.
/// Throws InputError with every bad row: no number, out of the scale, a cell twice (of one annotator), and for columns
/// or values that `asked` names and the table does not have.
Ratings read_ratings(const sweep::People& asked, const std::vector<std::string>& subjects,
                     const results::AxisSchema& items);

/// A sentence where the answers seem to be on another scale than the one that `asked` says; else "". Throws InputError
/// as read_ratings.
std::string doubt_of_scale(const sweep::People& asked);

/// "human_means.tsv (SHA-256 ...)". Throws InputError where `path` cannot be read.
std::string source_of_ratings(const std::string& path);

// Human ratings of subjects on dimensions (warmth, competence), from a table.

struct DimensionMeans {
  std::vector<double> means;           ///< [subject, dimension], in the table's unit; NaN: not rated
  std::vector<std::string> unmatched;  ///< subjects and dimensions of the table that were not asked for, each once
};

/// Of these subjects and dimensions, from a table with the columns group (or identity), dimension, mean. Names are
/// compared without case, hyphens and repeated spaces. Throws InputError with every bad row: no number, a cell twice.
DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions);

}  // namespace stereosweep::findings
