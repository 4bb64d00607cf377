#include "findings/agreement/HumanRatings.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"

namespace stereosweep::findings {
namespace {

struct Poles {
  std::string left;
  std::string right;
};

std::optional<Poles> poles_of(std::string_view label) {
  const auto dash = label.find(" - ");
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  return Poles{normalised(label.substr(0, dash)), normalised(label.substr(dash + 3))};
}

bool nearly(const std::string& word, const std::string& other) {
  const std::vector<std::string> candidates = {other};
  return word == other || !base::did_you_mean(word, candidates).empty();
}

/// A pair of the job, and whether the table names its right pole first.
struct PairMatch {
  std::string label;
  enum class Direction { as_is, turned } direction = Direction::as_is;
  std::string note;
};

class NameMatcher {
 public:
  /// `names` is borrowed.
  explicit NameMatcher(const RatingNames& names) : names_(names) {
    for (std::size_t alias = 0; alias < names.aliases.size(); ++alias) {
      aliases_.add(names.aliases[alias].first, alias);
    }
    for (std::size_t group = 0; group < names.groups.size(); ++group) {
      groups_.add(names.groups[group].label, group);
      for (const auto& spelling : names.groups[group].spellings) {
        groups_.add(spelling, group);
      }
    }
    for (std::size_t pair = 0; pair < names.pairs.size(); ++pair) {
      labels_.add(names.pairs[pair].label, pair);
      poles_.push_back({normalised(names.pairs[pair].left), normalised(names.pairs[pair].right)});
    }
  }

  std::optional<std::string> group(const std::string& name) const {
    const auto place = groups_.find(unaliased(name));
    return place ? std::optional(names_.groups[*place].label) : std::nullopt;
  }

  std::optional<PairMatch> pair(const std::string& name) const {
    const auto& label = unaliased(name);
    if (const auto place = labels_.find(label)) {
      return PairMatch{names_.pairs[*place].label, PairMatch::Direction::as_is, ""};
    }
    const auto poles = poles_of(label);
    return poles ? match({known(poles->left), known(poles->right)}, name) : std::nullopt;
  }

 private:
  /// What `aliases` makes of it.
  const std::string& unaliased(const std::string& name) const {
    const auto alias = aliases_.find(name);
    return alias ? names_.aliases[*alias].second : name;
  }
  std::string known(const std::string& name) const { return normalised(unaliased(name)); }

  std::optional<PairMatch> match(const Poles& poles, const std::string& name) const {
    std::vector<PairMatch> near;
    for (std::size_t pair = 0; pair < poles_.size(); ++pair) {
      const auto& ours = poles_[pair];
      const auto& label = names_.pairs[pair].label;
      if (poles.left == ours.left && poles.right == ours.right) {
        return PairMatch{label, PairMatch::Direction::as_is, ""};
      }
      if (poles.left == ours.right && poles.right == ours.left) {
        return PairMatch{label, PairMatch::Direction::turned, "'" + name + "' is '" + label + "' turned round"};
      }
      if ((poles.left == ours.left && nearly(poles.right, ours.right)) ||
          (poles.right == ours.right && nearly(poles.left, ours.left))) {
        near.push_back({label, PairMatch::Direction::as_is, "'" + name + "' is taken for '" + label + "'"});
      }
    }
    return near.size() == 1 ? std::optional(near.front()) : std::nullopt;
  }

  const RatingNames& names_;
  NameIndex aliases_;
  NameIndex groups_;
  NameIndex labels_;
  std::vector<Poles> poles_;  ///< of the pairs
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

/// A scale other than the declared one shows: no mean, or every one, lies above the middle.
std::string doubt_of_scale(const std::vector<double>& means, const RatingNames::Form& form) {
  const double middle = (form.low + form.high) / 2;
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  if (means.empty() || (*least < middle && middle < *most)) {
    return "";
  }
  return "no mean is " + std::string(*least < middle ? "above" : "below") + " " + base::format_double(middle) +
         ", the middle of the scale from " + base::format_double(form.low) + " (left pole) to " +
         base::format_double(form.high) +
         " (right pole), so that precision at 3 says nothing; another scale has to be brought to that one";
}

/// A table's rows, held against the names.
class RatingReader {
 public:
  /// Both are borrowed. Throws InputError where the table cannot be read or lacks a column.
  RatingReader(const RatingNames& names, base::Problems& problems)
      : names_(names),
        headline_("the human ratings " + names.path + " cannot be used:"),
        problems_(problems),
        table_(config::read_table(names.path, problems)),
        matcher_(names) {
    problems_.raise_if_any(headline_);
    find_columns();
    problems_.raise_if_any(headline_);
  }

