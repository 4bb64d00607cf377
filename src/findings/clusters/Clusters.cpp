#include "findings/clusters/Clusters.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Cells.hpp"
#include "findings/clusters/DimensionMeans.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/HumanRatings.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/VarianceComponents.hpp"

namespace stereosweep::findings {
namespace {

using sweep::ClusterRequest;
constexpr const char* people_name = "people";

/// Those that are asked for, in this order; else all.
std::vector<ItemGroup> dimensions_of(const results::AxisSchema& axis, const std::vector<std::string>& asked) {
  const auto known = dimension_groups(axis);
  if (known.empty()) {
    throw base::InputError(base::describe("statistics.clusters: there is nothing to cluster by",
                                          "no item of the score table has a dimension", "leave the key out"));
  }
  const auto names = names_of(known);
  std::vector<ItemGroup> chosen;
  for (const auto& name : asked) {
    const auto place = results::place_of(names, name);
    base::refuse_if(!place, "statistics.clusters.dimensions: no item has the dimension '" + name + "'",
                    "the score table has " + base::join(names, ", "), base::did_you_mean(name, names));
    chosen.push_back(known[*place]);
  }
  return asked.empty() ? known : chosen;
}

/// Of a clustering what the ranks tell each other.
auto clustering_fields(auto& clustering) {
  return std::tie(clustering.reason, clustering.num_clusters, clustering.labels, clustering.centres, clustering.inertia,
                  clustering.num_best);
}

/// Collective: ranks share the numbers of clusters.
class ClusterFinder {
 public:
  ClusterFinder(const ClusterRequest& request, std::size_t num_dimensions, std::uint64_t seed,
                const parallel::Communicator& ranks)
      : request_(request), num_dimensions_(num_dimensions), ranks_(ranks) {
    settings_.start = request.start == ClusterRequest::Start::random ? stats::ClusterSettings::Start::random
                                                                     : stats::ClusterSettings::Start::plus_plus;
    settings_.num_restarts = static_cast<std::size_t>(request.restarts);
    settings_.seed = seed;
    number_ = static_cast<std::size_t>(base::parse_double(request.number).value_or(0));
  }

  std::size_t num_curve() const { return std::max(static_cast<std::size_t>(request_.max_clusters), number_); }

  ClusterSource operator()(std::string name, std::vector<double> points) const {
    ClusterSource source;
    source.name = std::move(name);
    source.points = std::move(points);
    const auto num_subjects = source.points.size() / num_dimensions_;
    source.cluster_of.assign(num_subjects, -1);
    std::vector<double> complete;
    for (std::size_t subject = 0; subject < num_subjects; ++subject) {
      const auto point = std::span(source.points).subspan(subject * num_dimensions_, num_dimensions_);
      if (stats::all_finite(point)) {
        source.subjects.push_back(subject);
        complete.insert(complete.end(), point.begin(), point.end());
      }
    }
    const auto shared = share_bytes(ranks_, num_curve(), [&](std::size_t place) {
      const auto clustering = stats::cluster({complete, num_dimensions_}, place + 1, settings_);
      return packed(clustering_fields(clustering));
    });
    std::vector<double> curve;
    for (std::size_t k = 1; k <= num_curve(); ++k) {
      unpack(shared[k - 1], clustering_fields(source.by_number.emplace_back()));
      if (source.by_number.back().defined() && k <= static_cast<std::size_t>(request_.max_clusters)) {
        curve.push_back(source.by_number.back().inertia);
      }
    }
    source.elbow = stats::find_elbow(curve);
    source.number = number_ > 0 ? number_ : source.elbow.second_difference;
    if (source.number > 0 && !source.chosen().defined()) {
      source.number = 0;
    }
    describe(source, complete);
    return source;
  }

 private:
  void describe(ClusterSource& source, const std::vector<double>& complete) const {
    for (std::size_t dimension = 0; dimension < num_dimensions_; ++dimension) {
      std::vector<double> scores;
      for (std::size_t place = dimension; place < complete.size(); place += num_dimensions_) {
        scores.push_back(complete[place]);
      }
      source.limits.push_back(request_.high_above == "mean"     ? stats::mean(scores).value
                              : request_.high_above == "median" ? stats::median(scores).value
                                                                : *base::parse_double(request_.high_above));
    }
    if (source.number == 0) {
      return;
    }
    const auto& chosen = source.chosen();
    for (std::size_t point = 0; point < chosen.labels.size(); ++point) {
      source.cluster_of[source.subjects[point]] = static_cast<std::int32_t>(chosen.labels[point]);
    }
    for (std::size_t place = 0; place < chosen.centres.size(); ++place) {
      const double centre = chosen.centres[place];
      const double limit = source.limits[place % num_dimensions_];
      source.sides.push_back(centre > limit   ? ClusterSide::high
                             : centre < limit ? ClusterSide::low
                                              : ClusterSide::middle);
    }
  }

