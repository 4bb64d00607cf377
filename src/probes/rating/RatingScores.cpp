#include "probes/rating/RatingScores.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/rating/AnswerParser.hpp"
#include "probes/rating/RatingSchema.hpp"
#include "stats/Answers.hpp"
#include "stats/Summary.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;
constexpr std::size_t num_orders = 2;
constexpr std::size_t num_forms = 2;
constexpr std::size_t sampled = 2;  ///< index of the measure, where there is one

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
  axes.identities = schema.outer_axes.at(0).labels;
  axes.traits = schema.outer_axes.at(1).labels;
  axes.questions = schema.outer_axes.at(2).labels;
  for (const auto& dimension : coordinate(schema.outer_axes[1], "dimension")) {
    const auto found = std::find(axes.dimensions.begin(), axes.dimensions.end(), dimension);
    axes.dimension_of.push_back(static_cast<std::size_t>(found - axes.dimensions.begin()));
    if (found == axes.dimensions.end()) {
      axes.dimensions.push_back(dimension);
    }
  }
  for (const auto& polarity : coordinate(schema.outer_axes[1], "polarity")) {
    axes.is_turned.push_back(polarity == "negative");
  }
  for (const auto& value : coordinate(schema.inner_axis("option"), "value")) {
    axes.values.push_back(base::parse_double(value).value_or(nan));
  }
  axes.measures = {"option_text", "option_letter"};
  if (const auto* status = find_cube(schema, "answer_status")) {
    axes.measures.emplace_back("sampled");
    axes.answer_statuses = status->flag_meanings;
    axes.num_runs = schema.inner_axis("run").labels.size();
  }
  return axes;
}

/// Goes through contexts in order and collects what the tables need.
class Collector {
 public:
  explicit Collector(RatingAxes axes) {
    result_.axes = std::move(axes);
    const auto& names = result_.axes;
    const std::size_t contexts = names.num_contexts();
    result_.ratings.assign(contexts * names.measures.size(), nan);
    result_.order_differences.assign(contexts * num_forms, nan);
    position_sums_.assign(num_forms * names.values.size(), 0.0);
    by_run_.assign(contexts * names.num_runs, nan);
    result_.answer_counts.assign(names.identities.size() * names.answer_statuses.size(), 0);
  }

