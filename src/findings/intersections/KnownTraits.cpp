#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"
#include "findings/intersections/Intersections.hpp"

namespace stereosweep::findings {
namespace {

const std::vector<std::string> direction_names = {"higher", "lower", "none"};
constexpr std::size_t higher = 0;
constexpr std::size_t lower = 1;
constexpr std::size_t no_direction = 2;

double share_of(std::int32_t part, std::int32_t whole) {
  return whole > 0 ? static_cast<double>(part) / whole : stats::nan;
}

}  // namespace

KnownTable read_known_traits(const std::string& path, const Scores& scores, const IntersectionParts& parts) {
  const std::string headline = "the known stereotypes " + path + " cannot be used:";
  base::Problems problems;
  const auto table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const auto intersection_column = table.column("intersection", problems);
  const auto item_column = table.column("item", problems);
  const auto direction_column = table.column("direction", problems);
  problems.raise_if_any(headline);
  problems.add_if(table.rows.empty(), {path, 0, ""}, "no rows", "nothing is known");
  const auto intersections = base::mapped(parts.intersections, [&](const Intersection& intersection) {
    return scores.axes[subject_axis]->labels[intersection.subject];
  });
  auto items = scores.axes[item_axis]->labels;
  const NameIndex known_intersections(intersections);
  const NameIndex known_items(items);
  NameIndex known_poles;
  if (scores.poles != nullptr) {
    const auto& poles = scores.poles->axes[item_axis]->labels;
    known_poles = NameIndex(poles);
    items.insert(items.end(), poles.begin(), poles.end());
  }
  KnownTable known;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto add = [&](const char* column, const std::string& problem, const char* why, const std::string& name,
                         const std::vector<std::string>& names) {
      problems.add({path, table.lines[row], column}, base::excerpt(problem, 200), why,
                   problems.size() < 20 ? base::did_you_mean(name, names) : "");
    };
    const auto& intersection = table.rows[row][*intersection_column];
    const auto& item = table.rows[row][*item_column];
    const auto& direction = table.rows[row][*direction_column];
    const auto subject = known_intersections.find(intersection);
    const auto as_item = known_items.find(item);
    const auto place = as_item ? as_item : known_poles.find(item);
    const auto way = results::place_of(direction_names, direction);
    if (!subject) {
      add("intersection", "no intersection '" + intersection + "'", "the score table has none", intersection,
          intersections);
    }
    if (!place) {
      add("item", "no item or pole '" + item + "'", "the score table has none", item, items);
    }
    if (!way) {
      add("direction", "'" + base::excerpt(direction, 40) + "' is no direction",
          "one of higher, lower, none is expected", direction, direction_names);
    }
    if (!subject || !place || !way) {
      continue;
    }
    auto& ways = (as_item ? known.items : known.poles)[{*subject, *place}];
    if (ways.contains(*way) || (!ways.empty() && (*way == no_direction || ways.contains(no_direction)))) {
      add("direction", "'" + intersection + "', '" + item + "' stands there already",
          "each direction is named once, and 'none' alone", "", {});
    }
    ways.insert(*way);
  }
  problems.raise_if_any(headline);
  return known;
}

double KnownCounts::precision() const { return share_of(num_hits, num_predicted); }
double KnownCounts::recall() const { return share_of(num_hits, num_known); }
double KnownCounts::prevalence() const { return share_of(num_known, num_universe); }

KnownCounts count_known(std::span<const EmergenceRow> rows, std::size_t num_items, const KnownTraits& known,
                        const sweep::IntersectionQuestions& questions) {
  KnownCounts counts;
  std::set<std::size_t> intersections;
  std::set<std::size_t> items;
  for (const auto& [place, ways] : known) {
    intersections.insert(place.first);
    items.insert(place.second);
  }
  for (const auto intersection : intersections) {
    for (const auto item : items) {
      const auto& row = rows[intersection * num_items + item];
      if (row.num_cells == 0) {
        counts.num_unscored += 2;
        continue;
      }
      const bool passes = questions.level >= 1 || row.beyond.p <= questions.level;
      const auto add = [&, ways = known.find({intersection, item})](std::size_t way, bool is_beyond) {
        const bool is_known = ways != known.end() && ways->second.contains(way);
        counts.num_universe += 1;
        counts.num_known += is_known ? 1 : 0;
        counts.num_predicted += passes && is_beyond ? 1 : 0;
        counts.num_hits += is_known && passes && is_beyond ? 1 : 0;
      };
      add(higher, row.emerge_max > questions.emergence);
      add(lower, row.emerge_min < -questions.emergence);
    }
  }
  return counts;
}

}  // namespace stereosweep::findings
