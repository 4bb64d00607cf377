#include "probes/rating/RatingScores.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/Tables.hpp"
#include "probes/rating/AnswerParser.hpp"
#include "probes/rating/RatingProbe.hpp"
#include "stats/Answers.hpp"
#include "stats/Summary.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;
constexpr std::size_t num_forms = 2;
constexpr std::size_t sampled = 2;  ///< index of the source, where there is one
using results::ScoreStatus;

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

const std::vector<std::string>& coordinate(const results::AxisSchema& axis, const std::string& name) {
  for (const auto& coordinate : axis.coordinates) {
    if (coordinate.name == name) {
      return coordinate.values;
    }
  }
  throw base::InputError(
      base::describe("the axis '" + axis.name + "' has no coordinate '" + name + "'", "this is no rating result"));
}

const results::CubeSchema* find_cube(const results::RawSchema& schema, const std::string& name) {
  const auto found =
      std::find_if(schema.cubes.begin(), schema.cubes.end(), [&](const auto& cube) { return cube.name == name; });
  return found == schema.cubes.end() ? nullptr : &*found;
}

RatingAxes axes_of(const results::RawSchema& schema) {
  RatingAxes axes;
  axes.group = schema.outer_axes.at(0);
  axes.trait = schema.outer_axes.at(1);
  axes.sentence = schema.outer_axes.at(2);
  axes.rephrasing = schema.outer_axes.at(3);
  for (const auto& dimension : coordinate(axes.trait, "dimension")) {
    const auto found = std::find(axes.dimensions.begin(), axes.dimensions.end(), dimension);
    axes.dimension_of.push_back(static_cast<std::size_t>(found - axes.dimensions.begin()));
    if (found == axes.dimensions.end()) {
      axes.dimensions.push_back(dimension);
    }
  }
  for (const auto& polarity : coordinate(axes.trait, "polarity")) {
    axes.is_turned.push_back(polarity == "negative");
  }
  for (const auto& value : coordinate(schema.inner_axis("option"), "value")) {
    axes.values.push_back(base::parse_double(value).value_or(nan));
  }
  for (const auto& order : schema.inner_axis("order").labels) {
    axes.is_reversed.push_back(order == option_order_names()[static_cast<std::size_t>(OptionOrder::reversed)]);
  }
  axes.sources = {"option_text", "option_letter"};
  if (const auto* status = find_cube(schema, "answer_status")) {
    axes.sources.emplace_back("sampled");
    axes.answer_statuses = status->flag_meanings;
    axes.num_runs = schema.inner_axis("run").labels.size();
  }
  return axes;
}

/// `usable` of `all` raw numbers go into a mean.
ScoreStatus status_of(std::size_t usable, std::size_t all) {
  return usable == all ? ScoreStatus::ok : usable == 0 ? ScoreStatus::missing : ScoreStatus::partial;
}

/// A rating turned the dimension's way.
double turned(const RatingAxes& axes, std::size_t trait, double rating) {
  const auto [least, most] = std::minmax_element(axes.values.begin(), axes.values.end());
  return axes.is_turned[trait] ? *least + *most - rating : rating;
}

/// Goes through contexts in order and collects what the tables need.
class Collector {
 public:
  Collector(RatingAxes axes, const results::RawSchema& schema) {
    result_.axes = std::move(axes);
    const auto& names = result_.axes;
    const std::size_t contexts = names.num_contexts();
    result_.ratings.assign(contexts * names.sources.size(), nan);
    result_.rating_statuses.assign(contexts * names.sources.size(), ScoreStatus::unscored);
    result_.order_differences.assign(contexts * num_forms, nan);
    position_sums_.assign(num_forms * names.values.size(), 0.0);
    result_.run_ratings.assign(contexts * names.num_runs, nan);
    result_.run_statuses.assign(contexts * names.num_runs, ScoreStatus::unscored);
    result_.answer_counts.assign(names.num_groups() * names.answer_statuses.size(), 0);
    const auto& flags = schema.cubes.at(static_cast<std::size_t>(RatingColumn::option_status)).flag_meanings;
    unscored_ = static_cast<std::size_t>(std::find(flags.begin(), flags.end(), results::not_scored) - flags.begin());
  }

