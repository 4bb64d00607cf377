#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text/Text.hpp"
#include "probes/Probe.hpp"
#include "probes/interview/statistics/InterviewStatistics.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::interview {
namespace {

using results::fixed;
using results::TextTable;

std::vector<std::string> refusal_row(const std::string& label, const RefusalCounts& counts,
                                     const InterviewStatistics& statistics) {
  const auto refused = text_share(counts.refused, counts.texts, statistics.confidence);
  const auto unrated = text_share(counts.unrated, counts.texts, statistics.confidence);
  return {label,
          base::with_thousands(counts.texts),
          fixed(refused.share),
          fixed(refused.low),
          fixed(refused.high),
          fixed(unrated.share),
          fixed(unrated.low),
          fixed(unrated.high)};
}

std::string refusals_text(const results::RawSchema& schema, const InterviewStatistics& statistics, std::size_t top) {
  const auto& consistency = statistics.consistency;
  const auto head = [](const char* first) {
    return std::vector<std::string>{first, "texts", "refused", "low", "high", "no rating", "low", "high"};
  };
  TextTable forms(head("form"));
  for (std::size_t form = 0; form < consistency.of_forms.size(); ++form) {
    forms.add(refusal_row(schema.outer_axes[2].labels[form], consistency.of_forms[form], statistics));
  }
  std::vector<std::size_t> order(consistency.of_subjects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto share = [&](std::size_t subject, std::uint64_t RefusalCounts::*member) {
    const auto& counts = consistency.of_subjects[subject];
    return counts.texts == 0 ? -1.0 : static_cast<double>(counts.*member) / static_cast<double>(counts.texts);
  };
  std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
    const double difference = share(left, &RefusalCounts::refused) - share(right, &RefusalCounts::refused);
    return difference != 0 ? difference > 0
                           : share(left, &RefusalCounts::unrated) > share(right, &RefusalCounts::unrated);
  });
  TextTable groups(head("group"));
  const auto shown = std::min(top, order.size());
  for (std::size_t place = 0; place < shown; ++place) {
    groups.add(
        refusal_row(schema.outer_axes[0].labels[order[place]], consistency.of_subjects[order[place]], statistics));
  }
  const auto level = statistics.confidence ? "; low, high: " + results::percent(*statistics.confidence) +
                                                 " interval over more draws of the same prompts"
                                           : std::string("; greedy answers are no draws and have no interval");
  return results::wrapped("Texts that were asked for ratings: share that declines, and share without any rating" +
                          level) +
         "\n\n" + forms.text() + '\n' + groups.text() + results::rest_text(shown, order.size(), "groups");
}

struct MeanAndLargest {
  std::string mean = "-";
  std::string largest = "-";
};

MeanAndLargest sizes_over_groups(const std::vector<RatingVariation>& variations, std::size_t form,
                                 std::size_t num_subjects, std::size_t num_dimensions, std::size_t dimension) {
  std::vector<double> sizes;
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    const auto& one = variations[(form * num_subjects + subject) * num_dimensions + dimension].variation;
    if (one.defined()) {
      sizes.push_back(std::abs(one.value));
    }
  }
  if (sizes.empty()) {
    return {};
  }
  return {fixed(stats::mean(sizes).value), fixed(*std::ranges::max_element(sizes))};
}

std::string rating_variation_text(const results::RawSchema& schema, const Consistency& consistency, std::size_t top) {
  const auto& forms = schema.outer_axes[2].labels;
  const auto num_subjects = consistency.of_subjects.size();
  const auto num_dimensions = consistency.dimensions.size();
  TextTable table({"form", "dimension", "over rounds, mean", "over rounds, largest", "to first form, mean",
                   "to first form, largest"});
  const auto total = forms.size() * num_dimensions;
  const auto shown = std::min(top, total);
  for (std::size_t row = 0; row < shown; ++row) {
    const auto dimension = row / forms.size();
    const auto form = row % forms.size();
    const auto rounds = sizes_over_groups(consistency.over_rounds, form, num_subjects, num_dimensions, dimension);
    const auto to_first = sizes_over_groups(consistency.to_first_form, form, num_subjects, num_dimensions, dimension);
    table.add(
        {forms[form], consistency.dimensions[dimension], rounds.mean, rounds.largest, to_first.mean, to_first.largest});
  }
  return results::wrapped(
             "Coefficient of variation of a group's mean rating on a dimension (standard deviation, n - 1, over mean): "
             "mean and largest over groups") +
         "\n\n" + table.text() + results::rest_text(shown, total, "rows");
}

