#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "probes/Probe.hpp"
#include "probes/interview/Interview.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes::interview {
namespace {

using findings::Finding;
using findings::Role;
using findings::subject_axis;
using findings::template_axis;
using results::AxisSchema;

/// Of the subjects' coefficients of variation (standard deviation, n - 1, over mean) of their mean rating on a
/// dimension, as absolute values; of the subjects that have one.
struct SubjectVariation {
  double mean = stats::nan;
  double largest = stats::nan;
  std::int32_t n = 0;  ///< subjects
};

/// Texts that were asked for ratings. One that rates several items counts once.
struct RefusalCounts {
  std::uint64_t texts = 0;
  std::uint64_t refused = 0;  ///< declines some item and rates none
  std::uint64_t unrated = 0;  ///< rates none, for whatever reason
};

/// By subject or by form of the prompt: `axis` of the score table. Intervals of shares: Clopper and Pearson. The
/// prompts are fixed and their shares may differ, which makes the interval too wide, if anything (Hoeffding 1956).
Finding refusals_of(const AxisSchema& axis, const std::vector<RefusalCounts>& counts, std::optional<double> level) {
  Finding finding{.name = axis.name, .heading = "Refusals", .axes = {axis}};
  const std::string interval = level ? results::percent(*level) + " interval (Clopper and Pearson)"
                                     : std::string("interval; NaN: greedy answers are no draws");
  const findings::RowColumns add{finding, counts};
  const auto add_share = [&](const std::string& name, const std::string& what, std::uint64_t RefusalCounts::*member) {
    add(Role::value, name + "_share", "1", "share of the texts that " + what, [&](const RefusalCounts& one) {
      return one.texts == 0 ? stats::nan : static_cast<double>(one.*member) / static_cast<double>(one.texts);
    });
    add.interval({.what = interval, .unit = "1", .prefix = name + "_", .of = name + "_share"},
                 [&](const RefusalCounts& one) {
                   return level && one.texts > 0 ? stats::fixed_draws_interval(one.*member, one.texts, *level)
                                                 : stats::ProbabilityInterval{stats::nan, stats::nan};
                 });
  };
  add_share("refused", "decline some item and rate none", &RefusalCounts::refused);
  add_share("unrated", "rate none, for whatever reason", &RefusalCounts::unrated);
  add(Role::n, "rated_texts", "1", "texts that were asked for ratings, each once", &RefusalCounts::texts);
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

Finding diversity_of(const std::string& over, const std::string& texts, std::vector<AxisSchema> axes,
                     const std::vector<stats::TextDiversity>& rows) {
  using stats::TextDiversity;
  Finding finding{.name = "texts_over_" + over, .heading = "Diversity of texts", .axes = std::move(axes)};
  const findings::RowColumns add{finding, rows};
  add(Role::n, "n", "1", "texts with an n-gram of this length", &TextDiversity::num_texts);
  add(Role::value, "self_bleu", "1", "Self-BLEU of " + texts, &TextDiversity::self_bleu, &stats::Value::value).note =
      "mean BLEU of each text against all others, n-grams up to this length, 0.1 in place of a count of 0; texts with "
      "fewer words are left out";
  add(Role::status, "self_bleu_status", "", "why there is no Self-BLEU; too_few: one text", &TextDiversity::self_bleu,
      &stats::Value::reason)
      .of = "self_bleu";
  add(Role::value, "entropy", "bit", "entropy of the n-grams of " + texts, &TextDiversity::entropy,
      &stats::Value::value)
      .note = "-sum p log2 p, base 2; at most log2 of the number of n-grams";
  add(Role::status, "entropy_status", "", "why there is no entropy", &TextDiversity::entropy, &stats::Value::reason)
      .of = "entropy";
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

std::vector<Finding> diversities_of(const InterviewTexts& texts, const findings::Scores& scores) {
  const auto& schema = texts.schema();
  const std::array outer = {*scores.axes[subject_axis], schema.outer_axes.at(1), *scores.axes[template_axis],
                            *scores.axes[findings::rephrasing_axis]};
  const auto axes_of = [&](const std::vector<std::size_t>& kept) {
    auto axes = base::mapped(kept, [&](std::size_t axis) { return outer.at(axis); });
    axes.push_back(schema.inner_axis("turn"));
    axes.push_back({"ngram",
                    "words of an n-gram",
                    base::mapped(ngram_orders, [](auto order) { return std::to_string(order); }),
                    {}});
    return axes;
  };
  const auto of_rounds = texts.diversities({0, 1, 2, 3});
  const auto axes_of_rounds = axes_of({0, 1, 2, 3});
  std::vector<Finding> found;
  found.push_back(diversity_of("groups", "a template's texts of all subjects, rephrasings and rounds", axes_of({1, 2}),
                               texts.diversities({1, 2})));
  found.push_back(diversity_of("wordings", "a subject's texts in all templates, rephrasings and rounds",
                               axes_of({0, 1}), texts.diversities({0, 1})));
  found.push_back(diversity_of("rounds", "the texts of all rounds", axes_of_rounds, of_rounds));
  auto& groups = found.front();
  groups.add(Role::value, means_of_rounds(of_rounds, axes_of_rounds), "self_bleu_of_rounds", "1",
             "mean over subjects and rephrasings of the Self-BLEU of their rounds", std::identity());
  groups.views = {{.title = "How alike the texts are",
                   .columns = findings::table_columns(
                       "conversation, turn, form: template, n-gram: ngram, n, Self-BLEU: self_bleu, of a group: "
                       "self_bleu_of_rounds, entropy in bit: entropy"),
                   .each = {},
                   .only = "self_bleu"}};
  groups.notes =
      "Texts of all subjects, rephrasings and rounds in a form of the prompt. Self-BLEU: n-grams of up to so many "
      "words, 0: nothing in common, 1: all equal; of a group: of its rounds alone, mean over groups. Entropy of the "
      "n-grams (base 2): it grows with the number of texts.";
  return found;
}

/// [subject, template, group of items]: mean over the cells with a rating; NaN: none.
std::vector<double> means_of(const findings::Cells& cells, const std::vector<findings::ItemGroup>& groups) {
  const auto means = cells.means({subject_axis, template_axis, findings::item_axis});
  const auto num_items = cells.length(findings::item_axis);
  std::vector<double> found;
  for (std::size_t first = 0; first < means.size(); first += num_items) {
    for (const auto& group : groups) {
      double sum = 0;
      std::int32_t count = 0;
      for (const auto item : group.items) {
        const auto& mean = means[first + item];
        sum += mean.num_cells > 0 ? mean.value * mean.num_cells : 0;
        count += mean.num_cells;
      }
      found.push_back(count > 0 ? sum / count : stats::nan);
    }
  }
  return found;
}

SubjectVariation variation_over_subjects(const std::vector<std::vector<double>>& values_of_subjects) {
  std::vector<double> sizes;
  for (auto values : values_of_subjects) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (const auto variation = stats::variation(values); variation.defined()) {
      sizes.push_back(std::abs(variation.value));
    }
  }
  return sizes.empty() ? SubjectVariation()
                       : SubjectVariation{stats::mean(sizes).value, std::ranges::max(sizes),
                                          static_cast<std::int32_t>(sizes.size())};
}

Finding variation_of(const findings::Scores& scores) {
  const auto groups = findings::dimension_groups(*scores.axes[findings::item_axis]);
  const auto values = scores.read(static_cast<std::size_t>(Measure::rating));
  const findings::Cells cells(scores, values);
  const auto of_all = means_of(cells, groups);
  const auto by_round = base::mapped(cells.rounds(), [&](const auto& round) { return means_of(round, groups); });
  const auto num_forms = scores.length(template_axis);
  std::vector<SubjectVariation> over_rounds;    // [template, dimension]; a subject's values: the means of its rounds
  std::vector<SubjectVariation> to_first_form;  // [template, dimension]; two values: the means of both forms
  for (std::size_t form = 0; form < num_forms; ++form) {
    for (std::size_t dimension = 0; dimension < groups.size(); ++dimension) {
      std::vector<std::vector<double>> rounds;
      std::vector<std::vector<double>> forms;
      for (std::size_t subject = 0; subject < scores.length(subject_axis); ++subject) {
        const auto place = [&](std::size_t of_form) {
          return (subject * num_forms + of_form) * groups.size() + dimension;
        };
        rounds.push_back(base::mapped(by_round, [&](const auto& means) { return means[place(form)]; }));
        forms.push_back(form == 0 ? std::vector<double>() : std::vector{of_all[place(0)], of_all[place(form)]});
      }
      over_rounds.push_back(variation_over_subjects(rounds));
      to_first_form.push_back(variation_over_subjects(forms));
    }
  }
  Finding finding{.name = "rating_variation",
                  .heading = "Consistency of ratings",
                  .axes = {*scores.axes[template_axis],
                           {"rated_dimension", "dimension of the rated items", findings::names_of(groups), {}}}};
  const auto add = [&](const std::vector<SubjectVariation>& rows, const std::string& name, const std::string& of) {
    finding.add(Role::value, rows, name, "1",
                "mean over subjects of the coefficient of variation of a mean rating, " + of, &SubjectVariation::mean);
    finding.add(Role::value, rows, name + "_largest", "1", "the largest of these coefficients",
                &SubjectVariation::largest);
    finding.add(Role::n, rows, name + "_n", "1", "subjects that have one", &SubjectVariation::n).of = name;
  };
  add(over_rounds, "over_rounds", "a value: a round");
  add(to_first_form, "to_first_form", "two values: the template and the first template");
  finding.views = {{.title = "How far ratings vary",
                    .columns = findings::table_columns(
                        "form: template, dimension: rated_dimension, over rounds: over_rounds, largest: "
                        "over_rounds_largest, n: over_rounds_n, to first form: to_first_form, largest to first form: "
                        "to_first_form_largest, n to first: to_first_form_n"),
                    .each = {}}};
  finding.notes =
      "Coefficients of variation (standard deviation, n - 1, over mean) of a subject's mean rating: mean and largest "
      "over subjects; n: subjects that have one. 0: the same rating every time.";
  return finding;
}

/// Of subjects, and of forms of the prompt; a text: of one turn, subject, template, rephrasing and round.
std::array<std::vector<RefusalCounts>, 2> count_refusals(const findings::Scores& scores,
                                                         const std::vector<std::string>& turns) {
  const auto usable = scores.read(static_cast<std::size_t>(Measure::usable));
  const auto declining = scores.read(static_cast<std::size_t>(Measure::refused));
  const auto num_forms = scores.length(template_axis);
  std::vector<RefusalCounts> of_subjects(scores.length(subject_axis));
  std::vector<RefusalCounts> of_forms(num_forms);
  const auto num_conversations = usable.size() / turns.size();
  const auto of_form = num_conversations / (of_subjects.size() * num_forms);
  for (std::size_t conversation = 0; conversation < num_conversations; ++conversation) {
    for (std::size_t first = 0, end = 0; first < turns.size(); first = end) {
      std::size_t known = 0;
      std::size_t rated = 0;
      std::size_t declined = 0;
      for (end = first; end < turns.size() && turns[end] == turns[first]; ++end) {
        const auto cell = conversation * turns.size() + end;
        known += std::isfinite(usable[cell]) ? 1 : 0;
        rated += usable[cell] == 1 ? 1 : 0;
        declined += declining[cell] == 1 ? 1 : 0;
      }
      const auto form = conversation / of_form;
      for (auto* counts : {&of_subjects[form / num_forms], &of_forms[form % num_forms]}) {
        counts->texts += known > 0 ? 1 : 0;
        counts->refused += rated == 0 && declined > 0 ? 1 : 0;
        counts->unrated += known > 0 && rated == 0 ? 1 : 0;
      }
    }
  }
  return {of_subjects, of_forms};
}

}  // namespace

std::vector<Finding> consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns,
                                    std::optional<double> confidence) {
  const auto [of_subjects, of_forms] = count_refusals(scores, turns);
  return {refusals_of(*scores.axes[subject_axis], of_subjects, confidence),
          refusals_of(*scores.axes[template_axis], of_forms, confidence), variation_of(scores)};
}

