#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/language/LanguageTable.hpp"
#include "findings/Cells.hpp"
#include "findings/Finding.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/Agreement.hpp"
#include "findings/people/RatingsFile.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/rating/Rating.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/OptionProbabilities.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::rating {
namespace {

using base::with_thousands;
using results::ScoreStatus;
using stats::nan;
constexpr std::size_t num_forms = 2;
constexpr std::size_t sampled = 2;  ///< index of the source, where there is one

/// [option]
std::vector<double> values_of(const results::RawSchema& schema) {
  return base::mapped(coordinate_of(schema.inner_axis("option"), "value"),
                      [](const auto& value) { return base::parse_double(value).value_or(nan); });
}

/// Sampled answers to a prompt.
std::size_t num_runs_of(const results::RawSchema& schema) {
  return schema.find_cube("answer_status") ? schema.inner_axis("run").labels.size() : 0;
}

/// Of a mean of `usable` of `all` raw numbers.
ScoreStatus status_of(std::size_t usable, std::size_t all) {
  return usable == all ? ScoreStatus::ok : usable == 0 ? ScoreStatus::missing : ScoreStatus::partial;
}

/// What ratings are made of, with so many sampled answers to a prompt.
std::vector<std::string> source_names(std::size_t num_runs) {
  std::vector<std::string> names = {"option_text", "option_letter"};
  if (num_runs > 0) {
    names.emplace_back("sampled");
  }
  return names;
}

/// Of the score table, by the axes and cubes of the result.
results::ScoreTableAxes score_axes(const results::RawSchema& schema) {
  const auto values = values_of(schema);
  const auto num_runs = num_runs_of(schema);
  const auto ends = std::ranges::minmax(values);
  const auto least = base::format_double(ends.min);
  const auto most = base::format_double(ends.max);
  std::vector<MeasureText> measures = {
      {"option_text", "1", "expected value of the scale by the probabilities of the options' words", least, most},
      {"option_letter", "1", "expected value of the scale by the probabilities of the options' letters", least, most}};
  results::AxisSchema replicate = results::ScoreTable::no_axis(4);
  if (num_runs > 0) {
    measures.push_back({"sampled", "1", "mean value of the options that sampled answers name", least, most,
                        schema.inner_axis("order").labels.size()});
    replicate = {"replicate", "sampled answer to the same prompts", {results::ScoreTable::mean_replicate}, {}};
    for (std::size_t run = 0; run < num_runs; ++run) {
      replicate.labels.push_back("run " + std::to_string(run + 1));
    }
  }
  const double range = ends.max - ends.min;
  for (const std::string form : {"text", "letter"}) {
    measures.push_back({"order_difference_" + form, "1",
                        "option_" + form + " with the options as listed minus with them reversed",
                        base::format_double(-range), base::format_double(range)});
  }
  results::AxisSchema subject = schema.outer_axes.at(0);
  subject.name = "subject";
  return {measure_axis("what a score is", measures),
          std::move(subject),
          schema.outer_axes.at(2),
          schema.outer_axes.at(3),
          std::move(replicate),
          rated_item_axis(schema.outer_axes.at(1))};
}

/// Raw cubes -> ratings, the score table, and what only ratings have: what became of sampled answers, where in the list
/// the likely options stand.
struct RatingResult {
  /// Ratings from each source and their differences between the orders of the options, negative traits turned round.
  results::ScoreTable table;
  std::vector<std::string> sources;          ///< as source_names
  std::vector<double> position_shares;       ///< [form, position]: mean probability of what stands there
  std::vector<std::string> answer_statuses;  ///< empty where nothing was sampled
  std::vector<std::int32_t> answer_counts;   ///< [group, answer status]
};

/// Goes through contexts in order and collects what the tables need.
class Collector {
 public:
  explicit Collector(const results::RawSchema& schema) : schema_(schema) {
    result_.sources = source_names(num_runs_);
    result_.table.axes = score_axes(schema);
    result_.table.resize();
    std::ranges::fill(result_.table.statuses, ScoreStatus::not_applicable);
    if (num_runs_ > 0) {
      result_.answer_statuses = meanings_of(schema, "answer_status");
    }
    result_.answer_counts.assign(result_.table.length(findings::subject_axis) * result_.answer_statuses.size(), 0);
    is_reversed_ = base::mapped(schema.inner_axis("order").labels, [](const auto& order) {
      return order == option_order_names[static_cast<std::size_t>(OptionOrder::reversed)];
    });
    const auto& flags = meanings_of(schema, "option_status");
    unscored_ = results::place_of(flags, results::not_scored).value_or(flags.size());
  }