  const ClusterRequest& request_;
  std::size_t num_dimensions_;
  const parallel::Communicator& ranks_;
  std::size_t number_ = 0;
  stats::ClusterSettings settings_;
};

void add_rand(Clusters& clusters) {
  for (const auto& left : clusters.sources) {
    for (const auto& right : clusters.sources) {
      std::vector<std::size_t> of_left;
      std::vector<std::size_t> of_right;
      for (std::size_t subject = 0; subject < clusters.subjects.labels.size(); ++subject) {
        if (left.cluster_of[subject] >= 0 && right.cluster_of[subject] >= 0) {
          of_left.push_back(static_cast<std::size_t>(left.cluster_of[subject]));
          of_right.push_back(static_cast<std::size_t>(right.cluster_of[subject]));
        }
      }
      clusters.rand.push_back(stats::adjusted_rand(of_left, of_right));
    }
  }
}

void add_agreements(Clusters& clusters) {
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    for (std::size_t subject = 0; subject < clusters.subjects.labels.size(); ++subject) {
      const auto own = clusters.type_of(source, subject);
      const auto reference = clusters.type_of(clusters.reference(), subject);
      clusters.agreements.push_back(own.empty() || reference.empty() ? Clusters::Agreement::none
                                    : own == reference               ? Clusters::Agreement::agrees
                                                                     : Clusters::Agreement::differs);
    }
  }
}

void add_tests(Clusters& clusters) {
  const auto num_dimensions = clusters.dimensions.labels.size();
  for (const auto& source : clusters.sources) {
    const auto first = clusters.tests.size();
    for (std::size_t cluster = 0; cluster < clusters.most_clusters(); ++cluster) {
      for (const auto& pair : clusters.pairs) {
        std::array<std::vector<double>, 2> members;
        for (std::size_t subject = 0; subject < clusters.subjects.labels.size(); ++subject) {
          for (std::size_t side = 0; side < 2 && source.cluster_of[subject] == static_cast<std::int32_t>(cluster);
               ++side) {
            members[side].push_back(source.points[subject * num_dimensions + pair[side]]);
          }
        }
        clusters.tests.push_back({stats::paired_t_test(members[0], members[1])});
      }
    }
    std::vector<double> p;
    for (auto place = first; place < clusters.tests.size(); ++place) {
      const auto& [left, right] = clusters.pairs[(place - first) % clusters.pairs.size()];
      const bool is_known = !source.is_within_error(left) && !source.is_within_error(right);
      p.push_back(is_known ? clusters.tests[place].test.p : stats::nan);
    }
    const auto adjusted = stats::adjusted_p(p, stats::Adjustment::holm);
    for (std::size_t place = 0; place < adjusted.size(); ++place) {
      clusters.tests[first + place].p_holm = adjusted[place];
    }
  }
}

/// Intersections of the same other group in one row.
void add_rows(Clusters& clusters, ClusterRequest::Across across) {
  if (across == ClusterRequest::Across::none) {
    return;
  }
  const bool is_first = across == ClusterRequest::Across::first;
  const auto* columns = clusters.subjects.find_coordinate(is_first ? "first" : "second");
  const auto* rows = clusters.subjects.find_coordinate(is_first ? "second" : "first");
  const auto* kinds = clusters.subjects.find_coordinate("kind");
  const auto place_in = [](std::vector<std::string>& names, const std::string& name) {
    base::add_once(names, name);
    return *results::place_of(names, name);
  };
  std::vector<std::string> labels;
  std::map<std::pair<std::size_t, std::size_t>, std::int32_t> cells;
  for (std::size_t subject = 0; columns != nullptr && rows != nullptr && subject < clusters.subjects.labels.size();
       ++subject) {
    const bool is_crossed = kinds == nullptr || (*kinds)[subject] == "intersection";
    if (is_crossed && !(*columns)[subject].empty() && !(*rows)[subject].empty()) {
      const auto row = place_in(labels, (*rows)[subject]);
      cells.try_emplace({row, place_in(clusters.columns, (*columns)[subject])}, static_cast<std::int32_t>(subject));
    }
  }
  for (std::size_t row = 0; row < labels.size(); ++row) {
    clusters.rows.push_back({labels[row], std::vector<std::int32_t>(clusters.columns.size(), -1)});
    for (std::size_t column = 0; column < clusters.columns.size(); ++column) {
      const auto found = cells.find({row, column});
      clusters.rows.back().subjects[column] = found == cells.end() ? -1 : found->second;
    }
  }
  if (clusters.rows.empty()) {
    throw base::InputError(base::describe("statistics.clusters.across: nothing stands side by side",
                                          "the score table has no intersections", "leave the key out"));
  }
}

/// Behind the points, [dimension]: ClusterSource::spread_p.
void append_spreads(const Cells& cells, const std::vector<ItemGroup>& dimensions, std::vector<double>& points) {
  const bool has_templates = cells.length(template_axis) > 1;
  const auto num_columns = cells.length(has_templates ? template_axis : rephrasing_axis);
  const auto in_column = cells.num_sentences() / num_columns;
  for (const auto& dimension : dimensions) {
    std::vector<double> table(cells.length(subject_axis) * num_columns, 0);  // NaN: one of its cells is missing
    for (std::size_t place = 0; place < table.size() * in_column; ++place) {
      const auto sentence = place % cells.num_sentences();
      const auto subject = place / cells.num_sentences();
      for (const auto item : dimension.items) {
        table[subject * num_columns + (has_templates ? sentence / in_column : sentence)] +=
            cells.at(subject, sentence, item);
      }
    }
    const auto squares = stats::crossed_squares(table, num_columns);
    const auto degrees = static_cast<double>(squares.num_rows) - 1;
    points.push_back(squares.rest > 0 ? stats::ratio_p(squares.rows / squares.rest, degrees, squares.rest_degrees)
                                      : stats::nan);
  }
}

}  // namespace

