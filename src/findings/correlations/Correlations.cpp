#include "findings/correlations/Correlations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Streams.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/Correlation.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"

namespace stereosweep::findings {
namespace {

using stats::CorrelationKind;
using sweep::CorrelationRequest;

constexpr std::size_t fewest_subjects = 3;  // two points always lie on a line

/// Of the subjects that have both scores.
struct CorrelationTest {
  stats::Correlation correlation;  ///< its p is the formula's
  stats::PairingP pairing;         ///< two-sided p of shuffled subjects, and its interval
  double p_holm = stats::nan;
  double p_yekutieli = stats::nan;
};

struct CorrelationRow {
  std::string name;  ///< of what was asked
  std::string measure;
  CorrelationKind method;
  std::string among;  ///< `all_subjects`, or the cluster: its number and its sides
  std::string left;
  std::string right;
  bool shares_items = false;  ///< an item is part of both
  CorrelationTest test = {};
};

constexpr const char* all_subjects = "all";

/// The two lists of one pair and the methods: all that a unit of the shared work needs.
struct Unit : stats::CommonValues {
  std::vector<CorrelationKind> kinds;
};

std::vector<CorrelationTest> tests_of(const Unit& unit, const sweep::Comparison& comparison, std::uint64_t seed) {
  std::vector<CorrelationTest> tests(unit.kinds.size());
  for (std::size_t kind = 0; kind < unit.kinds.size(); ++kind) {
    auto& correlation = tests[kind].correlation;
    correlation = stats::correlate(unit.left, unit.right, unit.kinds[kind]);
    if (correlation.n > 0 && correlation.n < fewest_subjects) {
      correlation = {.n = correlation.n, .reason = stats::Reason::too_few};
    }
    tests[kind].pairing.interval.reason = correlation.reason;
  }
  const auto places = base::places_where(tests.size(), [&](auto kind) { return tests[kind].correlation.defined(); });
  const auto kinds = base::mapped(places, [&](auto kind) { return unit.kinds[kind]; });
  if (kinds.empty()) {
    return tests;
  }
  const auto pairings = stats::shuffled_correlation_p(unit.left, unit.right, kinds,
                                                      {.seed = seed,
                                                       .stream = start_of(Stream::pairings),
                                                       .draws = static_cast<std::uint64_t>(comparison.draws),
                                                       .confidence = comparison.confidence});
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    tests[places[kind]].pairing = pairings[kind];
  }
  return tests;
}

void adjust(std::vector<CorrelationRow>& rows, sweep::Comparison::Family family) {
  using Family = sweep::Comparison::Family;
  std::map<std::tuple<CorrelationKind, std::string, std::string>, std::vector<CorrelationTest*>> families;
  for (auto& row : rows) {
    if (row.test.correlation.defined()) {
      families[{row.method, family == Family::all ? "" : row.measure, family == Family::contrast ? row.name : ""}]
          .push_back(&row.test);
    }
  }
  for (const auto& [key, members] : families) {
    const auto put = [&tests = members](stats::Adjustment adjustment, double CorrelationTest::*place) {
      stats::adjust_rows(
          tests, [](const CorrelationTest* test) { return test->pairing.p; }, place, adjustment);
    };
    put(stats::Adjustment::holm, &CorrelationTest::p_holm);
    put(stats::Adjustment::benjamini_yekutieli, &CorrelationTest::p_yekutieli);
  }
}

/// Which tests are adjusted together.
std::string adjusted_among(sweep::TestFamily family) {
  constexpr std::array texts = {"all rows of one name, measure and method", "all rows of one measure and method",
                                "all rows of one method"};
  return texts.at(static_cast<std::size_t>(family));
}

/// `unclustered`: measures without clusters, which were asked for.
std::string notes_of(const std::vector<CorrelationRow>& rows, const std::vector<std::string>& unclustered,
                     const sweep::Comparison& comparison) {
  std::string text =
      "r: spearman's rho, pearson's r or kendall's tau-b of the subjects' mean scores, over the n that have both. low, "
      "high: " +
      results::percent(comparison.confidence) +
      " interval of the test of p; subjects are a sample to both. p: two-sided, subjects shuffled (all ways up to 8, "
      "else " +
      base::with_thousands(static_cast<std::uint64_t>(comparison.draws)) +
      " draws) and the correlation divided by a standard error that allows for sides that scatter in the same places "
      "(of pearson with 12 subjects or fewer not fully: p <= 0.05 then comes in up to 10 % of tables without a "
      "correlation); Holm among " +
      adjusted_among(comparison.family) + ".";
  std::size_t fewest = 6;
  for (const auto& row : rows) {
    fewest = row.test.correlation.defined() ? std::min(fewest, row.test.correlation.n) : fewest;
  }
  if (fewest < 6) {
    text += " With " + std::to_string(fewest) + " subjects p cannot be below " +
            results::p_value(2 / std::tgamma(static_cast<double>(fewest) + 1)) + ".";
  }
  if (!unclustered.empty()) {
    text += " No clusters, and so no correlations within them: " + base::join(unclustered, ", ") + ".";
  }
  return text;
}

std::vector<std::string> warnings_of(const std::vector<CorrelationRow>& rows) {
  std::vector<std::string> warnings;
  if (std::ranges::any_of(rows, [](const CorrelationRow& row) { return row.among != all_subjects; })) {
    warnings.emplace_back(
        "members of a cluster were chosen by their scores. On the dimensions that made the clusters they vary less "
        "than all subjects (restricted range), and a correlation within a cluster can be smaller than among all, or of "
        "the other sign; its p and interval take the cluster for given.");
  }
  const auto is_of_few = [](const CorrelationRow& row) {
    return row.test.correlation.defined() && row.test.correlation.n < few_subjects;
  };
  if (const auto count = std::ranges::count_if(rows, is_of_few); count > 0) {
    warnings.push_back(few_subjects_warning(static_cast<std::size_t>(count), rows.size()));
  }
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (row.shares_items) {
      base::add_once(names, row.left + " x " + row.right);
    }
  }
  if (!names.empty()) {
    warnings.push_back("some rows and columns have items in common (" + results::first_names(std::move(names), 3) +
                       "): they are correlated by construction.");
  }
  return warnings;
}