  void add(std::size_t context, const results::RawBlock& block, std::size_t place) {
    at_ = product_.coordinates(context);
    const auto status = column_named<std::uint8_t>(block, schema_, "option_status")[place * is_reversed_.size()];
    is_scored_ = status != unscored_;
    if (!is_scored_ || status != static_cast<std::uint8_t>(OptionStatus::not_asked)) {
      add_options(column_named<double>(block, schema_, "option_logprob"), place);
    }
    if (num_runs_ > 0) {
      add_answers(column_named<double>(block, schema_, "answer_rating"),
                  column_named<std::uint8_t>(block, schema_, "answer_status"), place);
    }
  }

  RatingResult take() {
    for (std::size_t i = 0; i < position_sums_.size(); ++i) {
      const auto count = position_counts_[i / values_.size()];
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

  /// A rating turned the dimension's way.
  double turned(double rating) const { return is_turned_[at_[1]] ? sum_of_ends_ - rating : rating; }

  void add_options(const std::vector<double>& logprob, std::size_t place) {
    const std::size_t count = values_.size();
    const std::size_t num_orders = is_reversed_.size();
    for (std::size_t form = 0; form < num_forms; ++form) {
      const auto of_order = [&](std::size_t order) {
        return std::span(logprob).subspan(((place * num_orders + order) * num_forms + form) * count, count);
      };
      const bool turned_first = is_reversed_.front();
      const std::size_t listed = turned_first ? num_orders - 1 : 0;
      const std::size_t reversed = turned_first ? 0 : num_orders - 1;
      const auto both = stats::rate_options(of_order(listed), of_order(reversed), values_);
      std::size_t usable = 0;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const auto shares = stats::option_probabilities(of_order(order));
        usable += shares.empty() ? 0 : 1;
        position_counts_[form] += shares.empty() ? 0 : 1;
        for (std::size_t option = 0; option < shares.size(); ++option) {
          position_sums_[form * count + (is_reversed_[order] ? count - 1 - option : option)] += shares[option];
        }
      }
      auto status = status_of(usable, num_orders);
      if (status == ScoreStatus::partial) {  // one order alone: a liking for a place would not cancel out
        status = ScoreStatus::undefined;
      }
      set(form, 0, turned(both.rating.value), status);
      if (num_orders > 1) {
        set(result_.sources.size() + form, 0, is_turned_[at_[1]] ? -both.difference.value : both.difference.value,
            status);
      }
    }
  }

  void add_answers(const std::vector<double>& ratings, const std::vector<std::uint8_t>& statuses, std::size_t place) {
    const std::size_t num_orders = is_reversed_.size();
    std::vector<double> all;
    for (std::size_t run = 0; run < num_runs_; ++run) {
      std::vector<double> of_run;
      for (std::size_t order = 0; order < num_orders; ++order) {
        const std::size_t cell = (place * num_orders + order) * num_runs_ + run;
        ++result_.answer_counts[at_[0] * result_.answer_statuses.size() + statuses[cell]];
        if (std::isfinite(ratings[cell])) {
          of_run.push_back(ratings[cell]);
          all.push_back(ratings[cell]);
        }
      }
      set(sampled, 1 + run, turned(stats::mean(of_run).value), status_of(of_run.size(), num_orders));
    }
    set(sampled, 0, turned(stats::mean(all).value), status_of(all.size(), num_orders * num_runs_));
  }

  const results::RawSchema& schema_;
  RatingResult result_;
  sweep::Product product_ = product_of(schema_);
  std::vector<double> values_ = values_of(schema_);  ///< [option]
  std::size_t num_runs_ = num_runs_of(schema_);
  double sum_of_ends_ = std::ranges::min(values_) + std::ranges::max(values_);
  /// [trait]: a high rating is low on the dimension.
  std::vector<bool> is_turned_ = base::mapped(coordinate_of(schema_.outer_axes.at(1), "polarity"),
                                              [](const auto& polarity) { return polarity == "negative"; });
  std::vector<bool> is_reversed_;  ///< [order]: the options were listed backwards
  std::vector<std::uint64_t> at_;  ///< of the context that is added: group, trait, template, rephrasing
  bool is_scored_ = false;
  std::vector<double> position_sums_ = std::vector<double>(num_forms * values_.size());  ///< [form, position]
  double position_counts_[num_forms] = {0, 0};
  std::size_t unscored_ = 0;  ///< flag of option_status
};

/// Reads the whole file once.
RatingResult compute_ratings(const results::ResultFile& file) {
  Collector collector(file.schema());
  file.for_each_context(
      [&](std::uint64_t context, const auto& block, std::uint64_t place) { collector.add(context, block, place); });
  return collector.take();
}

/// `position_share`, and `answer_count` where answers were sampled.
std::vector<findings::Finding> findings_of(const RatingResult& result) {
  using findings::Role;
  const auto num_options = result.position_shares.size() / num_forms;
  std::vector<findings::Finding> found;
  auto& position = found.emplace_back(
      findings::Finding{.name = "position_share",
                        .heading = "Places in the list of options",
                        .axes = {{"form", "what was scored as the continuation", {"text", "letter"}, {}},
                                 numbered_axis("position", "place in the list of options", num_options)}});
  position.add(Role::value, result.position_shares, "", "1", "mean probability of the option that stands there",
               std::identity());
  position.views = {{.title = "Mean probability of options by their place in the list",
                     .columns = findings::table_columns("options as: form, place: position, probability:"),
                     .each = {}}};
  position.notes = "Without a liking for a place it is 1 / number of options, " +
                   results::fixed(1.0 / static_cast<double>(num_options)) + ".";
  if (!result.answer_counts.empty()) {
    auto& answers = found.emplace_back(
        findings::Finding{.name = "answer_count",
                          .axes = {result.table.axes[findings::subject_axis],
                                   {"answer_status", "what became of a sampled answer", result.answer_statuses, {}}}});
    answers.add(Role::value, result.answer_counts, "", "1", "sampled answers by status", std::identity());
  }
  return found;
}

/// `agreement`: correlations over groups of their mean scores on a dimension and people's means.
findings::Finding agreement_of(const std::vector<std::string>& sources, const findings::Scores& scores,
                               const std::string& human_ratings) {
  using findings::Role;
  using Correlation = stats::Correlation;
  const auto dimensions = findings::dimension_groups(*scores.axes[findings::item_axis]);
  const auto names = findings::names_of(dimensions);
  const auto ratings =
      findings::read_dimension_means(human_ratings, scores.axes[findings::subject_axis]->labels, names).means;
  std::vector<findings::Agreement> agreements;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    const auto values = scores.read(source);
    const auto means = findings::subject_means(findings::Cells(scores, values), dimensions);
    for (std::size_t dimension = 0; dimension < dimensions.size(); ++dimension) {
      const auto of_dimension = [&](const auto& table) {
        return stats::column_of(table, dimension, dimensions.size());
      };
      agreements.push_back(findings::agreement_of(of_dimension(means), of_dimension(ratings)));
    }
  }
  findings::Finding finding{.name = "agreement",
                            .axes = {{"agreement_measure", "what is compared with people", sources, {}},
                                     {"rated_dimension", "dimension of the traits", names, {}}}};
  const findings::RowColumns add{finding, agreements};
  const auto pearson = &findings::Agreement::pearson;
  const auto spearman = &findings::Agreement::spearman;
  add(Role::value, "pearson", "1", "Pearson's r over groups of mean scores and people's means", pearson,
      &Correlation::value);
  add(Role::p, "pearson_p", "1", "two-sided p of Pearson's r", pearson, &Correlation::p).of = "pearson";
  add(Role::value, "spearman", "1", "Spearman's rho over groups of mean scores and people's means", spearman,
      &Correlation::value);
  add(Role::p, "spearman_p", "1", "two-sided p of Spearman's rho", spearman, &Correlation::p).of = "spearman";
  add(Role::n, "n", "1", "groups that are rated by both", pearson, &Correlation::n);
  add(Role::status, "status", "1", "why there is no correlation", pearson, &Correlation::reason);
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

void print_options(const PlanRequest& request, const RatingProbe& rating) {
  plan_line(std::cout, "options");
  const auto& texts = rating.continuations(OptionOrder::as_listed);
  for (std::size_t option = 0; option < request.job.settings<Rating>().scale.size(); ++option) {
    const auto ids = request.tokenizer->encode(texts[option], tokenizer::SpecialTokens::leave_out).ids;
    std::cout << (option == 0 ? "" : ", ") << request.job.settings<Rating>().scale[option].text << " ("
              << base::counted(ids.size(), "token") << ")";
  }
  std::cout << '\n';
}

void print_prompts(const RatingProbe& rating, const std::vector<OptionOrder>& orders, std::uint64_t limit) {
  const std::uint64_t contexts = std::min(limit, rating.blocks().num_contexts());
  for (std::uint64_t visit = 0; visit < contexts; ++visit) {
    const auto context = rating.blocks().context({}, visit);
    for (const auto order : orders) {
      std::cout << context << '\t' << option_order_names[static_cast<std::size_t>(order)] << '\t'
                << base::json_quote(rating.prompt(context, order)) << '\n';
    }
  }
}

/// [status]: of all groups.
std::vector<std::uint64_t> counts_of_answers(const RatingResult& result) {
  std::vector<std::uint64_t> counts(result.answer_statuses.size());
  for (std::size_t cell = 0; cell < result.answer_counts.size(); ++cell) {
    counts[cell % counts.size()] += static_cast<std::uint64_t>(result.answer_counts[cell]);
  }
  return counts;
}

/// Ratings by measure, answers by status.
std::string rating_status_text(const RatingResult& result) {
  const auto& table = result.table;
  const auto num_replicates = table.length(4);
  const auto num_cells = table.length(1) * table.length(2) * table.length(3) * num_replicates * table.length(5);
  results::TerminalTable text({"measure", "cells", "rated"});
  for (std::size_t source = 0; source < result.sources.size(); ++source) {
    std::size_t rated = 0;
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      const bool is_of_all = cell / table.length(5) % num_replicates == 0;  // runs stand beside it
      rated += is_of_all && std::isfinite(table.values[source * num_cells + cell]) ? 1 : 0;
    }
    text.add({result.sources[source], base::with_thousands(num_cells / num_replicates), base::with_thousands(rated)});
  }
  const bool is_sampled = !result.answer_statuses.empty();
  return text.text() +
         (is_sampled ? '\n' + answers_line("sampled answers", result.answer_statuses, counts_of_answers(result)) : "");
}

class RatingKind final : public KindOf<Rating> {
 public:
  Defaults defaults() const override {
    return {.sizes = {.contexts_per_block = 20, .batch_tokens = causal_batch_tokens},
            .on_gpu = {.contexts_per_block = 512, .batch_tokens = sampling_gpu_tokens},
            .chat = config::ChatUse::from_checkpoint};
  }
  results::ScoreTableAxes score_axes(const sweep::Job& job) const override {
    return rating::score_axes(rating_schema(job));
  }
  bool samples_text(const sweep::Job& job) const override {
    const auto& sampling = job.settings<Rating>().sampling;
    return sampling.runs > 0 && sampling.max_new_tokens > 0;
  }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) const override {
    return make_rating(job, tokenizer);
  }
  std::string summary(const sweep::Job& job) const override {
    const auto& rating = job.settings<Rating>();
    const auto list = subjects_of(rating);
    const std::uint64_t contexts =
        list.subjects.size() * rating.traits.size() * rating.questions.size() * rating.rephrasings.size();
    std::string text = rating.groups.empty()
                           ? base::counted(rating.identities.size(), "identity")
                           : base::counted(rating.groups.size(), "group") + " + " +
                                 base::counted(list.subjects.size() - rating.groups.size(), "intersection");
    text += " x " + base::counted(rating.traits.size(), "trait") + " x " +
            base::counted(rating.questions.size(), "template") + " x " +
            base::counted(rating.rephrasings.size(), "rephrasing") + ": " + base::counted(contexts, "context") +
            ", each with " + base::counted(rating.scale.size(), "option") +
            (asks_by_messages(job) ? " in " : " as words and as letters in ") +
            base::counted(rating.orders.size(), "order") + " and " +
            base::counted(rating.orders.size() * static_cast<std::uint64_t>(rating.sampling.runs), "sampled answer") +
            "; chat: " + (job.model.chat ? job.model.chat->label : std::string("none"));
    return text + summary_end(list.omissions, rating.groups);
  }
  std::vector<sweep::Omission> omissions(const sweep::Job& job) const override {
    return subjects_of(job.settings<Rating>()).omissions;
  }
  /// Also of what is English in a job that is not.
  std::vector<std::string> own_warnings(const sweep::Job& job) const override {
    auto warnings = ProbeKind::own_warnings(job);
    const auto& rating = job.settings<Rating>();
    const auto questions = base::mapped(rating.questions, &sweep::Template::text);
    std::vector<std::string> english;
    if (rating.frame == Rating::default_frame) {
      english.emplace_back("frame");
    }
    if (rating.scale == Rating::default_scale()) {
      english.emplace_back("scale");
    }
    if (!english.empty() && (job.language != "en" || !config::seems_english(questions))) {
      warnings.push_back(base::describe(
          "the questions are not English, and " + base::join(english, " and ") + " are the program's own in English",
          "the model reads both languages in one prompt",
          "Write " + base::join(english, " and ") + " in the language of the questions."));
    }
    return warnings;
  }
  void plan(const PlanRequest& request) const override {
    const auto& job = request.job;
    const auto made = make_rating(job, request.tokenizer);
    const auto& rating = *made;
    const auto print_own_lines = [&](const auto& /*specification*/) {
      print_options(request, rating);
      print_chat(std::cout, request, "prompts go to the model as they are");
    };
    print_causal_plan(std::cout,
                      {"rating on", summary(job), print_own_lines,
                       [&](std::uint64_t limit) { print_prompts(rating, job.settings<Rating>().orders, limit); }},
                      rating, request);
  }
  void show(const results::ResultFile& file, Detail /*detail*/, std::size_t /*top*/) const override {
    std::cout << rating_status_text(compute_ratings(file));
  }
  /// Means of all measures; scores of every source are clustered, with the people's where there is a table.
  sweep::Comparison comparison(const sweep::Job& job) const override {
    auto comparison = job.comparison;
    comparison.means = comparison.means.value_or(sweep::MeansRequest());
    auto& clusters = comparison.clusters ? *comparison.clusters : comparison.clusters.emplace();
    clusters.is_asked = job.comparison.clusters.has_value();
    const auto& rating = job.settings<Rating>();
    clusters.default_measures = source_names(static_cast<std::size_t>(rating.sampling.runs));
    if (clusters.human_ratings.empty()) {
      clusters.human_ratings = rating.statistics.human_ratings;
    }
    return comparison;
  }
  /// Of a server's chat there are no probabilities.
  std::vector<std::string> recommended_measures(const sweep::Job& job) const override {
    return {asks_by_messages(job) ? "sampled" : "option_text"};
  }
  std::vector<sweep::KeyFault> server_faults(const sweep::Job& job) const override {
    if (!asks_by_messages(job) || samples_text(job)) {
      return {};
    }
    return {{"sampling", "nothing would be asked", "conversations with a server give no probabilities of options",
             "Set sampling.runs, or model.interface: completions."}};
  }
  StatsText stats(const StatsRequest& request) const override {
    const auto result = compute_ratings(request.file);
    auto found = findings_of(result);
    results::StatisticsFile written(request.file, Rating::probe_name, request.target);
    results::write_score_table(written.layout(), result.table, written.left_out());
    const auto& people = request.job.settings<Rating>().statistics.human_ratings;
    if (!people.empty()) {
      found.insert(found.begin(), agreement_of(result.sources, findings::scores_of(written), people));
      written.root().write_attribute("human_ratings", findings::source_of_ratings(people));
    }
    const auto read = write_read_line(written, request.file, result.answer_statuses, counts_of_answers(result));
    auto told = write_findings(written, found, request);
    written.commit();
    return {.details = std::move(told), .status = rating_status_text(result), .read = read};
  }
};

}  // namespace

const config::ProbeFormat& rating_kind() {
  static const RatingKind kind;
  return kind;
}

}  // namespace stereosweep::probes::rating
