#include "findings/HumanRatings.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/File.hpp"
#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "config/Tables.hpp"

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
  explicit NameMatcher(const RatingNames& names) {
    for (const auto& [name, label] : names.aliases) {
      aliases_[normalised(name)] = label;
    }
    for (const auto& group : names.groups) {
      groups_.emplace(normalised(group.label), group.label);
      for (const auto& spelling : group.spellings) {
        groups_.emplace(normalised(spelling), group.label);
      }
    }
    for (const auto& pair : names.pairs) {
      labels_[normalised(pair.label)] = pair.label;
      pairs_.emplace_back(Poles{normalised(pair.left), normalised(pair.right)}, pair.label);
    }
  }

  std::optional<std::string> group(const std::string& name) const {
    const auto at = groups_.find(known(name));
    return at == groups_.end() ? std::nullopt : std::optional(at->second);
  }

  std::optional<PairMatch> pair(const std::string& name) const {
    const auto& label = unaliased(name);
    if (const auto at = labels_.find(normalised(label)); at != labels_.end()) {
      return PairMatch{at->second, PairMatch::Direction::as_is, ""};
    }
    const auto poles = poles_of(label);
    return poles ? match({known(poles->left), known(poles->right)}, name) : std::nullopt;
  }

 private:
  /// What `aliases` makes of it.
  const std::string& unaliased(const std::string& name) const {
    const auto alias = aliases_.find(normalised(name));
    return alias == aliases_.end() ? name : alias->second;
  }
  std::string known(const std::string& name) const { return normalised(unaliased(name)); }

  std::optional<PairMatch> match(const Poles& poles, const std::string& name) const {
    std::vector<PairMatch> near;
    for (const auto& [ours, label] : pairs_) {
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

  std::unordered_map<std::string, std::string> aliases_;
  std::unordered_map<std::string, std::string> groups_;
  std::unordered_map<std::string, std::string> labels_;
  std::vector<std::pair<Poles, std::string>> pairs_;
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

/// A scale other than 0 .. 100 shows: no mean, or every one, lies above the middle.
std::string doubt_of_scale(const std::vector<double>& means) {
  constexpr double middle = 50;
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  if (means.empty() || (*least < middle && middle < *most)) {
    return "";
  }
  return "no mean is " + std::string(*least < middle ? "above" : "below") +
         " 50, the middle of the scale from 0 (left pole) to 100 (right pole), so that precision at 3 says nothing; "
         "another scale has to be brought to that one";
}

std::optional<std::size_t> mean_column(const config::Table& table, base::Problems& problems) {
  const auto& names = table.columns;
  auto found = std::ranges::find(names, "mean");
  if (found == names.end()) {
    found = std::ranges::find_if(names, [](const auto& name) { return name.starts_with("mean"); });
  }
  return found == names.end() ? table.column("mean", problems) : std::optional<std::size_t>(found - names.begin());
}

std::vector<std::size_t> group_columns(const config::Table& table, base::Problems& problems) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].starts_with("group")) {
      columns.push_back(i);
    }
  }
  if (columns.empty()) {
    table.column("group", problems);
  }
  return columns;
}

}  // namespace

std::string normalised(std::string_view name) {
  std::string out;
  for (char c : base::lower_ascii(name)) {
    c = c == '-' || c == '_' || c == '\t' ? ' ' : c;
    if (c != ' ' || (!out.empty() && out.back() != ' ')) {
      out += c;
    }
  }
  return std::string(base::trim(out));
}

Ratings read_ratings(const RatingNames& names) {
  base::Problems problems;
  Ratings ratings;
  const std::string& path = names.path;
  const std::string headline = "the human ratings " + path + " cannot be used:";
  const config::Table table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const auto groups = group_columns(table, problems);
  const auto pair_column = table.column("pair", problems);
  const auto mean = mean_column(table, problems);
  problems.raise_if_any(headline);
  const NameMatcher matcher(names);
  std::vector<double> known_means;
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const base::Place place{path, table.lines[i], table.columns[*mean]};
    const auto value = base::parse_double(row[*mean]);
    if (!value || *value < 0 || *value > 100) {
      problems.add(place, "'" + row[*mean].substr(0, 40) + "' is no mean rating", "a number from 0 to 100 is expected");
      continue;
    }
    std::optional<std::string> group;
    for (const auto column : groups) {
      group = group ? group : matcher.group(row[column]);
    }
    if (!group) {
      add_once(ratings.unmatched_groups, row[groups.front()]);
    }
    const auto pair = matcher.pair(row[*pair_column]);
    if (!pair) {
      add_once(ratings.unmatched_pairs, row[*pair_column]);
    } else if (!pair->note.empty()) {
      add_once(ratings.notes, pair->note);
    }
    if (group && pair) {
      known_means.push_back(*value);
    }
    const bool turned = pair && pair->direction == PairMatch::Direction::turned;
    ratings.rows.push_back(
        {group.value_or(row[groups.front()]), pair ? pair->label : row[*pair_column], turned ? 100 - *value : *value});
    if (!seen.emplace(ratings.rows.back().group, ratings.rows.back().pair).second) {
      problems.add(place, "'" + ratings.rows.back().group + "' is rated twice on '" + ratings.rows.back().pair + "'",
                   "one mean per group and pair is expected");
    }
  }
  problems.raise_if_any(headline);
  if (const auto doubt = doubt_of_scale(known_means); !doubt.empty()) {
    ratings.notes.push_back(doubt);
  }
  return ratings;
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
