#include "app/CoreferenceCommands.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <limits>

#include "app/CausalPlanText.hpp"
#include "app/PlanText.hpp"
#include "base/Text.hpp"
#include "probe/CoreferenceProbe.hpp"
#include "prompt/CoreferencePrompts.hpp"
#include "results/CoreferenceStatistics.hpp"
#include "results/CoreferenceText.hpp"

namespace stereosweep::app {
namespace {

using base::with_thousands;

std::string coreference_summary(const domain::Job& job) {
  const auto& settings = job.coreference();
  const std::uint64_t num_conditions = prompt::list_conditions(settings).size();
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
void print_notes(std::ostream& out, const domain::Coreference& settings, std::uint64_t limit) {
  for (std::size_t note = 0; note < domain::sentence_note_names.size(); ++note) {
    std::vector<std::string> labels;
    for (const auto& sentence : settings.sentences) {
      if (std::binary_search(sentence.notes.begin(), sentence.notes.end(), static_cast<domain::SentenceNote>(note))) {
        labels.push_back(sentence.label);
      }
    }
    if (labels.empty()) {
      continue;
    }
    const bool excluded =
        std::binary_search(settings.excluded.begin(), settings.excluded.end(), static_cast<domain::SentenceNote>(note));
    out << "sentences with " << domain::sentence_note_names[note] << (excluded ? " (excluded): " : ": ")
        << with_thousands(labels.size()) << '\n';
    for (std::uint64_t i = 0; i < labels.size() && i < limit; ++i) {
      out << "  " << labels[i] << '\n';
    }
    if (labels.size() > limit) {
      out << "  ... " << labels.size() - limit << " more (--limit)\n";
    }
  }
}

void print_sentences(std::ostream& out, const domain::Coreference& settings) {
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
void print_prompts(std::ostream& out, const probe::CoreferenceProbe& probe, std::uint64_t limit) {
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
  const auto probe = probe::make_probe(job, request.tokenizer);
  const auto& coreference = dynamic_cast<const probe::CoreferenceProbe&>(*probe);
  auto& out = std::cout;
  out << job.name << ": coreference on " << job.model.path << '\n';
  plan_line(out, "product") << coreference_summary(job) << '\n';
  print_sentences(out, job.coreference());
  print_causal_plan(out, audit_causal(*probe, request, specification), *probe, request, specification);
  print_notes(out, job.coreference(), request.limit.value_or(40));
  if (request.shows_prompts) {
    out << '\n';
    print_prompts(out, coreference, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
}

void show_coreference(const results::ResultFile& file, Detail detail, std::size_t top) {
  results::CoreferenceOptions options;
  options.settings.replicates = 0;  // no intervals are shown
  const auto result = results::compute_coreference(file, options);
  if (detail == Detail::everything) {
    std::cout << results::coreference_means_text(result, top) << '\n';
  }
  std::cout << results::coreference_status_text(result);
}

void coreference_statistics(const StatsRequest& request) {
  const results::CoreferenceOptions options{request.job.coreference().statistics, request.job.seed};
  const auto result = results::write_coreference(request.file, options, request.target);
  std::cout << results::coreference_means_text(result, request.top) << '\n'
            << results::coreference_disparities_text(result, request.top) << results::coreference_status_text(result);
}

}  // namespace

ProbeCommands coreference_commands() {
  return {domain::Coreference::probe_name, coreference_summary, plan_coreference, show_coreference,
          coreference_statistics};
}

}  // namespace stereosweep::app