results::AxisSchema axis_of(const std::vector<CorrelationRow>& rows) {
  using Row = CorrelationRow;
  return list_axis<Row>("correlation", "what was asked, measure, method, subjects and the two sides", rows,
                        {{"name", "name of what was asked", &Row::name},
                         {"measure", "whose scores", &Row::measure},
                         {"method", "spearman: rho, pearson: r, kendall: tau-b",
                          [](const Row& row) {
                            return sweep::CorrelationRequest::method_names.at(static_cast<std::size_t>(row.method));
                          }},
                         {"among", "over all subjects, or the members of a cluster", &Row::among},
                         {"row", "item, or what items have in common", &Row::left},
                         {"column", "with which it is correlated", &Row::right}});
}

void add_columns(Finding& finding, const std::vector<CorrelationRow>& rows, const sweep::Comparison& comparison) {
  const RowColumns columns{finding, rows};
  const auto add = [&](Role role, const char* name, const std::string& what, const auto&... path) -> Column& {
    return columns(role, name, "1", what, &CorrelationRow::test, path...);
  };
  const auto correlation = &CorrelationTest::correlation;
  const auto pairing = &CorrelationTest::pairing;
  const auto family = ", adjusted among " + adjusted_among(comparison.family);
  add(Role::value, "coefficient", "correlation of the two sides over subjects", correlation,
      &stats::Correlation::value);
  add(Role::n, "n", "subjects with both scores", correlation, &stats::Correlation::n);
  columns.interval(
      {.what = results::percent(comparison.confidence) + " interval",
       .unit = "1",
       .note = "of the test of p: subjects are a sample; dependent scatter of the two sides is allowed for"},
      &CorrelationRow::test, pairing, &stats::PairingP::interval);
  add(Role::p, "p", "two-sided p of the studentised correlation, subjects shuffled", pairing, &stats::PairingP::p)
      .note = "all pairings are counted up to 8 subjects, else drawn";
  columns.interval(
      {.what = "interval of a p that was drawn; p where it was counted", .unit = "1", .prefix = "p_", .of = "p"},
      &CorrelationRow::test, pairing, &stats::PairingP::p_interval);
  add(Role::adjusted, "p_holm", "p after Holm" + family, &CorrelationTest::p_holm);
  add(Role::adjusted, "p_yekutieli", "p after Benjamini and Yekutieli" + family, &CorrelationTest::p_yekutieli);
  add(Role::p, "p_formula", "two-sided p by Student's t, or by the distribution of tau", correlation,
      &stats::Correlation::p);
  add(Role::status, "status", "why there is no correlation", correlation, &stats::Correlation::reason);
  add(Role::status, "interval_status", "why there is no interval", pairing, &stats::PairingP::interval,
      &stats::Interval::reason)
      .of = "low";
}

