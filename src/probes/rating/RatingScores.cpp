#include "probes/rating/RatingScores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Cells.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/Agreement.hpp"
#include "findings/people/RatingsFile.hpp"
#include "probes/rating/RatingProbe.hpp"
#include "results/RawBlock.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/OptionProbabilities.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::rating {
namespace {

using stats::nan;
constexpr std::size_t num_forms = 2;
constexpr std::size_t sampled = 2;  ///< index of the source, where there is one
using results::ScoreStatus;

RatingAxes axes_of(const results::RawSchema& schema) {
  RatingAxes axes;
  axes.group = schema.outer_axes.at(0);
  const auto& trait = schema.outer_axes.at(1);
  axes.sentence = schema.outer_axes.at(2);
  axes.rephrasing = schema.outer_axes.at(3);
  const auto& polarities = coordinate_of(trait, "polarity");
  const auto& dimensions = coordinate_of(trait, "dimension");
  for (std::size_t index = 0; index < trait.labels.size(); ++index) {
    axes.traits.push_back({trait.labels[index], dimensions[index], polarities[index] == "negative"});
  }
  axes.values = base::mapped(coordinate_of(schema.inner_axis("option"), "value"),
                             [](const auto& value) { return base::parse_double(value).value_or(nan); });
  for (const auto& order : schema.inner_axis("order").labels) {
    axes.is_reversed.push_back(order == option_order_names[static_cast<std::size_t>(OptionOrder::reversed)]);
  }
  if (schema.find_cube("answer_status")) {
    axes.answer_statuses = meanings_of(schema, "answer_status");
    axes.num_runs = schema.inner_axis("run").labels.size();
  }
  axes.sources = source_names(axes.num_runs);
  return axes;
}

results::ScoreTableAxes table_axes(const RatingAxes& axes) {
  const auto ends = std::ranges::minmax(axes.values);
  const auto least = base::format_double(ends.min);
  const auto most = base::format_double(ends.max);
  std::vector<MeasureText> measures = {
      {"option_text", "1", "expected value of the scale by the probabilities of the options' words", least, most},
      {"option_letter", "1", "expected value of the scale by the probabilities of the options' letters", least, most}};
  results::AxisSchema replicate = results::ScoreTable::no_axis(4);
  if (axes.num_runs > 0) {
    measures.push_back(
        {"sampled", "1", "mean value of the options that sampled answers name", least, most, axes.is_reversed.size()});
    replicate = {"replicate", "sampled answer to the same prompts", {results::ScoreTable::mean_replicate}, {}};
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      replicate.labels.push_back("run " + std::to_string(run + 1));
    }
  }
  const double range = ends.max - ends.min;
  for (const std::string form : {"text", "letter"}) {
    measures.push_back({"order_difference_" + form, "1",
                        "option_" + form + " with the options as listed minus with them reversed",
                        base::format_double(-range), base::format_double(range)});
  }
  results::AxisSchema subject = axes.group;
  subject.name = "subject";
  return {measure_axis("what a score is", measures),
          std::move(subject),
          axes.sentence,
          axes.rephrasing,
          std::move(replicate),
          axis_of("item", "what is rated", axes.traits, &TraitFacts::label,
                  {{"dimension", "dimension of the trait", &TraitFacts::dimension},
                   {"left", "what a low score is near to",
                    [](const auto& trait) { return (trait.is_turned ? "" : "not ") + trait.label; }},
                   {"right", "what a high score is near to",
                    [](const auto& trait) { return (trait.is_turned ? "not " : "") + trait.label; }},
                   {"direction", "turned: least + greatest value of the scale - rating",
                    [](const auto& trait) { return trait.is_turned ? "turned" : "as_rated"; }}})};
}

/// Of a mean of `usable` of `all` raw numbers.
ScoreStatus status_of(std::size_t usable, std::size_t all) {
  return usable == all ? ScoreStatus::ok : usable == 0 ? ScoreStatus::missing : ScoreStatus::partial;
}

/// Goes through contexts in order and collects what the tables need.
class Collector {
 public:
  Collector(RatingAxes axes, const results::RawSchema& schema) : schema_(schema), product_(product_of(schema)) {
    result_.axes = std::move(axes);
    const auto& names = result_.axes;
    const auto ends = std::ranges::minmax(names.values);
    least_ = ends.min;
    greatest_ = ends.max;
    result_.table.axes = table_axes(names);
    result_.table.resize();
    std::ranges::fill(result_.table.statuses, ScoreStatus::not_applicable);
    position_sums_.assign(num_forms * names.values.size(), 0.0);
    result_.answer_counts.assign(names.num_groups() * names.answer_statuses.size(), 0);
    const auto& flags = meanings_of(schema, "option_status");
    unscored_ = static_cast<std::size_t>(std::find(flags.begin(), flags.end(), results::not_scored) - flags.begin());
  }

