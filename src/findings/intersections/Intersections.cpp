#include "findings/intersections/Intersections.hpp"

#include "findings/people/HumanRatings.hpp"

namespace stereosweep::findings {

Intersections intersections_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto& questions = *comparison.intersections;
  const auto measures = chosen_measures(scores, questions.measures, "statistics.intersections");
  Intersections all{.measures = measure_axis_of(scores, measures, "intersection_measure"),
                    .subjects = *scores.axes[subject_axis],
                    .items = scores.axes[item_axis]->labels,
                    .poles = scores.poles == nullptr ? std::vector<std::string>() : scores.poles->labels,
                    .parts = parts_of(*scores.axes[subject_axis]),
                    .known_source = {},
                    .of_measures = {}};
  KnownTable known;
  if (!questions.known.empty()) {
    known = read_known_traits(questions.known, scores, all.parts);
    all.known_source = source_of_ratings(questions.known);
  }
  for (const auto measure : measures) {
    auto& of_measure = all.of_measures.emplace_back();
    of_measure.measure = scores.axes[measure_axis]->labels[measure];
    const auto items = cells_of_items(scores, measure);
    of_measure.order = order_of(items, all.parts, scores.ranks);
    of_measure.dominance = dominance_of(of_measure.order, all.parts, comparison);
    of_measure.items = emergence_of(items, all.parts, comparison.confidence, scores.ranks);
    of_measure.known_items = count_known(of_measure.items, all.items.size(), known.items, questions);
    if (scores.poles != nullptr) {
      of_measure.poles = emergence_of(cells_of_poles(scores, measure), all.parts, comparison.confidence, scores.ranks);
      of_measure.known_poles = count_known(of_measure.poles, all.poles.size(), known.poles, questions);
    }
  }
  return all;
}

}  // namespace stereosweep::findings
