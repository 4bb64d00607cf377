#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>

#include "base/text/Text.hpp"
#include "config/yaml/Fields.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceProbe.hpp"
#include "probes/coreference/CoreferenceStatistics.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::coreference {
namespace {

using base::with_thousands;

/// How many sentences are unusual in which way, with the first labels.
void print_notes(std::ostream& out, const Coreference& settings, std::uint64_t limit) {
  for (std::size_t note = 0; note < sentence_note_names.size(); ++note) {
    std::vector<std::string> labels;
    for (const auto& sentence : settings.sentences) {
      if (std::binary_search(sentence.notes.begin(), sentence.notes.end(), static_cast<SentenceNote>(note))) {
        labels.push_back(sentence.label);
      }
    }
    if (labels.empty()) {
      continue;
    }
    const bool excluded =
        std::binary_search(settings.excluded.begin(), settings.excluded.end(), static_cast<SentenceNote>(note));
    out << "sentences with " << sentence_note_names[note] << (excluded ? " (excluded): " : ": ")
        << with_thousands(labels.size()) << '\n';
    for (std::uint64_t i = 0; i < labels.size() && i < limit; ++i) {
      out << "  " << labels[i] << '\n';
    }
    if (labels.size() > limit) {
      out << "  ... " << labels.size() - limit << " more (--limit)\n";
    }
  }
}

void print_sentences(std::ostream& out, const Coreference& settings) {
  std::array<std::array<std::uint64_t, 2>, 2> counts{};
  std::array<std::uint64_t, 5> cases{};
  for (const auto& sentence : settings.sentences) {
    ++counts[static_cast<std::size_t>(sentence.type)][static_cast<std::size_t>(sentence.stereotype)];
    ++cases[static_cast<std::size_t>(sentence.pronoun_case)];
  }
  plan_line(out, "sentences") << counts[0][0] << " pro and " << counts[0][1] << " anti ambiguous, " << counts[1][0]
                              << " pro and " << counts[1][1] << " anti unambiguous\n";
  plan_line(out, "pronouns") << base::counted(cases[0], "subject") << ", " << base::counted(cases[1], "object") << ", "
                             << base::counted(cases[2], "possessive") << ", " << cases[3] << " independent, "
                             << cases[4] << " reflexive\n";
}

/// One line per context, tab-separated: group (condition), rephrasing (question), template (sentence), referent, other,
/// prompt.
void print_prompts(std::ostream& out, const CoreferenceProbe& probe, std::uint64_t limit) {
  const auto& axes = probe.schema().outer_axes;
  out << "group\trephrasing\ttemplate\treferent\tother\tprompt\n";
  const auto num_contexts = probe.blocks().product().num_contexts();
  for (std::uint64_t context = 0; context < std::min(num_contexts, limit) && out; ++context) {
    const auto place = probe.blocks().product().coordinates(context);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      out << axes[axis].labels[place[axis]] << '\t';
    }
    const auto& sentence = probe.sentence_of(context);
    out << sentence.occupation(0) << '\t' << sentence.occupation(1) << '\t' << probe.prompt(context) << '\n';
  }
}

constexpr std::size_t all = 2;  ///< of the sets of stereotypes and genders
constexpr auto share_metric = static_cast<std::size_t>(stats::CoreferenceMetric::share);

const Estimate& mean_of(const SentenceSummary& summary, std::size_t stereotype, std::size_t gender,
                        stats::CoreferenceMetric metric) {
  return summary.means[(3 * stereotype + gender) * stats::num_coreference_metrics + static_cast<std::size_t>(metric)];
}

/// A disparity with its name, for sorting.
struct Row {
  std::vector<std::string> names;
  Estimate estimate;
};

std::string interval_text(const Estimate& estimate) {
  return estimate.reason == stats::Reason::ok ? results::fixed(estimate.low) + " .. " + results::fixed(estimate.high)
                                              : std::string(stats::name_of(estimate.reason));
}

std::string largest_text(const std::string& title, std::vector<std::string> head, std::vector<Row> rows,
                         std::size_t top) {
  std::erase_if(rows, [](const Row& row) { return std::isnan(row.estimate.value); });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& left, const Row& right) {
    return std::abs(left.estimate.value) > std::abs(right.estimate.value);
  });
  head.insert(head.end(), {"difference", "interval"});
  results::TextTable table(head);
  for (std::size_t i = 0; i < rows.size() && i < top; ++i) {
    auto cells = rows[i].names;
    cells.push_back(results::fixed(rows[i].estimate.value));
    cells.push_back(interval_text(rows[i].estimate));
    table.add(std::move(cells));
  }
  return rows.empty() ? "" : title + "\n\n" + table.text() + results::rest_text(top, rows.size(), "differences") + "\n";
}

