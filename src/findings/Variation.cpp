#include "findings/Variation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using Over = sweep::VariationRequest::Over;

std::string name_of(Over over) { return sweep::VariationRequest::over_names.at(static_cast<std::size_t>(over)); }

struct Lengths {
  std::size_t templates = 0;
  std::size_t rephrasings = 0;
  std::size_t replicates = 0;
  std::size_t items = 0;

  /// To how many values the scores of one subject and item are averaged.
  std::size_t values(Over over) const {
    switch (over) {
      case Over::wording:
        return templates * rephrasings;
      case Over::template_:
        return templates;
      case Over::rephrasing:
        return rephrasings;
      case Over::replicate:
        break;
    }
    return replicates;
  }
  /// To which of them a score belongs.
  std::size_t value_of(Over over, std::size_t sentence, std::size_t replicate) const {
    switch (over) {
      case Over::wording:
        return sentence;
      case Over::template_:
        return sentence / rephrasings;
      case Over::rephrasing:
        return sentence % rephrasings;
      case Over::replicate:
        break;
    }
    return replicate;
  }
};

/// Replicates that count: the mean of the others alone, or over replicates all others.
std::vector<bool> replicates_over(Over over, const std::vector<std::string>& labels) {
  const auto mean = std::ranges::find(labels, results::ScoreTable::mean_replicate);
  std::vector<bool> counts(labels.size(), mean == labels.end() || over == Over::replicate);
  if (mean != labels.end()) {
    counts[static_cast<std::size_t>(mean - labels.begin())] = over != Over::replicate;
  }
  return counts;
}

void add_rows(std::vector<VariationRow>& rows, const std::vector<double>& scores, std::size_t num_subjects,
              const Lengths& lengths, const std::vector<bool>& counts, Over over) {
  const auto num_sentences = lengths.templates * lengths.rephrasings;
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    for (std::size_t item = 0; item < lengths.items; ++item) {
      std::vector<std::vector<double>> parts(lengths.values(over));
      for (std::size_t sentence = 0; sentence < num_sentences; ++sentence) {
        for (std::size_t replicate = 0; replicate < lengths.replicates; ++replicate) {
          const auto row = (subject * num_sentences + sentence) * lengths.replicates + replicate;
          const double score = scores[row * lengths.items + item];
          if (counts[replicate] && std::isfinite(score)) {
            parts[lengths.value_of(over, sentence, replicate)].push_back(score);
          }
        }
      }
      std::vector<double> values;
      for (const auto& part : parts) {
        if (!part.empty()) {
          values.push_back(stats::mean(part).value);
        }
      }
      rows.push_back({stats::variation(values), static_cast<std::int32_t>(values.size())});
    }
  }
}

}  // namespace

Variation variation_of(const Scores& scores, const sweep::VariationRequest& request) {
  Variation variation{.measures = chosen_measures(scores, request.measures, "statistics.variation"),
                      .measure_names = {},
                      .subjects = scores.axes[subject_axis]->labels,
                      .items = scores.axes[item_axis]->labels,
                      .over = request.over,
                      .rows = {}};
  variation.rows.resize(request.over.size());
  const Lengths lengths{.templates = scores.length(template_axis),
                        .rephrasings = scores.length(rephrasing_axis),
                        .replicates = scores.length(replicate_axis),
                        .items = scores.length(item_axis)};
  for (const auto measure : variation.measures) {
    variation.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
  }
  const auto num_rows = variation.subjects.size() * variation.items.size();
  for (const auto& rows : share_measures<VariationRow>(
           scores, variation.measures, [&](const std::vector<double>&values, std::size_t /*place*/) {
             std::vector<VariationRow> of_measure;
             for (const auto over : request.over) {
               const auto counts = replicates_over(over, scores.axes[replicate_axis]->labels);
               add_rows(of_measure, values, variation.subjects.size(), lengths, counts, over);
             }
             return of_measure;
           })) {
    for (std::size_t place = 0; place < request.over.size(); ++place) {
      const auto own = std::span(rows).subspan(place * num_rows, num_rows);
      variation.rows[place].insert(variation.rows[place].end(), own.begin(), own.end());
    }
  }
  return variation;
}

void write_variation(results::Layout& layout, const Variation& variation) {
  const std::vector<std::string> axes = {measure_axis_of(layout, variation.measures, "variation_measure"),
                                         results::score_axis_names[subject_axis], results::score_axis_names[item_axis]};
  for (std::size_t place = 0; place < variation.over.size(); ++place) {
    const auto over = name_of(variation.over[place]);
    const auto name = "variation_over_" + over;
    const auto& rows = variation.rows[place];
    layout.write(results::number_cube(name, "1", "standard deviation (n - 1) over mean, over " + over + "s"), axes,
                 rows, [](const auto& row) { return row.variation.value; });
    layout.write(results::number_cube(name + "_n", "1", over + "s with a score"), axes, rows, &VariationRow::n);
    layout.write(results::flag_cube(name + "_status", "why there is no number; constant: the mean is 0",
                                    {"ok", "no_values", "too_few", "constant", "not_finite"}),
                 axes, rows, [](const auto& row) { return row.variation.reason; });
  }
}

std::string variation_text(const Variation& variation) {
  results::TextTable table({"measure", "over", "numbers", "median", "largest", "subject", "item"});
  const auto num_cells = variation.subjects.size() * variation.items.size();
  for (std::size_t measure = 0; measure < variation.measures.size(); ++measure) {
    for (std::size_t place = 0; place < variation.over.size(); ++place) {
      std::vector<double> sizes;
      std::size_t largest = 0;
      for (std::size_t cell = 0; cell < num_cells; ++cell) {
        const auto& row = variation.rows[place][measure * num_cells + cell];
        if (row.variation.defined()) {
          sizes.push_back(std::abs(row.variation.value));
          largest = sizes.back() >= *std::ranges::max_element(sizes) ? cell : largest;
        }
      }
      const auto best = variation.rows[place].empty() ? stats::Value()
                                                      : variation.rows[place][measure * num_cells + largest].variation;
      table.add({variation.measure_names[measure], name_of(variation.over[place]), std::to_string(sizes.size()),
                 results::significant(stats::median(sizes).value), results::significant(best.value),
                 sizes.empty() ? "-" : variation.subjects[largest / variation.items.size()],
                 sizes.empty() ? "-" : variation.items[largest % variation.items.size()]});
    }
  }
  return "\nCoefficients of variation (standard deviation over mean) of a subject's score of an item\n" + table.text() +
         results::wrapped(
             "numbers: subjects x items with two values or more and a mean other than 0. Read them of "
             "measures whose scores are all positive only.") +
         '\n';
}

}  // namespace stereosweep::findings
