#include "probes/interview/statistics/InterviewStatistics.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "results/TextTable.hpp"

namespace stereosweep::probes::interview {
namespace {

using findings::Finding;
using findings::Role;
using results::AxisSchema;

/// By subject or by form of the prompt: `axis` of the score table.
Finding refusals_of(const AxisSchema& axis, const std::vector<RefusalCounts>& counts, std::optional<double> level) {
  Finding finding{.name = axis.name, .heading = "Refusals", .axes = {axis}};
  const std::string interval = level ? results::percent(*level) + " interval (Clopper and Pearson)"
                                     : std::string("interval; NaN: greedy answers are no draws");
  const auto add = [&](const std::string& name, const std::string& what, std::uint64_t RefusalCounts::*member) {
    const auto add_end = [&](Role role, const char* end, const std::string& of_share, double TextShare::*value) {
      auto& column = finding.add(role, counts, name + end, "1", of_share, [&](const RefusalCounts& one) {
        return text_share(one.*member, one.texts, level).*value;
      });
      column.of = role == Role::value ? "" : name + "_share";
    };
    add_end(Role::value, "_share", "share of the texts that " + what, &TextShare::share);
    add_end(Role::low, "_low", "lower end of the " + interval, &TextShare::low);
    add_end(Role::high, "_high", "upper end of the " + interval, &TextShare::high);
  };
  add("refused", "decline some item and rate none", &RefusalCounts::refused);
  add("unrated", "rate none, for whatever reason", &RefusalCounts::unrated);
  finding.add(Role::n, counts, "rated_texts", "1", "texts that were asked for ratings, each once",
              &RefusalCounts::texts);
  finding.views = {
      {.title = "Texts that decline to answer, by " + axis.name,
       .columns = findings::table_columns(axis.name + ", declines: refused_share, low: refused_low, high: "
                                                      "refused_high, n: rated_texts, no rating: unrated_share"),
       .by = "-refused_share",
       .each = {}}};
  finding.notes =
      "n: texts that were asked for ratings. declines: some item, rating none; no rating: for whatever "
      "reason. low, high: " +
      (level ? results::percent(*level) + " interval over more draws of the same prompts."
             : std::string("none, greedy answers are no draws."));
  return finding;
}

Finding variation_of(const AxisSchema& forms, const Consistency& consistency) {
  Finding finding{.name = "rating_variation",
                  .heading = "Consistency of ratings",
                  .axes = {forms, {"rated_dimension", "dimension of the rated items", consistency.dimensions, {}}}};
  const auto add = [&](const std::vector<SubjectVariation>& rows, const std::string& name, const std::string& values) {
    finding.add(Role::value, rows, name, "1",
                "mean over subjects of the coefficient of variation of a mean rating, " + values,
                &SubjectVariation::mean);
    finding.add(Role::value, rows, name + "_largest", "1", "the largest of these coefficients",
                &SubjectVariation::largest);
    finding.add(Role::n, rows, name + "_n", "1", "subjects that have one", &SubjectVariation::n).of = name;
  };
  add(consistency.over_rounds, "over_rounds", "a value: a round");
  add(consistency.to_first_form, "to_first_form", "two values: the template and the first template");
  finding.views = {{.title = "How far ratings vary",
                    .columns = findings::table_columns(
                        "form: template, dimension: rated_dimension, over rounds: over_rounds, largest: "
                        "over_rounds_largest, to first form: to_first_form, largest to first form: "
                        "to_first_form_largest"),
                    .each = {}}};
  finding.notes =
      "Coefficients of variation (standard deviation, n - 1, over mean) of a subject's mean rating: mean and largest "
      "over subjects. 0: the same rating every time.";
  return finding;
}

Finding diversity_of(const std::string& over, const std::string& texts, std::vector<AxisSchema> axes,
                     const std::vector<stats::TextDiversity>& rows) {
  using stats::TextDiversity;
  Finding finding{.name = "texts_over_" + over, .heading = "Diversity of texts", .axes = std::move(axes)};
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) -> auto& {
    return finding.add(role, rows, name, unit, what, read);
  };
  add(Role::n, "n", "1", "texts with an n-gram of this length", &TextDiversity::num_texts);
  auto bleu = [](const TextDiversity& one) { return one.self_bleu.value; };
  add(Role::value, "self_bleu", "1", "Self-BLEU of " + texts, bleu).note =
      "mean BLEU of each text against all others, n-grams up to this length, 0.1 in place of a count of 0; texts with "
      "fewer words are left out";
  auto why_no_bleu = [](const TextDiversity& one) { return one.self_bleu.reason; };
  add(Role::status, "self_bleu_status", "", "why there is no Self-BLEU; too_few: one text", why_no_bleu).of =
      "self_bleu";
  auto entropy = [](const TextDiversity& one) { return one.entropy.value; };
  add(Role::value, "entropy", "bit", "entropy of the n-grams of " + texts, entropy).note =
      "-sum p log2 p, base 2; at most log2 of the number of n-grams";
  auto why_no_entropy = [](const TextDiversity& one) { return one.entropy.reason; };
  add(Role::status, "entropy_status", "", "why there is no entropy", why_no_entropy).of = "entropy";
  add(Role::value, "ngrams", "1", "n-grams of this length in all texts", &TextDiversity::num_ngrams);
  return finding;
}

/// [conversation, template, turn, ngram]: mean over subjects and rephrasings of the Self-BLEU of their rounds.
std::vector<double> means_of_rounds(const std::vector<stats::TextDiversity>& over_rounds,
                                    const std::vector<AxisSchema>& axes) {
  const auto length = [&](std::size_t axis) { return axes[axis].labels.size(); };
  const auto num_forms = length(1) * length(2);
  const auto num_inner = length(4) * length(5);
  std::vector<std::vector<double>> present(num_forms * num_inner);
  for (std::size_t cell = 0; cell < over_rounds.size(); ++cell) {
    if (const auto& one = over_rounds[cell].self_bleu; one.defined()) {
      const auto form = cell / num_inner / length(3) % num_forms;
      present[form * num_inner + cell % num_inner].push_back(one.value);
    }
  }
  return base::mapped(present, [](const auto& own) { return stats::mean(own).value; });
}

std::vector<Finding> diversities_of(const results::RawSchema& schema, const findings::Scores& scores,
                                    const TextDiversities& diversities) {
  const auto& subject = *scores.axes[findings::subject_axis];
  const auto& form = *scores.axes[findings::template_axis];
  const auto& wording = *scores.axes[findings::rephrasing_axis];
  const auto& conversation = schema.outer_axes.at(1);
  const auto& turn = schema.inner_axis("turn");
  const AxisSchema orders{
      "ngram", "words of an n-gram", base::mapped(ngram_orders, [](auto order) { return std::to_string(order); }), {}};
  std::vector<Finding> found;
  found.push_back(diversity_of("groups", "a template's texts of all subjects, rephrasings and rounds",
                               {conversation, form, turn, orders}, diversities.over_groups));
  found.push_back(diversity_of("wordings", "a subject's texts in all templates, rephrasings and rounds",
                               {subject, conversation, turn, orders}, diversities.over_wordings));
  found.push_back(diversity_of("rounds", "the texts of all rounds",
                               {subject, conversation, form, wording, turn, orders}, diversities.over_rounds));
  auto& groups = found.front();
  groups.add(Role::value, means_of_rounds(diversities.over_rounds, found.back().axes), "self_bleu_of_rounds", "1",
             "mean over subjects and rephrasings of the Self-BLEU of their rounds", std::identity());
  groups.views = {{.title = "How alike the texts are",
                   .columns = findings::table_columns(
                       "conversation, turn, form: template, n-gram: ngram, n, Self-BLEU: self_bleu, of a group: "
                       "self_bleu_of_rounds, entropy in bit: entropy"),
                   .each = {},
                   .only = "self_bleu"}};
  groups.notes =
      "Texts of all subjects, rephrasings and rounds in a form of the prompt. Self-BLEU: n-grams of up to so many "
      "words, "
      "0: nothing in common, 1: all equal; of a group: of its rounds alone, mean over groups. Entropy of the n-grams "
      "(base 2): it grows with the number of texts.";
  return found;
}

}  // namespace

std::vector<Finding> findings_of(const results::RawSchema& schema, const findings::Scores& scores,
                                 const InterviewStatistics& statistics) {
  std::vector<Finding> found;
  const auto& consistency = statistics.consistency;
  if (!consistency.dimensions.empty()) {
    const auto& forms = *scores.axes[findings::template_axis];
    found.push_back(refusals_of(*scores.axes[findings::subject_axis], consistency.of_subjects, statistics.confidence));
    found.push_back(refusals_of(forms, consistency.of_forms, statistics.confidence));
    found.push_back(variation_of(forms, consistency));
  }
  std::ranges::move(diversities_of(schema, scores, statistics.diversities), std::back_inserter(found));
  return found;
}

}  // namespace stereosweep::probes::interview
