#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Fields.hpp"
#include "probes/PlanText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/coreference/Coreference.hpp"
#include "results/RawBlock.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/OptionProbabilities.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::coreference {
namespace {

using results::ScoreStatus;
using stats::nan;

constexpr std::size_t num_measures = 10;
constexpr std::size_t first_metric = 4;     ///< from here on the metrics of stats/OptionProbabilities.hpp
constexpr std::size_t first_of_prompt = 7;  ///< from here on one number of the prompt, which stands at the referent
const std::vector<MeasureText> measure_table = {
    {"log_probability", "nat", "sum of ln p over the subwords of the occupation"},
    {"mean_log_probability", "nat", "mean of ln p over the subwords of the occupation"},
    {"token_probability_sum", "1", "sum of p over the subwords of the occupation"},
    {"token_probability_mean", "1", "mean of p over the subwords of the occupation", "0", "1"},
    {"probability", "1", "exp of log_probability", "0", "1"},
    {"share", "1", "probability divided by the sum of both occupations' probabilities", "0", "1"},
    {"share_per_subword", "1", "the same of exp of mean_log_probability", "0", "1"},
    {"accuracy", "1", "1 where the referent is more probable, 0 where it is less; ties: attribute ties", "0", "1"},
    {"entropy", "nat", "of the two shares"},
    {"margin", "nat", "log_probability of the referent minus that of the other occupation"},
};
/// Of one prompt: [measure, role]; NaN where there is none.
using PromptScores = std::array<std::array<double, 2>, num_measures>;

/// `tokens`: of both occupations; empty where one has no numbers.
PromptScores scores_of(const std::array<std::span<const double>, 2>& tokens, stats::Ties ties) {
  PromptScores scores;
  scores.fill({nan, nan});
  for (std::size_t role = 0; role < 2; ++role) {
    if (!tokens[role].empty()) {
      const auto sum = std::accumulate(tokens[role].begin(), tokens[role].end(), 0.0);
      scores[0][role] = sum;
      const auto length = static_cast<double>(tokens[role].size());
      scores[1][role] = sum / length;
      scores[2][role] = 0;
      for (const double logprob : tokens[role]) {
        scores[2][role] += std::exp(logprob);
      }
      scores[3][role] = scores[2][role] / length;
      scores[first_metric][role] = std::exp(sum);
    }
  }
  if (!tokens[0].empty() && !tokens[1].empty()) {
    const auto metrics = stats::coreference_metrics(tokens[0], tokens[1], ties);
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      scores[first_metric + metric][0] = metrics[metric];
    }
    scores[first_metric + 1][1] = stats::logistic(scores[0][1] - scores[0][0]);
    scores[first_metric + 2][1] = stats::logistic(scores[1][1] - scores[1][0]);
  }
  return scores;
}

/// The axis of the sentences with one coordinate more: what sentences about the same two occupations have in common.
results::AxisSchema with_occupations(results::AxisSchema sentences) {
  const auto& referents = coordinate_of(sentences, "referent");
  const auto& others = coordinate_of(sentences, "other");
  std::vector<std::string> both;
  for (std::size_t i = 0; i < referents.size(); ++i) {
    both.push_back(std::min(referents[i], others[i]) + ", " + std::max(referents[i], others[i]));
  }
  sentences.coordinates.push_back({"occupations", "both occupations in alphabetical order", std::move(both)});
  return sentences;
}

/// Excluded sentences, and of numbers of a prompt the second item.
findings::LeftOut left_out_of(const results::AxisSchema& sentences, const Coreference& settings) {
  std::vector<bool> is_excluded;
  for (const auto& notes : coordinate_of(sentences, "notes")) {
    const auto own = base::split(notes, '+');
    is_excluded.push_back(std::ranges::any_of(settings.excluded, [&](SentenceNote note) {
      return base::contains(own, sentence_note_names[static_cast<std::size_t>(note)]);
    }));
  }
  return [is_excluded](std::size_t measure, std::size_t sentence, std::size_t item) {
    return is_excluded[sentence] || (item == 1 && measure >= first_of_prompt);
  };
}

