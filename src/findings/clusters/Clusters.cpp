#include "findings/clusters/Clusters.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <ranges>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Cells.hpp"
#include "findings/Names.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/people/RatingsFile.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {

// For base::pack.
auto fields_of(base::Either<Clustering> auto& clustering) {
  return std::tie(clustering.reason, clustering.num_clusters, clustering.labels, clustering.centres, clustering.inertia,
                  clustering.num_best);
}

}  // namespace stereosweep::stats

namespace stereosweep::findings {
namespace {

using sweep::ClusterRequest;

/// Those that are asked for, in this order; else all.
std::vector<ItemGroup> dimensions_of(const results::AxisSchema& axis, const std::vector<std::string>& asked) {
  const auto known = dimension_groups(axis);
  base::refuse_if(known.empty(), "statistics.clusters: there is nothing to cluster by",
                  "no item of the score table has a dimension", "leave the key out");
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

/// Limits, and the sides of the clusters that are chosen. `complete`: the points of its subjects.
void describe(const std::vector<double>& complete, const std::string& high_above, std::size_t num_dimensions,
              ClusterSource& source) {
  for (std::size_t dimension = 0; dimension < num_dimensions; ++dimension) {
    const auto scores = stats::column_of(complete, dimension, num_dimensions);
    source.limits.push_back(high_above == "mean"     ? stats::mean(scores).value
                            : high_above == "median" ? stats::median(scores).value
                                                     : *base::parse_double(high_above));
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
    const double limit = source.limits[place % num_dimensions];
    source.sides.push_back(centre > limit   ? ClusterSide::high
                           : centre < limit ? ClusterSide::low
                                            : ClusterSide::middle);
  }
}

/// `source` has its points. Collective: ranks share the numbers of clusters.
ClusterSource find_clusters(ClusterSource source, const ClusterRequest& request, std::size_t num_dimensions,
                            std::uint64_t seed, const Workers& ranks) {
  const auto num_subjects = source.points.size() / num_dimensions;
  source.cluster_of.assign(num_subjects, -1);
  std::vector<double> complete;
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    const auto point = std::span(source.points).subspan(subject * num_dimensions, num_dimensions);
    if (stats::all_finite(point)) {
      source.subjects.push_back(subject);
      complete.insert(complete.end(), point.begin(), point.end());
    }
  }
  const stats::ClusterSettings settings{.start = request.start == ClusterRequest::Start::random
                                                     ? stats::ClusterSettings::Start::random
                                                     : stats::ClusterSettings::Start::plus_plus,
                                        .num_restarts = static_cast<std::size_t>(request.restarts),
                                        .seed = seed};
  const auto asked = static_cast<std::size_t>(base::parse_double(request.number).value_or(0));
  const auto most = static_cast<std::size_t>(request.max_clusters);
  source.by_number = base::joined(share<stats::Clustering>(ranks, std::max(most, asked), [&](std::size_t place) {
    return std::vector{stats::cluster({complete, num_dimensions}, place + 1, settings)};
  }));
  std::vector<double> curve;
  for (const auto& clustering : std::span(source.by_number).first(most)) {
    if (clustering.defined()) {
      curve.push_back(clustering.inertia);
    }
  }
  source.elbow = stats::find_elbow(curve);
  source.number = asked > 0 ? asked : source.elbow.second_difference;
  if (source.number > 0 && !source.chosen().defined()) {
    source.number = 0;
  }
  describe(complete, request.high_above, num_dimensions, source);
  return source;
}

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

/// Of subjects with these sides; "": one is in no cluster.
Clusters::Agreement agreement_of(const std::set<std::string>& types) {
  return types.contains("") ? Clusters::Agreement::none
         : types.size() > 1 ? Clusters::Agreement::differs
                            : Clusters::Agreement::agrees;
}

void add_agreements(Clusters& clusters) {
  for (std::size_t source = 0; source < clusters.sources.size(); ++source) {
    for (std::size_t subject = 0; subject < clusters.subjects.labels.size(); ++subject) {
      clusters.agreements.push_back(
          agreement_of({clusters.type_of(source, subject), clusters.type_of(clusters.reference(), subject)}));
    }
  }
}

void add_tests(Clusters& clusters) {
  const auto num_dimensions = clusters.dimensions.labels.size();
  for (const auto& source : clusters.sources) {
    std::vector<ClusterTest> tests;
    for (std::size_t cluster = 0; cluster < clusters.most_clusters(); ++cluster) {
      const auto members = source.members(cluster);
      const auto points_on = [&](std::size_t dimension) {
        return base::mapped(members, [&](auto subject) { return source.points[subject * num_dimensions + dimension]; });
      };
      for (const auto& [left, right] : clusters.pairs) {
        tests.push_back({stats::paired_t_test(points_on(left), points_on(right))});
      }
    }
    const auto p_of = [&, place = std::size_t{0}](const ClusterTest& one) mutable {
      const auto& [left, right] = clusters.pairs[place++ % clusters.pairs.size()];
      return source.is_within_error(left) || source.is_within_error(right) ? stats::nan : one.test.p;
    };
    stats::adjust_rows(tests, p_of, &ClusterTest::p_holm, stats::Adjustment::holm);
    clusters.tests.insert(clusters.tests.end(), tests.begin(), tests.end());
  }
}

/// Intersections of the same other groups in one row.
void add_rows(Clusters& clusters, ClusterRequest::Across across) {
  if (across == ClusterRequest::Across::none) {
    return;
  }
  const auto column_part = across == ClusterRequest::Across::first ? 0 : 1;
  const auto* kinds = clusters.subjects.find_coordinate("kind");
  auto parts = part_labels(clusters.subjects);
  for (std::size_t subject = 0; subject < parts.size(); ++subject) {
    auto& others = parts[subject];
    if (others.size() > 1 && (kinds == nullptr || (*kinds)[subject] == "intersection")) {
      const auto column = others[column_part];
      base::add_once(clusters.columns, column);
      others.erase(others.begin() + column_part);
      const auto label = base::join(others, " x ");
      auto row = std::ranges::find(clusters.rows, label, &Clusters::Row::label);
      row = row == clusters.rows.end() ? clusters.rows.insert(row, {label, {}}) : row;
      row->subjects.try_emplace(column, subject);
    }
  }
  base::refuse_if(clusters.rows.empty(), "statistics.clusters.across: nothing stands side by side",
                  "the score table has no intersections", "leave the key out");
}

/// [group]: mean of the values of each; `group_of`: of a value's place.
std::vector<double> means_by(const std::vector<double>& values, std::size_t num_groups,
                             const std::function<std::size_t(std::size_t)>& group_of) {
  std::vector<std::vector<double>> groups(num_groups);
  for (std::size_t place = 0; place < values.size(); ++place) {
    groups[group_of(place)].push_back(values[place]);
  }
  return base::mapped(groups, [](const auto& group) { return stats::mean(stats::finite(group)).value; });
}

/// Of scores [subject, template, rephrasing]: the quasi F of subjects over what templates and rephrasings, crossed
/// samples, do to single subjects.
double spread_p(const std::vector<double>& scores, std::size_t num_templates, std::size_t num_rephrasings) {
  const auto num_sentences = num_templates * num_rephrasings;
  const auto all = stats::crossed_squares(scores, num_sentences);
  stats::MeanError error{all.rest, all.rest_degrees};
  if (num_templates > 1 && num_rephrasings > 1) {
    const auto of_sentences = means_by(scores, num_sentences, [&](std::size_t place) { return place % num_sentences; });
    auto rests = scores;  // of the sentences, since cells may be missing
    for (std::size_t place = 0; place < rests.size(); ++place) {
      rests[place] -= of_sentences[place % num_sentences];
    }
    const auto templates = stats::crossed_squares(
        means_by(rests, rests.size() / num_rephrasings, [&](std::size_t place) { return place / num_rephrasings; }),
        num_templates);
    const auto rephrasings = stats::crossed_squares(
        means_by(rests, rests.size() / num_templates,
                 [&](std::size_t place) { return place / num_sentences * num_rephrasings + place % num_rephrasings; }),
        num_rephrasings);
    const auto squares = [](const auto& one) { return one.rest * one.rest_degrees; };
    const double degrees = all.rest_degrees - templates.rest_degrees - rephrasings.rest_degrees;
    if (!(std::min({degrees, templates.rest_degrees, rephrasings.rest_degrees}) > 0)) {
      return stats::nan;
    }
    const double rest = std::max(0.0, (squares(all) - squares(templates) - squares(rephrasings)) / degrees);
    const std::array parts = {std::max(templates.rest, rest), std::max(rephrasings.rest, rest), -rest};
    error = {parts[0] + parts[1] + parts[2],
             stats::fewest_degrees(parts, std::array{templates.rest_degrees, rephrasings.rest_degrees, degrees})};
  }
  const double of_subjects = all.row_ratio * all.rest;  // their mean square, as the others over the number of cells
  return error.variance > 0 ? stats::ratio_p(of_subjects / error.variance, all.row_degrees, error.degrees) : stats::nan;
}

/// [dimension]: ClusterSource::spread_p.
std::vector<double> spreads_of(const Cells& cells, const std::vector<ItemGroup>& dimensions) {
  return base::mapped(dimensions, [&](const ItemGroup& dimension) {
    std::vector<double> scores(cells.length(subject_axis) * cells.num_sentences(), 0);  // NaN: an item is missing
    for (std::size_t place = 0; place < scores.size(); ++place) {
      for (const auto item : dimension.items) {
        scores[place] += cells.at(place / cells.num_sentences(), place % cells.num_sentences(), item);
      }
    }
    return spread_p(scores, cells.length(template_axis), cells.length(rephrasing_axis));
  });
}

using results::AxisSchema;
constexpr std::size_t most_members = 10;  // that a sentence names
constexpr std::size_t most_told = 3;      ///< of them in the answer

constexpr const char* fitted_warning =
    "the clusters were fitted on the same scores. A cluster that lies apart in one dimension gives a small p whatever "
    "caused it: these p describe, they do not test.";

/// "first", "first" + 1, ... as labels.
AxisSchema numbered(const char* name, const char* long_name, std::size_t first, std::size_t length) {
  const auto text = [](std::size_t number) { return std::to_string(number); };
  return {name, long_name, base::mapped(std::views::iota(first, first + length), text), {}};
}

/// All that is found of the clusters is called cluster..., over axes that differ.
class ClusterFindings {
 public:
  ClusterFindings(const Clusters& clusters, const sweep::ClusterRequest& request, std::uint64_t seed)
      : clusters_(clusters), request_(request), seed_(seed) {
    sources_.labels = base::mapped(clusters.sources, &ClusterSource::name);
    sources_.coordinates = {{"measure", "the measure, or the people", sources_.labels},
                            {"units", "unit of the scores", base::mapped(clusters.sources, &ClusterSource::unit)}};
  }