  void add(std::size_t context, const results::RawBlock& block, std::size_t place) {
    const auto& scored = column<std::uint8_t>(block, RatingColumn::option_status);
    const bool is_scored = scored[place * result_.axes.is_reversed.size()] != unscored_;
    add_options(context, column<double>(block, RatingColumn::option_logprob), place, is_scored);
    if (result_.axes.num_runs > 0) {
      add_answers(context, column<double>(block, RatingColumn::answer_rating),
                  column<std::uint8_t>(block, RatingColumn::answer_status), place, is_scored);
    }
  }

  RatingResult take() {
    for (std::size_t i = 0; i < position_sums_.size(); ++i) {
      const auto count = position_counts_[i / result_.axes.values.size()];
      result_.position_shares.push_back(count == 0 ? nan : position_sums_[i] / count);
    }
    score_dimensions();
    return std::move(result_);
  }

 private:
  template <class T>
  static const std::vector<T>& column(const results::RawBlock& block, RatingColumn name) {
    return std::get<std::vector<T>>(block.columns.at(static_cast<std::size_t>(name)));
  }

  void add_options(std::size_t context, const std::vector<double>& logprob, std::size_t place, bool is_scored) {
    const auto& axes = result_.axes;
    const std::size_t count = axes.values.size();
    const std::size_t num_orders = axes.is_reversed.size();
    for (std::size_t form = 0; form < num_forms; ++form) {
      const auto of_order = [&](std::size_t order) {
        return std::span(logprob).subspan(((place * num_orders + order) * num_forms + form) * count, count);
      };
      const bool turned_first = axes.is_reversed.front();
      const std::size_t listed = turned_first ? num_orders - 1 : 0;
      const std::size_t reversed = turned_first ? 0 : num_orders - 1;
      const auto rated = stats::rate_options(of_order(listed), of_order(reversed), axes.values);
      const std::size_t cell = context * axes.sources.size() + form;
      result_.ratings[cell] = rated.rating.value;
      if (num_orders > 1) {
        result_.order_differences[context * num_forms + form] = rated.difference.value;
      }
      std::size_t usable = 0;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const auto shares = stats::option_probabilities(of_order(order));
        usable += shares.empty() ? 0 : 1;
        position_counts_[form] += shares.empty() ? 0 : 1;
        for (std::size_t option = 0; option < shares.size(); ++option) {
          position_sums_[form * count + (axes.is_reversed[order] ? count - 1 - option : option)] += shares[option];
        }
      }
      if (is_scored) {  // one order alone has no rating: a liking for a place would not cancel out
        const auto status = status_of(usable, num_orders);
        result_.rating_statuses[cell] = status == ScoreStatus::partial ? ScoreStatus::undefined : status;
      }
    }
  }

  void add_answers(std::size_t context, const std::vector<double>& ratings, const std::vector<std::uint8_t>& statuses,
                   std::size_t place, bool is_scored) {
    const auto& axes = result_.axes;
    const std::size_t num_orders = axes.is_reversed.size();
    const std::size_t group = context / (axes.num_traits() * axes.num_wordings());
    std::vector<double> all;
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      std::vector<double> of_run;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const std::size_t cell = (place * num_orders + order) * axes.num_runs + run;
        ++result_.answer_counts[group * axes.answer_statuses.size() + statuses[cell]];
        if (std::isfinite(ratings[cell])) {
          of_run.push_back(ratings[cell]);
          all.push_back(ratings[cell]);
        }
      }
      result_.run_ratings[context * axes.num_runs + run] = stats::mean(of_run).value;
      if (is_scored) {
        result_.run_statuses[context * axes.num_runs + run] = status_of(of_run.size(), num_orders);
      }
    }
    result_.ratings[context * axes.sources.size() + sampled] = stats::mean(all).value;
    if (is_scored) {
      result_.rating_statuses[context * axes.sources.size() + sampled] =
          status_of(all.size(), num_orders * axes.num_runs);
    }
  }

  /// Calls `visit(context, trait, wording)` for the cells of a group on a dimension.
  template <class Visit>
  void each_cell(std::size_t group, std::size_t dimension, Visit visit) const {
    const auto& axes = result_.axes;
    for (std::size_t trait = 0; trait < axes.num_traits(); ++trait) {
      for (std::size_t wording = 0; axes.dimension_of[trait] == dimension && wording < axes.num_wordings(); ++wording) {
        visit((group * axes.num_traits() + trait) * axes.num_wordings() + wording, trait, wording);
      }
    }
  }

  static std::vector<double> means_of(const std::vector<std::vector<double>>& columns) {
    std::vector<double> means;
    for (const auto& column : columns) {
      if (!column.empty()) {
        means.push_back(stats::mean(column).value);
      }
    }
    return means;
  }

  DimensionScore score(std::size_t source, std::size_t dimension, std::size_t group) const {
    const auto& axes = result_.axes;
    std::vector<double> cells;
    std::vector<std::vector<double>> by_wording(axes.num_wordings());
    std::vector<std::vector<double>> by_run(axes.num_runs);
    each_cell(group, dimension, [&](std::size_t context, std::size_t trait, std::size_t wording) {
      const double value = result_.ratings[context * axes.sources.size() + source];
      if (std::isfinite(value)) {
        cells.push_back(turned(axes, trait, value));
        by_wording[wording].push_back(cells.back());
      }
      for (std::size_t run = 0; source == sampled && run < axes.num_runs; ++run) {
        const double rating = result_.run_ratings[context * axes.num_runs + run];
        if (std::isfinite(rating)) {
          by_run[run].push_back(turned(axes, trait, rating));
        }
      }
    });
    DimensionScore score;
    score.mean = stats::mean(cells);
    score.num_ratings = static_cast<std::int32_t>(cells.size());
    score.spread_questions = stats::standard_deviation(means_of(by_wording));
    score.spread_runs = stats::standard_deviation(means_of(by_run));
    score.variation = stats::variation(means_of(by_wording));
    return score;
  }

  void score_dimensions() {
    for (std::size_t source = 0; source < result_.axes.sources.size(); ++source) {
      for (std::size_t dimension = 0; dimension < result_.axes.dimensions.size(); ++dimension) {
        for (std::size_t group = 0; group < result_.axes.num_groups(); ++group) {
          result_.scores.push_back(score(source, dimension, group));
        }
      }
    }
  }

  RatingResult result_;
  std::vector<double> position_sums_;  ///< [form, position]
  double position_counts_[num_forms] = {0, 0};
  std::size_t unscored_ = 0;  ///< flag of option_status
};