  void add(std::size_t context, const results::RawBlock& block, std::size_t place) {
    add_options(context, std::get<std::vector<double>>(block.columns[static_cast<int>(RatingColumn::option_logprob)]),
                place);
    if (result_.axes.num_runs > 0) {
      add_answers(context, std::get<std::vector<double>>(block.columns[static_cast<int>(RatingColumn::answer_rating)]),
                  std::get<std::vector<std::uint8_t>>(block.columns[static_cast<int>(RatingColumn::answer_status)]),
                  place);
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
  void add_options(std::size_t context, const std::vector<double>& logprob, std::size_t place) {
    const std::size_t count = result_.axes.values.size();
    for (std::size_t form = 0; form < num_forms; ++form) {
      const auto of_order = [&](std::size_t order) {
        return std::span(logprob).subspan(((place * num_orders + order) * num_forms + form) * count, count);
      };
      const auto rated = stats::rate_options(of_order(0), of_order(1), result_.axes.values);
      result_.ratings[context * result_.axes.measures.size() + form] = rated.rating.value;
      result_.order_differences[context * num_forms + form] = rated.difference.value;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const auto shares = stats::option_probabilities(of_order(order));
        position_counts_[form] += shares.empty() ? 0 : 1;
        for (std::size_t option = 0; option < shares.size(); ++option) {
          position_sums_[form * count + (order == 0 ? option : count - 1 - option)] += shares[option];
        }
      }
    }
  }

  void add_answers(std::size_t context, const std::vector<double>& ratings, const std::vector<std::uint8_t>& statuses,
                   std::size_t place) {
    const auto& axes = result_.axes;
    const std::size_t identity = context / (axes.traits.size() * axes.questions.size());
    std::vector<double> all;
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      std::vector<double> of_run;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const std::size_t cell = (place * num_orders + order) * axes.num_runs + run;
        ++result_.answer_counts[identity * axes.answer_statuses.size() + statuses[cell]];
        if (std::isfinite(ratings[cell])) {
          of_run.push_back(ratings[cell]);
          all.push_back(ratings[cell]);
        }
      }
      by_run_[context * axes.num_runs + run] = stats::mean(of_run).value;
    }
    result_.ratings[context * axes.measures.size() + sampled] = stats::mean(all).value;
  }

  /// A rating turned the dimension's way.
  double turned(std::size_t trait, double rating) const {
    const auto& values = result_.axes.values;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return result_.axes.is_turned[trait] ? *least + *most - rating : rating;
  }

  /// Calls `visit(context, trait, question)` for the cells of an identity on a dimension.
  template <class Visit>
  void each_cell(std::size_t identity, std::size_t dimension, Visit visit) const {
    const auto& axes = result_.axes;
    for (std::size_t trait = 0; trait < axes.traits.size(); ++trait) {
      for (std::size_t question = 0; axes.dimension_of[trait] == dimension && question < axes.questions.size();
           ++question) {
        visit((identity * axes.traits.size() + trait) * axes.questions.size() + question, trait, question);
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

  DimensionScore score(std::size_t measure, std::size_t dimension, std::size_t identity) const {
    const auto& axes = result_.axes;
    std::vector<double> cells;
    std::vector<std::vector<double>> by_question(axes.questions.size());
    std::vector<std::vector<double>> by_run(axes.num_runs);
    each_cell(identity, dimension, [&](std::size_t context, std::size_t trait, std::size_t question) {
      const double value = result_.ratings[context * axes.measures.size() + measure];
      if (std::isfinite(value)) {
        cells.push_back(turned(trait, value));
        by_question[question].push_back(cells.back());
      }
      for (std::size_t run = 0; measure == sampled && run < axes.num_runs; ++run) {
        const double rating = by_run_[context * axes.num_runs + run];
        if (std::isfinite(rating)) {
          by_run[run].push_back(turned(trait, rating));
        }
      }
    });
    DimensionScore score;
    score.mean = stats::mean(cells);
    score.num_ratings = static_cast<std::int32_t>(cells.size());
    score.spread_questions = stats::standard_deviation(means_of(by_question));
    score.spread_runs = stats::standard_deviation(means_of(by_run));
    score.variation = stats::variation(means_of(by_question));
    return score;
  }

  void score_dimensions() {
    for (std::size_t measure = 0; measure < result_.axes.measures.size(); ++measure) {
      for (std::size_t dimension = 0; dimension < result_.axes.dimensions.size(); ++dimension) {
        for (std::size_t identity = 0; identity < result_.axes.identities.size(); ++identity) {
          result_.scores.push_back(score(measure, dimension, identity));
        }
      }
    }
  }

  RatingResult result_;
  std::vector<double> position_sums_;  ///< [form, position]
  double position_counts_[num_forms] = {0, 0};
  std::vector<double> by_run_;  ///< [identity, trait, question, run]: mean over orders
};

void find_clusters(RatingResult& result, const RatingOptions& options) {
  const std::size_t num_dimensions = result.axes.dimensions.size();
  for (std::size_t measure = 0; measure < result.axes.measures.size(); ++measure) {
    RatingClusters clusters;
    std::vector<double> points;
    for (std::size_t identity = 0; identity < result.axes.identities.size(); ++identity) {
      std::vector<double> point;
      for (std::size_t dimension = 0; dimension < num_dimensions; ++dimension) {
        const auto& mean = result.score(measure, dimension, identity).mean;
        if (mean.defined()) {
          point.push_back(mean.value);
        }
      }
      if (point.size() == num_dimensions) {
        clusters.identities.push_back(identity);
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

void compare(RatingResult& result, const std::vector<IdentityRating>& human) {
  const auto& axes = result.axes;
  const auto index_of = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  result.human.assign(axes.dimensions.size() * axes.identities.size(), nan);
  for (const auto& rating : human) {
    const auto identity = index_of(axes.identities, rating.identity);
    const auto dimension = index_of(axes.dimensions, rating.dimension);
    if (identity < axes.identities.size() && dimension < axes.dimensions.size()) {
      auto& cell = result.human[dimension * axes.identities.size() + identity];
      if (!std::isnan(cell)) {
        throw base::InputError(base::describe("'" + rating.identity + "' is rated twice on '" + rating.dimension + "'",
                                              "one mean per cell is expected"));
      }
      cell = rating.mean;
    }
  }
  for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
    for (std::size_t dimension = 0; dimension < axes.dimensions.size(); ++dimension) {
      std::vector<double> model;
      std::vector<double> people;
      for (std::size_t identity = 0; identity < axes.identities.size(); ++identity) {
        const double mean = result.human[dimension * axes.identities.size() + identity];
        const auto& score = result.score(measure, dimension, identity).mean;
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

}  // namespace

RatingResult compute_ratings(const results::ResultFile& file, const RatingOptions& options) {
  const auto& schema = file.schema();
  if (find_cube(schema, "option_logprob") == nullptr || schema.outer_axes.size() != 3) {
    throw base::InputError(base::describe("'" + file.path().string() + "' is no rating result", "no option_logprob"));
  }
  Collector collector(axes_of(schema));
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

}  // namespace stereosweep::probes::rating