  std::vector<Finding> take() {
    add_centres();
    add_rows();
    add_agreement();
    add_tests();
    add_dimensions();
    add_curves();
    add_chosen();
    add_subjects();
    for (auto& finding : found_) {
      finding.named = request_.measures;
      finding.named.insert(finding.named.end(), clusters_.has_people ? 1 : 0, sources_.labels.back());
      if (!request_.is_asked) {
        finding.views.clear();
      }
    }
    return std::move(found_);
  }

 private:
  Finding& over(const char* name, std::vector<AxisSchema> axes) {
    axes.insert(axes.begin(), sources_);
    return found_.emplace_back(Finding{.name = name, .axes = std::move(axes)});
  }

  /// Every number of clusters, and the elbow.
  void add_curves() {
    const auto numbers = numbered("num_clusters", "number of clusters", 1, clusters_.sources.front().by_number.size());
    std::vector<std::int32_t> labels;
    for (const auto& source : clusters_.sources) {
      for (const auto& clustering : source.by_number) {
        const auto first = labels.size();
        labels.resize(first + clusters_.subjects.labels.size(), -1);
        for (std::size_t point = 0; point < clustering.labels.size(); ++point) {
          labels[first + source.subjects[point]] = static_cast<std::int32_t>(clustering.labels[point]);
        }
      }
    }
    const auto clusterings = base::joined(clusters_.sources, &ClusterSource::by_number);
    auto& curve = over("cluster", {numbers});
    const RowColumns add{curve, clusterings};
    add(Role::value, "inertia", squared_unit,
        "least sum of squared distances to the clusters' centres, k-means on the scores of all dimensions, unscaled",
        &stats::Clustering::inertia);
    add(Role::n, "restarts_at_best", "1", "restarts that reached cluster_inertia, within 1e-9",
        &stats::Clustering::num_best);
    add(Role::status, "status", "", "why there are no such clusters", &stats::Clustering::reason);
    curve.views = {{.title = "Numbers of clusters by ",
                    .columns = table_columns("clusters: num_clusters, inertia, restarts: restarts_at_best"),
                    .each = {"cluster_source"}}};
    curve.notes = std::string("inertia: least sum of squared distances to the clusters' centres by k-means (") +
                  (request_.start == sweep::ClusterRequest::Start::random ? "random start" : "k-means++") + ", seed " +
                  std::to_string(seed_) + "); restarts: that reached it, of " + std::to_string(request_.restarts) +
                  (clusters_.has_people ? ". people: " + clusters_.human_source : "") + ".";
    over("cluster", {numbers, clusters_.subjects}).add(Role::value, labels, "", "1", "cluster of the subject").note =
        "numbered by the first subject in it; -1: none, a score is missing";
    auto& elbow = over("elbow", {});
    const RowColumns add_to_elbow{elbow, clusters_.sources};
    const auto elbow_of = &ClusterSource::elbow;
    add_to_elbow(Role::value, "second_difference", "1",
                 "number of clusters with the largest second difference of cluster_inertia", elbow_of,
                 &stats::Elbow::second_difference)
        .note = "0: see elbow_status";
    add_to_elbow(Role::value, "kneedle", "1", "number of clusters farthest below the chord of cluster_inertia",
                 elbow_of, &stats::Elbow::kneedle)
        .note = "0: see elbow_status";
    add_to_elbow(Role::status, "status", "", "why there is no elbow", elbow_of, &stats::Elbow::reason);
    elbow.views = {
        {.title = "Elbow of the inertia",
         .columns = table_columns("by: cluster_source, second difference: second_difference, Kneedle: kneedle, status"),
         .each = {}}};
    elbow.notes = "Numbers of clusters: where the inertia bends most, and the farthest below its chord; 0: none.";
  }