void find_clusters(RatingResult& result, const RatingOptions& options) {
  const std::size_t num_dimensions = result.axes.dimensions.size();
  for (std::size_t source = 0; source < result.axes.sources.size(); ++source) {
    RatingClusters clusters;
    std::vector<double> points;
    for (std::size_t group = 0; group < result.axes.num_groups(); ++group) {
      std::vector<double> point;
      for (std::size_t dimension = 0; dimension < num_dimensions; ++dimension) {
        const auto& mean = result.score(source, dimension, group).mean;
        if (mean.defined()) {
          point.push_back(mean.value);
        }
      }
      if (point.size() == num_dimensions) {
        clusters.groups.push_back(group);
        points.insert(points.end(), point.begin(), point.end());
      }
    }
    std::vector<double> curve;
    for (std::size_t k = 1; k <= options.max_clusters; ++k) {
      clusters.by_number.push_back(stats::cluster({points, num_dimensions}, k, options.clusters));
      if (clusters.by_number.back().defined()) {
        curve.push_back(clusters.by_number.back().inertia);
      }
    }
    clusters.elbow = stats::find_elbow(curve);
    result.clusters.push_back(std::move(clusters));
  }
}

void compare(RatingResult& result, const std::vector<HumanMean>& human) {
  const auto& axes = result.axes;
  const auto index_of = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  result.human.assign(axes.dimensions.size() * axes.num_groups(), nan);
  for (const auto& rating : human) {
    const auto group = index_of(axes.group.labels, rating.group);
    const auto dimension = index_of(axes.dimensions, rating.dimension);
    if (group < axes.num_groups() && dimension < axes.dimensions.size()) {
      auto& cell = result.human[dimension * axes.num_groups() + group];
      if (!std::isnan(cell)) {
        throw base::InputError(base::describe("'" + rating.group + "' is rated twice on '" + rating.dimension + "'",
                                              "one mean per cell is expected"));
      }
      cell = rating.mean;
    }
  }
  for (std::size_t source = 0; source < axes.sources.size(); ++source) {
    for (std::size_t dimension = 0; dimension < axes.dimensions.size(); ++dimension) {
      std::vector<double> model;
      std::vector<double> people;
      for (std::size_t group = 0; group < axes.num_groups(); ++group) {
        const double mean = result.human[dimension * axes.num_groups() + group];
        const auto& score = result.score(source, dimension, group).mean;
        if (std::isfinite(mean) && score.defined()) {
          model.push_back(score.value);
          people.push_back(mean);
        }
      }
      result.pearson.push_back(stats::pearson(model, people));
      result.spearman.push_back(stats::spearman(model, people));
    }
  }
}

