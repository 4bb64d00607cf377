// All that a job asks of the intersections of a score table: order, dominance, emergent traits, interaction, known
// stereotypes. Knows no probe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "findings/Cells.hpp"
#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "stats/Correlation.hpp"
#include "stats/RateInterval.hpp"
#include "stats/Summary.hpp"
#include "sweep/Axes.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

// Which subjects of a score table are intersections of groups, and where their parts stand in it. Knows no probe.

/// [subject]: labels of its parts, the coordinates `first`, `second`, ... of the axis; of a group its own.
std::vector<std::vector<std::string>> part_labels(const results::AxisSchema& subjects);

/// A subject of kind `intersection` with at least two parts. Places are on the axis of subjects.
struct Intersection {
  std::size_t subject = 0;
  std::vector<std::optional<std::size_t>> parts;  ///< subjects of kind `group`, in order; none: not scored by itself
  std::optional<std::size_t> reversed;            ///< the intersection of the same parts from the last to the first
  bool has_parts() const {
    return std::ranges::all_of(parts, [](const auto& part) { return part.has_value(); });
  }
};

struct IntersectionParts {
  std::vector<Intersection> intersections;  ///< in the table's order
  /// The only subject of kind `baseline`: what is scored where no group is named.
  std::optional<std::size_t> baseline;
  std::vector<std::string> domains;  ///< [subject]
  std::size_t most() const;          ///< parts that an intersection has
};

/// Where several subjects could be a part (one for each place of a marker), the one that shares most of the other
/// coordinates with the intersection is; none where two share as many. Throws InputError where no subject is an
/// intersection.
IntersectionParts parts_of(const results::AxisSchema& subjects);

// What an intersection's score has that its parts' scores do not: scores beyond each part's (cao2022 §5.2, Q3, table
// A10), and what is left beyond their sum. Knows no probe.

/// One intersection and one item (or pole). All is over the cells (template, rephrasing) in which the intersection, all
/// parts and, where the table has one, the baseline have a score: each is one subject, so that this is the equal
/// composition of contrasts. Every p is that of stats::test_cells, over other templates and rephrasings.
struct EmergenceRow {
  double score = stats::nan;                    ///< mean of the intersection, in the measure's unit
  std::array<double, sweep::most_parts> parts;  ///< of its parts; NaN behind the last
  double emerge_max = stats::nan;               ///< score - the largest of the parts
  double emerge_min = stats::nan;               ///< score - the smallest
  /// Of the differences to the parts. p: the largest of theirs, 1 where the score is not beyond all of them on the same
  /// side; degrees: the fewest; no interval.
  stats::CellsTest beyond;
  double p_holm = stats::nan;  ///< adjusted over all rows
  /// Score minus the sum of the parts, plus the baseline for each part but the first.
  double interaction = stats::nan;
  stats::CellsTest interaction_test;
  double interaction_p_holm = stats::nan;  ///< adjusted over all rows
  std::int32_t num_templates = 0;
  std::int32_t num_cells = 0;

  EmergenceRow() { parts.fill(stats::nan); }
  /// 1: above all parts, -1: below all, 0: neither, or no score.
  int side() const { return emerge_max > 0 ? 1 : emerge_min < 0 ? -1 : 0; }
};

/// Rows [intersection, item] of scores that lie between `ends`. A family of tests is all that is returned. Collective
/// over `ranks`, which share the intersections.
std::vector<EmergenceRow> emergence_of(const Cells& cells, const std::optional<stats::ScaleEnds>& ends,
                                       const IntersectionParts& parts, double confidence, const Workers& ranks);

// Emergent traits held against a user's table of known stereotypes (cao2022 §5.2: precision and recall against the
// traits that Ghavami and Peplau found). Knows no probe.

/// Of an intersection (its place in IntersectionParts) and an item or pole (its place on the axis): 0: known to be
/// higher, 1: lower, 2: in the universe, and known for nothing. The universe: each intersection of an entry with each
/// item of an entry, higher and lower.
using KnownTraits = std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>>;

struct KnownTable {
  KnownTraits items;
  KnownTraits poles;
};

/// Columns `intersection` (a subject's label), `item` (an item's or a pole's), `direction`: higher, lower (than of all
/// parts), or none: in the universe, and known for nothing. Names are compared as in a table of human ratings. Throws
/// InputError with every bad row: a name that the score table does not have, a direction twice or beside `none`.
KnownTable read_known_traits(const std::string& path, const Scores& scores, const IntersectionParts& parts);