  void add_chosen() {
    over("cluster", {})
        .add(Role::value, clusters_.sources, "number", "1", "number of clusters that are described",
             &ClusterSource::number)
        .note = "0: none, see elbow_status";
  }

  void add_dimensions() {
    auto& finding = over("cluster", {clusters_.dimensions});
    const auto limits = base::joined(clusters_.sources, &ClusterSource::limits);
    const bool is_own = request_.high_above == "mean" || request_.high_above == "median";
    finding.add(Role::value, limits, "limit", "",
                "above it a score is high, below it low: " +
                    (is_own ? "the " + request_.high_above + " of the subjects' scores" : request_.high_above));
    finding
        .add(Role::p, base::joined(clusters_.sources, &ClusterSource::spread_p), "spread_p", "1",
             "p that subjects are alike on the dimension, by F over what templates and rephrasings do to single "
             "subjects")
        .of = "spread_p";
    finding.views = {{.title = "High and low by ",
                      .columns = table_columns("dimension: cluster_dimension, high above: limit, p spread: spread_p"),
                      .each = {"cluster_source"}}};
    finding.notes =
        "p spread: that subjects differ on the dimension by no more than other templates and rephrasings would make "
        "them (F test). Above 0.05 neither sides nor tests of the dimension are given.";
    if (!clusters_.unmatched.empty()) {
      finding.warnings = {"ratings: not in this run: " + base::join(clusters_.unmatched, ", ")};
    }
  }