  void add(std::size_t context, const results::RawBlock& block, std::size_t place) {
    const auto& axes = result_.axes;
    at_ = product_.coordinates(context);
    const auto status = column_named<std::uint8_t>(block, schema_, "option_status")[place * axes.is_reversed.size()];
    is_scored_ = status != unscored_;
    if (!is_scored_ || status != static_cast<std::uint8_t>(OptionStatus::not_asked)) {
      add_options(column_named<double>(block, schema_, "option_logprob"), place);
    }
    if (axes.num_runs > 0) {
      add_answers(column_named<double>(block, schema_, "answer_rating"),
                  column_named<std::uint8_t>(block, schema_, "answer_status"), place);
    }
  }

  RatingResult take() {
    for (std::size_t i = 0; i < position_sums_.size(); ++i) {
      const auto count = position_counts_[i / result_.axes.values.size()];
      result_.position_shares.push_back(count == 0 ? nan : position_sums_[i] / count);
    }
    return std::move(result_);
  }

 private:
  /// Of the context that is added.
  void set(std::size_t measure, std::size_t replicate, double value, ScoreStatus status) {
    const auto cell = result_.table.index({measure, at_[0], at_[2], at_[3], replicate, at_[1]});
    result_.table.values[cell] = value;
    result_.table.statuses[cell] = is_scored_ ? status : ScoreStatus::unscored;
  }

  bool is_turned() const { return result_.axes.traits[at_[1]].is_turned; }
  /// A rating turned the dimension's way.
  double turned(double rating) const { return is_turned() ? least_ + greatest_ - rating : rating; }

  void add_options(const std::vector<double>& logprob, std::size_t place) {
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
      std::size_t usable = 0;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const auto shares = stats::option_probabilities(of_order(order));
        usable += shares.empty() ? 0 : 1;
        position_counts_[form] += shares.empty() ? 0 : 1;
        for (std::size_t option = 0; option < shares.size(); ++option) {
          position_sums_[form * count + (axes.is_reversed[order] ? count - 1 - option : option)] += shares[option];
        }
      }
      auto status = status_of(usable, num_orders);
      if (status == ScoreStatus::partial) {  // one order alone: a liking for a place would not cancel out
        status = ScoreStatus::undefined;
      }
      set(form, 0, turned(both.rating.value), status);
      if (num_orders > 1) {
        set(axes.sources.size() + form, 0, is_turned() ? -both.difference.value : both.difference.value, status);
      }
    }
  }

  void add_answers(const std::vector<double>& ratings, const std::vector<std::uint8_t>& statuses, std::size_t place) {
    const auto& axes = result_.axes;
    const std::size_t num_orders = axes.is_reversed.size();
    std::vector<double> all;
    for (std::size_t run = 0; run < axes.num_runs; ++run) {
      std::vector<double> of_run;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const std::size_t cell = (place * num_orders + order) * axes.num_runs + run;
        ++result_.answer_counts[at_[0] * axes.answer_statuses.size() + statuses[cell]];
        if (std::isfinite(ratings[cell])) {
          of_run.push_back(ratings[cell]);
          all.push_back(ratings[cell]);
        }
      }
      set(sampled, 1 + run, turned(stats::mean(of_run).value), status_of(of_run.size(), num_orders));
    }
    set(sampled, 0, turned(stats::mean(all).value), status_of(all.size(), num_orders * axes.num_runs));
  }

  const results::RawSchema& schema_;
  RatingResult result_;
  sweep::Product product_;
  double least_ = 0;  ///< of the scale
  double greatest_ = 0;
  std::vector<std::uint64_t> at_;  ///< of the context that is added: group, trait, template, rephrasing
  bool is_scored_ = false;
  std::vector<double> position_sums_;  ///< [form, position]
  double position_counts_[num_forms] = {0, 0};
  std::size_t unscored_ = 0;  ///< flag of option_status
};

}  // namespace

std::vector<std::string> source_names(std::size_t num_runs) {
  std::vector<std::string> names = {"option_text", "option_letter"};
  if (num_runs > 0) {
    names.emplace_back("sampled");
  }
  return names;
}

results::ScoreTableAxes score_axes(const results::RawSchema& schema) { return table_axes(axes_of(schema)); }

