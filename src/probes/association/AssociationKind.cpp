#include <algorithm>
#include <iostream>
#include <limits>
#include <set>
#include <tuple>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Names.hpp"
#include "model/families/Families.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/association/Association.hpp"
#include "stats/IncreasedLogProbability.hpp"
#include "sweep/Product.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes::association {
namespace {

using base::counted;
using base::with_thousands;

// What `plan` prints.

void count_cells(const TargetPlan& targets, Audit& audit) {
  for (const auto& word : targets.words) {
    ++audit.cells_by_status[static_cast<int>(word.status)];
    for (const auto& place : word.places) {
      audit.forwards_alone += place.ask == Place::nowhere ? 0 : 1;
    }
  }
}

/// `one_mask`: tokens of the text with one mask. Every further mask is one further token: masks are added tokens and
/// never merge.
void count_queries(const TargetPlan& targets, std::uint64_t one_mask, std::uint64_t max_tokens, Audit& audit) {
  for (const auto& ask : targets.asks) {
    const std::uint64_t length = one_mask + ask.num_masks - 1;
    ++audit.queries;
    audit.numbers += ask.targets.size();
    audit.tokens += length;
    audit.longest = std::max(audit.longest, length);
    audit.too_long += max_tokens > 0 && length > max_tokens ? 1 : 0;
  }
}

void read_pieces(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, const ContextView& view,
                 Audit& audit) {
  const auto pieces = probe.plans().pieces(view.text, view.word_case);
  const auto& words = probe.plans().words(view.word_case);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (pieces[i].status == CellStatus::joins) {
      audit.joins[words[i]].insert(view.text.before + "{trait}" + view.text.after);
    } else if (pieces[i].status == CellStatus::ok && pieces[i].ids.size() > 1) {
      audit.splits[words[i]].insert(spelled(tokenizer, pieces[i].ids));
    } else if (pieces[i].status != CellStatus::ok) {
      audit.unknown[words[i]].insert(spelled(tokenizer, pieces[i].ids));
    }
  }
}

double ratio(std::uint64_t left, std::uint64_t right) {
  return right == 0 ? 0 : static_cast<double>(left) / static_cast<double>(right);
}

void print_product(std::ostream& out, const sweep::Job& job, const AssociationProbe& probe, const Audit& audit) {
  const auto& lengths = probe.blocks().product().lengths();
  const auto words = probe.words().size();
  out << job.name << ": " << job.probe_name() << " on " << job.model.path << '\n';
  plan_line(out, "product") << counted(lengths[0], "subject") << " (" << counted(probe.schema().num_priors, "prior")
                            << ") x " << counted(lengths[1], "template") << " x " << counted(lengths[2], "rephrasing")
                            << " = " << counted(probe.blocks().product().num_contexts(), "context")
                            << (job.design() ? ", of which the design asks " + with_thousands(audit.num_contexts) : "")
                            << '\n';
  plan_line(out, "cells") << with_thousands(audit.num_contexts * words) << " (contexts x " << counted(words, "word")
                          << ")\n";
  audit.print_note(out);
  plan_line(out, "status");
  for (std::size_t status = 0; status < cell_status_names.size(); ++status) {
    if (audit.cells_by_status[status] > 0) {
      out << cell_status_names[status] << ' ' << audit.sum(audit.cells_by_status[status]) << "  ";
    }
  }
  out << '\n';
}

