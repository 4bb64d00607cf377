#include "findings/clusters/DimensionMeans.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"
#include "results/RawBlock.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

std::vector<double> DimensionMeans::table(const std::vector<std::string>& subjects,
                                          const std::vector<std::string>& dimensions) const {
  std::vector<double> means(subjects.size() * dimensions.size(), stats::nan);
  for (const auto& row : rows) {
    const auto subject = results::place_of(subjects, row.subject);
    const auto dimension = results::place_of(dimensions, row.dimension);
    if (subject && dimension) {
      means[*subject * dimensions.size() + *dimension] = row.mean;
    }
  }
  return means;
}

DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions) {
  const std::string headline = "the human ratings " + path + " cannot be used:";
  base::Problems problems;
  const config::Table table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const bool has_groups = std::ranges::find(table.columns, "group") != table.columns.end();
  const auto subject = table.column(has_groups ? "group" : "identity", problems);
  const auto dimension = table.column("dimension", problems);
  const auto mean = table.column("mean", problems);
  problems.raise_if_any(headline);
  const NameIndex known_subjects(subjects);
  const NameIndex known_dimensions(dimensions);
  DimensionMeans ratings;
  const auto known = [&](const NameIndex& names, const std::vector<std::string>& labels, const std::string& name) {
    const auto place = names.find(name);
    if (!place && std::ranges::find(ratings.unmatched, name) == ratings.unmatched.end()) {
      ratings.unmatched.push_back(name);
    }
    return place ? labels[*place] : name;
  };
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const base::Place place{path, table.lines[i], "mean"};
    const auto value = base::parse_double(row[*mean]);
    if (!value) {
      problems.add(place, "'" + row[*mean].substr(0, 40) + "' is no mean rating", "a number is expected");
      continue;
    }
    ratings.rows.push_back(
        {known(known_subjects, subjects, row[*subject]), known(known_dimensions, dimensions, row[*dimension]), *value});
    if (!seen.emplace(ratings.rows.back().subject, ratings.rows.back().dimension).second) {
      problems.add(place, "'" + row[*subject] + "' is rated twice on '" + row[*dimension] + "'",
                   "one mean per group and dimension is expected");
    }
  }
  problems.raise_if_any(headline);
  return ratings;
}

}  // namespace stereosweep::findings
