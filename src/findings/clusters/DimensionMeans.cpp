#include "findings/clusters/DimensionMeans.hpp"

#include <set>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/Tables.hpp"
#include "findings/Names.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

DimensionMeans read_dimension_means(const std::string& path, const std::vector<std::string>& subjects,
                                    const std::vector<std::string>& dimensions) {
  const std::string headline = "the human ratings " + path + " cannot be used:";
  base::Problems problems;
  const config::Table table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const bool has_groups = base::contains(table.columns, "group");
  const auto subject = table.column(has_groups ? "group" : "identity", problems);
  const auto dimension = table.column("dimension", problems);
  const auto mean = table.column("mean", problems);
  problems.raise_if_any(headline);
  const NameIndex known_subjects(subjects);
  const NameIndex known_dimensions(dimensions);
  DimensionMeans ratings{.means = std::vector<double>(subjects.size() * dimensions.size(), stats::nan),
                         .unmatched = {}};
  const auto find = [&](const NameIndex& known, const std::string& name) {
    const auto place = known.find(name);
    if (!place) {
      base::add_once(ratings.unmatched, name);
    }
    return place;
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
    const auto own_subject = find(known_subjects, row[*subject]);
    const auto own_dimension = find(known_dimensions, row[*dimension]);
    const bool is_new = seen.emplace(own_subject ? subjects[*own_subject] : row[*subject],
                                     own_dimension ? dimensions[*own_dimension] : row[*dimension])
                            .second;
    if (!is_new) {
      problems.add(place, "'" + row[*subject] + "' is rated twice on '" + row[*dimension] + "'",
                   "one mean per group and dimension is expected");
    } else if (own_subject && own_dimension) {
      ratings.means[*own_subject * dimensions.size() + *own_dimension] = *value;
    }
  }
  problems.raise_if_any(headline);
  return ratings;
}

}  // namespace stereosweep::findings