/// Group, rephrasing and template. Throws InputError if the result is of an early version.
const std::vector<results::AxisSchema>& outer_axes_of(const results::ResultFile& file) {
  const auto& axes = file.schema().outer_axes;
  base::refuse_if(
      axes.size() != 3 || axes[0].name != "group" || axes[1].name != "rephrasing" || axes[2].name != "template",
      "cannot compute scores of '" + file.path().string() + "'",
      "its axes are not group, rephrasing, template: export the run anew");
  return axes;
}

/// Hands the scores of one condition after another to `take`, and says how many cells have which status. Throws as
/// outer_axes_of does.
std::string read_all(const results::ResultFile& file, stats::Ties ties, const findings::LeftOut& is_left_out,
                     const std::function<void(const results::ScoreTableWriter::Part&)>& take) {
  const auto& schema = file.schema();
  const auto& axes = outer_axes_of(file);
  const auto num_questions = axes[1].labels.size();
  const auto num_sentences = axes[2].labels.size();
  const auto num_contexts = num_questions * num_sentences;
  const auto num_subwords = schema.inner_axis("subword").labels.size();
  const auto& status_names = meanings_of(schema, "status");
  std::vector<std::uint64_t> cells_by_status(status_names.size());
  for (std::size_t condition = 0; condition < axes[0].labels.size(); ++condition) {
    const auto block = file.read(condition * num_contexts, num_contexts);
    const std::span logprob = column_named<double>(block, schema, "logprob");
    const auto& counts = column_named<std::int32_t>(block, schema, "num_subwords");
    const auto& statuses = column_named<std::uint8_t>(block, schema, "status");
    results::ScoreTableWriter::Part part = {condition, 0, num_contexts, {}, {}};
    part.values.resize(num_measures * 2 * num_contexts);
    part.statuses.resize(part.values.size());
    for (std::size_t context = 0; context < num_contexts; ++context) {
      std::array<std::span<const double>, 2> tokens;
      for (std::size_t role = 0; role < 2; ++role) {
        const auto cell = 2 * context + role;
        ++cells_by_status.at(statuses[cell]);
        const auto count = std::clamp<std::int64_t>(counts[cell], 0, static_cast<std::int64_t>(num_subwords));
        tokens[role] = logprob.subspan(cell * num_subwords, statuses[cell] == 0 ? static_cast<std::size_t>(count) : 0);
      }
      const auto scores = scores_of(tokens, ties);
      const bool is_unscored = status_names[statuses[2 * context]] == results::not_scored;
      const auto place = context % num_sentences * num_questions + context / num_sentences;
      for (std::size_t cell = 0; cell < 2 * num_measures; ++cell) {
        const auto measure = cell / 2;
        const auto at = (measure * num_contexts + place) * 2 + cell % 2;
        const auto value = scores[measure][cell % 2];
        part.values[at] = value;
        part.statuses[at] = is_left_out(measure, context % num_sentences, cell % 2) ? ScoreStatus::not_applicable
                            : is_unscored                                           ? ScoreStatus::unscored
                            : std::isnan(value)                                     ? ScoreStatus::missing
                            : std::isinf(value)                                     ? ScoreStatus::infinite
                                                                                    : ScoreStatus::ok;
      }
    }
    take(part);
  }
  return cells_text(status_names, cells_by_status);
}

/// Of the score table, by the outer axes of the result (group, rephrasing, template). Measures: README.md. Subjects are
/// the conditions, items the roles of the occupations; one replicate.
results::ScoreTableAxes score_axes(const std::vector<results::AxisSchema>& raw) {
  auto subjects = raw[0];
  subjects.name = "subject";
  const std::vector<std::string> none(2);
  return {measure_axis("what is computed of one prompt", measure_table),
          std::move(subjects),
          with_occupations(raw[2]),
          raw[1],
          results::ScoreTable::no_axis(4),
          {"item",
           "role of the occupation in the sentence",
           {"referent", "other"},
           {{"dimension", "none here", none}, {"left", "none here", none}, {"right", "none here", none}}}};
}