  void add_subjects() {
    over("cluster", {clusters_.subjects, clusters_.dimensions})
        .add(Role::value, base::joined(clusters_.sources, &ClusterSource::points), "point", "",
             "mean score of the subject on the dimension");
    if (has_answers()) {
      const auto answers = base::joined(clusters_.sources, [](const ClusterSource& source) {
        return source.answers.empty() ? std::vector<std::int32_t>(source.points.size(), 0) : source.answers;
      });
      found_.back()
          .add(Role::n, answers, "point_answers", "1", "sampled answers that were read in the point; 0: it is of none")
          .of = "point";
    }
    auto& finding = over("cluster", {clusters_.subjects});
    finding
        .add(Role::value, base::joined(clusters_.sources, &ClusterSource::cluster_of), "of_subject", "1",
             "cluster of the subject among cluster_number")
        .note = "-1: none";
    finding.add_flags(Role::value, clusters_.agreements, "agreement",
                      "whether the subject's cluster has the same sides as its cluster by " +
                          clusters_.sources[clusters_.reference()].name,
                      {"none", "differs", "agrees"}, std::identity());
  }

  /// On which dimensions subjects differ, and how many clusters they are in.
  std::string spread_sentence(const ClusterSource& source) const {
    const auto in_clusters =
        std::ranges::count_if(source.cluster_of, [](std::int32_t cluster) { return cluster >= 0; });
    std::vector<std::string> spreads;
    for (std::size_t dimension = 0; dimension < clusters_.dimensions.labels.size(); ++dimension) {
      spreads.push_back(clusters_.dimensions.labels[dimension] + " (p " + results::p_value(source.spread_p[dimension]) +
                        (source.is_within_error(dimension) ? ": no more than other templates would make them" : "") +
                        ")");
    }
    return base::counted(static_cast<std::uint64_t>(in_clusters), "subject") + " in " +
           base::counted(source.number, "cluster") + " by " + results::in_words(source.name) +
           ", fitted to these scores (no interval, no p); the subjects differ on " + base::join(spreads, ", ") + ".";
  }