/// What was asked for, resolved against the table.
struct CorrelationPlan {
  const CorrelationRequest* request = nullptr;
  std::string key;  ///< for messages
  std::vector<std::size_t> measures;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  ///< places of groups
};

class Correlator {
 public:
  Correlator(const Scores& scores, const sweep::Comparison& comparison) : scores_(scores), comparison_(comparison) {
    std::ranges::for_each(comparison.correlations, [&](const auto& request) { add(request); });
    require_no_faults(faults_);
  }

  std::vector<Finding> take(const FindClusters& find_clusters, std::uint64_t seed) {
    lay_out_rows(find_clusters);
    const auto tests = base::joined(share<CorrelationTest>(
        scores_.ranks, units_.size(), [&](std::size_t unit) { return tests_of(units_[unit], comparison_, seed); }));
    for (std::size_t row = 0; row < tests.size(); ++row) {
      rows_[row].test = tests[row];
    }
    adjust(rows_, comparison_.family);
    Finding means{.name = "correlation_score",
                  .axes = {measure_axis_of(scores_, measures_, "correlated_measure"),
                           *scores_.axes[subject_axis],
                           {"correlation_side", "item, or what items have in common", names_of(groups_), {}}}};
    means.add(Role::value, means_, "", "", "mean over items, templates and rephrasings").note = "unit: measure_units";
    return {coefficients(), std::move(means)};
  }

 private:
  void add(const CorrelationRequest& request) {
    const auto key = "statistics.correlations '" + request.name + "'";
    CorrelationPlan plan{&request, key, chosen_measures(scores_, request.measures, key, faults_), {}};
    const auto rows = places_of(item_groups(scores_, request.rows, key, faults_));
    const auto columns = places_of(item_groups(scores_, request.columns, key, faults_));
    for (const auto row : rows) {
      for (const auto column : request.columns.empty() ? rows : columns) {
        if (row != column && !base::contains(plan.pairs, std::pair(column, row))) {  // each two once, in any order
          base::add_once(plan.pairs, std::pair(row, column));
        }
      }
    }
    if (plan.pairs.empty() && faults_.empty()) {
      faults_.push_back(base::describe(key + ": there are no two different sets of items", "a pair takes two",
                                       "name more rows, or columns"));
    }
    std::ranges::for_each(plan.measures, [&](auto measure) { base::add_once(measures_, measure); });
    plans_.push_back(std::move(plan));
  }

  /// The rows without numbers, and `units_`, theirs in the same order, a unit for all methods of a pair.
  void lay_out_rows(const FindClusters& find_clusters) {
    clusters_ = find_clusters ? find_clusters() : nullptr;
    std::ranges::for_each(plans_, [&](const auto& plan) { check_clusters(plan); });
    require_no_faults(faults_);
    std::ranges::sort(measures_);
    means_ =
        base::joined(share_measures<double>(scores_, measures_, [&](const std::vector<double>& values, std::size_t) {
          return subject_means(Cells(scores_, values), groups_);
        }));
    for (const auto& plan : plans_) {
      for (const auto measure : plan.measures) {
        add_rows(plan, measure);
      }
    }
  }

  std::vector<std::size_t> places_of(std::vector<ItemGroup> groups) {
    std::vector<std::size_t> places;
    for (auto& group : groups) {
      const auto known = std::ranges::find(groups_, group.items, &ItemGroup::items);
      places.push_back(static_cast<std::size_t>(known - groups_.begin()));
      if (known == groups_.end()) {
        groups_.push_back(std::move(group));
      }
    }
    return places;
  }

  void check_clusters(const CorrelationPlan& plan) {
    for (const auto measure : plan.measures) {
      if (plan.request->within == CorrelationRequest::Within::clusters && source_of(measure) == nullptr) {
        faults_.push_back(base::describe(
            plan.key + ": '" + scores_.axes[measure_axis]->labels[measure] + "' has no clusters to look within",
            "statistics.clusters does not take it", "name measures that are clustered, or leave 'within' out"));
      }
    }
  }