void print_work(std::ostream& out, const Audit& audit, const std::optional<model::MaskedSpecification>& config) {
  plan_line(out, "queries") << audit.sum(audit.queries)
                            << " distinct masked inputs; one forward pass per cell and subword would be "
                            << audit.sum(audit.forwards_alone) << " ("
                            << format_number("%.1f", ratio(audit.forwards_alone, audit.queries)) << " to 1)\n";
  plan_line(out, "numbers") << audit.sum(audit.numbers) << " distinct pairs of masked input and target\n";
  plan_line(out, "tokens") << audit.sum(audit.tokens) << " in distinct inputs, "
                           << format_number("%.1f", ratio(audit.tokens, audit.queries)) << " on average, longest "
                           << audit.longest;
  out << (config ? " of " + std::to_string(config->max_tokens) : "") << '\n';
  if (audit.too_long > 0) {
    plan_line(out, "too long") << audit.sum(audit.too_long)
                               << " inputs are longer than the model's positions (not scored)\n";
  }
  if (config) {
    const ModelCost cost = model_cost(*config);
    const double flops =
        cost.flops_per_token * audit.whole(audit.tokens) + cost.flops_per_row * audit.whole(audit.queries);
    plan_line(out, "work") << "about " << format_number("%.3g", flops) << " floating-point operations\n";
  }
}

void print_memory(std::ostream& out, const sweep::Job& job, const Audit& audit,
                  const std::optional<model::MaskedSpecification>& config) {
  if (!config) {
    plan_line(out, "memory") << "no model: the fake engine\n";
    return;
  }
  const auto bytes = static_cast<double>(query::size_of(job.model.dtype));
  const ModelCost cost = model_cost(*config);
  const double weights = static_cast<double>(cost.parameters) * bytes;
  const double mean = std::max(1.0, static_cast<double>(audit.tokens) / std::max(1.0, double(audit.queries)));
  const auto batch_tokens = static_cast<double>(job.execution.batch_tokens);
  // States, queries, keys, values, their outputs and the feed-forward layer; then one row of logits per sequence.
  const double body = batch_tokens * static_cast<double>(8 * config->hidden + 2 * config->inner) * bytes;
  const double head = batch_tokens / mean * static_cast<double>(config->vocabulary) * 4;
  plan_line(out, "memory") << "about " << megabytes(weights + body + head) << " per rank: weights "
                           << megabytes(weights) << " (" << with_thousands(cost.parameters) << " numbers), a batch "
                           << megabytes(body + head) << "; libraries not counted\n";
}

/// `config`: nothing for a fake engine without a model.
void print_plan(std::ostream& out, const PlanRequest& request, const AssociationProbe& probe, const Audit& audit,
                const std::optional<model::MaskedSpecification>& config) {
  const auto limit = request.limit.value_or(default_plan_limit);
  print_product(out, request.job, probe, audit);
  print_work(out, audit, config);
  print_blocks(out, request.job, probe.blocks(), request.ranks);
  print_memory(out, request.job, audit, config);
  const double bytes = output_bytes(probe.schema(), audit.num_contexts, audit.whole(audit.prompt_bytes));
  print_output(out, bytes,
               " (" + counted(probe.schema().inner_axis("subword").labels.size(), "subword") + " per word at most)");
  print_list(out, "words of several subwords", audit.splits, "pieces", limit);
  print_list(out, "words that join their neighbours (not scored; a space before a mark behind {trait} can help)",
             audit.joins, "in", limit);
  print_list(out, "words with unknown tokens or none (not scored)", audit.unknown, "pieces", limit);
  print_lines(out, "contexts without a text: " + counted(audit.problems.size(), "reason"),
              base::mapped(audit.problems, [&](const auto& one) { return one.first + ": " + audit.sum(one.second); }),
              limit);
  for (const auto& sentence : sweep::groups_with_equal_words(request.job.settings<Association>().axes.groups)) {
    plan_line(out, "note") << sentence << '\n';
  }
  print_omissions(out, probe.subjects().omissions, limit);
}

/// One line per cell, tab-separated: group, template, rephrasing, word, status, text. At most `limit` cells.
void print_prompts(std::ostream& out, const AssociationProbe& probe, std::uint64_t limit) {
  const auto& axes = probe.schema().outer_axes;
  std::uint64_t printed = 0;
  out << "group\ttemplate\trephrasing\tword\tstatus\ttext\n";
  for (std::uint64_t visit = 0; visit < probe.blocks().num_contexts(); ++visit) {
    const auto context = probe.blocks().context({}, visit);
    const auto place = probe.blocks().product().coordinates(context);
    const auto view = probe.view(context);
    const auto& words = probe.plans().words(view.word_case);
    for (std::size_t word = 0; word < words.size(); ++word) {
      if (printed++ == limit || !out) {  // the reader of a pipe may leave
        return;
      }
      const auto status = view.targets == nullptr ? CellStatus::no_form : view.targets->words[word].status;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        out << axes[axis].labels[place[axis]] << '\t';
      }
      out << probe.words()[word].word << '\t' << cell_status_names[static_cast<std::size_t>(status)] << '\t'
          << (view.targets == nullptr ? view.problem : view.text.before + words[word] + view.text.after) << '\n';
    }
  }
}