  /// Of the clusters that are described.
  void add_centres() {
    struct Centre {
      double value = stats::nan;
      std::int32_t answers = 0;
      std::int32_t size = 0;
      std::uint8_t side = 0;
    };
    auto meanings = side_names;
    meanings.emplace_back("within_error");
    const auto num_dimensions = clusters_.dimensions.labels.size();
    std::vector<Centre> centres;
    std::vector<Sentence> members;
    std::vector<Sentence> answers;
    for (const auto& source : clusters_.sources) {
      answers.push_back({source.name, spread_sentence(source)});
      for (std::size_t cluster = 0; cluster < clusters_.most_clusters(); ++cluster) {
        const auto subjects = source.members(cluster);
        std::vector<std::string> sides;
        for (std::size_t dimension = 0; dimension < num_dimensions; ++dimension) {
          auto& centre = centres.emplace_back(Centre{.size = static_cast<std::int32_t>(subjects.size())});
          for (const auto subject : source.answers.empty() ? std::vector<std::size_t>() : subjects) {
            centre.answers += source.answers[subject * num_dimensions + dimension];
          }
          if (cluster < source.number) {
            const auto own = cluster * num_dimensions + dimension;
            centre.value = source.chosen().centres[own];
            centre.side = static_cast<std::uint8_t>(
                source.is_within_error(dimension) ? meanings.size() - 1 : static_cast<std::size_t>(source.sides[own]));
            sides.push_back(clusters_.dimensions.labels[dimension] + " " +
                            base::replace_all(meanings[centre.side], "_", " "));
          }
        }
        if (cluster < source.number) {
          const auto names = clusters_.subjects.part(subjects).labels;
          const auto all_sides = base::join(sides, ", ");
          answers.back().text += (cluster == 0 ? " " : "; ") + all_sides + " (" + std::to_string(names.size()) +
                                 "): " + results::first_names(names, most_told) +
                                 (cluster + 1 == source.number ? "." : "");
          members.push_back({source.name, "Cluster " + std::to_string(cluster) + " by " +
                                              results::in_words(source.name) + ", " + all_sides + ": " +
                                              results::first_names(names, most_members) + "."});
        }
      }
    }
    auto& finding = over("cluster", {cluster_places(), clusters_.dimensions});
    finding.add(Role::value, centres, "centre", "", "mean score of the cluster's members", &Centre::value);
    finding.add(Role::n, centres, "size", "1", "members of the cluster", &Centre::size);
    if (has_answers()) {
      finding.add(Role::n, centres, "answers", "1", "sampled answers that were read in the members' scores; 0: of none",
                  &Centre::answers);
    }
    finding.add_flags(Role::value, centres, "side", "where the cluster's centre stands", std::move(meanings),
                      &Centre::side);
    finding.sentences = std::move(members);
    finding.answers = std::move(answers);
    finding.notes =
        "side: whether the centre is high or low on the dimension; within error: subjects do not differ on it.";
    finding.views = {
        {.title = "Centres of clusters by ",
         .columns = table_columns("cluster: cluster_place, dimension: cluster_dimension, centre, side, members: size" +
                                  std::string(has_answers() ? ", answers" : "")),
         .each = {"cluster_source"},
         .only = "centre"}};
  }

