#include "probes/rating/RatingScores.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "probes/rating/OptionParser.hpp"
#include "probes/rating/RatingProbe.hpp"
#include "results/RawBlock.hpp"
#include "results/ScoreTable.hpp"
#include "stats/OptionProbabilities.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;
constexpr std::size_t num_forms = 2;
constexpr std::size_t sampled = 2;  ///< index of the source, where there is one
using results::ScoreStatus;

const results::CubeSchema* find_cube(const results::RawSchema& schema, const std::string& name) {
  const auto found = std::ranges::find(schema.cubes, name, &results::CubeSchema::name);
  return found == schema.cubes.end() ? nullptr : &*found;
}

RatingAxes axes_of(const results::RawSchema& schema) {
  RatingAxes axes;
  axes.group = schema.outer_axes.at(0);
  const auto& trait = schema.outer_axes.at(1);
  axes.sentence = schema.outer_axes.at(2);
  axes.rephrasing = schema.outer_axes.at(3);
  const auto& polarities = coordinate_of(trait, "polarity");
  for (const auto& dimension : coordinate_of(trait, "dimension")) {
    const auto found = std::ranges::find(axes.dimensions, dimension);
    const auto index = axes.traits.size();
    axes.traits.push_back({trait.labels[index], static_cast<std::size_t>(found - axes.dimensions.begin()),
                           polarities[index] == "negative"});
    if (found == axes.dimensions.end()) {
      axes.dimensions.push_back(dimension);
    }
  }
  for (const auto& value : coordinate_of(schema.inner_axis("option"), "value")) {
    axes.values.push_back(base::parse_double(value).value_or(nan));
  }
  for (const auto& order : schema.inner_axis("order").labels) {
    axes.is_reversed.push_back(order == option_order_names[static_cast<std::size_t>(OptionOrder::reversed)]);
  }
  if (const auto* status = find_cube(schema, "answer_status")) {
    axes.answer_statuses = status->flag_meanings;
    axes.num_runs = schema.inner_axis("run").labels.size();
  }
  axes.sources = source_names(axes.num_runs);
  return axes;
}

/// A mean of `usable` of `all` raw numbers.
Rated rated(double value, std::size_t usable, std::size_t all) {
  return {value, usable == all ? ScoreStatus::ok : usable == 0 ? ScoreStatus::missing : ScoreStatus::partial};
}

/// A rating turned the dimension's way.
double turned(const RatingAxes& axes, std::size_t trait, double rating) {
  const auto [least, most] = std::minmax_element(axes.values.begin(), axes.values.end());
  return axes.traits[trait].is_turned ? *least + *most - rating : rating;
}

/// Goes through contexts in order and collects what the tables need.
class Collector {
 public:
  Collector(RatingAxes axes, const results::RawSchema& schema) {
    result_.axes = std::move(axes);
    const auto& names = result_.axes;
    const std::size_t contexts = names.num_contexts();
    result_.ratings.resize(contexts * names.sources.size());
    result_.run_ratings.resize(contexts * names.num_runs);
    result_.order_differences.assign(contexts * num_forms, nan);
    position_sums_.assign(num_forms * names.values.size(), 0.0);
    result_.answer_counts.assign(names.num_groups() * names.answer_statuses.size(), 0);
    const auto& flags = schema.cubes.at(static_cast<std::size_t>(RatingColumn::option_status)).flag_meanings;
    unscored_ = static_cast<std::size_t>(std::find(flags.begin(), flags.end(), results::not_scored) - flags.begin());
  }

  void add(std::size_t context, const results::RawBlock& block, std::size_t place) {
    const auto& axes = result_.axes;
    add_options(context, column_of<double>(block, RatingColumn::option_logprob), place);
    if (axes.num_runs > 0) {
      add_answers(context, column_of<double>(block, RatingColumn::answer_rating),
                  column_of<std::uint8_t>(block, RatingColumn::answer_status), place);
    }
    if (column_of<std::uint8_t>(block, RatingColumn::option_status)[place * axes.is_reversed.size()] == unscored_) {
      for (std::size_t source = 0; source < axes.sources.size(); ++source) {
        result_.ratings[context * axes.sources.size() + source].status = ScoreStatus::unscored;
      }
      for (std::size_t run = 0; run < axes.num_runs; ++run) {
        result_.run_ratings[context * axes.num_runs + run].status = ScoreStatus::unscored;
      }
    }
  }

  RatingResult take() {
    for (std::size_t i = 0; i < position_sums_.size(); ++i) {
      const auto count = position_counts_[i / result_.axes.values.size()];
      result_.position_shares.push_back(count == 0 ? nan : position_sums_[i] / count);
    }
    score_dimensions();
    vary_orders();
    return std::move(result_);
  }