std::string status_text(const results::ResultFile& file) {
  const auto nothing = [](auto /*measure*/, auto /*sentence*/, auto /*item*/) { return false; };
  return read_all(file, stats::Ties::half, nothing, [](const auto& /*scores*/) {});
}

/// Writes `target` (as export_run does) with the score table, condition by condition.
std::string write_scores(const results::ResultFile& file, const Coreference& settings,
                         const results::StatisticsTarget& target) {
  const auto ties = settings.statistics.ties;
  const auto& axes = outer_axes_of(file);
  results::StatisticsFile written(file, Coreference::probe_name, target);
  written.root().write_attribute("ties", CoreferenceStatistics::ties_names[static_cast<std::size_t>(ties)]);
  std::string text;
  {
    results::ScoreTableWriter scores(written.layout(), score_axes(axes), "score", written.left_out());
    text = read_all(file, ties, left_out_of(axes[2], settings), [&](const auto& part) { scores.add(part); });
    scores.flush();
  }
  written.commit();
  return text;
}

using base::with_thousands;

/// How many sentences are unusual in which way, with the first labels.
void print_notes(std::ostream& out, const Coreference& settings, std::uint64_t limit) {
  for (std::size_t note = 0; note < sentence_note_names.size(); ++note) {
    std::vector<std::string> labels;
    for (const auto& sentence : settings.sentences) {
      if (sentence.notes.contains(static_cast<SentenceNote>(note))) {
        labels.push_back(sentence.label);
      }
    }
    const bool excluded = settings.excluded.contains(static_cast<SentenceNote>(note));
    print_lines(out,
                "sentences with " + sentence_note_names[note] + (excluded ? " (excluded): " : ": ") +
                    with_thousands(labels.size()),
                labels, limit);
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
  const auto num_contexts = probe.blocks().num_contexts();
  for (std::uint64_t visit = 0; visit < std::min(num_contexts, limit) && out; ++visit) {
    const auto context = probe.blocks().context({}, visit);
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
  std::unique_ptr<Probe> make_probe(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer) const override {
    return make_coreference(job, *tokenizer);
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
    const auto num_single = static_cast<std::uint64_t>(std::ranges::count_if(list.subjects, is_single));
    const auto num_crossed = list.subjects.size() - num_single;
    return counted(num_conditions, "condition") + " of " + counted(num_single, "marker") +
           (num_crossed > 0 ? " and " + counted(num_crossed, "intersection") : "") + " x " +
           counted(settings.questions.size(), "question") + " x " + counted(settings.sentences.size(), "sentence") +
           " (" + with_thousands(num_excluded) + " excluded): " + counted(num_contexts, "context") + ", " +
           counted(2 * num_contexts, "cell") + summary_end(list.omissions, {});
  }
  std::vector<sweep::Omission> omissions(const sweep::Job& job) const override {
    return list_subjects(job.settings<Coreference>()).omissions;
  }
  void plan(const PlanRequest& request) const override {
    const auto& settings = request.job.settings<Coreference>();
    const auto probe = make_coreference(request.job, *request.tokenizer);
    auto& out = std::cout;
    print_causal_plan(out,
                      {"coreference on", summary(request.job), [&](const auto&) { print_sentences(out, settings); },
                       [&](std::uint64_t limit) { print_prompts(out, *probe, limit); },
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
  findings::LeftOut left_out(const sweep::Job& job) const override {
    return left_out_of(coreference_schema(job, 1).outer_axes[2], job.settings<Coreference>());
  }
  std::vector<std::string> own_warnings(const sweep::Job& job) const override {
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
    return {.status = write_scores(request.file, request.job.settings<Coreference>(), request.target)};
  }
};

}  // namespace

const config::ProbeFormat& coreference_kind() {
  static const CoreferenceKind kind;
  return kind;
}

}  // namespace stereosweep::probes::coreference