  void add_agreement() {
    auto others = sources_;
    others.name = "cluster_other";
    others.coordinates.clear();
    auto& finding = over("cluster", {others});
    finding
        .add(Role::value, clusters_.rand, "rand", "1", "adjusted Rand index of two sources' clusters",
             &stats::Value::value)
        .note = "over the subjects that both cluster";
    finding.add(Role::status, clusters_.rand, "rand_status", "", "why there is no index", &stats::Value::reason);
    if (clusters_.sources.size() > 1) {
      finding.views = {{.title = "Adjusted Rand index of clusters",
                        .columns = table_columns("by: cluster_source, and by: cluster_other, index: rand"),
                        .each = {}}};
      finding.notes = "1: both put the same subjects together; 0: as often as chance would.";
    }
  }

  void add_tests() {
    const auto name_of = [&](const std::array<std::size_t, 2>& pair) {
      return clusters_.dimensions.labels[pair[0]] + " - " + clusters_.dimensions.labels[pair[1]];
    };
    AxisSchema pairs{
        "dimension_pair", "two dimensions, the first minus the second", base::mapped(clusters_.pairs, name_of), {}};
    auto& finding = over("cluster", {cluster_places(), std::move(pairs)});
    const auto add = [&](Role role, const char* name, const char* unit, const char* what, auto member) {
      finding.add(role, clusters_.tests, name, unit, what, &ClusterTest::test, member);
    };
    using stats::PairedTest;
    add(Role::value, "t_difference", "", "mean difference of the dimensions over the cluster's members",
        &PairedTest::difference);
    add(Role::value, "t", "1", "paired t of the two dimensions over the cluster's members", &PairedTest::t);
    add(Role::n, "t_n", "1", "members of the cluster", &PairedTest::n);
    add(Role::p, "t_p", "1", "two-sided p of cluster_t", &PairedTest::p);
    finding.add(
        Role::adjusted, clusters_.tests, "t_p_holm", "1",
        "cluster_t_p after Holm among the tests of one source whose dimensions have a spread beyond their error",
        &ClusterTest::p_holm);
    add(Role::status, "t_status", "", "why there is no t", &PairedTest::reason);
    finding.views = {{.title = "Paired t of two dimensions over the members of each cluster by ",
                      .columns = table_columns("cluster: cluster_place, first - second: dimension_pair, difference: "
                                               "t_difference, members: t_n, t, p: t_p, p Holm: t_p_holm"),
                      .each = {"cluster_source"},
                      .only = "t_p_holm",
                      .none = "none"}};
    finding.notes = "p Holm: adjusted for the tests of one source whose dimensions have a spread beyond their error.";
    if (std::ranges::any_of(clusters_.tests, [](const auto& test) { return !std::isnan(test.p_holm); })) {
      finding.warnings = {fitted_warning};
    }
  }

  /// Subjects side by side.
  void add_rows() {
    AxisSchema rows{"cluster_row",
                    "what the subjects side by side have in common",
                    base::mapped(clusters_.rows, &Clusters::Row::label),
                    {}};
    std::vector<Clusters::Agreement> agreements;
    for (std::size_t source = 0; source < clusters_.sources.size(); ++source) {
      std::ranges::transform(clusters_.rows, std::back_inserter(agreements),
                             [&](const auto& row) { return agreement_of(clusters_, source, row); });
    }
    auto& finding = over("cluster", {std::move(rows)});
    finding.add_flags(Role::value, agreements, "row_agreement",
                      "whether the clusters of all subjects of the row have the same sides",
                      {"none", "differs", "agrees"}, std::identity());
    finding.views = {{.title = "Sides of the clusters of subjects side by side, by ",
                      .columns = table_columns("side by side: cluster_row, sides: row_agreement"),
                      .each = {"cluster_source"}}};
  }