/// Cells by status.
std::string coreference_status_text(const CoreferenceResult& result) {
  results::TextTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < result.status_names.size(); ++status) {
    if (result.cells_by_status[status] > 0) {
      cells.add({result.status_names[status], base::with_thousands(result.cells_by_status[status])});
    }
  }
  return cells.text();
}

/// Means by type and condition, pro and anti; the first `top` conditions.
std::string coreference_means_text(const CoreferenceResult& result, std::size_t top,
                                   const results::ShownMeasures& shown = {}) {
  using Metric = stats::CoreferenceMetric;
  struct Column {
    std::string measure, head;
    Metric metric;
  };
  std::vector<Column> columns = {{"probability", "P", Metric::probability},
                                 {"share", "share", Metric::share},
                                 {"accuracy", "accuracy", Metric::accuracy},
                                 {"entropy", "entropy", Metric::entropy}};
  std::erase_if(columns, [&](const Column& column) { return !shown.holds(column.measure); });
  std::string text = columns.size() == 1
                         ? "Mean " + columns.front().head + " of the referent over sentences, pro / anti\n"
                         : results::wrapped(
                               "Means over sentences, pro / anti (P: probability of the referent; share: of the two "
                               "occupations; entropy in nat)\n");
  for (std::size_t type = 0; type < type_names.size(); ++type) {
    std::vector<std::string> head = {type_names[type], "sentences"};
    std::ranges::transform(columns, std::back_inserter(head), &Column::head);
    results::TextTable table(head);
    std::size_t num_rows = 0;
    for (std::size_t condition = 0; condition < result.conditions.size(); ++condition) {
      const auto& summary = result.summaries[2 * condition + type];
      const auto both = [&](Metric metric) {
        return results::significant(mean_of(summary, 0, all, metric).value) + " / " +
               results::significant(mean_of(summary, 1, all, metric).value);
      };
      if (summary.counts[3 * all + all] > 0 && ++num_rows <= top) {
        std::vector<std::string> cells = {result.conditions[condition], std::to_string(summary.counts[all]) + " / " +
                                                                            std::to_string(summary.counts[3 + all])};
        std::ranges::transform(columns, std::back_inserter(cells), [&](const auto& one) { return both(one.metric); });
        table.add(std::move(cells));
      }
    }
    text += num_rows > 0 ? "\n" + table.text() + results::rest_text(top, num_rows, "conditions") : "";
  }
  return text;
}

/// The `top` largest disparities of each definition, by share.
std::string coreference_disparities_text(const CoreferenceResult& result, std::size_t top) {
  std::vector<Row> pro_anti;
  std::vector<Row> baseline;
  std::vector<Row> privilege;
  for (std::size_t type = 0; type < type_names.size(); ++type) {
    for (std::size_t gender = 0; gender < gender_sets.size(); ++gender) {
      const auto index = gender * stats::num_coreference_metrics + share_metric;
      const auto mean = (3 * all + gender) * stats::num_coreference_metrics + share_metric;
      for (std::size_t condition = 0; condition < result.conditions.size(); ++condition) {
        const Row row{{result.conditions[condition], type_names[type], gender_sets[gender]}, {}};
        pro_anti.push_back({row.names, result.summaries[2 * condition + type].pro_minus_anti[index]});
        baseline.push_back({row.names, result.from_baseline[2 * condition + type].means[mean]});
      }
      for (std::size_t cell = 0; cell < result.attributes.size() * placements.size(); ++cell) {
        privilege.push_back({{result.attributes[cell / placements.size()] + ", " + placements[cell % placements.size()],
                              type_names[type], gender_sets[gender]},
                             result.privilege[2 * cell + type].means[mean]});
      }
    }
  }
  std::erase_if(baseline, [](const Row& row) { return row.names.front() == "baseline"; });
  const auto level = results::fixed(100 * result.confidence, 1) + " % bootstrap over pairs of sentences";
  return "Largest disparities of the share (" + level + ")\n\n" +
         largest_text("pro minus anti", {"condition", "type", "gender"}, std::move(pro_anti), top) +
         largest_text("baseline minus condition, by sentence", {"condition", "type", "gender"}, std::move(baseline),
                      top) +
         largest_text("privileged minus disadvantaged markers, by sentence", {"attribute, placement", "type", "gender"},
                      std::move(privilege), top);
}

