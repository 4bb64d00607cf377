// Human ratings of groups on trait pairs, from a table, with the names of a job.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "findings/agreement/Alignment.hpp"
#include "sweep/Selection.hpp"

namespace stereosweep::findings {

/// Means, or single answers, on the table's scale (0: left pole .. 100: right pole unless the form says otherwise).
/// Names that the job does not have stay as the table spells them and are listed, so that nothing is lost in silence.
struct Ratings {
  std::vector<Rating> rows;  ///< labels of the job's groups and trait pairs, or the table's names
  std::vector<std::string> unmatched_groups;
  std::vector<std::string> unmatched_pairs;
  /// Names that matched by more than case and hyphens, a doubtful scale; a sentence each.
  std::vector<std::string> notes;
};

/// Where a table lies, and the names of a job that its rows are held against.
struct RatingNames {
  std::string path;
  std::vector<std::pair<std::string, std::string>> aliases;  ///< name in the table -> label of the job
  struct Group {
    std::string label;
    std::vector<std::string> spellings;  ///< besides the label
  };
  struct Pair {
    std::string label;
    std::string left;
    std::string right;
  };
  std::vector<Group> groups;
  std::vector<Pair> pairs;
  /// What the table's numbers are.
  struct Form {
    /// answers: a table with the column `annotator` holds single answers, in `rating`.
    enum class Rows : std::uint8_t { means, answers } rows = Rows::means;
    double low = 0;  ///< ends of the scale, at the left and the right pole
    double high = 100;
    std::vector<sweep::Selection> only = {};  ///< columns, and what must stand there for a row to count
    std::string subgroups = {};               ///< column whose values are kept
  } form = {};
};

/// Reads the table. First line: column names. Groups stand in the columns whose name begins with "group" (the first
/// that the job knows counts), pairs ("left - right") in `pair`, means in `mean`, else in the first column whose name
/// begins with "mean". Names are compared without case, hyphens and repeated spaces, after `aliases`; a pair also
/// matches with one pole spelt slightly otherwise, or turned round (then 100 - mean). `subject` and `item` are read as
/// `group` and `pair` are. Throws InputError with every bad row: no number, out of the scale, a cell twice (of one
/// annotator), and for columns or values that the form names and the table does not have.
Ratings read_ratings(const RatingNames& names);

/// Reads the table and prints what was notable. Throws InputError as read_ratings.
std::vector<Rating> ratings_of(const RatingNames& names);

/// "human_means.tsv (SHA-256 ...)". Throws InputError where `path` cannot be read.
std::string source_of_ratings(const std::string& path);

}  // namespace stereosweep::findings