 private:
  void add_options(std::size_t context, const std::vector<double>& logprob, std::size_t place) {
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
      const auto both = stats::rate_options(of_order(listed), of_order(reversed), axes.values);
      if (num_orders > 1) {
        result_.order_differences[context * num_forms + form] = both.difference.value;
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
      auto& cell = result_.ratings[context * axes.sources.size() + form];
      cell = rated(both.rating.value, usable, num_orders);
      if (cell.status == ScoreStatus::partial) {  // one order alone: a liking for a place would not cancel out
        cell.status = ScoreStatus::undefined;
      }
    }
  }

  void add_answers(std::size_t context, const std::vector<double>& ratings, const std::vector<std::uint8_t>& statuses,
                   std::size_t place) {
    const auto& axes = result_.axes;
    const std::size_t num_orders = axes.is_reversed.size();
    const std::size_t group = context / (axes.traits.size() * axes.num_wordings());
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
      result_.run_ratings[context * axes.num_runs + run] = rated(stats::mean(of_run).value, of_run.size(), num_orders);
    }
    result_.ratings[context * axes.sources.size() + sampled] =
        rated(stats::mean(all).value, all.size(), num_orders * axes.num_runs);
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
    const auto first = group * axes.traits.size() * axes.num_wordings();
    for (std::size_t cell = 0; cell < axes.traits.size() * axes.num_wordings(); ++cell) {
      const auto trait = cell / axes.num_wordings();
      if (axes.traits[trait].dimension != dimension) {
        continue;
      }
      const double value = result_.ratings[(first + cell) * axes.sources.size() + source].value;
      if (std::isfinite(value)) {
        cells.push_back(turned(axes, trait, value));
        by_wording[cell % axes.num_wordings()].push_back(cells.back());
      }
      for (std::size_t run = 0; source == sampled && run < axes.num_runs; ++run) {
        const double rating = result_.run_ratings[(first + cell) * axes.num_runs + run].value;
        if (std::isfinite(rating)) {
          by_run[run].push_back(turned(axes, trait, rating));
        }
      }
    }
    DimensionScore score;
    score.mean = stats::mean(cells);
    score.num_ratings = static_cast<std::int32_t>(cells.size());
    score.spread_questions = stats::standard_deviation(means_of(by_wording));
    score.spread_runs = stats::standard_deviation(means_of(by_run));
    score.variation = stats::variation(means_of(by_wording));
    return score;
  }

  /// Over the two orders of the options; an order's value is its mean over the wordings that were asked in both.
  void vary_orders() {
    const auto& axes = result_.axes;
    const auto num_traits = axes.traits.size();
    for (std::size_t form = 0; form < num_forms; ++form) {
      for (std::size_t cell = 0; cell < axes.num_groups() * num_traits; ++cell) {
        std::vector<double> ratings;
        std::vector<double> differences;
        for (std::size_t context = cell * axes.num_wordings(); context < (cell + 1) * axes.num_wordings(); ++context) {
          const double rating = result_.ratings[context * axes.sources.size() + form].value;
          const double difference = result_.order_differences[context * num_forms + form];
          if (std::isfinite(rating) && std::isfinite(difference)) {
            ratings.push_back(turned(axes, cell % num_traits, rating));
            differences.push_back(difference);
          }
        }
        const double middle = stats::mean(ratings).value;
        const double half = stats::mean(differences).value / 2;
        result_.order_variations.push_back(
            ratings.empty() ? stats::Value() : stats::variation(std::array{middle + half, middle - half}));
      }
    }
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

void compare(RatingResult& result, const findings::DimensionMeans& human) {
  const auto& axes = result.axes;
  const auto means = human.table(axes.group.labels, axes.dimensions);
  for (std::size_t dimension = 0; dimension < axes.dimensions.size(); ++dimension) {
    for (std::size_t group = 0; group < axes.num_groups(); ++group) {
      result.human.push_back(means[group * axes.dimensions.size() + dimension]);
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
  struct Measure {
    std::string name;
    std::string description;
    double lowest;
    double highest;
  };
  const auto [least, most] = std::ranges::minmax(axes.values);
  std::vector<Measure> measures = {
      {"option_text", "expected value of the scale by the probabilities of the options' words", least, most},
      {"option_letter", "expected value of the scale by the probabilities of the options' letters", least, most}};
  results::AxisSchema replicate = results::ScoreTable::no_axis(4);
  if (axes.num_runs > 0) {
    measures.push_back({"sampled", "mean value of the options that sampled answers name", least, most});
    replicate = {"replicate", "sampled answer to the same prompts", {results::ScoreTable::mean_replicate}, {}};
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      replicate.labels.push_back("run " + std::to_string(run + 1));
    }
  }
  const double range = most - least;
  measures.push_back(
      {"order_difference_text", "option_text with the options as listed minus with them reversed", -range, range});
  measures.push_back(
      {"order_difference_letter", "option_letter with the options as listed minus with them reversed", -range, range});
  results::AxisSchema subject = axes.group;
  subject.name = "subject";
  return {
      axis_of(
          "measure", "what a score is", measures, &Measure::name,
          {{"units", "unit of the score", [](const auto&) { return "1"; }},
           {"description", "definition", &Measure::description},
           {"lowest", "least score possible", [](const auto& one) { return base::format_double(one.lowest); }},
           {"highest", "greatest score possible", [](const auto& one) { return base::format_double(one.highest); }}}),
      std::move(subject),
      axes.sentence,
      axes.rephrasing,
      std::move(replicate),
      axis_of(
          "item", "what is rated", axes.traits, &TraitFacts::label,
          {{"dimension", "dimension of the trait", [&](const auto& trait) { return axes.dimensions[trait.dimension]; }},
           {"left", "what a low score is near to",
            [](const auto& trait) { return (trait.is_turned ? "" : "not ") + trait.label; }},
           {"right", "what a high score is near to",
            [](const auto& trait) { return (trait.is_turned ? "not " : "") + trait.label; }},
           {"direction", "turned: least + greatest value of the scale - rating",
            [](const auto& trait) { return trait.is_turned ? "turned" : "as_rated"; }}})};
}

using Names = std::vector<std::string>;

Names numbered(std::size_t count, std::size_t first) {
  Names labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(std::to_string(first + i));
  }
  return labels;
}

results::CubeSchema number(const std::string& name, const std::string& what, const std::string& description = "") {
  return results::number_cube(name, "1", what, description);
}

results::CubeSchema count(const std::string& name, const std::string& what, const std::string& description = "") {
  return {name, results::ElementType::int32, {}, "1", what, description, {}};
}

/// Attributes and axes.
void describe_file(results::StatisticsFile& file, const results::ResultFile& source, const RatingOptions& options,
                   const RatingResult& result) {
  auto& root = file.root();
  root.write_attribute("human_ratings", options.human ? options.human_source : std::string("none"));
  auto& layout = file.layout();
  for (const auto& axis : source.schema().outer_axes) {
    layout.add_axis(axis);
  }
  layout.add_axis({"source", "what a rating is made of", result.axes.sources, {}});
  layout.add_axis({"form", "what was scored as the continuation", {"text", "letter"}, {}});
  layout.add_axis({"dimension", "dimension of the traits", result.axes.dimensions, {}});
  layout.add_axis({"position", "place in the list of options", numbered(result.axes.values.size(), 0), {}});
  if (!result.axes.answer_statuses.empty()) {
    layout.add_axis({"answer_status", "what became of a sampled answer", result.axes.answer_statuses, {}});
  }
}

void write_scores(results::Layout& layout, const RatingResult& result) {
  const Names axes = {"source", "dimension", "group"};
  const auto& scores = result.scores;
  layout.write(number("rating", "rating of a cell",
                      "not turned round for negative traits; option sources: expected value over both orders of the "
                      "options; sampled: mean over orders and runs with a usable answer"),
               {"group", "trait", "template", "rephrasing", "source"}, result.ratings, &Rated::value);
  layout.write(number("order_difference", "rating with the options as listed minus rating with them reversed",
                      "0 without position bias"),
               {"group", "trait", "template", "rephrasing", "form"}, result.order_differences);
  layout.write(number("variation_over_orders", "standard deviation (n - 1) over mean, over the orders of the options",
                      "of the mean over templates and rephrasings; negative traits turned round"),
               {"form", "group", "trait"}, result.order_variations, [](const auto& one) { return one.value; });
  layout.write(results::flag_cube("variation_over_orders_status", "why there is no number", stats::reason_names()),
               {"form", "group", "trait"}, result.order_variations, [](const auto& one) { return one.reason; });
  layout.write(number("position_share", "mean probability of the option that stands there",
                      "1 / number of options without position bias"),
               {"form", "position"}, result.position_shares);
  layout.write(number("dimension_score", "mean rating on the dimension",
                      "over traits and wordings with a rating; negative traits turned round"),
               axes, scores, [](const auto& score) { return score.mean.value; });
  layout.write(results::flag_cube("dimension_score_status", "why a score does not exist", stats::reason_names()), axes,
               scores, [](const auto& score) { return score.mean.reason; });
  layout.write(count("dimension_num_ratings", "cells with a rating"), axes, scores, &DimensionScore::num_ratings);
  layout.write(number("spread_over_questions", "standard deviation (n - 1) over templates and rephrasings",
                      "of the mean over traits; NaN: fewer than two of them have a rating"),
               axes, scores, [](const auto& score) { return score.spread_questions.value; });
  layout.write(number("spread_over_runs", "standard deviation (n - 1) over runs",
                      "of the mean over traits, templates, rephrasings and orders; NaN: not sampled, or fewer than two "
                      "runs with a rating"),
               axes, scores, [](const auto& score) { return score.spread_runs.value; });
  layout.write(number("variation_over_questions", "spread_over_questions / mean over templates and rephrasings"), axes,
               scores, [](const auto& score) { return score.variation.value; });
  if (!result.answer_counts.empty()) {
    layout.write(count("answer_count", "sampled answers by status"), {"group", "answer_status"}, result.answer_counts);
  }
}

void write_agreement(results::Layout& layout, const RatingResult& result) {
  const Names axes = {"source", "dimension"};
  layout.write(number("human_mean", "mean human rating"), {"dimension", "group"}, result.human);
  layout.write(number("pearson", "Pearson's r of scores and human means over groups"), axes, result.pearson,
               &stats::Correlation::value);
  layout.write(number("pearson_p", "two-sided p of pearson"), axes, result.pearson, &stats::Correlation::p);
  layout.write(number("spearman", "Spearman's rho of scores and human means over groups"), axes, result.spearman,
               &stats::Correlation::value);
  layout.write(number("spearman_p", "two-sided p of spearman"), axes, result.spearman, &stats::Correlation::p);
  layout.write(count("agreement_n", "groups that are rated by both"), axes, result.pearson, &stats::Correlation::n);
  layout.write(results::flag_cube("agreement_status", "why there is no correlation", stats::reason_names()), axes,
               result.pearson, &stats::Correlation::reason);
}

}  // namespace