RatingResult compute_ratings(const results::ResultFile& file) {
  const auto& schema = file.schema();
  Collector collector(axes_of(schema), schema);
  file.for_each_context(
      [&](std::uint64_t context, const auto& block, std::uint64_t place) { collector.add(context, block, place); });
  return collector.take();
}

std::vector<findings::Finding> findings_of(const RatingResult& result) {
  using findings::Role;
  const auto& axes = result.axes;
  std::vector<findings::Finding> found;
  auto& position = found.emplace_back(
      findings::Finding{.name = "position_share",
                        .heading = "Places in the list of options",
                        .axes = {{"form", "what was scored as the continuation", {"text", "letter"}, {}},
                                 numbered_axis("position", "place in the list of options", axes.values.size())}});
  position.add(Role::value, result.position_shares, "", "1", "mean probability of the option that stands there",
               std::identity());
  position.views = {{.title = "Mean probability of options by their place in the list",
                     .columns = findings::table_columns("options as: form, place: position, probability:"),
                     .each = {}}};
  position.notes = "Without a liking for a place it is 1 / number of options, " +
                   results::fixed(1.0 / static_cast<double>(axes.values.size())) + ".";
  if (!result.answer_counts.empty()) {
    auto subject = axes.group;
    subject.name = results::score_axis_names[findings::subject_axis];
    auto& answers = found.emplace_back(findings::Finding{
        .name = "answer_count",
        .axes = {std::move(subject), {"answer_status", "what became of a sampled answer", axes.answer_statuses, {}}}});
    answers.add(Role::value, result.answer_counts, "", "1", "sampled answers by status", std::identity());
  }
  return found;
}

findings::Finding agreement_of(const RatingResult& result, const findings::Scores& scores,
                               const std::string& human_ratings) {
  using findings::Role;
  using Correlation = stats::Correlation;
  const auto& axes = result.axes;
  const auto dimensions = findings::dimension_groups(*scores.axes[findings::item_axis]);
  const auto names = findings::names_of(dimensions);
  const auto ratings = findings::read_dimension_means(human_ratings, axes.group.labels, names).means;
  std::vector<findings::Agreement> agreements;
  for (std::size_t source = 0; source < axes.sources.size(); ++source) {
    const auto values = scores.read(source);
    const auto means = findings::subject_means(findings::Cells(scores, values), dimensions);
    for (std::size_t dimension = 0; dimension < dimensions.size(); ++dimension) {
      std::vector<double> model;
      std::vector<double> human;
      for (auto place = dimension; place < means.size(); place += dimensions.size()) {
        model.push_back(means[place]);
        human.push_back(ratings[place]);
      }
      agreements.push_back(findings::agreement_of(model, human));
    }
  }
  findings::Finding finding{.name = "agreement",
                            .axes = {{"agreement_measure", "what is compared with people", axes.sources, {}},
                                     {"rated_dimension", "dimension of the traits", names, {}}}};
  const auto add = [&](Role role, const char* name, const char* what, Correlation findings::Agreement::*of,
                       auto member) -> auto& {
    return finding.add(role, agreements, name, "1", what, [=](const auto& one) { return (one.*of).*member; });
  };
  const auto pearson = &findings::Agreement::pearson;
  const auto spearman = &findings::Agreement::spearman;
  add(Role::value, "pearson", "Pearson's r over groups of mean scores and people's means", pearson,
      &Correlation::value);
  add(Role::p, "pearson_p", "two-sided p of Pearson's r", pearson, &Correlation::p).of = "pearson";
  add(Role::value, "spearman", "Spearman's rho over groups of mean scores and people's means", spearman,
      &Correlation::value);
  add(Role::p, "spearman_p", "two-sided p of Spearman's rho", spearman, &Correlation::p).of = "spearman";
  add(Role::n, "n", "groups that are rated by both", pearson, &Correlation::n);
  add(Role::status, "status", "why there is no correlation", pearson, &Correlation::reason);
  finding.views = {{.title = "Agreement with people's means over groups, ",
                    .columns = findings::table_columns("dimension: rated_dimension, n, Pearson: pearson, p: pearson_p, "
                                                       "Spearman: spearman, p of Spearman: spearman_p")}};
  finding.notes =
      "A score is a group's mean on the dimension over traits, templates and rephrasings. p: the formulas', two-sided; "
      "they take groups as independent, which intersections with a group in common are not.";
  const auto is_of_few = [](const Correlation& one) { return one.defined() && one.n < findings::few_subjects; };
  if (const auto count = std::ranges::count_if(agreements, is_of_few, pearson); count > 0) {
    finding.warnings = {findings::few_subjects_warning(static_cast<std::size_t>(count), agreements.size())};
  }
  return finding;
}

}  // namespace stereosweep::probes::rating
