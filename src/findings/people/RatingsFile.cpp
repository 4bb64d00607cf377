#include "findings/people/RatingsFile.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

namespace {

/// Left and right, as names are compared.
using Poles = std::pair<std::string, std::string>;

std::optional<Poles> poles_of(std::string_view label) {
  const auto dash = label.find(" - ");
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  return Poles(normalised(label.substr(0, dash)), normalised(label.substr(dash + 3)));
}

bool nearly(const std::string& word, const std::string& other) {
  const std::vector<std::string> candidates = {other};
  return word == other || !base::did_you_mean(word, candidates).empty();
}

/// A pair of the job.
struct PairMatch {
  std::size_t item = 0;
  std::string note = {};
  bool is_turned = false;  ///< the table names its right pole first
};

class NameMatcher {
 public:
  /// All are borrowed.
  NameMatcher(const sweep::People& asked, const std::vector<std::string>& subjects, const results::AxisSchema& items)
      : aliases_(asked.aliases),
        item_names_(items.labels),
        alias_places_(base::mapped(asked.aliases, [](const auto& alias) { return alias.first; })),
        subjects_(subjects),
        labels_(items.labels) {
    for (std::size_t item = 0; item < items.labels.size(); ++item) {
      const auto pole = [&](const char* side) {
        return normalised(items.find_coordinate(side) == nullptr ? items.labels[item] : items.value(side, item));
      };
      poles_.emplace_back(pole("left"), pole("right"));
    }
  }

  std::optional<std::size_t> group(const std::string& name) const { return subjects_.find(unaliased(name)); }

  std::optional<PairMatch> pair(const std::string& name) const {
    const auto& label = unaliased(name);
    if (const auto place = labels_.find(label)) {
      return PairMatch{*place};
    }
    const auto poles = poles_of(label);
    return poles ? match({known(poles->first), known(poles->second)}, name) : std::nullopt;
  }

 private:
  /// What `aliases` makes of it.
  const std::string& unaliased(const std::string& name) const {
    const auto alias = alias_places_.find(name);
    return alias ? aliases_[*alias].second : name;
  }
  std::string known(const std::string& name) const { return normalised(unaliased(name)); }

  std::optional<PairMatch> match(const Poles& poles, const std::string& name) const {
    std::vector<PairMatch> near;
    for (std::size_t pair = 0; pair < poles_.size(); ++pair) {
      const auto& [left, right] = poles_[pair];
      const auto& label = item_names_[pair];
      if (poles == poles_[pair]) {
        return PairMatch{pair};
      }
      if (poles == Poles(right, left)) {
        return PairMatch{pair, "'" + name + "' is '" + label + "' turned round", true};
      }
      if ((poles.first == left && nearly(poles.second, right)) ||
          (poles.second == right && nearly(poles.first, left))) {
        near.push_back({pair, "'" + name + "' is taken for '" + label + "'"});
      }
    }
    return near.size() == 1 ? std::optional(near.front()) : std::nullopt;
  }