std::vector<std::string> source_names(std::size_t num_runs) {
  return num_runs == 0 ? Names{"option_text", "option_letter"} : Names{"option_text", "option_letter", "sampled"};
}

RatingResult compute_ratings(const results::ResultFile& file, const RatingOptions& options) {
  const auto& schema = file.schema();
  if (find_cube(schema, "option_logprob") == nullptr || schema.outer_axes.size() != 4) {
    throw base::InputError(base::describe("'" + file.path().string() + "' is no rating result", "no option_logprob"));
  }
  Collector collector(axes_of(schema), schema);
  file.for_each_context(
      [&](std::uint64_t context, const auto& block, std::uint64_t place) { collector.add(context, block, place); });
  auto result = collector.take();
  if (options.human) {
    compare(result, *options.human);
  }
  return result;
}

results::ScoreTable score_table(const RatingResult& result) {
  const auto& axes = result.axes;
  results::ScoreTable table;
  table.axes = table_axes(axes);
  table.resize();
  std::ranges::fill(table.statuses, ScoreStatus::not_applicable);
  const sweep::Product product(
      {axes.num_groups(), axes.traits.size(), axes.sentence.labels.size(), axes.rephrasing.labels.size()});
  for (std::size_t context = 0; context < axes.num_contexts(); ++context) {
    const auto place = product.coordinates(context);
    const auto trait = place[1];
    const auto set = [&](std::size_t measure, std::size_t replicate, double value, ScoreStatus status) {
      const auto at = table.index({measure, place[0], place[2], place[3], replicate, trait});
      table.values[at] = value;
      table.statuses[at] = status;
    };
    for (std::size_t source = 0; source < axes.sources.size(); ++source) {
      const auto& rating = result.ratings[context * axes.sources.size() + source];
      set(source, 0, turned(axes, trait, rating.value), rating.status);
    }
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      const auto& rating = result.run_ratings[context * axes.num_runs + run];
      set(sampled, 1 + run, turned(axes, trait, rating.value), rating.status);
    }
    for (std::size_t form = 0; form < num_forms && axes.is_reversed.size() > 1; ++form) {
      const double difference = result.order_differences[context * num_forms + form];
      set(axes.sources.size() + form, 0, axes.traits[trait].is_turned ? -difference : difference,
          result.ratings[context * axes.sources.size() + form].status);
    }
  }
  return table;
}

void write_rating_statistics(const results::ResultFile& file, const RatingOptions& options, const RatingResult& result,
                             const results::StatisticsTarget& target) {
  results::StatisticsFile written(file, Rating::probe_name, target);
  describe_file(written, file, options, result);
  results::write_score_table(written.layout(), score_table(result));
  write_scores(written.layout(), result);
  if (!result.human.empty()) {
    write_agreement(written.layout(), result);
  }
  written.commit();
}

}  // namespace stereosweep::probes::rating