// The score table.

results::ScoreTableAxes table_axes(const RatingAxes& axes) {
  results::AxisSchema measure{"measure", "what a score is", axes.sources, {}};
  measure.labels.insert(measure.labels.end(), {"order_difference_text", "order_difference_letter"});
  const std::vector<std::string> ratings = {"expected value of the scale by the probabilities of the options' words",
                                            "expected value of the scale by the probabilities of the options' letters",
                                            "mean value of the options that sampled answers name"};
  std::vector<std::string> descriptions(ratings.begin(),
                                        ratings.begin() + static_cast<std::ptrdiff_t>(axes.sources.size()));
  descriptions.insert(descriptions.end(), {"option_text with the options as listed minus with them reversed",
                                           "option_letter with the options as listed minus with them reversed"});
  measure.coordinates = {{"units", "unit of the score", std::vector<std::string>(measure.labels.size(), "1")},
                         {"description", "definition", std::move(descriptions)}};
  results::AxisSchema subject = axes.group;
  subject.name = "subject";
  results::AxisSchema replicate = results::ScoreTable::no_axis(4);
  if (axes.num_runs > 0) {
    replicate = {"replicate", "sampled answer to the same prompts", {"mean"}, {}};
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      replicate.labels.push_back("run " + std::to_string(run + 1));
    }
  }
  results::AxisSchema item{"item", "what is rated", axes.trait.labels, {}};
  std::vector<std::string> left;
  std::vector<std::string> right;
  std::vector<std::string> direction;
  for (std::size_t trait = 0; trait < axes.num_traits(); ++trait) {
    const auto& label = axes.trait.labels[trait];
    left.push_back(axes.is_turned[trait] ? label : "not " + label);
    right.push_back(axes.is_turned[trait] ? "not " + label : label);
    direction.emplace_back(axes.is_turned[trait] ? "turned" : "as_rated");
  }
  item.coordinates = {{"dimension", "dimension of the trait", coordinate(axes.trait, "dimension")},
                      {"left", "what a low score is near to", std::move(left)},
                      {"right", "what a high score is near to", std::move(right)},
                      {"direction", "turned: least + greatest value of the scale - rating", std::move(direction)}};
  return {std::move(measure), std::move(subject),   axes.sentence,
          axes.rephrasing,    std::move(replicate), std::move(item)};
}

