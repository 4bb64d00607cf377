// What `stats` is asked of the score table of any probe. Plain values.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/Text.hpp"
#include "sweep/Decision.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::sweep {

// What `stats` is asked of a score table and a table of people's answers (`statistics.people`). Plain values.

struct People {
  static constexpr const char* key_form = "{ratings: TABLE.tsv}";
  /// What is drawn with replacement for intervals.
  enum class Drawn : std::uint8_t { annotators, templates, rephrasings };
  inline static const std::vector<std::string> drawn_names = {"annotator", "template", "rephrasing"};
  /// Some of the annotators.
  struct Annotators {
    static constexpr const char* key_form = "[ANNOTATOR, ANNOTATOR] or {share: 0.25, seed: 1}";
    std::vector<std::string> names = {};  ///< empty: see `share`
    double share = 0;                     ///< of all, drawn with `seed`; 0: none
    std::uint64_t seed = 0;
    static void each_key(auto& self, auto& keys) {
      keys.unless_default().alone().lines("names", self.names);
      keys.unless_default().number("share", self.share, 0.001, 0.999, "of all, drawn");
      keys.unless_default().seed("seed", self.seed);
    }
    bool operator==(const Annotators&) const = default;
  };
  /// Data that choose the templates; all that is none of it judges them.
  struct Pilot {
    static constexpr const char* key_form =
        "{pilot_subjects: [LABEL], pilot_annotators: {share: 0.25, seed: 1}, most: 2}";
    std::vector<std::string> subjects = {};  ///< empty: not split by subjects
    Annotators annotators = {};              ///< none: not split by annotators
    std::int64_t most = 2;                   ///< templates whose scores are averaged: 1 or 2
    static void each_key(auto& self, auto& keys) {
      keys.unless_default().lines("pilot_subjects", self.subjects);
      keys.unless_default().item("pilot_annotators", self.annotators);
      keys.integer("most", self.most, 1, 2, "templates whose scores are averaged");
    }
    std::vector<KeyFault> faults() const {
      return fault_if(subjects.empty() && annotators.names.empty() && annotators.share == 0,
                      {.problem = "no pilot is named",
                       .reason = "what chooses the templates must not judge them",
                       .suggestion = "Give 'pilot_subjects', 'pilot_annotators' or both.",
                       .of = {"pilot_subjects", "pilot_annotators"}});
    }
    bool operator==(const Pilot&) const = default;
  };

  std::string ratings = {};                                       ///< path of the table
  std::vector<std::pair<std::string, std::string>> aliases = {};  ///< name in the table -> label of the score table
  double low = 0;                                                 ///< ends of the table's scale
  double high = 100;
  std::vector<Selection> only = {};        ///< rows of the table that count; all must hold
  std::string subgroups = {};              ///< column whose values are told apart; "": none
  std::vector<std::string> measures = {};  ///< empty: all
  std::vector<Drawn> over = {};            ///< empty: all that the data have more than one of
  std::optional<Pilot> pilot = {};
  static void each_key(auto& self, auto& keys) {
    keys.needed().path("ratings", self.ratings, "the table");
    keys.names("aliases", self.aliases, "name in the table: label of the score table");
    keys.range("scale", self.low, self.high, "ends of the table's scale");
    keys.unless_default().selections("only", self.only, "rows of the table that count");
    keys.line("subgroups", self.subgroups, "a column whose values are told apart");
    keys.labels("measures", self.measures);
    keys.unless_default().choices("over", self.over, drawn_names, "what is drawn for intervals");
    keys.optional_item("selection", self.pilot, "data that choose the templates");
  }
  bool operator==(const People&) const = default;
};

/// Which measures a statistic is asked of. `Statistic` tells those with nothing else to say from one another.
template <class Statistic>
struct MeasuresRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL]} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  static void each_key(auto& self, auto& keys) { keys.labels("measures", self.measures); }
  bool operator==(const MeasuresRequest&) const = default;
};
/// Means of every subject and item, with intervals.
using MeansRequest = MeasuresRequest<struct MeansOfRows>;
/// Shares of the variance by subject, item, template, ..., and its components.
using VarianceRequest = MeasuresRequest<struct SourcesOfVariance>;