  Ratings read() {
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      if (counts(table_.rows[i])) {
        add(table_.rows[i], {names_.path, table_.lines[i], table_.columns[*value_]});
      }
    }
    problems_.raise_if_any(headline_);
    if (const auto doubt = doubt_of_scale(known_, names_.form); !doubt.empty()) {
      ratings_.notes.push_back(doubt);
    }
    return std::move(ratings_);
  }

 private:
  using Row = std::vector<std::string>;

  std::optional<std::size_t> place_of(const std::string& name) const {
    const auto found = std::ranges::find(table_.columns, name);
    return found == table_.columns.end() ? std::nullopt : std::optional<std::size_t>(found - table_.columns.begin());
  }

  void find_columns() {
    for (const char* start : {"group", "subject"}) {
      const bool is_first = groups_.empty();
      for (std::size_t i = 0; is_first && i < table_.columns.size(); ++i) {
        if (table_.columns[i].starts_with(start)) {
          groups_.push_back(i);
        }
      }
    }
    if (groups_.empty()) {
      table_.column("group", problems_);
    }
    const auto item = place_of("item");
    pair_ = place_of("pair") || !item ? table_.column("pair", problems_) : item;
    if (names_.form.rows == RatingNames::Form::Rows::answers) {
      annotator_ = place_of("annotator");
    }
    value_ = annotator_ ? table_.column("rating", problems_) : mean_column();
    for (const auto& selection : names_.form.only) {
      find_selection(selection);
    }
    if (!names_.form.subgroups.empty()) {
      subgroup_ = table_.column(names_.form.subgroups, problems_);
    }
  }

  std::optional<std::size_t> mean_column() const {
    for (std::size_t i = 0; i < table_.columns.size() && !place_of("mean"); ++i) {
      if (table_.columns[i].starts_with("mean")) {
        return i;
      }
    }
    return table_.column("mean", problems_);
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
        problems_.add({names_.path, 0, selection.axis}, "no row has '" + value + "'", "nothing would be chosen",
                      base::did_you_mean(value, known));
      }
    }
    only_.emplace_back(*column, &selection.values);
  }

  bool counts(const Row& row) const {
    return std::ranges::all_of(only_, [&](const auto& only) {
      return std::ranges::find(*only.second, row[only.first]) != only.second->end();
    });
  }

  void add(const Row& row, const base::Place& place) {
    const auto& [low, high] = std::pair(names_.form.low, names_.form.high);
    const auto value = base::parse_double(row[*value_]);
    if (!value || *value < low || *value > high) {
      problems_.add(place, "'" + row[*value_].substr(0, 40) + "' is no " + (annotator_ ? "" : "mean ") + "rating",
                    "a number from " + base::format_double(low) + " to " + base::format_double(high) + " is expected");
      return;
    }
    std::optional<std::string> group;
    for (const auto column : groups_) {
      group = group ? group : matcher_.group(row[column]);
    }
    if (!group) {
      add_once(ratings_.unmatched_groups, row[groups_.front()]);
    }
    const auto pair = matcher_.pair(row[*pair_]);
    if (!pair) {
      add_once(ratings_.unmatched_pairs, row[*pair_]);
    } else if (!pair->note.empty()) {
      add_once(ratings_.notes, pair->note);
    }
    if (group && pair) {
      known_.push_back(*value);
    }
    const bool turned = pair && pair->direction == PairMatch::Direction::turned;
    Rating rating{group.value_or(row[groups_.front()]), pair ? pair->label : row[*pair_],
                  turned ? low + high - *value : *value, annotator_ ? row[*annotator_] : "",
                  subgroup_ ? row[*subgroup_] : ""};
    if (annotator_ && rating.annotator.empty()) {
      problems_.add(place, "an answer of nobody", "the column 'annotator' is empty");
    } else if (!seen_.emplace(rating.group, rating.pair, rating.annotator).second) {
      problems_.add(
          place,
          "'" + rating.group + "' is rated twice on '" + rating.pair + "'" + (annotator_ ? " by one annotator" : ""),
          annotator_ ? "one answer per annotator, group and pair is expected"
                     : "one mean per group and pair is expected");
    }
    ratings_.rows.push_back(std::move(rating));
  }

  const RatingNames& names_;
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

Ratings read_ratings(const RatingNames& names) {
  base::Problems problems;
  return RatingReader(names, problems).read();
}

std::vector<Rating> ratings_of(const RatingNames& names) {
  auto ratings = read_ratings(names);
  for (const auto& note : ratings.notes) {
    std::cout << "ratings: " << note << '\n';
  }
  return std::move(ratings.rows);
}

std::string source_of_ratings(const std::string& path) {
  return std::filesystem::path(path).filename().string() + " (SHA-256 " +
         base::to_hex(base::sha256(base::read_file(path))) + ")";
}

}  // namespace stereosweep::findings