/// Fills the cells of one context, over measures and replicates.
void fill_scores(const RatingResult& result, std::size_t context, std::array<std::size_t, 6> place,
                 results::ScoreTable& table) {
  const auto& axes = result.axes;
  const std::size_t trait = place[5];
  const auto set = [&](std::size_t measure, std::size_t replicate, double value, ScoreStatus status) {
    place[0] = measure;
    place[4] = replicate;
    const auto at = table.index(place);
    table.values[at] = value;
    table.statuses[at] = status;
  };
  for (std::size_t measure = 0; measure < table.length(0); ++measure) {
    for (std::size_t replicate = 1; replicate < table.length(4); ++replicate) {
      set(measure, replicate, nan, ScoreStatus::not_applicable);
    }
  }
  for (std::size_t source = 0; source < axes.sources.size(); ++source) {
    const std::size_t cell = context * axes.sources.size() + source;
    set(source, 0, turned(axes, trait, result.ratings[cell]), result.rating_statuses[cell]);
  }
  for (std::size_t run = 0; run < axes.num_runs; ++run) {
    const std::size_t cell = context * axes.num_runs + run;
    set(sampled, 1 + run, turned(axes, trait, result.run_ratings[cell]), result.run_statuses[cell]);
  }
  for (std::size_t form = 0; form < num_forms; ++form) {
    const double difference = result.order_differences[context * num_forms + form];
    set(axes.sources.size() + form, 0, axes.is_turned[trait] ? -difference : difference,
        axes.is_reversed.size() > 1 ? result.rating_statuses[context * axes.sources.size() + form]
                                    : ScoreStatus::not_applicable);
  }
}

}  // namespace

RatingResult compute_ratings(const results::ResultFile& file, const RatingOptions& options) {
  const auto& schema = file.schema();
  if (find_cube(schema, "option_logprob") == nullptr || schema.outer_axes.size() != 4) {
    throw base::InputError(base::describe("'" + file.path().string() + "' is no rating result", "no option_logprob"));
  }
  Collector collector(axes_of(schema), schema);
  const auto step = file.contexts_within(std::uint64_t{64} << 20);
  for (std::uint64_t first = 0; first < file.num_contexts(); first += step) {
    const auto count = std::min(step, file.num_contexts() - first);
    const auto block = file.read(first, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      collector.add(first + i, block, i);
    }
  }
  auto result = collector.take();
  find_clusters(result, options);
  if (options.human) {
    compare(result, *options.human);
  }
  return result;
}

HumanMeans read_human_means(const sweep::Job& job) {
  const std::string& path = job.settings<Rating>().statistics.human_ratings;
  const std::string headline = "the human ratings " + path + " cannot be used:";
  base::Problems problems;
  const config::Table table = config::read_table(path, problems);
  problems.raise_if_any(headline);
  const bool has_groups = std::find(table.columns.begin(), table.columns.end(), "group") != table.columns.end();
  const auto group = table.column(has_groups ? "group" : "identity", problems);
  const auto dimension = table.column("dimension", problems);
  const auto mean = table.column("mean", problems);
  problems.raise_if_any(headline);
  std::map<std::string, std::string> groups;
  std::map<std::string, std::string> dimensions;
  for (const auto& subject : subjects_of(job.settings<Rating>()).subjects) {
    groups.emplace(normalised(subject.label), subject.label);
  }
  for (const auto& trait : job.settings<Rating>().traits) {
    dimensions.emplace(normalised(trait.dimension), trait.dimension);
  }
  HumanMeans ratings;
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
        {known(groups, row[*group], ratings.unmatched), known(dimensions, row[*dimension], ratings.unmatched), *value});
    if (!seen.emplace(ratings.rows.back().group, ratings.rows.back().dimension).second) {
      problems.add(place, "'" + row[*group] + "' is rated twice on '" + row[*dimension] + "'",
                   "one mean per group and dimension is expected");
    }
  }
  problems.raise_if_any(headline);
  return ratings;
}

results::ScoreTable score_table(const RatingResult& result) {
  const auto& axes = result.axes;
  results::ScoreTable table;
  table.axes = table_axes(axes);
  table.resize();
  std::size_t context = 0;
  for (std::size_t group = 0; group < axes.num_groups(); ++group) {
    for (std::size_t trait = 0; trait < axes.num_traits(); ++trait) {
      for (std::size_t sentence = 0; sentence < axes.sentence.labels.size(); ++sentence) {
        for (std::size_t rephrasing = 0; rephrasing < axes.rephrasing.labels.size(); ++rephrasing) {
          fill_scores(result, context++, {0, group, sentence, rephrasing, 0, trait}, table);
        }
      }
    }
  }
  return table;
}

}  // namespace stereosweep::probes::rating