/// Place of the first cell of a context's turn in `over_groups`.
struct DiversityPlaces {
  std::size_t num_groups, num_conversations, num_forms, num_wordings, num_turns;

  std::size_t of_form(std::size_t conversation, std::size_t form, std::size_t turn) const {
    return ((conversation * num_forms + form) * num_turns + turn) * ngram_orders.size();
  }
  std::size_t of_rounds(std::size_t group, std::size_t conversation, std::size_t form, std::size_t wording,
                        std::size_t turn) const {
    const auto context = ((group * num_conversations + conversation) * num_forms + form) * num_wordings + wording;
    return (context * num_turns + turn) * ngram_orders.size();
  }
  /// Mean over groups and rephrasings; "-": none.
  std::string mean_over_rounds(const TextDiversities& diversities, std::size_t conversation, std::size_t form,
                               std::size_t turn, std::size_t order) const {
    std::vector<double> present;
    for (std::size_t group = 0; group < num_groups; ++group) {
      for (std::size_t wording = 0; wording < num_wordings; ++wording) {
        const auto& one =
            diversities.over_rounds[of_rounds(group, conversation, form, wording, turn) + order].self_bleu;
        if (one.defined()) {
          present.push_back(one.value);
        }
      }
    }
    return fixed(stats::mean(present).value);
  }
};

std::string diversities_text(const results::RawSchema& schema, const TextDiversities& diversities, std::size_t top) {
  const auto& axes = schema.outer_axes;
  const auto& turns = coordinate_of(axes.at(1), "turns");
  const auto& kinds = coordinate_of(axes.at(1), "kinds");
  const DiversityPlaces places{axes[0].labels.size(), axes[1].labels.size(), axes[2].labels.size(),
                               axes[3].labels.size(), schema.inner_axis("turn").labels.size()};
  TextTable table({"conversation", "turn", "form", "texts", "Self BLEU 3", "of a group", "entropy 2", "entropy 3"});
  std::size_t shown = 0;
  std::size_t total = 0;
  for (std::size_t conversation = 0; conversation < places.num_conversations; ++conversation) {
    const auto asked = base::split(kinds[conversation], ',');
    const auto labels = base::split(turns[conversation], ',');  // a label may hold a comma
    for (std::size_t turn = 0; turn < std::min(asked.size(), places.num_turns); ++turn) {
      const auto label = labels.size() == asked.size() ? std::string(base::trim(labels[turn])) : std::to_string(turn);
      const bool is_rating = asked[turn].find("rating") != std::string::npos;
      for (std::size_t form = 0; form < places.num_forms; ++form) {
        const auto place = places.of_form(conversation, form, turn);
        const auto& pairs = diversities.over_groups[place];
        const auto& triples = diversities.over_groups[place + 1];
        if (is_rating || pairs.num_texts == 0) {
          continue;
        }
        ++total;
        if (shown < top) {
          ++shown;
          table.add({axes[1].labels[conversation], label, axes[2].labels[form], base::with_thousands(triples.num_texts),
                     fixed(triples.self_bleu.value), places.mean_over_rounds(diversities, conversation, form, turn, 1),
                     fixed(pairs.entropy.value, 2), fixed(triples.entropy.value, 2)});
        }
      }
    }
  }
  if (total == 0) {
    return "";
  }
  return results::wrapped(
             "Diversity of the texts that rate nothing: of all groups, rephrasings and rounds in a form of the prompt. "
             "Self "
             "BLEU 3: n-grams of up to 3 words, 0: nothing in common, 1: all equal; of a group: of its rounds alone, "
             "mean "
             "over groups. Entropy of n-grams of 2 and 3 words in bit (base 2): it grows with the number of texts.") +
         "\n\n" + table.text() + results::rest_text(shown, total, "rows");
}

}  // namespace

std::string statistics_text(const results::RawSchema& schema, const InterviewStatistics& statistics, std::size_t top) {
  std::string text;
  if (!statistics.consistency.dimensions.empty()) {
    text = "\n" + refusals_text(schema, statistics, top) + "\n" +
           rating_variation_text(schema, statistics.consistency, top);
  }
  const auto diversity = diversities_text(schema, statistics.diversities, top);
  return text + (diversity.empty() ? "" : "\n" + diversity);
}

}  // namespace stereosweep::probes::interview