std::vector<Finding> findings_of(const InterviewTexts& texts, const findings::Scores& scores,
                                 std::optional<double> confidence) {
  const auto turns = rating_turns(texts.schema());
  auto found = turns.empty() ? std::vector<Finding>() : consistency_of(scores, turns, confidence);
  std::ranges::move(diversities_of(texts, scores), std::back_inserter(found));
  return found;
}

stats::WordNumbers WordNumbering::operator()(std::string_view text) {
  const auto plain = answers::plain_text(text);
  const answers::TokenizedText tokenized(plain);
  stats::WordNumbers words;
  for (const auto& token : tokenized.tokens()) {
    if (token.kind != answers::Token::Kind::line_end) {
      words.push_back(
          numbers_.try_emplace(std::string(token.text), static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
  }
  return words;
}

InterviewTexts::InterviewTexts(const results::RawSchema& schema) : schema_(schema) {}

void InterviewTexts::add(const results::RawBlock& block, std::uint64_t place) {
  const auto num_rounds = schema_.inner_axis("round").labels.size();
  const auto num_turns = schema_.inner_axis("turn").labels.size();
  const auto& texts = column_named<std::string>(block, schema_, "answer_text");
  const auto& statuses = column_named<std::uint8_t>(block, schema_, "answer_status");
  for (std::size_t turn = 0; turn < num_turns; ++turn) {
    auto& of_rounds = texts_.emplace_back();
    for (std::size_t round = 0; round < num_rounds; ++round) {
      const auto cell = (place * num_rounds + round) * num_turns + turn;
      if (statuses[cell] == static_cast<std::uint8_t>(AnswerStatus::ok)) {
        of_rounds.push_back(number_(texts[cell]));
      }
    }
  }
}

std::vector<stats::TextDiversity> InterviewTexts::diversities(const std::vector<std::size_t>& kept_axes) const {
  const auto product = product_of(schema_);
  const auto num_turns = schema_.inner_axis("turn").labels.size();
  std::map<std::vector<std::uint64_t>, std::vector<std::uint64_t>> contexts;  // by their places on these axes, in order
  for (std::uint64_t context = 0; context < product.num_contexts(); ++context) {
    const auto at = product.coordinates(context);
    contexts[base::mapped(kept_axes, [&](std::size_t axis) { return at[axis]; })].push_back(context);
  }
  std::vector<stats::TextDiversity> found;
  for (const auto& [kept, compared] : contexts) {
    for (std::size_t turn = 0; turn < num_turns; ++turn) {
      const auto texts = base::joined(
          compared, [&](auto context) -> auto& { return texts_.at(context * num_turns + turn); });
      for (const auto order : ngram_orders) {
        found.push_back(stats::text_diversity(texts, order));
      }
    }
  }
  return found;
}

}  // namespace stereosweep::probes::interview