/// Left minus right. What no selection names is there on both sides.
struct Contrast {
  static constexpr const char* key_form = "{name: ..., left: {subject: ...}, right: {subject: ...}}";
  static constexpr const char* listed_as = "contrast";
  static constexpr const char* side_form = "{subject: LABEL, template.COORDINATE: [VALUE, VALUE]}";
  /// selected: `right` says what; zero: the left side's mean against 0; rest: all subjects that are not on the left.
  enum class Against : std::uint8_t { selected, zero, rest };
  /// Which scores are compared where subjects lack cells (findings/README.md).
  enum class Cells : std::uint8_t { adjusted, common, all };
  inline static const std::vector<std::string> cells_names = {"adjusted", "common", "all"};
  std::string name = {};
  std::vector<Selection> left = {};  ///< all must hold
  std::vector<Selection> right = {};
  Against against = Against::selected;
  std::string each = {};                   ///< one contrast for every label of this axis or coordinate; "": one
  std::string paired = {};                 ///< "template.pair": templates with one value are a pair; "": each by itself
  std::vector<std::string> measures = {};  ///< empty: all
  Cells cells = Cells::adjusted;
  /// A second difference that is taken from the first (an interaction). `each` narrows it too, but not a side of it
  /// that selects on the axis of `each` itself.
  struct Minus {
    static constexpr const char* key_form = "{left: {...}, right: {...}}";
    std::vector<Selection> left = {};
    std::vector<Selection> right = {};
    Against against = Against::zero;  ///< selected or zero
    static void each_key(auto& self, auto& keys) {
      keys.needed().selections("left", self.left);
      keys.selections_or("right", self.right, self.against, {"zero"});
    }
    bool operator==(const Minus&) const = default;
  };
  std::optional<Minus> minus = {};

  static void each_key(auto& self, auto& keys) {
    keys.required_line("name", self.name);
    keys.unless_default().selections("left", self.left, side_form);
    keys.selections_or("right", self.right, self.against, {"zero", "rest"},
                       "a side, zero (the default), or rest: all other subjects");
    keys.line("each", self.each, "one contrast for every label of this axis or coordinate");
    keys.line("paired", self.paired, "templates with one value of this coordinate are a pair");
    keys.unless_default().labels("measures", self.measures);
    keys.unless_default().choice("cells", self.cells, cells_names, "compared where subjects lack some");
    keys.optional_item("minus", self.minus, "a second difference that is taken from the first");
  }
  std::vector<KeyFault> faults() const {
    return fault_if(left.empty() && each.empty(),
                    {.problem = "nothing is selected on the left",
                     .reason = "a contrast needs a label there, or 'each'",
                     .suggestion = std::string("Give 'left: ") + side_form + "' or 'each: AXIS'.",
                     .of = {"left", "each"}});
  }
  bool operator==(const Contrast&) const = default;
};

/// What is said of subjects of the kind `intersection`.
struct IntersectionQuestions {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL], threshold: 0.1} or all";
  std::vector<std::string> measures = {};  ///< empty: all
  double threshold = 0.1;                  ///< difference of mean tau-b from which on a domain dominates another
  double emergence = 0;    ///< a trait emerges where the score is beyond each part's by more than this, in its unit
  double level = 1;        ///< and its p is at most this; 1: whatever its p
  std::string known = {};  ///< path of a table of known stereotypes; "": none
  static void each_key(auto& self, auto& keys) {
    keys.unless_default().labels("measures", self.measures);
    keys.number("threshold", self.threshold, 0, 2);
    keys.number("emergence", self.emergence, 0, 1e9);
    keys.number("level", self.level, 0, 1);
    keys.path("known", self.known, "a table of words that are known to emerge");
  }
  bool operator==(const IntersectionQuestions&) const = default;
};