/// What `statistics.human_ratings` asks: the table's groups may be spelt as the singular or plural of the job's.
sweep::People people_of(const Association& settings) {
  sweep::People people{.ratings = settings.statistics.human_ratings, .aliases = settings.statistics.rating_aliases};
  const auto labels = base::mapped(settings.axes.groups, &sweep::Group::label);
  const findings::NameIndex known(labels);
  for (const auto& group : settings.axes.groups) {
    for (const auto& spelling : {group.plural, group.singular}) {
      if (!spelling.empty() && !known.find(spelling)) {
        people.aliases.emplace_back(spelling, group.label);
      }
    }
  }
  return people;
}

class AssociationKind final : public KindOf<Association> {
 public:
  Defaults defaults() const override { return {}; }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::masked; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) const override {
    return make_association(job, *tokenizer);
  }
  std::string summary(const sweep::Job& job) const override {
    const auto& axes = job.settings<Association>().axes;
    const auto list = list_subjects(job.settings<Association>());
    const std::uint64_t num_words = list_words(axes.traits).size();
    const std::uint64_t num_groups = axes.groups.size();
    const std::uint64_t num_contexts = list.subjects.size() * axes.templates.size() * axes.rephrasings.size();
    return base::counted(num_groups, "group") + " + " +
           base::counted(list.subjects.size() - list.num_priors - num_groups, "intersection") + " + " +
           base::counted(list.num_priors, "prior") + ", " + base::counted(axes.templates.size(), "template") + " x " +
           base::counted(axes.rephrasings.size(), "rephrasing") + ", " +
           base::counted(axes.traits.size(), "trait pair") + " (" + base::counted(num_words, "word") +
           "): " + base::counted(num_contexts, "context") + ", " + base::counted(num_contexts * num_words, "cell") +
           summary_end(list.omissions, axes.groups);
  }

  void plan(const PlanRequest& request) const override {
    const auto& job = request.job;
    std::optional<model::MaskedSpecification> config;
    if (job.execution.engine != query::EngineKind::fake || request.files.find("config.json") != nullptr) {
      config = model::read_masked_specification(request.files);
    }
    const auto probe = make_association(job, *request.tokenizer);
    const auto max_tokens = config ? static_cast<std::uint64_t>(config->max_tokens) : 0;
    const auto audited = audit(*probe, *request.tokenizer, max_tokens, max_contexts_planned);
    print_plan(std::cout, request, *probe, audited, config);
    request.print_time(std::cout, *probe);
    if (request.prompts == PlanRequest::Prompts::printed) {
      std::cout << '\n';
      print_prompts(std::cout, *probe, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
    }
  }

  void show(const results::ResultFile& file, Detail /*detail*/, std::size_t /*top*/) const override {
    if (file.schema().num_priors == 0) {
      std::cout << "No scores: they are differences to a prior.\n";
      return;
    }
    std::cout << status_text(file);
  }

  std::vector<std::string> recommended_measures(const sweep::Job& job) const override {
    const auto& settings = job.settings<Association>();
    const auto& measures = settings.measures;
    const auto measure = base::contains(measures, Measure::ilps_star) ? stats::Measure::ilps_star
                         : base::contains(measures, Measure::set)     ? stats::Measure::set_hardest_augmented
                                                                      : stats::Measure::ilps_chain;
    return {std::string(stats::name_of(measure)) + (settings.priors.word ? " prior_word" : " prior_mask")};
  }
  /// Means of every measure, and agreement with people where the job names their ratings by the older key.
  sweep::Comparison comparison(const sweep::Job& job) const override {
    const auto& settings = job.settings<Association>();
    auto comparison = job.comparison;
    comparison.templates = settings.statistics.templates;
    comparison.means = comparison.means.value_or(sweep::MeansRequest());
    if (!comparison.people && !settings.statistics.human_ratings.empty()) {
      comparison.people = people_of(settings);
    }
    return comparison;
  }
  results::ScoreTableAxes score_axes(const sweep::Job& job) const override {
    const auto& settings = job.settings<Association>();
    const auto words = list_words(settings.axes.traits);
    return association::score_axes(association_schema(settings, list_subjects(settings), words, 1));
  }
  StatsText stats(const StatsRequest& request) const override {
    const auto aggregate = request.job.settings<Association>().statistics.word_aggregate;
    return {.status = write_statistics(request.file, aggregate, request.target, request.shown, request.world)};
  }
  void assist(const StatsRequest& request) const override {
    assist_statistics(request.file, request.job.settings<Association>().statistics.word_aggregate, request.world);
  }
};

}  // namespace

Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts) {
  Audit sums;
  sums.num_contexts = probe.blocks().num_contexts();
  std::set<std::shared_ptr<const TargetPlan>> seen;
  for (const auto& block : sweep::sample_blocks(probe.blocks(), max_contexts)) {
    std::set<std::tuple<std::string, std::string, WordCase>> texts;  // equal inputs of a block run once
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      const ContextView view = probe.view(probe.blocks().context(block, i));
      ++sums.contexts_read;
      sums.prompt_bytes += view.text.before.size() + view.text.after.size();
      if (view.targets == nullptr) {
        sums.cells_by_status[static_cast<int>(CellStatus::no_form)] += probe.words().size();
        ++sums.problems[view.problem];
        continue;
      }
      count_cells(*view.targets, sums);
      if (texts.emplace(view.text.before, view.text.after, view.word_case).second) {
        const auto one_mask = tokenizer.encode(probe.masked_text(view, 1), tokenizer::SpecialTokens::add).ids.size();
        count_queries(*view.targets, one_mask, max_tokens, sums);
      }
      if (seen.insert(view.targets).second) {
        read_pieces(probe, tokenizer, view, sums);
      }
    }
  }
  return sums;
}

