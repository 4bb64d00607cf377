#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "base/text/Text.hpp"
#include "findings/intersections/Intersections.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

const std::vector<std::string> row_reasons = {"ok", "no_values", "too_few", "constant", "not_finite"};

AxisSchema intersection_axis(const Intersections& all) {
  AxisSchema axis{"intersection", "intersection of two groups", {}, {}};
  const auto label = [&](const std::optional<std::size_t>& subject) {
    return subject ? all.subjects.labels[*subject] : std::string();
  };
  const auto domain = [&](const std::optional<std::size_t>& subject) {
    return subject ? all.parts.domains[*subject] : std::string();
  };
  const auto add = [&](const char* name, const char* long_name, auto value) {
    auto& coordinate = axis.coordinates.emplace_back(name, long_name, std::vector<std::string>());
    std::ranges::transform(all.parts.intersections, std::back_inserter(coordinate.values), value);
  };
  for (const auto& intersection : all.parts.intersections) {
    axis.labels.push_back(label(intersection.subject));
  }
  add("first", "subject that is the first part; empty: it is not scored", [&](auto& one) { return label(one.first); });
  add("second", "subject that is the second part; empty: it is not scored",
      [&](auto& one) { return label(one.second); });
  add("first_domain", "domain of the first part", [&](auto& one) { return domain(one.first); });
  add("second_domain", "domain of the second part", [&](auto& one) { return domain(one.second); });
  add("reversed", "the other order of the parts; empty: it is not scored",
      [&](auto& one) { return label(one.reversed); });
  return axis;
}

class IntersectionsWriter {
 public:
  IntersectionsWriter(results::Layout& layout, const Intersections& all, const sweep::Comparison& comparison)
      : layout_(layout),
        all_(all),
        comparison_(comparison),
        measure_(measure_axis_of(layout, all.measures, "intersection_measure")) {}

  void write_order() {
    layout_.add_axis({"order_comparison", "what an intersection is compared with", order_comparison_names, {}});
    std::vector<stats::Correlation> taus;
    std::vector<OrderMean> means;
    for (const auto& of_measure : all_.of_measures) {
      means.insert(means.end(), of_measure.order.means.begin(), of_measure.order.means.end());
      for (const auto& row : of_measure.order.rows) {
        auto nearer = !row.first.defined() || row.second.defined() ? row.first : row.second;
        nearer = nearer.defined() && row.second.defined() && row.second.value > nearer.value ? row.second : nearer;
        nearer.value = row.nearer();
        taus.insert(taus.end(), {row.reversed, row.first, row.second, nearer});
      }
    }
    const std::vector<std::string> axes = {measure_, "intersection", "order_comparison"};
    using stats::Correlation;
    write("order_tau", "tau-b over items of the intersection's and the other's scores", axes, taus, &Correlation::value,
          "an item's scores are means over the cells in which both have one; nearer part: the larger of both parts'");
    write("order_tau_n", "items with both scores", axes, taus,
          [](const Correlation& tau) { return static_cast<std::int32_t>(tau.n); });
    layout_.write(results::flag_cube("order_tau_status", "why there is no tau-b", row_reasons), axes, taus,
                  &Correlation::reason);
    const std::vector<std::string> mean_axes = {measure_, "order_comparison"};
    write("order_mean", "mean of order_tau over intersections", mean_axes, means, &OrderMean::mean);
    write("order_mean_n", "intersections with a tau-b", mean_axes, means, &OrderMean::num_intersections);
    write("order_mean_both", "mean of order_tau over intersections whose other order is scored, too", mean_axes, means,
          &OrderMean::mean_both_orders);
    write("order_mean_both_n", "intersections with a tau-b and both orders", mean_axes, means,
          &OrderMean::num_both_orders);
  }

