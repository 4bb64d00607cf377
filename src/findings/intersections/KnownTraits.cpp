#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"
#include "findings/intersections/Intersections.hpp"

namespace stereosweep::findings {
namespace {

const std::vector<std::string> direction_names = {"higher", "lower", "none"};
constexpr std::size_t no_direction = 2;

/// A row of the table, with its names resolved.
struct KnownEntry {
  std::size_t intersection = 0;
  std::size_t item = 0;
  std::size_t direction = 0;
};

KnownTraits gather_known(const std::vector<KnownEntry>& entries) {
  KnownTraits known;
  std::map<std::size_t, std::size_t> intersections;
  std::map<std::size_t, std::size_t> items;
  for (const auto& entry : entries) {
    intersections.try_emplace(entry.intersection, 0);
    items.try_emplace(entry.item, 0);
  }
  const auto number = [](std::map<std::size_t, std::size_t>& places, std::vector<std::size_t>& list) {
    for (auto& [place, index] : places) {
      index = list.size();
      list.push_back(place);
    }
  };
  number(intersections, known.intersections);
  number(items, known.items);
  known.higher.assign(known.intersections.size() * known.items.size(), false);
  known.lower = known.higher;
  for (const auto& entry : entries) {
    const auto at = intersections.at(entry.intersection) * known.items.size() + items.at(entry.item);
    if (entry.direction != no_direction) {
      (entry.direction == 0 ? known.higher : known.lower)[at] = true;
    }
  }
  return known;
}

class KnownReader {
 public:
  KnownReader(const std::string& path, const Scores& scores, const IntersectionParts& parts)
      : path_(path),
        intersection_labels_(labels_of(scores, parts)),
        item_labels_(scores.axes[item_axis]->labels),
        intersections_(intersection_labels_),
        items_(item_labels_) {
    if (scores.poles != nullptr) {
      poles_ = NameIndex(scores.poles->axes[item_axis]->labels);
      item_labels_.insert(item_labels_.end(), scores.poles->axes[item_axis]->labels.begin(),
                          scores.poles->axes[item_axis]->labels.end());
    }
  }

  KnownTable read() {
    const std::string headline = "the known stereotypes " + path_ + " cannot be used:";
    const auto table = config::read_table(path_, problems_);
    problems_.raise_if_any(headline);
    const auto intersection = table.column("intersection", problems_);
    const auto item = table.column("item", problems_);
    const auto direction = table.column("direction", problems_);
    problems_.raise_if_any(headline);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto& cells = table.rows[row];
      add(table.lines[row], cells[*intersection], cells[*item], cells[*direction]);
    }
    if (table.rows.empty()) {
      problems_.add({path_, 0, ""}, "no rows", "nothing is known");
    }
    problems_.raise_if_any(headline);
    return {gather_known(of_items_), gather_known(of_poles_)};
  }

 private:
  static std::vector<std::string> labels_of(const Scores& scores, const IntersectionParts& parts) {
    return base::mapped(parts.intersections, [&](const Intersection& intersection) {
      return scores.axes[subject_axis]->labels[intersection.subject];
    });
  }

  void add(int line, const std::string& intersection, const std::string& item, const std::string& direction) {
    const auto subject = intersections_.find(intersection);
    if (!subject) {
      refuse(line, "intersection", "no intersection '" + intersection + "'", intersection, intersection_labels_);
    }
    const auto as_item = items_.find(item);
    const auto as_pole = poles_.find(item);
    if (!as_item && !as_pole) {
      refuse(line, "item", "no item or pole '" + item + "'", item, item_labels_);
    }
    const auto way = std::ranges::find(direction_names, direction);
    if (way == direction_names.end()) {
      problems_.add({path_, line, "direction"}, "'" + base::excerpt(direction, 40) + "' is no direction",
                    "one of higher, lower, none is expected");
    }
    if (!subject || (!as_item && !as_pole) || way == direction_names.end()) {
      return;
    }
    const KnownEntry entry{*subject, as_item ? *as_item : *as_pole,
                           static_cast<std::size_t>(way - direction_names.begin())};
    const auto place = std::tuple(as_item.has_value(), entry.intersection, entry.item);
    auto& ways = seen_[place];
    if (ways.contains(entry.direction) || (!ways.empty() && (entry.direction == no_direction || ways.contains(2)))) {
      problems_.add({path_, line, "direction"}, "'" + intersection + "', '" + item + "' stands there already",
                    "each direction is named once, and 'none' alone");
    }
    ways.insert(entry.direction);
    (as_item ? of_items_ : of_poles_).push_back(entry);
  }

  void refuse(int line, const char* column, const std::string& problem, const std::string& name,
              const std::vector<std::string>& known) {
    problems_.add({path_, line, column}, base::excerpt(problem, 200), "the score table has none",
                  problems_.size() < 20 ? base::did_you_mean(name, known) : "");
  }

  std::string path_;
  std::vector<std::string> intersection_labels_;
  std::vector<std::string> item_labels_;  ///< those of poles behind them
  NameIndex intersections_;
  NameIndex items_;
  NameIndex poles_;
  base::Problems problems_;
  std::map<std::tuple<bool, std::size_t, std::size_t>, std::set<std::size_t>> seen_;
  std::vector<KnownEntry> of_items_;
  std::vector<KnownEntry> of_poles_;
};

double share_of(std::int32_t part, std::int32_t whole) {
  return whole > 0 ? static_cast<double>(part) / whole : stats::nan;
}

}  // namespace

KnownTable read_known_traits(const std::string& path, const Scores& scores, const IntersectionParts& parts) {
  return KnownReader(path, scores, parts).read();
}

double KnownCounts::precision() const { return share_of(num_hits, num_predicted); }
double KnownCounts::recall() const { return share_of(num_hits, num_known); }
double KnownCounts::prevalence() const { return share_of(num_known, num_universe); }

KnownCounts count_known(std::span<const EmergenceRow> rows, std::size_t num_items, const KnownTraits& known,
                        const sweep::IntersectionQuestions& questions) {
  KnownCounts counts;
  const auto add = [&](bool is_known, bool is_predicted) {
    counts.num_universe += 1;
    counts.num_known += is_known ? 1 : 0;
    counts.num_predicted += is_predicted ? 1 : 0;
    counts.num_hits += is_known && is_predicted ? 1 : 0;
  };
  for (std::size_t i = 0; i < known.intersections.size(); ++i) {
    for (std::size_t j = 0; j < known.items.size(); ++j) {
      const auto& row = rows[known.intersections[i] * num_items + known.items[j]];
      if (row.num_cells == 0) {
        counts.num_unscored += 2;
        continue;
      }
      const bool passes = questions.level >= 1 || row.p <= questions.level;
      const auto at = i * known.items.size() + j;
      add(known.higher[at], passes && row.emerge_max > questions.emergence);
      add(known.lower[at], passes && row.emerge_min < -questions.emergence);
    }
  }
  return counts;
}

}  // namespace stereosweep::findings