ModelCost model_cost(const model::MaskedSpecification& config) {
  const auto hidden = static_cast<std::uint64_t>(config.hidden);
  const auto inner = static_cast<std::uint64_t>(config.inner);
  const auto vocabulary = static_cast<std::uint64_t>(config.vocabulary);
  const auto width = static_cast<std::uint64_t>(config.embedding_width());
  const auto layers = config.layers.size();
  const std::set<std::string> stored(config.names.shared_layers.begin(),
                                     config.names.shared_layers.end());  // some share weights
  const auto stored_layers = stored.empty() ? layers : stored.size();
  const std::uint64_t matrices = config.gated ? 3 : 2;
  const std::uint64_t products = 4 * hidden * hidden + matrices * hidden * inner;
  const std::uint64_t layer = products + 4 * hidden + inner + hidden + 4 * hidden;
  const auto positions = config.names.positions.empty() ? 0 : config.positions;
  const std::uint64_t tables = static_cast<std::uint64_t>(positions + config.token_types) + vocabulary;
  const std::uint64_t projection = config.embedding == 0 ? 0 : hidden * width + hidden;
  const std::uint64_t head = hidden * width + 3 * width + vocabulary + (config.tied_head ? 0 : vocabulary * width);
  return {.parameters = tables * width + 2 * width + projection + stored_layers * layer + head,
          .flops_per_token = 2.0 * static_cast<double>(layers * products),
          .flops_per_row = 2.0 * static_cast<double>(hidden * width + width * vocabulary)};
}

const config::ProbeFormat& association_kind() {
  static const AssociationKind kind;
  return kind;
}

}  // namespace stereosweep::probes::association