class CoreferenceKind final : public ProbeKind {
 public:
  std::string_view name() const override { return Coreference::probe_name; }
  std::vector<std::string> keys() const override { return {"axes", "statistics"}; }
  Defaults defaults() const override {
    return {.sizes = {.contexts_per_block = 512, .batch_tokens = causal_batch_tokens},
            .on_gpu = {.contexts_per_block = 4096, .batch_tokens = config::gpu_batch_tokens}};
  }
  sweep::ProbeSettings read(const config::ProbeReading& job) const override { return read_settings(job); }
  void dump(const sweep::ProbeSettings& settings, config::Extent /*extent*/, config::Node& job) const override {
    dump_settings(settings.as<Coreference>(), job);
  }
  config::Node dump_statistics(const sweep::ProbeSettings& settings) const override {
    return config::dump_fields(settings.as<Coreference>().statistics);
  }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::next; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) const override {
    return make_coreference(job, tokenizer);
  }
  std::string summary(const sweep::Job& job) const override {
    const auto& settings = job.settings<Coreference>();
    const std::uint64_t num_conditions = list_conditions(settings).size();
    const std::uint64_t num_contexts = num_conditions * settings.questions.size() * settings.sentences.size();
    const auto num_excluded = static_cast<std::uint64_t>(
        std::ranges::count_if(settings.sentences, [&](const auto& sentence) { return settings.excludes(sentence); }));
    using base::counted;
    const auto list = list_subjects(settings);
    const auto is_single = [](const Subject& subject) { return subject.groups.size() == 1; };
    const auto num_single =
        static_cast<std::uint64_t>(std::count_if(list.subjects.begin(), list.subjects.end(), is_single));
    const auto num_crossed = list.subjects.size() - num_single;
    return counted(num_conditions, "condition") + " of " + counted(num_single, "marker") +
           (num_crossed > 0 ? " and " + counted(num_crossed, "intersection") : "") + " x " +
           counted(settings.questions.size(), "question") + " x " + counted(settings.sentences.size(), "sentence") +
           " (" + with_thousands(num_excluded) + " excluded): " + counted(num_contexts, "context") + ", " +
           counted(2 * num_contexts, "cell") +
           (list.omissions.empty() ? "" : "; " + with_thousands(list.omissions.size()) + " left out (see plan)");
  }
  void plan(const PlanRequest& request) const override {
    const auto& job = request.job;
    const auto specification = specification_of(request);
    const auto probe = make_coreference(job, *request.tokenizer);
    const auto& coreference = dynamic_cast<const CoreferenceProbe&>(*probe);
    auto& out = std::cout;
    out << job.name << ": coreference on " << job.model.path << '\n';
    plan_line(out, "product") << summary(job) << '\n';
    print_sentences(out, job.settings<Coreference>());
    print_causal_plan(out, audit_causal(*probe, request, specification), *probe, request, specification);
    print_notes(out, job.settings<Coreference>(), request.limit.value_or(40));
    print_omissions(out, list_subjects(job.settings<Coreference>()).omissions, request.limit.value_or(40));
    if (request.prompts == PlanRequest::Prompts::printed) {
      out << '\n';
      print_prompts(out, coreference, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
    }
  }
  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    CoreferenceOptions options;
    options.settings.replicates = 0;  // no intervals are shown
    const auto result = compute_coreference(file, options);
    if (detail == Detail::everything) {
      std::cout << coreference_means_text(result, top) << '\n';
    }
    std::cout << coreference_status_text(result);
  }
  results::ScoreTable scores(const results::ResultFile& file, const sweep::Job& job) const override {
    return score_table(file, job.settings<Coreference>().statistics.ties);
  }
  std::vector<std::string> recommended_measures(const sweep::Job& /*job*/) const override { return {"share"}; }
  StatsText stats(const StatsRequest& request) const override {
    const CoreferenceOptions options{request.job.settings<Coreference>().statistics, request.job.seed};
    const auto result = compute_coreference(request.file, options, request.target);
    return {coreference_means_text(result, request.top, request.shown),
            coreference_disparities_text(result, request.top) + coreference_status_text(result)};
  }
};

}  // namespace

const ProbeKind& coreference_kind() {
  static const CoreferenceKind kind;
  return kind;
}

}  // namespace stereosweep::probes::coreference