  const ClusterSource* source_of(std::size_t measure) const {
    if (clusters_ == nullptr) {
      return nullptr;
    }
    const auto place = std::ranges::find(clusters_->measures, measure) - clusters_->measures.begin();
    return std::cmp_equal(place, clusters_->measures.size()) ? nullptr
                                                             : &clusters_->sources[static_cast<std::size_t>(place)];
  }

  void add_rows(const CorrelationPlan& plan, std::size_t measure) {
    add_rows(plan, measure, base::places_below(scores_.length(subject_axis)), all_subjects);
    if (plan.request->within == CorrelationRequest::Within::none) {
      return;
    }
    const auto& source = *source_of(measure);
    const auto place = static_cast<std::size_t>(&source - clusters_->sources.data());
    if (source.number == 0) {
      unclustered_.push_back(source.name);
    }
    for (std::size_t cluster = 0; cluster < source.number; ++cluster) {
      add_rows(plan, measure, source.members(cluster),
               "cluster " + std::to_string(cluster) + ": " + clusters_->type_of_cluster(place, cluster));
    }
  }

  void add_rows(const CorrelationPlan& plan, std::size_t measure, const std::vector<std::size_t>& subjects,
                const std::string& among) {
    const auto place = static_cast<std::size_t>(std::ranges::find(measures_, measure) - measures_.begin());
    const auto first = place * scores_.length(subject_axis);
    for (const auto& [left, right] : plan.pairs) {
      Unit unit;
      for (const auto subject : subjects) {
        const double* scores = &means_[(first + subject) * groups_.size()];
        unit.add(scores[left], scores[right]);
      }
      equalise(unit.left);
      equalise(unit.right);
      const auto& left_items = groups_[left].items;
      const bool shares_items =
          std::ranges::any_of(groups_[right].items, [&](std::size_t item) { return base::contains(left_items, item); });
      for (const auto method : plan.request->methods) {
        unit.kinds.push_back(static_cast<CorrelationKind>(method));
        rows_.push_back({plan.request->name, scores_.axes[measure_axis]->labels[measure], unit.kinds.back(), among,
                         groups_[left].name, groups_[right].name, shares_items});
      }
      units_.push_back(std::move(unit));
    }
  }

  Finding coefficients() const {
    Finding found{.name = "correlation",
                  .axes = {axis_of(rows_)},
                  .notes = notes_of(rows_, unclustered_, comparison_),
                  .warnings = warnings_of(rows_),
                  .named = base::joined(comparison_.correlations, &CorrelationRequest::measures)};
    add_columns(found, rows_, comparison_);
    found.views = {
        {.title = "Correlations over subjects: ",
         .columns = table_columns("row, column, among, method, r: coefficient, low, high, n, p, p Holm: p_holm"),
         .by = "p",
         .each = {"name", "measure"}}};
    const auto claim = [](const CorrelationRow& row) {
      return row.left + (row.test.correlation.value < 0 ? " falls" : " rises") + " with " + row.right + " over " +
             (row.among == all_subjects ? "all subjects" : row.among);
    };
    found.question = {{.claims = base::mapped(rows_, claim),
                       .value = "coefficient",
                       .counted = "subject",
                       .name = "r",
                       .nothing = "correlation"}};
    return found;
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  const Clusters* clusters_ = nullptr;
  std::vector<std::string> faults_;
  std::vector<std::size_t> measures_;  ///< places on the table's axis: all that are asked for
  std::vector<ItemGroup> groups_;      ///< all that are asked for
  std::vector<double> means_;          ///< [measure, subject, group]; NaN: none
  std::vector<CorrelationPlan> plans_;
  std::vector<Unit> units_;
  std::vector<CorrelationRow> rows_;
  std::vector<std::string> unclustered_;  ///< measures without clusters, which were asked for
};

}  // namespace

std::vector<Finding> correlations_of(const Scores& scores, const sweep::Comparison& comparison,
                                     const FindClusters& find_clusters, std::uint64_t seed) {
  return Correlator(scores, comparison).take(find_clusters, seed);
}

}  // namespace stereosweep::findings