  const std::vector<std::pair<std::string, std::string>>& aliases_;
  const std::vector<std::string>& item_names_;
  NameIndex alias_places_;
  NameIndex subjects_;
  NameIndex labels_;
  std::vector<Poles> poles_;  ///< of the items
};

/// A scale other than the declared one shows: no mean, or every one, lies above the middle.
std::string doubt_of_scale(const std::vector<double>& means, const sweep::People& asked) {
  const double middle = (asked.low + asked.high) / 2;
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  if (means.empty() || (*least < middle && middle < *most)) {
    return "";
  }
  return "no mean is " + std::string(*least < middle ? "above" : "below") + " " + base::format_double(middle) +
         ", the middle of the scale from " + base::format_double(asked.low) + " (left pole) to " +
         base::format_double(asked.high) +
         " (right pole), so that precision at 3 says nothing; answers on another scale need its ends, as in "
         "statistics.people: {ratings: " +
         asked.ratings + ", scale: [1, 7]}";
}

/// Which columns of a table hold what.
struct RatingColumns {
  std::vector<std::string> groups;  ///< what the names of those of subjects begin with, the first that there is
  std::vector<std::string> items;   ///< the first that there is
  bool may_hold_answers = true;     ///< of single annotators, in the place of means
};

/// A table's rows, held against the names.
class RatingReader {
 public:
  /// All are borrowed. Throws InputError where the table cannot be read or lacks a column.
  RatingReader(const sweep::People& asked, const std::vector<std::string>& subjects, const results::AxisSchema& items,
               const RatingColumns& columns, base::Problems& problems)
      : asked_(asked),
        subjects_(subjects),
        items_(items.labels),
        columns_(columns),
        headline_("the human ratings " + asked.ratings + " cannot be used:"),
        problems_(problems),
        table_(config::read_table(asked.ratings, problems)),
        matcher_(asked, subjects, items) {
    problems_.raise_if_any(headline_);
    find_columns();
    problems_.raise_if_any(headline_);
  }

  Ratings read() {
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      if (counts(table_.rows[i])) {
        add(table_.rows[i], {asked_.ratings, table_.lines[i], table_.columns[*value_]});
      }
    }
    problems_.raise_if_any(headline_);
    if (const auto doubt = has_scale() ? doubt_of_scale(known_, asked_) : ""; !doubt.empty()) {
      ratings_.notes.push_back(doubt);
    }
    return std::move(ratings_);
  }

 private:
  using Row = std::vector<std::string>;

  bool has_scale() const { return std::isfinite(asked_.low); }

  void find_columns() {
    const auto& names = table_.columns;
    const auto beginning_with = [&](const std::string& start) {
      return base::places_where(names.size(), [&](std::size_t column) { return names[column].starts_with(start); });
    };
    for (const auto& start : columns_.groups) {
      groups_ = groups_.empty() ? beginning_with(start) : groups_;
    }
    if (groups_.empty()) {
      table_.column(columns_.groups.front(), problems_);
    }
    const auto item =
        std::ranges::find_if(columns_.items, [&](const auto& name) { return base::contains(names, name); });
    pair_ = table_.column(item == columns_.items.end() ? columns_.items.front() : *item, problems_);
    annotator_ = columns_.may_hold_answers ? results::place_of(names, "annotator") : std::nullopt;
    const auto means = base::contains(names, "mean") ? std::vector<std::size_t>() : beginning_with("mean");
    value_ = table_.column(annotator_ ? "rating" : means.empty() ? "mean" : names[means.front()], problems_);
    for (const auto& selection : asked_.only) {
      find_selection(selection);
    }
    if (!asked_.subgroups.empty()) {
      subgroup_ = table_.column(asked_.subgroups, problems_);
    }
  }

  void find_selection(const sweep::Selection& selection) {
    const auto column = table_.column(selection.axis, problems_);
    if (!column) {
      return;
    }
    std::set<std::string> found;
    for (const auto& row : table_.rows) {
      found.insert(row[*column]);
    }
    const std::vector<std::string> known(found.begin(), found.end());
    for (const auto& value : selection.values) {
      if (!found.contains(value)) {
        problems_.add({asked_.ratings, 0, selection.axis}, "no row has '" + value + "'", "nothing would be chosen",
                      base::did_you_mean(value, known));
      }
    }
    only_.emplace_back(*column, &selection.values);
  }

  bool counts(const Row& row) const {
    return std::ranges::all_of(only_, [&](const auto& only) { return base::contains(*only.second, row[only.first]); });
  }

