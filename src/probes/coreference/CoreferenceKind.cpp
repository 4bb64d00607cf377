#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <tuple>

#include "base/text/Text.hpp"
#include "config/yaml/Fields.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceProbe.hpp"
#include "probes/coreference/CoreferenceScores.hpp"

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

/// Of the sentences of one type. Privileged and disadvantaged markers are compared for each attribute that has both in
/// one placement.
void add_contrasts(const std::string& type, const std::vector<Condition>& conditions,
                   const std::set<Stereotype>& stereotypes, const std::set<Gender>& genders,
                   std::vector<sweep::Contrast>& contrasts) {
  using Selections = std::vector<sweep::Selection>;
  const auto add = [&](const std::string& name, const std::string& each, Selections left, Selections right) {
    left.push_back({"template.type", {type}});
    right.push_back({"template.type", {type}});
    contrasts.push_back({.name = name + ", " + type,
                         .left = std::move(left),
                         .right = std::move(right),
                         .each = each,
                         .paired = "template.pair",
                         .measures = {"share", "accuracy", "entropy"}});
  };
  if (stereotypes.size() == 2) {
    add("pro - anti", "subject.augmentation", {{"template.stereotype", {"pro"}}}, {{"template.stereotype", {"anti"}}});
  }
  if (genders.size() == 2) {
    add("women - men", "subject.augmentation", {{"template.gender", {"female"}}}, {{"template.gender", {"male"}}});
  }
  std::set<std::string> kinds;
  std::set<std::tuple<std::string, std::string, Privilege>> sides;  // placement, attribute
  for (const auto& condition : conditions) {
    kinds.insert(condition.kind);
    sides.emplace(augmentation_names[static_cast<std::size_t>(condition.augmentation)], condition.attribute,
                  condition.privilege);
  }
  if (kinds.erase("baseline") > 0 && !kinds.empty()) {
    add("marker - none", "subject", {{"subject.kind", {kinds.begin(), kinds.end()}}}, {});
    auto& contrast = contrasts.back();  // `each` leaves the sides of `minus` alone that name subjects
    contrast.right.clear();
    contrast.against = sweep::Contrast::Against::zero;
    contrast.minus = {.left = {{"template.type", {type}}, {"subject.kind", {"baseline"}}}};
  }
  for (const auto& [placement, attribute, privilege] : sides) {
    const bool is_aug3 = placement == "aug3a";
    const auto other = is_aug3 ? std::tuple(std::string("aug3b"), attribute, Privilege::disadvantaged)
                               : std::tuple(placement, attribute, Privilege::disadvantaged);
    if (privilege == Privilege::privileged && sides.contains(other)) {
      const auto side = [&](const std::string& augmentation, const char* which) {
        return Selections{{"subject.augmentation", {augmentation}},
                          {"subject.attribute", {attribute}},
                          {"subject.privilege", {which}}};
      };
      add("privileged - disadvantaged, " + attribute + ", " + (is_aug3 ? "aug3" : placement), "",
          side(placement, "privileged"), side(std::get<0>(other), "disadvantaged"));
    }
  }
}

/// What is compared where the job states no contrasts of its own.
std::vector<sweep::Contrast> default_contrasts(const Coreference& settings) {
  std::vector<sweep::Contrast> contrasts;
  const auto conditions = list_conditions(settings);
  for (const auto type : {SentenceType::ambiguous, SentenceType::unambiguous}) {
    std::set<Stereotype> stereotypes;
    std::set<Gender> genders;
    for (const auto& sentence : settings.sentences) {
      if (sentence.type == type) {
        stereotypes.insert(sentence.stereotype);
        genders.insert(sentence.gender);
      }
    }
    if (!stereotypes.empty()) {
      add_contrasts(type_names[static_cast<std::size_t>(type)], conditions, stereotypes, genders, contrasts);
    }
  }
  return contrasts;
}

class CoreferenceKind final : public KindOf<Coreference> {
 public:
  Defaults defaults() const override {
    return {.sizes = {.contexts_per_block = 512, .batch_tokens = causal_batch_tokens},
            .on_gpu = {.contexts_per_block = 4096, .batch_tokens = config::gpu_batch_tokens}};
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
    const auto& settings = request.job.settings<Coreference>();
    const auto probe = make_coreference(request.job, *request.tokenizer);
    auto& out = std::cout;
    const auto omissions = list_subjects(settings).omissions;
    print_causal_plan(out,
                      {"coreference on", summary(request.job), [&](const auto&) { print_sentences(out, settings); },
                       omissions, [&](std::uint64_t limit) { print_prompts(out, *probe, limit); },
                       [&](std::uint64_t limit) { print_notes(out, settings, limit); }},
                      *probe, request);
  }
  void show(const results::ResultFile& file, Detail /*detail*/, std::size_t /*top*/) const override {
    std::cout << status_text(file);
  }
  sweep::Comparison comparison(const sweep::Job& job) const override {
    auto comparison = job.comparison;
    if (comparison.contrasts.empty()) {
      comparison.contrasts = default_contrasts(job.settings<Coreference>());
    }
    return comparison;
  }
  results::ScoreTableAxes score_axes(const sweep::Job& job) const override {
    return coreference::score_axes(coreference_schema(job, 1).outer_axes);
  }
  std::vector<std::string> warnings(const sweep::Job& job) const override {
    const auto& settings = job.settings<Coreference>();
    const bool has_ambiguous = std::ranges::any_of(
        settings.sentences, [](const auto& sentence) { return sentence.type == SentenceType::ambiguous; });
    if (settings.ambiguous_referent == AmbiguousReferent::bracketed || !has_ambiguous) {
      return {};
    }
    return {"axes.ambiguous_referent is '" + referent_names[static_cast<std::size_t>(settings.ambiguous_referent)] +
            "': the stereotyped occupation is the referent in about half of the ambiguous pro and anti sentences, so "
            "that a model that follows stereotypes alone shows no difference between them. 'bracketed' shows it."};
  }
  std::vector<std::string> recommended_measures(const sweep::Job& /*job*/) const override { return {"share"}; }
  StatsText stats(const StatsRequest& request) const override {
    const auto ties = request.job.settings<Coreference>().statistics.ties;
    return {"", write_scores(request.file, ties, request.target)};
  }
};

}  // namespace

const ProbeKind& coreference_kind() {
  static const CoreferenceKind kind;
  return kind;
}

}  // namespace stereosweep::probes::coreference
