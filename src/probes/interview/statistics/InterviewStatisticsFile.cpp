#include <array>
#include <utility>

#include "probes/interview/statistics/InterviewStatistics.hpp"
#include "results/ScoreTable.hpp"

namespace stereosweep::probes::interview {
namespace {

using results::flag_cube;
using results::number_cube;
using TextAxes = std::vector<std::string>;

void write_diversities(results::Layout& layout, const std::string& over, const std::string& texts, TextAxes axes,
                       const std::vector<stats::TextDiversity>& diversities) {
  using stats::TextDiversity;
  axes.insert(axes.end(), {"turn", "ngram"});
  layout.write(number_cube("self_bleu_" + over, "1", "Self-BLEU of " + texts,
                           "mean BLEU of each text against all others, n-grams up to this length, 0.1 in place of a "
                           "count of 0; texts with fewer words are left out"),
               axes, diversities, [](const TextDiversity& one) { return one.self_bleu.value; });
  layout.write(
      flag_cube("self_bleu_" + over + "_status", "why there is no Self-BLEU; too_few: one text", stats::reason_names()),
      axes, diversities, [](const TextDiversity& one) { return one.self_bleu.reason; });
  layout.write(number_cube("entropy_" + over, "bit", "entropy of the n-grams of " + texts,
                           "-sum p log2 p, base 2; at most log2 of ngrams_" + over),
               axes, diversities, [](const TextDiversity& one) { return one.entropy.value; });
  layout.write(flag_cube("entropy_" + over + "_status", "why there is no entropy", stats::reason_names()), axes,
               diversities, [](const TextDiversity& one) { return one.entropy.reason; });
  layout.write(number_cube("texts_" + over, "1", "texts with an n-gram of this length"), axes, diversities,
               &TextDiversity::num_texts);
  layout.write(number_cube("ngrams_" + over, "1", "n-grams of this length in all texts"), axes, diversities,
               &TextDiversity::num_ngrams);
}

void write_rating_variation(results::Layout& layout, const std::string& name, const std::string& what,
                            const TextAxes& axes, const std::vector<RatingVariation>& variations) {
  layout.write(number_cube(name, "1", "coefficient of variation of the mean rating, " + what,
                           "standard deviation (n - 1) over mean; negative items turned round"),
               axes, variations, [](const RatingVariation& one) { return one.variation.value; });
  layout.write(number_cube(name + "_n", "1", "values of " + name), axes, variations, &RatingVariation::n);
  layout.write(flag_cube(name + "_status", "why there is no " + name, stats::reason_names()), axes, variations,
               [](const RatingVariation& one) { return one.variation.reason; });
}

void write_refusals(results::Layout& layout, const std::string& prefix, const std::string& axis,
                    const std::vector<RefusalCounts>& counts, const InterviewStatistics& statistics) {
  const TextAxes axes = {axis};
  layout.write(number_cube(prefix + "rated_texts", "1", "texts that were asked for ratings",
                           "one that rates several items counts once; none where no text came"),
               axes, counts, &RefusalCounts::texts);
  const std::array<std::pair<const char*, std::uint64_t RefusalCounts::*>, 2> shares = {
      {{"refused", &RefusalCounts::refused}, {"unrated", &RefusalCounts::unrated}}};
  for (const auto& [name, member] : shares) {
    const bool is_refusal = member == &RefusalCounts::refused;
    const auto cube = [&](const char* end, const std::string& what) {
      return number_cube(
          prefix + name + end, "1", what,
          is_refusal ? "refused: declines some item and rates none" : "unrated: rates none, for whatever reason");
    };
    const auto interval = [&, member = member](const RefusalCounts& one) {
      return text_share(one.*member, one.texts, statistics.confidence);
    };
    const std::string ends = "Clopper and Pearson, level in the root attribute text_confidence; NaN: greedy, no draws";
    layout.write(cube("_share", std::string("share of the texts that are ") + name), axes, counts,
                 [&](const auto& one) { return interval(one).share; });
    layout.write(cube("_low", "lower end; " + ends), axes, counts, [&](const auto& one) { return interval(one).low; });
    layout.write(cube("_high", "upper end; " + ends), axes, counts,
                 [&](const auto& one) { return interval(one).high; });
  }
}

}  // namespace

void write_statistics(results::Layout& layout, const results::RawSchema& schema,
                      const InterviewStatistics& statistics) {
  const std::string subject = results::score_axis_names[1];
  const std::string form = results::score_axis_names[2];
  const std::string wording = results::score_axis_names[3];
  layout.add_axis(schema.outer_axes.at(1));
  layout.add_axis(schema.inner_axis("turn"));
  std::vector<std::string> orders;
  for (const auto order : ngram_orders) {
    orders.push_back(std::to_string(order));
  }
  layout.add_axis({"ngram", "words of an n-gram", orders, {}});
  const auto& [over_rounds, over_wordings, over_groups] = statistics.diversities;
  write_diversities(layout, "over_rounds", "the texts of all rounds", {subject, "conversation", form, wording},
                    over_rounds);
  write_diversities(layout, "over_wordings", "a subject's texts in all templates, rephrasings and rounds",
                    {subject, "conversation"}, over_wordings);
  write_diversities(layout, "over_groups", "a template's texts of all subjects, rephrasings and rounds",
                    {"conversation", form}, over_groups);
  const auto& consistency = statistics.consistency;
  if (consistency.dimensions.empty()) {
    return;
  }
  if (statistics.confidence) {
    layout.root().write_attribute("text_confidence", *statistics.confidence);
  }
  layout.add_axis({"rated_dimension", "dimension of the rated items", consistency.dimensions, {}});
  const TextAxes by_form = {form, subject, "rated_dimension"};
  write_rating_variation(layout, "rating_variation_over_rounds", "a value: a round", by_form, consistency.over_rounds);
  write_rating_variation(layout, "rating_variation_to_first_form", "two values: the template and the first template",
                         by_form, consistency.to_first_form);
  write_rating_variation(layout, "rating_variation_over_forms", "a value: a template", {subject, "rated_dimension"},
                         consistency.over_forms);
  write_refusals(layout, "subject_", subject, consistency.of_subjects, statistics);
  write_refusals(layout, "template_", form, consistency.of_forms, statistics);
}

}  // namespace stereosweep::probes::interview