std::size_t Clusters::most_clusters() const {
  std::size_t most = 0;
  for (const auto& source : sources) {
    most = std::max(most, source.number);
  }
  return most;
}

std::string Clusters::type_of_cluster(std::size_t source, std::size_t cluster) const {
  std::string type;
  for (std::size_t dimension = 0; dimension < dimensions.labels.size(); ++dimension) {
    const auto side = sources[source].sides.at(cluster * dimensions.labels.size() + dimension);
    type += (dimension == 0 ? "" : "-") + side_names[static_cast<std::size_t>(side)];
  }
  return type;
}

std::string Clusters::type_of(std::size_t source, std::size_t subject) const {
  const auto cluster = sources[source].cluster_of[subject];
  return cluster < 0 ? "" : type_of_cluster(source, static_cast<std::size_t>(cluster));
}

Clusters::Agreement agreement_of(const Clusters& clusters, std::size_t source, const Clusters::Row& row) {
  std::set<std::string> types;
  for (const auto subject : row.subjects) {
    types.insert(subject < 0 ? "" : clusters.type_of(source, static_cast<std::size_t>(subject)));
  }
  return types.contains("") ? Clusters::Agreement::none
         : types.size() > 1 ? Clusters::Agreement::differs
                            : Clusters::Agreement::agrees;
}

Clusters clusters_of(const Scores& scores, const ClusterRequest& request, std::uint64_t seed) {
  const auto dimensions = dimensions_of(*scores.axes[item_axis], request.dimensions);
  Clusters clusters;
  clusters.measures = chosen_measures(scores, request.measures.empty() ? request.default_measures : request.measures,
                                      "statistics.clusters");
  clusters.subjects = *scores.axes[subject_axis];
  clusters.dimensions = {"cluster_dimension", "dimension of the items", names_of(dimensions), {}};
  for (std::size_t first = 0; first < dimensions.size(); ++first) {
    for (std::size_t second = first + 1; second < dimensions.size(); ++second) {
      clusters.pairs.push_back({first, second});
    }
  }
  const auto& path = request.human_ratings;
  auto ratings = path.empty() ? DimensionMeans()
                              : read_dimension_means(path, clusters.subjects.labels, clusters.dimensions.labels);
  const ClusterFinder find(request, dimensions.size(), seed, scores.ranks);
  clusters.num_curve = find.num_curve();
  auto points =
      share_measures<double>(scores, clusters.measures, [&](const std::vector<double>& values, std::size_t /*place*/) {
        const Cells cells(scores, values);
        auto numbers = subject_means(cells, dimensions);
        append_spreads(cells, dimensions, numbers);
        return numbers;
      });
  for (std::size_t place = 0; place < points.size(); ++place) {
    const std::vector<double> spreads(points[place].end() - std::ssize(dimensions), points[place].end());
    points[place].resize(points[place].size() - dimensions.size());
    clusters.sources.push_back(
        find(scores.axes[measure_axis]->labels[clusters.measures[place]], std::move(points[place])));
    clusters.sources.back().spread_p = spreads;
  }
  if (!request.human_ratings.empty()) {
    clusters.has_people = true;
    clusters.human_source = source_of_ratings(request.human_ratings);
    clusters.unmatched = ratings.unmatched;
    clusters.sources.push_back(find(people_name, std::move(ratings.means)));
    clusters.sources.back().spread_p.assign(dimensions.size(), stats::nan);
  }
  add_rand(clusters);
  add_agreements(clusters);
  add_tests(clusters);
  add_rows(clusters, request.across);
  return clusters;
}

}  // namespace stereosweep::findings
