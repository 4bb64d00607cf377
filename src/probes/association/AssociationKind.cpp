#include "probes/association/AssociationKind.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <thread>

#include "base/Text.hpp"
#include "findings/Alignment.hpp"
#include "findings/HumanRatings.hpp"
#include "model/families/Families.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/PlanReport.hpp"
#include "probes/association/scores/Statistics.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::association {
namespace {

StatisticsOptions options_of(const sweep::Job& job) {
  const auto& statistics = job.settings<Association>().statistics;
  StatisticsOptions result;
  result.word_aggregate = statistics.word_aggregate;
  result.templates = statistics.templates;
  if (!statistics.human_ratings.empty()) {
    result.ratings = findings::ratings_of(rating_names(job));
    result.ratings_source = findings::source_of_ratings(statistics.human_ratings);
    result.shuffles = {.seed = job.seed, .num_threads = std::max(1U, std::thread::hardware_concurrency())};
  }
  return result;
}

class AssociationKind final : public ProbeKind {
 public:
  std::string_view name() const override { return Association::probe_name; }
  std::vector<std::string> keys() const override { return setting_names(); }
  Defaults defaults() const override { return {.contexts_per_block = 16}; }
  sweep::ProbeSettings read(const config::ProbeReading& job) const override { return read_settings(job); }
  void dump(const sweep::ProbeSettings& settings, config::Extent /*extent*/, config::Node& job) const override {
    for (const auto& name : setting_names()) {
      if (name != "statistics") {
        job.add(name, dump_setting(settings.as<Association>(), name));
      }
    }
  }
  config::Node dump_statistics(const sweep::ProbeSettings& settings) const override {
    return dump_setting(settings.as<Association>(), "statistics");
  }
  std::string human_ratings(const sweep::Job& job) const override {
    return job.settings<Association>().statistics.human_ratings;
  }
  void check_human_ratings(const sweep::Job& job) const override { findings::read_ratings(rating_names(job)); }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::masked; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) const override {
    return make_association(job, tokenizer);
  }
  std::string summary(const sweep::Job& job) const override {
    const auto& axes = job.settings<Association>().axes;
    const auto list = list_subjects(job.settings<Association>());
    const std::uint64_t num_words = list_words(axes.traits).size();
    const std::uint64_t num_groups = axes.groups.size();
    const std::uint64_t num_contexts = list.subjects.size() * axes.templates.size() * axes.rephrasings.size();
    std::string text =
        base::counted(num_groups, "group") + " + " +
        base::counted(list.subjects.size() - list.num_priors - num_groups, "intersection") + " + " +
        base::counted(list.num_priors, "prior") + ", " + base::counted(axes.templates.size(), "template") + " x " +
        base::counted(axes.rephrasings.size(), "rephrasing") + ", " + base::counted(axes.traits.size(), "trait pair") +
        " (" + base::counted(num_words, "word") + "): " + base::counted(num_contexts, "context") + ", " +
        base::counted(num_contexts * num_words, "cell");
    if (!list.omissions.empty()) {
      text += "; " + base::counted(list.omissions.size(), "pair") + " left out (see plan)";
    }
    for (const auto& sentence : sweep::groups_with_equal_words(axes.groups)) {
      text += "\n  note: " + sentence;
    }
    return text;
  }

  void plan(const PlanRequest& request) const override {
    const auto& job = request.job;
    std::optional<model::MaskedSpecification> config;
    if (job.execution.engine != query::EngineKind::fake || request.files.find("config.json") != nullptr) {
      config = model::read_masked_specification(request.files);
    }
    const auto probe = make_association(job, *request.tokenizer);
    const auto& association = dynamic_cast<const AssociationProbe&>(*probe);
    const auto max_tokens = config ? static_cast<std::uint64_t>(config->max_tokens()) : 0;
    const auto audited = audit(association, *request.tokenizer, max_tokens, max_contexts_planned);
    print_plan(std::cout, request, association, audited, config);
    request.print_time(std::cout, *probe);
    if (request.prompts == PlanRequest::Prompts::printed) {
      std::cout << '\n';
      print_prompts(std::cout, association, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
    }
  }

  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    if (file.schema().num_priors == 0) {
      std::cout << "No scores: they are differences to a prior.\n";
      return;
    }
    const auto result = compute_statistics(file, {});
    if (detail == Detail::everything) {
      std::cout << top_associations_text(result, top) << '\n';
    }
    std::cout << status_text(result);
  }

  void stats(const StatsRequest& request) const override {
    const auto result = write_statistics(request.file, options_of(request.job), request.target);
    std::cout << top_associations_text(result, request.top) << '\n';
    if (result.ratings) {
      std::cout << findings::agreement_text(result, request.top) << '\n';
    } else {
      std::cout << "No human ratings are named (statistics.human_ratings): no agreement to compute.\n\n";
    }
    std::cout << status_text(result);
  }
};

}  // namespace

findings::RatingNames rating_names(const sweep::Job& job) {
  const auto& settings = job.settings<Association>();
  findings::RatingNames names{settings.statistics.human_ratings, settings.statistics.rating_aliases, {}, {}};
  for (const auto& group : settings.axes.groups) {
    names.groups.push_back({group.label, {group.plural, group.singular}});
  }
  for (const auto& pair : settings.axes.traits) {
    names.pairs.push_back({pair.label, pair.left.name, pair.right.name});
  }
  return names;
}

const ProbeKind& association_kind() {
  static const AssociationKind kind;
  return kind;
}

}  // namespace stereosweep::probes::association