  void add(const Row& row, const base::Place& place) {
    const auto& [low, high] = std::pair(asked_.low, asked_.high);
    const auto value = base::parse_double(row[*value_]);
    if (!value || *value < low || *value > high) {
      problems_.add(place, "'" + base::excerpt(row[*value_], 40) + "' is no " + (annotator_ ? "" : "mean ") + "rating",
                    "a number" +
                        (has_scale() ? " from " + base::format_double(low) + " to " + base::format_double(high) : "") +
                        " is expected");
      return;
    }
    Rating rating{.annotator = annotator_ ? row[*annotator_] : "", .subgroup = subgroup_ ? row[*subgroup_] : ""};
    for (const auto column : groups_) {
      rating.subject = rating.subject ? rating.subject : matcher_.group(row[column]);
    }
    if (!rating.subject) {
      base::add_once(ratings_.unmatched_groups, row[groups_.front()]);
    }
    const auto pair = matcher_.pair(row[*pair_]);
    if (!pair) {
      base::add_once(ratings_.unmatched_pairs, row[*pair_]);
    } else {
      rating.item = pair->item;
    }
    if (pair && !pair->note.empty()) {
      base::add_once(ratings_.notes, pair->note);
    }
    if (rating.subject && pair) {
      known_.push_back(*value);
    }
    rating.mean = pair && pair->is_turned ? low + high - *value : *value;
    const auto group_name = rating.subject ? subjects_[*rating.subject] : row[groups_.front()];
    const auto pair_name = pair ? items_[pair->item] : row[*pair_];
    if (annotator_ && rating.annotator.empty()) {
      problems_.add(place, "an answer of nobody", "the column 'annotator' is empty");
    } else if (!seen_.emplace(group_name, pair_name, rating.annotator).second) {
      problems_.add(
          place, "'" + group_name + "' is rated twice on '" + pair_name + "'" + (annotator_ ? " by one annotator" : ""),
          (annotator_ ? "one answer per annotator, group and " : "one mean per group and ") + columns_.items.front() +
              " is expected");
    }
    ratings_.rows.push_back(std::move(rating));
  }

  const sweep::People& asked_;
  const std::vector<std::string>& subjects_;
  const std::vector<std::string>& items_;
  const RatingColumns& columns_;
  std::string headline_;
  base::Problems& problems_;
  config::Table table_;
  NameMatcher matcher_;
  std::vector<std::size_t> groups_;
  std::optional<std::size_t> pair_;
  std::optional<std::size_t> value_;
  std::optional<std::size_t> annotator_;
  std::optional<std::size_t> subgroup_;
  std::vector<std::pair<std::size_t, const std::vector<std::string>*>> only_;
  Ratings ratings_;
  std::vector<double> known_;
  std::set<std::tuple<std::string, std::string, std::string>> seen_;
};

}  // namespace

Ratings read_ratings(const sweep::People& asked, const std::vector<std::string>& subjects,
                     const results::AxisSchema& items) {
  base::Problems problems;
  const RatingColumns columns = {{"group", "subject"}, {"pair", "item"}};
  return RatingReader(asked, subjects, items, columns, problems).read();
}

std::string doubt_of_scale(const sweep::People& asked) {
  return doubt_of_scale(base::mapped(read_ratings(asked, {}, {}).rows, &Rating::mean), asked);
}

std::string source_of_ratings(const std::string& path) {
  return std::filesystem::path(path).filename().string() + " (SHA-256 " +
         base::to_hex(base::sha256(base::read_file(path))) + ")";
}

DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions) {
  const sweep::People asked{.ratings = path, .low = -HUGE_VAL, .high = HUGE_VAL};
  const RatingColumns columns = {{"group", "identity"}, {"dimension"}, false};
  base::Problems problems;
  const auto ratings = RatingReader(asked, subjects, {"", "", dimensions, {}}, columns, problems).read();
  DimensionMeans found{.means = std::vector<double>(subjects.size() * dimensions.size(), stats::nan),
                       .unmatched = ratings.unmatched_groups};
  std::ranges::for_each(ratings.unmatched_pairs, [&](const auto& name) { base::add_once(found.unmatched, name); });
  for (const auto& row : ratings.rows) {
    if (row.subject && row.item) {
      found.means[*row.subject * dimensions.size() + *row.item] = row.mean;
    }
  }
  return found;
}

}  // namespace stereosweep::findings