/// Each of `rows` with each of `columns`; without columns, the rows with one another. Both name items: "item" by their
/// labels, "item.dimension" all items of which a coordinate says so; a subject's score is then their mean.
struct CorrelationRequest {
  static constexpr const char* key_form =
      "{name: ..., rows: {item.dimension: [LABEL, LABEL]}, columns: {item: [LABEL]}}";
  static constexpr const char* listed_as = "list of correlations";
  enum class Method : std::uint8_t { spearman, pearson, kendall };
  inline static const std::vector<std::string> method_names = {"spearman", "pearson", "kendall"};
  /// clusters: also over the members of each cluster of `statistics.clusters`.
  enum class Within : std::uint8_t { none, clusters };
  inline static const std::vector<std::string> within_names = {"none", "clusters"};
  std::string name = {};
  std::vector<Selection> rows = {};
  std::vector<Selection> columns = {};
  std::vector<Method> methods = {Method::spearman};
  Within within = Within::none;
  std::vector<std::string> measures = {};  ///< empty: all
  static void each_key(auto& self, auto& keys) {
    keys.required_line("name", self.name);
    keys.needed().selections("rows", self.rows, "items, or item.dimension");
    keys.unless_default().selections("columns", self.columns, "none: the rows with one another");
    keys.one_or_more("method", self.methods, method_names);
    keys.choice("within", self.within, within_names);
    keys.labels("measures", self.measures);
  }
  bool operator==(const CorrelationRequest&) const = default;
};

/// The subjects with the highest and the lowest means.
struct ExtremesRequest {
  static constexpr const char* key_form = "{most: 10, of: {item.dimension: [LABEL, LABEL]}} or all";
  std::vector<Selection> of = {};  ///< as rows of a correlation; empty: every dimension, or every item without any
  std::int64_t most = 10;          ///< shown at each end
  std::vector<std::string> measures = {};
  static void each_key(auto& self, auto& keys) {
    keys.unless_default().selections("of", self.of);
    keys.integer("most", self.most, 1, 10'000, "shown at each end");
    keys.labels("measures", self.measures);
  }
  bool operator==(const ExtremesRequest&) const = default;
};

/// k-means of a score table's subjects, whose items have dimensions: each subject is a point, its coordinates are its
/// mean scores on the dimensions.
struct ClusterRequest {
  static constexpr const char* key_form = "{measures: [LABEL, LABEL], number: 4} or all";
  enum class Start : std::uint8_t { plus_plus, random };
  inline static const std::vector<std::string> start_names = {"plus_plus", "random"};
  /// Which of the two groups of an intersection stand side by side.
  enum class Across : std::uint8_t { none, first, second };
  inline static const std::vector<std::string> across_names = {"none", "first", "second"};
  static constexpr std::int64_t most_clusters = 100;
  std::vector<std::string> measures = {};    ///< each clustered by itself; empty: all
  std::vector<std::string> dimensions = {};  ///< the coordinates, in this order; empty: all of the score table
  std::string number = "elbow";              ///< of clusters, or "elbow": where the inertia bends most
  Start start = Start::plus_plus;
  std::int64_t restarts = 1000;
  std::int64_t max_clusters = 10;  ///< the curve of the elbow ends there
  std::string human_ratings = {};  ///< path of a table of people's means, clustered in the same way; empty: none
  /// Above what a score or a centre is high on a dimension: "mean" or "median" of the subjects' scores, or a number.
  std::string high_above = "mean";
  Across across = Across::none;
  /// No keys of a job, the probe says so: the measures where `measures` is empty; whether tables show what is found.
  std::vector<std::string> default_measures = {};
  bool is_asked = true;