struct KnownCounts {
  std::int32_t num_universe = 0;   ///< with a score; each (intersection, item) is two, higher and lower
  std::int32_t num_unscored = 0;   ///< of the universe, without: counted nowhere else
  std::int32_t num_known = 0;      ///< in the table
  std::int32_t num_predicted = 0;  ///< emerge: beyond each part's by more than `emergence`, and p at most `level`
  std::int32_t num_hits = 0;       ///< both
  double precision() const;        ///< hits / predicted; NaN: nothing predicted
  double recall() const;           ///< hits / known; NaN: nothing known
  double prevalence() const;       ///< known / universe: precision of saying yes always (whose recall is 1)
};

/// `rows` [intersection, item] as `emergence_of` gives them.
KnownCounts count_known(std::span<const EmergenceRow> rows, std::size_t num_items, const KnownTraits& known,
                        const sweep::IntersectionQuestions& questions);

// How alike the scores of an intersection are to those of its parts and of the other order, and which domain's part it
// resembles more (cao2022 §5.2, Q1 and Q2; tables A8 and A9). Knows no probe.

/// Mean over intersections of a tau-b that exists, and over how many.
struct OrderMean {
  double mean = stats::nan;
  std::int32_t num_intersections = 0;
  double mean_both_orders = stats::nan;  ///< of the intersections whose other order is scored, too
  std::int32_t num_both_orders = 0;
};

struct Order {
  /// [intersection, comparison]: Kendall's tau-b over items; an item's two scores are means over the cells in which
  /// both subjects have one. The value with the nearest part is the largest of the parts', NaN unless all exist.
  std::vector<stats::Correlation> taus;
  std::vector<OrderMean> means;  ///< [comparison]
};

/// With what an intersection is compared: the other order, each part, the nearest part.
std::vector<std::string> order_comparisons(const IntersectionParts& parts);

/// Collective over `ranks`, which share the intersections.
Order order_of(const Cells& cells, const IntersectionParts& parts, const Workers& ranks);

/// Of a rule or an interval: none or which of the two domains.
enum class Dominant : std::uint8_t { neither, first, second, unknown };

/// Two domains whose groups are crossed, in the order in which the table has them first.
struct DominanceRow {
  std::string first;
  std::string second;
  double tau_first = stats::nan;   ///< mean over intersections of tau-b with the part of the first domain
  double tau_second = stats::nan;  ///< over the same intersections, those that have both
  double difference = stats::nan;  ///< of the two means
  double low = stats::nan;         ///< stats::test_cells over other groups of both domains, which are crossed
  double high = stats::nan;
  std::int32_t num_intersections = 0;  ///< both orders count
  std::int32_t num_first = 0;          ///< groups of the first domain
  std::int32_t num_second = 0;
  Dominant rule = Dominant::unknown;                ///< whose mean is larger by at least the threshold
  Dominant beyond = Dominant::unknown;              ///< on whose side of zero the whole interval lies
  stats::Reason reason = stats::Reason::no_values;  ///< why there is no interval, as CellsTest; one group in a domain
};

std::vector<DominanceRow> dominance_of(const Order& order, const IntersectionParts& parts,
                                       const sweep::Comparison& comparison);

struct IntersectionsOfMeasure {
  std::string measure;
  Order order;
  std::vector<DominanceRow> dominance;
  std::vector<EmergenceRow> items;  ///< [intersection, item]
  std::vector<EmergenceRow> poles;  ///< [intersection, pole]; empty: poles are not scored
  KnownCounts known_items;
  KnownCounts known_poles;
};

struct Intersections {
  results::AxisSchema measures;  ///< all of the score table, or `intersection_measure`
  results::AxisSchema subjects;  ///< of the score table
  std::vector<std::string> items;
  std::vector<std::string> poles;
  IntersectionParts parts;
  std::string known_source;  ///< the table of known stereotypes, with its SHA-256; empty: none
  std::vector<IntersectionsOfMeasure> of_measures;
};

/// Throws InputError for measures that the table does not have, a table without intersections, and for what
/// read_known_traits refuses.
Intersections intersections_of(const Scores& scores, const sweep::Comparison& comparison);

/// Order, dominance, emergent scores, interactions and known stereotypes, of each measure; emergent scores and
/// interactions by p.
std::vector<Finding> findings_of(const Intersections& intersections, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
