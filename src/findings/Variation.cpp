#include "findings/Variation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"

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
  const auto measures = chosen_measures(scores, request.measures, "statistics.variation");
  Variation variation{.axes = {measure_axis_of(scores, measures, "variation_measure"), *scores.axes[subject_axis],
                               *scores.axes[item_axis]},
                      .rows = std::vector<std::vector<VariationRow>>(request.over.size())};
  const auto num_items = scores.length(item_axis);
  const auto num_rows = scores.length(subject_axis) * num_items;
  for (const auto& rows :
       share_measures<VariationRow>(scores, measures, [&](const std::vector<double>&values, std::size_t /*place*/) {
         std::vector<VariationRow> of_measure;
         const Cells cells(scores, values);
         for (const auto over : request.over) {
           const ValuesOver of_cells(over, cells, scores.axes[replicate_axis]->labels);
           for (std::size_t row = 0; row < num_rows; ++row) {
             const auto own = of_cells.of(row / num_items, row % num_items);
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

std::vector<Finding> findings_of(const Variation& variation, const sweep::VariationRequest& request) {
  std::vector<Finding> findings;
  for (std::size_t place = 0; place < request.over.size(); ++place) {
    const auto over = name_of(request.over[place]);
    const auto& rows = variation.rows[place];
    auto& finding = findings.emplace_back(
        Finding{.name = "variation_over_" + over, .axes = variation.axes, .named = request.measures});
    finding.add(Role::value, rows, "", "1", "standard deviation (n - 1) over mean, over " + over + "s",
                [](const VariationRow& row) { return row.variation.value; });
    finding.add(Role::n, rows, "n", "1", over + "s with a score", &VariationRow::n);
    finding.add(Role::status, rows, "status", "", "why there is no number; constant: the mean is 0",
                [](const VariationRow& row) { return row.variation.reason; });
    finding.views = {{.title = "Coefficients of variation over " + over + "s, ",
                      .columns = {{"subject", "subject"}, {"item", "item"}, {"", "CV"}, {"n", "n"}},
                      .by = "-"}};
  }
  findings.back().notes =
      "CV: standard deviation (n - 1) over mean of a subject's scores of an item, the largest first. Read it of "
      "measures whose scores are all positive only.";
  return findings;
}

}  // namespace stereosweep::findings
