#include "probes/coreference/CoreferenceKind.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <limits>

#include "base/Text.hpp"
#include "probes/CausalPlanText.hpp"
#include "probes/PlanText.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceProbe.hpp"
#include "probes/coreference/CoreferencePrompts.hpp"
#include "probes/coreference/CoreferenceStatistics.hpp"
#include "probes/coreference/CoreferenceText.hpp"

namespace stereosweep::probes::coreference {
namespace {

using base::with_thousands;

std::string coreference_summary(const sweep::Job& job) {
  const auto& settings = job.settings<Coreference>();
  const std::uint64_t num_conditions = list_conditions(settings).size();
  const std::uint64_t num_contexts = num_conditions * settings.questions.size() * settings.sentences.size();
  std::uint64_t num_excluded = 0;
  for (const auto& sentence : settings.sentences) {
    num_excluded += std::any_of(sentence.notes.begin(), sentence.notes.end(), [&](auto note) {
      return std::binary_search(settings.excluded.begin(), settings.excluded.end(), note);
    });
  }
  using base::counted;
  return counted(num_conditions, "condition") + " of " + counted(settings.markers.size(), "marker") + " x " +
         counted(settings.questions.size(), "question") + " x " + counted(settings.sentences.size(), "sentence") +
         " (" + with_thousands(num_excluded) + " excluded): " + counted(num_contexts, "context") + ", " +
         counted(2 * num_contexts, "cell");
}

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

/// One line per context, tab-separated: condition, question, sentence, referent, other, prompt.
void print_prompts(std::ostream& out, const CoreferenceProbe& probe, std::uint64_t limit) {
  const auto& axes = probe.schema().outer_axes;
  out << "condition\tquestion\tsentence\treferent\tother\tprompt\n";
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

void plan_coreference(const PlanRequest& request) {
  const auto& job = request.job;
  const auto specification = specification_of(request);
  const auto probe = make_probe(job, *request.tokenizer);
  const auto& coreference = dynamic_cast<const CoreferenceProbe&>(*probe);
  auto& out = std::cout;
  out << job.name << ": coreference on " << job.model.path << '\n';
  plan_line(out, "product") << coreference_summary(job) << '\n';
  print_sentences(out, job.settings<Coreference>());
  print_causal_plan(out, audit_causal(*probe, request, specification), *probe, request, specification);
  print_notes(out, job.settings<Coreference>(), request.limit.value_or(40));
  if (request.prompts == PlanRequest::Prompts::printed) {
    out << '\n';
    print_prompts(out, coreference, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

void show_coreference(const results::ResultFile& file, Detail detail, std::size_t top) {
  CoreferenceOptions options;
  options.settings.replicates = 0;  // no intervals are shown
  const auto result = compute_coreference(file, options);
  if (detail == Detail::everything) {
    std::cout << coreference_means_text(result, top) << '\n';
  }
  std::cout << coreference_status_text(result);
}

void coreference_statistics(const StatsRequest& request) {
  const CoreferenceOptions options{request.job.settings<Coreference>().statistics, request.job.seed};
  const auto result = write_coreference(request.file, options, request.target);
  std::cout << coreference_means_text(result, request.top) << '\n'
            << coreference_disparities_text(result, request.top) << coreference_status_text(result);
}

class CoreferenceKind final : public ProbeKind {
 public:
  std::string_view name() const override { return Coreference::probe_name; }
  std::vector<std::string> keys() const override { return {"axes", "statistics"}; }
  Defaults defaults() const override { return {.contexts_per_block = 512, .batch_tokens = causal_batch_tokens}; }
  sweep::ProbeSettings read(const config::ProbeReading& job) const override { return read_settings(job); }
  void dump(const sweep::ProbeSettings& settings, config::Extent extent, config::Node& job) const override {
    dump_settings(settings.as<Coreference>(), extent, job);
  }
  config::Node dump_statistics(const sweep::ProbeSettings& settings) const override {
    return coreference::dump_statistics(settings.as<Coreference>());
  }
  std::optional<query::Prediction> prediction() const override { return query::Prediction::next; }
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) const override {
    return make_coreference(job, tokenizer);
  }
  std::string summary(const sweep::Job& job) const override { return coreference_summary(job); }
  void plan(const PlanRequest& request) const override { plan_coreference(request); }
  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    show_coreference(file, detail, top);
  }
  void stats(const StatsRequest& request) const override { coreference_statistics(request); }
};

}  // namespace

const ProbeKind& coreference_kind() {
  static const CoreferenceKind kind;
  return kind;
}

}  // namespace stereosweep::probes::coreference
