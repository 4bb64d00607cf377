#include "app/AssociationCommands.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <thread>

#include "app/HumanRatings.hpp"
#include "app/PlanReport.hpp"
#include "app/PlanTime.hpp"
#include "base/Text.hpp"
#include "prompt/Subjects.hpp"
#include "results/Statistics.hpp"
#include "results/StatisticsText.hpp"

namespace stereosweep::app {
namespace {

std::string association_summary(const domain::Job& job) {
  const auto& axes = job.association().axes;
  const auto list = prompt::list_subjects(job);
  std::uint64_t num_words = 0;  // a word of two poles counts twice, as in the result
  for (const auto& pair : axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  const std::uint64_t num_groups = axes.groups.size();
  const std::uint64_t num_contexts = list.subjects.size() * axes.templates.size() * axes.rephrasings.size();
  std::string text = base::counted(num_groups, "group") + " + " +
                     base::counted(list.subjects.size() - list.num_priors - num_groups, "intersection") + " + " +
                     base::counted(list.num_priors, "prior") + ", " + base::counted(axes.templates.size(), "template") +
                     " x " + base::counted(axes.rephrasings.size(), "rephrasing") + ", " +
                     base::counted(axes.traits.size(), "trait pair") + " (" + base::counted(num_words, "word") +
                     "): " + base::counted(num_contexts, "context") + ", " +
                     base::counted(num_contexts * num_words, "cell");
  if (!list.omissions.empty()) {
    text += "; " + base::counted(list.omissions.size(), "pair") + " left out (see plan)";
  }
  for (const auto& sentence : prompt::groups_with_equal_words(axes.groups)) {
    text += "\n  note: " + sentence;
  }
  return text;
}

void plan_association(const PlanRequest& request) {
  const auto& job = request.job;
  std::optional<model::CheckpointConfig> config;
  if (job.execution.engine != domain::EngineKind::fake || request.files.find("config.json") != nullptr) {
    config = model::read_config(request.files);
  }
  const auto probe = probe::make_probe(job, request.tokenizer);
  const auto& association = dynamic_cast<const probe::AssociationProbe&>(*probe);
  const auto max_tokens = config ? static_cast<std::uint64_t>(config->max_tokens()) : 0;
  const auto audit = probe::audit(association, request.tokenizer, max_tokens, max_contexts_planned);
  print_plan(std::cout, {.job = job,
                         .probe = association,
                         .audit = audit,
                         .config = config,
                         .ranks = request.ranks,
                         .limit = request.limit.value_or(40)});
  print_time(std::cout, request, *probe);
  if (request.shows_prompts) {
    std::cout << '\n';
    print_prompts(std::cout, association, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

void show_association(const results::ResultFile& file, Detail detail, std::size_t top) {
  if (file.schema().num_priors == 0) {
    std::cout << "No scores: they are differences to a prior.\n";
    return;
  }
  const auto result = results::compute_statistics(file, {});
  if (detail == Detail::everything) {
    std::cout << results::top_associations_text(result, top) << '\n';
  }
  std::cout << results::status_text(result);
}

results::StatisticsOptions options_of(const domain::Job& job) {
  const auto& statistics = job.association().statistics;
  results::StatisticsOptions result;
  result.word_aggregate = statistics.word_aggregate;
  result.templates = statistics.templates;
  if (!statistics.human_ratings.empty()) {
    result.ratings = ratings_of(job);
    result.ratings_source = source_of_ratings(statistics.human_ratings);
    result.shuffles = {.seed = job.seed, .num_threads = std::max(1U, std::thread::hardware_concurrency())};
  }
  return result;
}

void association_statistics(const StatsRequest& request) {
  const auto result = results::write_statistics(request.file, options_of(request.job), request.target);
  std::cout << results::top_associations_text(result, request.top) << '\n';
  if (result.ratings) {
    std::cout << results::agreement_text(result, request.top) << '\n';
  } else {
    std::cout << "No human ratings are named (statistics.human_ratings): no agreement to compute.\n\n";
  }
  std::cout << results::status_text(result);
}

}  // namespace

ProbeCommands association_commands() {
  return {domain::Association::probe_name, association_summary, plan_association, show_association,
          association_statistics};
}

}  // namespace stereosweep::app
