#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/language/LanguageTable.hpp"
#include "findings/people/RatingsFile.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/rating/RatingProbe.hpp"
#include "probes/rating/RatingScores.hpp"
#include "probes/rating/RatingSettings.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes::rating {
namespace {

using base::with_thousands;

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
    const auto& settings = job.settings<Rating>();
    return rating::score_axes(
        rating_schema(settings, subjects_of(settings).subjects, thoughts_of(job, settings.sampling)));
  }
  bool samples_text(const sweep::Job& job) const override {
    const auto& sampling = job.settings<Rating>().sampling;
    return sampling.runs > 0 && sampling.max_new_tokens > 0;
  }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::next; }
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