  void write_dominance() {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& of_measure : all_.of_measures) {
      for (const auto& row : of_measure.dominance) {
        if (std::ranges::find(pairs, std::pair(row.first, row.second)) == pairs.end()) {
          pairs.emplace_back(row.first, row.second);
        }
      }
    }
    if (pairs.empty()) {
      return;  // no intersection has both parts
    }
    AxisSchema axis{"domain_pair", "two domains whose groups are crossed", {}, {}};
    axis.coordinates = {{"first", "first domain", {}}, {"second", "second domain", {}}};
    for (const auto& [first, second] : pairs) {
      axis.labels.push_back(first + " x " + second);
      axis.coordinates[0].values.push_back(first);
      axis.coordinates[1].values.push_back(second);
    }
    layout_.add_axis(axis);
    std::vector<DominanceRow> rows;
    for (const auto& of_measure : all_.of_measures) {
      for (const auto& [first, second] : pairs) {
        const auto found = std::ranges::find_if(
            of_measure.dominance, [&](const auto& row) { return row.first == first && row.second == second; });
        rows.push_back(found == of_measure.dominance.end() ? DominanceRow() : *found);
      }
    }
    write_dominance_rows(rows);
  }

  void write_emergence(const std::string& prefix, const char* last_axis, auto read) {
    std::vector<EmergenceRow> rows;
    for (const auto& of_measure : all_.of_measures) {
      const auto& some = std::invoke(read, of_measure);
      rows.insert(rows.end(), some.begin(), some.end());
    }
    const auto add = [&](const char* name, const std::string& long_name, auto field, const char* units = "1") {
      write(prefix + name, long_name, {measure_, "intersection", last_axis}, rows, field,
            *units == '\0' ? "unit: measure_units" : "", units);
    };
    add("emerge_score", "mean of the intersection over the common cells", &EmergenceRow::score, "");
    add("emerge_first", "mean of its first part over the common cells", &EmergenceRow::first, "");
    add("emerge_second", "mean of its second part over the common cells", &EmergenceRow::second, "");
    add("emerge_max", "score minus the larger part's", &EmergenceRow::emerge_max, "");
    add("emerge_min", "score minus the smaller part's", &EmergenceRow::emerge_min, "");
    add("emerge_max_z", "emerge_max over its standard error, templates as clusters", &EmergenceRow::z_max);
    add("emerge_min_z", "emerge_min over its standard error, templates as clusters", &EmergenceRow::z_min);
    add("emerge_p", "two-sided p of a score beyond both parts', signs of templates flipped; 1: it is not",
        &EmergenceRow::p);
    add("emerge_p_max_t", "emerge_p adjusted by max-T over both parts of all rows of the measure",
        &EmergenceRow::p_max_t);
    add("emerge_num_templates", "templates with a common cell", &EmergenceRow::num_templates);
    add("emerge_num_cells", "(template, rephrasing) that intersection and parts have", &EmergenceRow::num_cells);
    layout_.write(results::flag_cube(prefix + "emerge_status", "why there is no z or p", row_reasons),
                  {measure_, "intersection", last_axis}, rows, &EmergenceRow::reason);
    add("interaction",
        all_.parts.baseline ? "score minus both parts' plus the baseline's"
                            : "score minus both parts', taken to be 0 where no group is named",
        &EmergenceRow::interaction, "");
    add("interaction_z", "interaction over its standard error, templates as clusters", &EmergenceRow::interaction_z);
    add("interaction_p", "two-sided p, signs of templates flipped", &EmergenceRow::interaction_p);
    add("interaction_p_holm", "interaction_p after Holm over all rows of the measure",
        &EmergenceRow::interaction_p_holm);
    add("interaction_p_max_t", "interaction_p by max-T over all rows of the measure",
        &EmergenceRow::interaction_p_max_t);
  }

  void write_known() {
    layout_.add_axis({"known_kind", "what the table of known stereotypes names", {"item", "pole"}, {}});
    std::vector<KnownCounts> counts;
    for (const auto& of_measure : all_.of_measures) {
      counts.insert(counts.end(), {of_measure.known_items, of_measure.known_poles});
    }
    const auto add = [&](const char* name, const std::string& long_name, auto field,
                         const std::string& description = "") {
      write(std::string("known_") + name, long_name, {measure_, "known_kind"}, counts, field, description);
    };
    add("universe", "named intersections x named items x (higher, lower) with a score", &KnownCounts::num_universe,
        "table: " + all_.known_source);
    add("unscored", "of the universe, without a score: counted nowhere else", &KnownCounts::num_unscored);
    add("stereotypes", "known stereotypes in the universe", &KnownCounts::num_known);
    add("predicted", "emergent traits in the universe", &KnownCounts::num_predicted);
    add("hits", "emergent traits that are known", &KnownCounts::num_hits);
    add("precision", "hits / predicted", &KnownCounts::precision);
    add("recall", "hits / known stereotypes", &KnownCounts::recall);
    add("prevalence", "known stereotypes / universe: precision of always saying yes, whose recall is 1",
        &KnownCounts::prevalence);
  }

 private:
  void write_dominance_rows(const std::vector<DominanceRow>& rows) {
    const auto add = [&](const char* name, const std::string& long_name, auto field) {
      write(std::string("dominance_") + name, long_name, {measure_, "domain_pair"}, rows, field);
    };
    const auto interval = results::percent(comparison_.confidence) +
                          " interval, groups of both domains drawn with replacement, percentile";
    add("tau_first", "mean tau-b of the intersections with their part of the first domain", &DominanceRow::tau_first);
    add("tau_second", "mean tau-b of the intersections with their part of the second domain",
        &DominanceRow::tau_second);
    add("difference", "first mean minus second", &DominanceRow::difference);
    add("low", "lower end of the " + interval, &DominanceRow::low);
    add("high", "upper end of the " + interval, &DominanceRow::high);
    add("num_intersections", "intersections with both tau-b, either order", &DominanceRow::num_intersections);
    add("num_first", "their groups of the first domain", &DominanceRow::num_first);
    add("num_second", "their groups of the second domain", &DominanceRow::num_second);
    const std::vector<std::string> sides = {"neither", "first", "second", "unknown"};
    const std::vector<std::string> axes = {measure_, "domain_pair"};
    layout_.write(results::flag_cube("dominance",
                                     "domain that dominates: its mean is larger by at least " +
                                         base::format_double(comparison_.intersections->threshold),
                                     sides),
                  axes, rows, &DominanceRow::rule);
    layout_.write(results::flag_cube("dominance_beyond_zero", "domain on whose side of zero the interval lies", sides),
                  axes, rows, &DominanceRow::beyond);
    layout_.write(results::flag_cube("dominance_status", "why there is no interval", row_reasons), axes, rows,
                  &DominanceRow::reason);
  }

  template <class Item, class Read>
  void write(const std::string& name, const std::string& long_name, const std::vector<std::string>& axes,
             const std::vector<Item>& items, Read read, const std::string& description = "", const char* units = "1") {
    layout_.write(results::number_cube(name, units, long_name, description), axes, items, read);
  }

  results::Layout& layout_;
  const Intersections& all_;
  const sweep::Comparison& comparison_;
  std::string measure_;
};

}  // namespace

void write_intersections(results::Layout& layout, const Intersections& intersections,
                         const sweep::Comparison& comparison) {
  layout.add_axis(intersection_axis(intersections));
  IntersectionsWriter writer(layout, intersections, comparison);
  writer.write_order();
  writer.write_dominance();
  writer.write_emergence("", "item", &IntersectionsOfMeasure::items);
  if (!intersections.poles.empty()) {
    writer.write_emergence("pole_", "pole", &IntersectionsOfMeasure::poles);
  }
  if (!comparison.intersections->known.empty()) {
    writer.write_known();
  }
}

}  // namespace stereosweep::findings
