// Human ratings of groups on trait pairs, from a table, with the names of a job.
#pragma once

#include <string>
#include <vector>

#include "domain/Job.hpp"

namespace stereosweep::config {

/// Means on the scale 0 (left pole) .. 100 (right pole). Names that the job does not have stay as the table spells
/// them and are listed, so that nothing is lost in silence.
struct Ratings {
  struct Row {
    std::string group;  ///< label of the job's group, or the table's name
    std::string pair;   ///< label of the job's trait pair, or the table's name
    double mean = 0;
  };
  std::vector<Row> rows;
  std::vector<std::string> unmatched_groups;
  std::vector<std::string> unmatched_pairs;
  std::vector<std::string>
      notes;  ///< names that matched by more than case and hyphens, a doubtful scale; a sentence each
};

/// Reads `statistics.human_ratings` of an association or contexts job (there a wefat test is a pair, B left and A
/// right, and its words are groups). First line: column names. Groups stand in the columns whose name begins with
/// "group" (the first that the job knows counts: its label, plural or singular), pairs ("left - right") in `pair`,
/// means in `mean`, else in the first column whose name begins with "mean". Names are compared without case, hyphens
/// and repeated spaces, after `rating_aliases`; a pair also matches with one pole spelt slightly otherwise, or turned
/// round (then 100 - mean). Throws InputError with every bad row: no number, out of 0..100, a cell twice.
Ratings read_ratings(const domain::Job& job);

}  // namespace stereosweep::config