  static void each_key(auto& self, auto& keys) {
    keys.labels("measures", self.measures);
    keys.labels("dimensions", self.dimensions);
    keys.line("number", self.number, "of clusters, or elbow");
    keys.choice("start", self.start, start_names);
    keys.integer("restarts", self.restarts, 1000, 10'000'000);
    keys.integer("max_clusters", self.max_clusters, 1, most_clusters);
    keys.path("human_ratings", self.human_ratings, "a table of people's means");
    keys.line("high_above", self.high_above, "mean, median or a number");
    keys.choice("across", self.across, across_names);
  }
  std::vector<KeyFault> faults() const {
    std::vector<KeyFault> faults;
    const auto count = base::parse_double(number);
    if (number != "elbow" && !(count && *count >= 1 && *count <= most_clusters && *count == std::floor(*count))) {
      faults.push_back({"number", "'" + base::excerpt(number, 40) + "' is no number of clusters",
                        "elbow or a whole number from 1 to " + std::to_string(most_clusters) + " is expected", ""});
    }
    if (high_above != "mean" && high_above != "median" && !base::parse_double(high_above)) {
      faults.push_back({"high_above", "'" + base::excerpt(high_above, 40) + "' parts nothing into high and low",
                        "mean, median or a number is expected", ""});
    }
    return faults;
  }
  bool operator==(const ClusterRequest&) const = default;
};

struct VariationRequest {
  static constexpr const char* key_form = "{over: [wording, replicate], measures: [LABEL, LABEL]} or all";
  /// wording: every template in every rephrasing; replicate: the runs.
  enum class Over : std::uint8_t { wording, template_, rephrasing, replicate };
  inline static const std::vector<std::string> over_names = {"wording", "template", "rephrasing", "replicate"};
  std::vector<Over> over = {Over::wording, Over::replicate};
  std::vector<std::string> measures = {};  ///< empty: all
  static void each_key(auto& self, auto& keys) {
    keys.choices("over", self.over, over_names);
    keys.unless_default().labels("measures", self.measures);
  }
  bool operator==(const VariationRequest&) const = default;
};

/// What a statistic is, beside what is asked of it.
struct Statistic {
  const char* key;      ///< under `statistics`
  const char* about;    ///< for people who write jobs
  const char* heading;  ///< of the report's section
};

/// The table of statistics: what is listed in `each_statistic` is read, kept, described, computed and printed, in that
/// order.
struct Comparison {
  using Family = TestFamily;
  std::vector<Contrast> contrasts = {};
  Family family = Family::measure;
  double confidence = 0.95;        ///< of intervals
  std::int64_t replicates = 2000;  ///< of the bootstrap
  std::int64_t draws = 100'000;    ///< of tests that are too large to count, and of max-T
  /// Labels of those whose scores count, empty: all. The key is a probe's.
  std::vector<std::string> templates = {};
  std::optional<DecideRequest> decide = {};
  std::optional<MeansRequest> means = {};
  std::optional<VarianceRequest> variance = {};
  std::optional<IntersectionQuestions> intersections = {};
  std::optional<ClusterRequest> clusters = {};
  std::optional<VariationRequest> variation = {};
  std::optional<People> people = {};
  std::vector<CorrelationRequest> correlations = {};
  std::optional<ExtremesRequest> extremes = {};

  /// Shows `visit` every statistic, what was asked first, and what is asked of it (an optional, or a list).
  static void each_statistic(auto& self, auto visit) {
    visit(Statistic{"contrasts", "differences that are tested", "Contrasts"}, self.contrasts);
    visit(Statistic{"decide", "when rounds of the sweep would have decided the contrasts", "Decisions"}, self.decide);
    visit(Statistic{"people", "agreement with people's answers", "Agreement with people"}, self.people);
    visit(Statistic{"intersections", "what an intersection has of its groups", "Intersections"}, self.intersections);
    visit(Statistic{"clusters", "k-means of the subjects", "Clusters"}, self.clusters);
    visit(Statistic{"correlations", "of items over subjects", "Correlations"}, self.correlations);
    visit(Statistic{"extremes", "the subjects with the highest and the lowest means", "Highest and lowest means"},
          self.extremes);
    visit(Statistic{"means", "of every subject and item, with intervals", "Scores"}, self.means);
    visit(Statistic{"variance_shares", "by subject, item, template, ...", "Where scores vary"}, self.variance);
    visit(Statistic{"variation", "coefficients of variation", "Where scores vary"}, self.variation);
  }
  static void inference_keys(auto& self, auto& keys) {
    keys.choice("family", self.family, test_family_names);
    keys.number("confidence", self.confidence, 0.5, 0.9999);
    keys.integer("replicates", self.replicates, 100, 1'000'000);
    keys.integer("draws", self.draws, 100, 100'000'000);
  }
  bool asks() const {
    bool found = false;
    each_statistic(*this, [&](const Statistic& /*statistic*/, const auto& asked) {
      found = found || asked != std::remove_cvref_t<decltype(asked)>();
    });
    return found;
  }
  bool operator==(const Comparison&) const = default;
};

}  // namespace stereosweep::sweep
