#include "findings/Variation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using Over = sweep::VariationRequest::Over;

std::string name_of(Over over) { return sweep::VariationRequest::over_names.at(static_cast<std::size_t>(over)); }

/// Replicates that count: the mean of the others alone, or over replicates all others.
std::vector<bool> replicates_over(Over over, const std::vector<std::string>& labels) {
  const auto mean = results::place_of(labels, results::ScoreTable::mean_replicate);
  std::vector<bool> counts(labels.size(), !mean || over == Over::replicate);
  if (mean) {
    counts[*mean] = over != Over::replicate;
  }
  return counts;
}

/// The cells that are averaged to each value of one subject and item.
class ValuesOver {
 public:
  ValuesOver(Over over, const Cells& cells, const std::vector<std::string>& replicates) : over_(over) {
    const auto counts = replicates_over(over, replicates);
    if (over != Over::replicate) {
      tables_ = {cells.of_replicates(counts)};
      num_rephrasings_ = cells.length(rephrasing_axis);
    }
    for (std::size_t replicate = 0; over == Over::replicate && replicate < counts.size(); ++replicate) {
      std::vector<bool> only(counts.size(), false);
      only[replicate] = counts[replicate];
      if (counts[replicate]) {
        tables_.push_back(cells.of_replicates(only));
      }
    }
  }

  /// Those that exist.
  std::vector<double> of(std::size_t subject, std::size_t item) const {
    std::vector<double> values;
    for (const auto& cells : tables_) {
      std::vector<std::vector<double>> parts(num_values(cells));
      for (std::size_t sentence = 0; sentence < cells.num_sentences(); ++sentence) {
        if (const double cell = cells.at(subject, sentence, item); !std::isnan(cell)) {
          parts[value_of(sentence)].push_back(cell);
        }
      }
      for (const auto& part : parts) {
        if (!part.empty()) {
          values.push_back(stats::mean(part).value);
        }
      }
    }
    return values;
  }

 private:
  std::size_t num_values(const Cells& cells) const {
    return over_ == Over::wording      ? cells.num_sentences()
           : over_ == Over::template_  ? cells.length(template_axis)
           : over_ == Over::rephrasing ? num_rephrasings_
                                       : 1;
  }
  /// To which of them a sentence belongs.
  std::size_t value_of(std::size_t sentence) const {
    return over_ == Over::wording      ? sentence
           : over_ == Over::template_  ? sentence / num_rephrasings_
           : over_ == Over::rephrasing ? sentence % num_rephrasings_
                                       : 0;
  }

  Over over_;
  std::vector<Cells> tables_;  ///< over replicates one each
  std::size_t num_rephrasings_ = 1;
};

}  // namespace

Variation variation_of(const Scores& scores, const sweep::VariationRequest& request) {
  Variation variation{.measures = chosen_measures(scores, request.measures, "statistics.variation"),
                      .measure_names = {},
                      .subjects = scores.axes[subject_axis]->labels,
                      .items = scores.axes[item_axis]->labels,
                      .over = request.over,
                      .rows = {}};
  variation.rows.resize(request.over.size());
  for (const auto measure : variation.measures) {
    variation.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
  }
  const auto num_rows = variation.subjects.size() * variation.items.size();
  for (const auto& rows : share_measures<VariationRow>(
           scores, variation.measures, [&](const std::vector<double>&values, std::size_t /*place*/) {
             std::vector<VariationRow> of_measure;
             const Cells cells(scores, values);
             for (const auto over : request.over) {
               const ValuesOver of_cells(over, cells, scores.axes[replicate_axis]->labels);
               for (std::size_t row = 0; row < num_rows; ++row) {
                 const auto own = of_cells.of(row / variation.items.size(), row % variation.items.size());
                 of_measure.push_back({stats::variation(own), static_cast<std::int32_t>(own.size())});
               }
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
    layout.write(
        results::flag_cube(name + "_status", "why there is no number; constant: the mean is 0", stats::reason_names()),
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
      double greatest = 0;
      for (std::size_t cell = 0; cell < num_cells; ++cell) {
        const auto& row = variation.rows[place][measure * num_cells + cell];
        if (row.variation.defined()) {
          sizes.push_back(std::abs(row.variation.value));
          largest = sizes.back() >= greatest ? cell : largest;
          greatest = std::max(greatest, sizes.back());
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
