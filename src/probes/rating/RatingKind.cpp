#include "probes/rating/RatingKind.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "config/Chat.hpp"
#include "probes/CausalPlanText.hpp"
#include "probes/PlanText.hpp"
#include "probes/rating/Rating.hpp"
#include "probes/rating/RatingProbe.hpp"
#include "probes/rating/RatingStatistics.hpp"
#include "sweep/ChatPrompt.hpp"

namespace stereosweep::probes::rating {
namespace {

using base::with_thousands;

std::string rating_summary(const sweep::Job& job) {
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
          ", each with " + base::counted(rating.scale.size(), "option") + " as words and as letters in " +
          base::counted(rating.orders.size(), "order") + " and " +
          base::counted(rating.orders.size() * static_cast<std::uint64_t>(rating.sampling.runs), "sampled answer") +
          "; chat: " + (job.model.chat ? job.model.chat->label : std::string("none"));
  if (!list.omissions.empty()) {
    text += "; " + base::counted(list.omissions.size(), "pair") + " left out (see plan)";
  }
  for (const auto& sentence : sweep::groups_with_equal_words(rating.groups)) {
    text += "\n  note: " + sentence;
  }
  return text;
}

void print_chat(const PlanRequest& request) {
  const auto& job = request.job;
  auto& out = plan_line(std::cout, "chat");
  if (!job.model.chat) {
    out << "none: prompts go to the model as they are\n";
    if (config::read_checkpoint_chat_text(job.model.path)) {
      plan_line(std::cout, "note") << "the checkpoint has a chat template, and the job says none\n";
    }
    return;
  }
  out << job.model.chat->label << "; control tokens are written in the prompt, none is added\n";
  std::map<std::string, std::set<std::string>> found;
  const auto look = [&](const std::string& label, const std::string& text) {
    for (const auto& token : sweep::control_tokens_in(*job.model.chat, text)) {
      found[token].insert(label);
    }
  };
  look("frame", job.settings<Rating>().frame);
  for (const auto& subject : subjects_of(job.settings<Rating>()).subjects) {
    look(subject.label, subject.plural);
  }
  for (const auto& identity : job.settings<Rating>().identities) {
    look(identity.label, identity.definition);
  }
  for (const auto& trait : job.settings<Rating>().traits) {
    look(trait.label, trait.label + trait.definition + base::join(trait.questions, " "));
  }
  for (const auto& rephrasing : job.settings<Rating>().rephrasings) {
    look(rephrasing.label, rephrasing.wrapper);
    for (const auto& [label, text] : rephrasing.alternatives) {
      look(rephrasing.label, text);
    }
  }
  for (const auto& question : job.settings<Rating>().questions) {
    look(question.label, question.text);
  }
  print_list(std::cout, "WARNING control tokens inside the job's own texts (they act as control tokens)", found, "in",
             request.limit.value_or(40));
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
  const std::uint64_t contexts = std::min(limit, rating.blocks().product().num_contexts());
  for (std::uint64_t context = 0; context < contexts; ++context) {
    for (const auto order : orders) {
      std::cout << context << '\t' << option_order_names()[static_cast<std::size_t>(order)] << '\t'
                << base::json_quote(rating.prompt(context, order)) << '\n';
    }
  }
}

void plan_rating(const PlanRequest& request) {
  const auto& job = request.job;
  const auto made = make_probe(job, *request.tokenizer);
  const auto& rating = dynamic_cast<const RatingProbe&>(*made);
  std::cout << job.name << ": rating on " << job.model.path << '\n';
  plan_line(std::cout, "product") << rating_summary(job) << '\n';
  print_options(request, rating);
  print_chat(request);
  const auto specification = specification_of(request);
  print_causal_plan(std::cout, audit_causal(rating, request, specification), rating, request, specification);
  print_omissions(std::cout, rating.subjects().omissions, request.limit.value_or(40));
  if (request.prompts == PlanRequest::Prompts::printed) {
    std::cout << '\n';
    print_prompts(rating, job.settings<Rating>().orders,
                  request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

/// Without clusters and human ratings.
RatingResult scores_alone(const results::ResultFile& file) {
  RatingOptions options;
  options.max_clusters = 1;
  options.clusters.num_restarts = 1;
  return compute_ratings(file, options);
}

void show_rating(const results::ResultFile& file, Detail detail, std::size_t top) {
  const auto result = scores_alone(file);
  if (detail == Detail::everything) {
    std::cout << rating_scores_text(result, top) << '\n';
  }
  std::cout << rating_status_text(result);
}

RatingOptions options_of(const sweep::Job& job) {
  const auto& statistics = job.settings<Rating>().statistics;
  RatingOptions options;
  options.clusters.start = statistics.start == RatingStatistics::Start::random
                               ? stats::ClusterSettings::Start::random
                               : stats::ClusterSettings::Start::plus_plus;
  options.clusters.num_restarts = static_cast<std::size_t>(statistics.restarts);
  options.clusters.seed = job.seed;
  options.max_clusters = static_cast<std::size_t>(statistics.max_clusters);
  if (statistics.human_ratings.empty()) {
    return options;
  }
  const auto ratings = read_human_means(job);
  if (!ratings.unmatched.empty()) {
    std::cout << "ratings: not in this run: " << base::join(ratings.unmatched, ", ") << '\n';
  }
  options.human = ratings.rows;
  const auto content = base::read_file(statistics.human_ratings);
  options.human_source = std::filesystem::path(statistics.human_ratings).filename().string() + " (SHA-256 " +
                         base::to_hex(base::sha256(content)) + ")";
  return options;
}

void rating_statistics(const StatsRequest& request) {
  const auto options = options_of(request.job);
  const auto result = compute_ratings(request.file, options);
  write_rating_statistics(request.file, options, result, request.target);
  std::cout << rating_scores_text(result, request.top) << '\n' << rating_clusters_text(result, request.top) << '\n';
  if (result.human.empty()) {
    std::cout << "No human ratings are named (statistics.human_ratings): no agreement to compute.\n\n";
  } else {
    std::cout << rating_agreement_text(result) << '\n';
  }
  std::cout << rating_status_text(result);
}

class RatingKind final : public ProbeKind {
 public:
  std::string_view name() const override { return Rating::probe_name; }
  std::vector<std::string> keys() const override { return setting_names(); }
  Defaults defaults() const override {
    return {.contexts_per_block = 20, .chat = config::ChatUse::from_checkpoint, .batch_tokens = causal_batch_tokens};
  }
  sweep::ProbeSettings read(const config::ProbeReading& job) const override { return read_settings(job); }
  void dump(const sweep::ProbeSettings& settings, config::Extent /*extent*/, config::Node& job) const override {
    dump_settings(settings.as<Rating>(), job);
  }
  config::Node dump_statistics(const sweep::ProbeSettings& settings) const override {
    return rating::dump_statistics(settings.as<Rating>());
  }
  std::string human_ratings(const sweep::Job& job) const override {
    return job.settings<Rating>().statistics.human_ratings;
  }
  void check_human_ratings(const sweep::Job& job) const override { read_human_means(job); }
  bool samples_text(const sweep::Job& job) const override {
    const auto& sampling = job.settings<Rating>().sampling;
    return sampling.runs > 0 && sampling.max_new_tokens > 0;
  }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::next; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) const override {
    return make_rating(job, tokenizer);
  }
  std::string summary(const sweep::Job& job) const override { return rating_summary(job); }
  void plan(const PlanRequest& request) const override { plan_rating(request); }
  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    show_rating(file, detail, top);
  }
  results::ScoreTable scores(const results::ResultFile& file, const sweep::Job& /*job*/) const override {
    return score_table(scores_alone(file));
  }
  void stats(const StatsRequest& request) const override { rating_statistics(request); }
};

}  // namespace

const ProbeKind& rating_kind() {
  static const RatingKind kind;
  return kind;
}

}  // namespace stereosweep::probes::rating