  bool has_answers() const {
    return std::ranges::any_of(clusters_.sources, [](const auto& source) { return !source.answers.empty(); });
  }

  AxisSchema cluster_places() const {
    return numbered("cluster_place", "number of a cluster", 0, clusters_.most_clusters());
  }

  const Clusters& clusters_;
  const sweep::ClusterRequest& request_;
  std::uint64_t seed_;
  AxisSchema sources_ = {"cluster_source", "whose scores are clustered", {}, {}};
  std::vector<Finding> found_;
};

}  // namespace

std::vector<std::size_t> ClusterSource::members(std::size_t cluster) const {
  return places_with(cluster_of, static_cast<std::int32_t>(cluster));
}

std::size_t Clusters::most_clusters() const { return std::ranges::max(base::mapped(sources, &ClusterSource::number)); }

std::string Clusters::type_of_cluster(std::size_t source, std::size_t cluster) const {
  const auto length = dimensions.labels.size();
  const auto sides = std::span(sources[source].sides).subspan(cluster * length, length);
  return base::join(base::mapped(sides, [](auto side) { return side_names.at(static_cast<std::size_t>(side)); }), "-");
}

std::string Clusters::type_of(std::size_t source, std::size_t subject) const {
  const auto cluster = sources[source].cluster_of[subject];
  return cluster < 0 ? "" : type_of_cluster(source, static_cast<std::size_t>(cluster));
}

Clusters::Agreement agreement_of(const Clusters& clusters, std::size_t source, const Clusters::Row& row) {
  std::set<std::string> types;
  for (const auto& [column, subject] : row.subjects) {
    types.insert(clusters.type_of(source, subject));
  }
  return row.subjects.size() < clusters.columns.size() ? Clusters::Agreement::none : agreement_of(types);
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
  add_rows(clusters, request.across);
  const auto add = [&](ClusterSource source) -> ClusterSource& {
    return clusters.sources.emplace_back(
        find_clusters(std::move(source), request, dimensions.size(), seed, scores.ranks));
  };
  using Numbers = std::vector<double>;
  auto points = share_measures<Numbers>(scores, clusters.measures, [&](const Numbers& values, std::size_t /*place*/) {
    const Cells cells(scores, values);
    return std::vector{subject_means(cells, dimensions), spreads_of(cells, dimensions)};
  });
  for (std::size_t place = 0; place < points.size(); ++place) {
    const auto measure = clusters.measures[place];
    auto& source = add({.name = scores.axes[measure_axis]->labels[measure],
                        .unit = scores.axes[measure_axis]->value("units", measure),
                        .points = std::move(points[place][0]),
                        .spread_p = std::move(points[place][1])});
    const auto in_score = scores.read_statuses ? answers_in_score(*scores.axes[measure_axis], measure) : -1;
    if (in_score > 0) {
      const auto values = scores.read(measure);
      const auto statuses = scores.read_statuses(measure);
      const Cells cells(scores, values, statuses);
      for (std::size_t point = 0; point < source.points.size(); ++point) {
        source.answers.push_back(
            cells.num_answers(point / dimensions.size(), dimensions[point % dimensions.size()].items, in_score));
      }
    }
  }
  if (!request.human_ratings.empty()) {
    clusters.has_people = true;
    clusters.human_source = source_of_ratings(request.human_ratings);
    clusters.unmatched = ratings.unmatched;
    add({.name = people_label,
         .points = std::move(ratings.means),
         .spread_p = std::vector<double>(dimensions.size(), stats::nan)});
  }
  add_rand(clusters);
  add_agreements(clusters);
  add_tests(clusters);
  return clusters;
}

std::vector<Finding> findings_of(const Clusters& clusters, const sweep::ClusterRequest& request, std::uint64_t seed) {
  return ClusterFindings(clusters, request, seed).take();
}

}  // namespace stereosweep::findings
