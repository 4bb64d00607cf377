#include "probes/rating/IdentityRatings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/Text.hpp"
#include "config/Tables.hpp"
#include "probes/rating/Rating.hpp"

namespace stereosweep::probes::rating {
namespace {

std::string normalised(std::string_view name) {
  std::string out;
  for (char c : name) {
    c = c == '-' || c == '_' ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (c != ' ' || (!out.empty() && out.back() != ' ')) {
      out += c;
    }
  }
  return std::string(base::trim(out));
}

/// The job's spelling; the table's, and a note, where the job has no such name.
std::string known(const std::map<std::string, std::string>& names, const std::string& name,
                  std::vector<std::string>& unmatched) {
  const auto found = names.find(normalised(name));
  if (found != names.end()) {
    return found->second;
  }
  if (std::find(unmatched.begin(), unmatched.end(), name) == unmatched.end()) {
    unmatched.push_back(name);
  }
  return name;
}

}  // namespace

IdentityRatings read_identity_ratings(const sweep::Job& job) {
  const std::string& path = job.settings<Rating>().statistics.human_ratings;
  const std::string headline = "the human ratings " + path + " cannot be used:";
  base::Problems problems;
  const config::Table table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const auto identity = table.column("identity", problems);
  const auto dimension = table.column("dimension", problems);
  const auto mean = table.column("mean", problems);
  problems.raise_if_any(headline);
  std::map<std::string, std::string> identities;
  std::map<std::string, std::string> dimensions;
  for (const auto& item : job.settings<Rating>().identities) {
    identities.emplace(normalised(item.label), item.label);
  }
  for (const auto& trait : job.settings<Rating>().traits) {
    dimensions.emplace(normalised(trait.dimension), trait.dimension);
  }
  IdentityRatings ratings;
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const base::Place place{path, table.lines[i], "mean"};
    const auto value = base::parse_double(row[*mean]);
    if (!value) {
      problems.add(place, "'" + row[*mean].substr(0, 40) + "' is no mean rating", "a number is expected");
      continue;
    }
    ratings.rows.push_back({known(identities, row[*identity], ratings.unmatched),
                            known(dimensions, row[*dimension], ratings.unmatched), *value});
    if (!seen.emplace(ratings.rows.back().identity, ratings.rows.back().dimension).second) {
      problems.add(place, "'" + row[*identity] + "' is rated twice on '" + row[*dimension] + "'",
                   "one mean per identity and dimension is expected");
    }
  }
  problems.raise_if_any(headline);
  return ratings;
}

}  // namespace stereosweep::probes::rating
