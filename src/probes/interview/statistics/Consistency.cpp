#include "probes/interview/statistics/Consistency.hpp"

#include <algorithm>
#include <cmath>

#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "probes/Probe.hpp"
#include "probes/interview/InterviewProbe.hpp"
#include "probes/interview/InterviewScores.hpp"

namespace stereosweep::probes::interview {
namespace {

using findings::item_axis;
using findings::replicate_axis;
using findings::subject_axis;
using findings::template_axis;

/// [subject, template, group of items]: mean over the cells with a rating; NaN: none.
std::vector<double> means_of(const findings::Cells& cells, const std::vector<findings::ItemGroup>& groups) {
  const auto means = cells.means({subject_axis, template_axis, item_axis});
  const auto num_items = cells.length(item_axis);
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

void add_variation(Consistency& found, const findings::Scores& scores) {
  const auto groups = findings::dimension_groups(*scores.axes[item_axis]);
  found.dimensions = findings::names_of(groups);
  const auto values = scores.read(static_cast<std::size_t>(Measure::rating));
  const findings::Cells cells(scores, values);
  const auto of_all = means_of(cells, groups);
  const auto by_round = base::mapped(cells.rounds(), [&](const auto& round) { return means_of(round, groups); });
  const auto num_forms = scores.length(template_axis);
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
      found.over_rounds.push_back(variation_over_subjects(rounds));
      found.to_first_form.push_back(variation_over_subjects(forms));
    }
  }
}

/// Every text of a turn that rates: of one subject, template, rephrasing and round.
void add_refusals(Consistency& found, const findings::Scores& scores, const std::vector<std::string>& turns) {
  const auto usable = scores.read(static_cast<std::size_t>(Measure::usable));
  const auto declining = scores.read(static_cast<std::size_t>(Measure::refused));
  const auto num_forms = scores.length(template_axis);
  found.of_subjects.resize(scores.length(subject_axis));
  found.of_forms.resize(num_forms);
  const auto num_conversations = usable.size() / turns.size();
  const auto of_form = num_conversations / (found.of_subjects.size() * num_forms);
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
      for (auto* counts : {&found.of_subjects[form / num_forms], &found.of_forms[form % num_forms]}) {
        counts->texts += known > 0 ? 1 : 0;
        counts->refused += rated == 0 && declined > 0 ? 1 : 0;
        counts->unrated += known > 0 && rated == 0 ? 1 : 0;
      }
    }
  }
}

}  // namespace

std::vector<std::string> rating_turns(const results::RawSchema& schema) {
  if (!schema.find_cube("rating")) {
    return {};
  }
  const auto& axis = schema.inner_axis("item");
  const auto& conversations = coordinate_of(axis, "conversation");
  const auto& turns = coordinate_of(axis, "turn");
  std::vector<std::string> both;
  for (std::size_t item = 0; item < axis.labels.size(); ++item) {
    both.push_back(conversations[item] + '\n' + turns[item]);
  }
  return both;
}

TextShare text_share(std::uint64_t count, std::uint64_t texts, std::optional<double> confidence) {
  if (texts == 0) {
    return {};
  }
  TextShare found{.share = static_cast<double>(count) / static_cast<double>(texts)};
  if (confidence) {
    const auto [low, high] = stats::fixed_draws_interval(count, texts, *confidence);
    found.low = low;
    found.high = high;
  }
  return found;
}

Consistency consistency_of(const findings::Scores& scores, const std::vector<std::string>& turns) {
  Consistency found;
  add_variation(found, scores);
  add_refusals(found, scores, turns);
  return found;
}

}  // namespace stereosweep::probes::interview
