#include "findings/contrasts/Contrasts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;
using sweep::Contrast;
using sweep::Selection;

constexpr double rounding = 1e-12;               // differences that vary by less are equal
constexpr std::size_t contrasts_a_rank = 4;      // where there are as many, each is computed by one rank
constexpr std::size_t most_exact_subjects = 40;  // 1.4e11 relabellings, about a second

/// What a selection or `each` or `paired` names: an axis' labels or a coordinate of it.
struct NamedAxis {
  std::size_t axis = 0;
  const std::vector<std::string>* values = nullptr;
};

/// The axes that a side may select on, with their coordinates.
std::vector<std::pair<std::string, NamedAxis>> selectable(const Scores& scores) {
  std::vector<std::pair<std::string, NamedAxis>> names;
  for (std::size_t axis = subject_axis; axis <= replicate_axis; ++axis) {
    const auto& schema = *scores.axes[axis];
    names.push_back({schema.name, {axis, &schema.labels}});
    for (const auto& coordinate : schema.coordinates) {
      names.push_back({schema.name + "." + coordinate.name, {axis, &coordinate.values}});
    }
  }
  return names;
}

/// Which places of each axis a side takes; [axis - subject_axis][place].
using Side = std::array<std::vector<bool>, 4>;

/// Resolves names, collecting every fault.
class Resolver {
 public:
  explicit Resolver(const Scores& scores) : scores_(scores), names_(selectable(scores)) {}

  std::optional<NamedAxis> find(const std::string& contrast, const std::string& name) {
    std::vector<std::string> known;
    for (const auto& [candidate, named] : names_) {
      if (candidate == name) {
        return named;
      }
      known.push_back(candidate);
    }
    add(contrast, "no axis or coordinate '" + name + "'", base::did_you_mean(name, known));
    return std::nullopt;
  }

  Side side(const std::string& contrast, const std::vector<Selection>& selections) {
    Side side = everything();
    for (const auto& selection : selections) {
      const auto named = find(contrast, selection.axis);
      if (!named) {
        continue;
      }
      std::vector<bool> chosen(named->values->size(), false);
      for (const auto& value : selection.values) {
        bool is_known = false;
        for (std::size_t place = 0; place < chosen.size(); ++place) {
          if ((*named->values)[place] == value) {
            chosen[place] = is_known = true;
          }
        }
        if (!is_known) {
          add(contrast, "no '" + value + "' on " + selection.axis, base::did_you_mean(value, *named->values));
        }
      }
      auto& mask = side[named->axis - subject_axis];
      for (std::size_t place = 0; place < mask.size(); ++place) {
        mask[place] = mask[place] && chosen[place];
      }
    }
    return side;
  }

  std::vector<std::size_t> measures(const Contrast& contrast) {
    return chosen_measures(scores_, contrast.measures, key_of(contrast.name), faults_);
  }

  Side everything() const {
    Side side;
    for (std::size_t i = 0; i < side.size(); ++i) {
      side[i].assign(scores_.axes[subject_axis + i]->labels.size(), true);
    }
    return side;
  }

  void add(const std::string& contrast, const std::string& problem, const std::string& suggestion) {
    add_fault(contrast, problem, "the score table has none", suggestion);
  }
  /// Told once, however many labels of `each` meet it.
  void add_fault(const std::string& contrast, const std::string& problem, const std::string& why,
                 const std::string& suggestion) {
    faults_.push_back(base::describe(key_of(contrast) + ": " + problem, why, suggestion));
  }
  void require_none() const { require_no_faults(faults_); }

 private:
  static std::string key_of(const std::string& contrast) { return "statistics.contrasts '" + contrast + "'"; }

  const Scores& scores_;
  std::vector<std::pair<std::string, NamedAxis>> names_;
  std::vector<std::string> faults_;
};

constexpr std::size_t no_block = std::numeric_limits<std::size_t>::max();

/// A contrast with its names resolved.
struct Plan {
  std::string name;
  Side left;
  std::optional<Side> right;       ///< nothing: zero
  std::optional<Side> minus_left;  ///< of the second difference
  std::optional<Side> minus_right;
  std::vector<std::size_t> measures;
  std::vector<std::size_t> blocks;  ///< [template]: the block of what flips together, or no_block
  std::size_t num_blocks = 0;
  std::vector<std::size_t> columns;  ///< [rephrasing]: its column, or no_block
  std::size_t num_columns = 0;
  std::string blocks_key;  ///< equal for contrasts whose blocks are the same
  bool relabels_subjects = false;
};

/// Those that a plan has, the left one first.
std::vector<const Side*> sides_of(const Plan& plan) {
  std::vector<const Side*> sides = {&plan.left};
  for (const auto* side : {&plan.right, &plan.minus_left, &plan.minus_right}) {
    if (*side) {
      sides.push_back(&**side);
    }
  }
  return sides;
}

/// All sides take the same labels of this axis.
bool sides_agree(const std::vector<const Side*>& sides, std::size_t axis) {
  return std::ranges::all_of(sides, [&](const Side* side) { return (*side)[axis] == (*sides.front())[axis]; });
}

/// A subject of both sides has no label to exchange.
bool has_other_subjects(const Side& left, const Side& right) {
  bool has_both = false;
  for (std::size_t place = 0; place < left[0].size(); ++place) {
    has_both = has_both || (left[0][place] && right[0][place]);
  }
  return !has_both;
}

/// Templates are blocks by themselves, or those with one value of the coordinate `paired` together.
void plan_blocks(const Contrast& contrast, const Scores& scores, Resolver& resolver, Plan& plan) {
  constexpr std::size_t axis = template_axis - subject_axis;
  const auto sides = sides_of(plan);
  plan.blocks.assign(plan.left[axis].size(), no_block);
  std::vector<std::string> labels = scores.axes[template_axis]->labels;
  if (!contrast.paired.empty()) {
    const auto named = resolver.find(contrast.name, contrast.paired);
    if (!named) {
      return;
    }
    if (named->axis != template_axis) {
      resolver.add_fault(contrast.name, "'paired: " + contrast.paired + "' names no templates",
                         "what is paired are sentences", "Give 'paired: template.COORDINATE'.");
      return;
    }
    labels = *named->values;
  } else if (!sides_agree(sides, axis)) {
    resolver.add_fault(contrast.name, "left and right are of different templates",
                       "nothing says which of them belong together", "Give 'paired: template.COORDINATE'.");
    return;
  }
  std::map<std::string, std::vector<bool>> on_sides;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    auto& on_side = on_sides.try_emplace(labels[place], sides.size(), false).first->second;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      on_side[side] = on_side[side] || (*sides[side])[axis][place];
    }
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    const auto& on_side = on_sides.at(labels[place]);
    if (!labels[place].empty() && std::ranges::find(on_side, false) == on_side.end()) {
      plan.blocks[place] = places.try_emplace(labels[place], places.size()).first->second;
    }
  }
  plan.num_blocks = places.size();
  for (const auto& [label, place] : places) {
    plan.blocks_key += label + '\n';
  }
}

/// Rephrasings are compared each with itself; different ones on both sides by their means.
void plan_columns(Plan& plan) {
  constexpr std::size_t axis = rephrasing_axis - subject_axis;
  const auto sides = sides_of(plan);
  plan.columns.assign(plan.left[axis].size(), no_block);
  for (std::size_t place = 0; place < plan.columns.size(); ++place) {
    if (std::ranges::any_of(sides, [&](const Side* side) { return (*side)[axis][place]; })) {
      plan.columns[place] = sides_agree(sides, axis) ? plan.num_columns++ : 0;
    }
  }
  plan.num_columns = std::max<std::size_t>(plan.num_columns, 1);
}

/// All subjects of the left side's kinds that it does not have.
Side rest_of(const Side& left, const AxisSchema& subjects) {
  Side rest = left;
  const auto kind = std::ranges::find(subjects.coordinates, "kind", &AxisSchema::Coordinate::name);
  for (std::size_t place = 0; place < rest[0].size(); ++place) {
    bool is_alike = kind == subjects.coordinates.end();
    for (std::size_t other = 0; !is_alike && other < left[0].size(); ++other) {
      is_alike = left[0][other] && kind->values[other] == kind->values[place];
    }
    rest[0][place] = !left[0][place] && is_alike;
  }
  return rest;
}

/// No subject, template, rephrasing or replicate has all that is selected.
bool is_contradictory(const Side& side) {
  return std::ranges::any_of(side, [](const auto& mask) { return std::ranges::find(mask, true) == mask.end(); });
}

std::string axis_of(const std::string& name) { return name.substr(0, name.find('.')); }

/// With the label of `each`, unless a selection is on its axis.
std::vector<Selection> narrowed(std::vector<Selection> selections, const std::optional<Selection>& each) {
  const auto is_on_its_axis = [&](const Selection& selection) {
    return axis_of(selection.axis) == axis_of(each->axis);
  };
  if (each && std::ranges::none_of(selections, is_on_its_axis)) {
    selections.push_back(*each);
  }
  return selections;
}

/// `each`: its label, where there is one.
void plan_one(const Contrast& contrast, const std::optional<Selection>& each, const Scores& scores, Resolver& resolver,
              std::vector<Plan>& plans) {
  Plan plan;
  plan.name = contrast.name + (each ? ": " + each->values.front() : "");
  auto left = contrast.left;
  auto right = contrast.right;
  if (each) {
    left.push_back(*each);
    right.push_back(*each);
  }
  plan.left = resolver.side(contrast.name, left);
  if (each && is_contradictory(plan.left)) {
    return;
  }
  if (contrast.against == Contrast::Against::selected) {
    plan.right = resolver.side(contrast.name, right);
  } else if (contrast.against == Contrast::Against::rest) {
    plan.right = rest_of(plan.left, *scores.axes[subject_axis]);
  }
  if (contrast.minus) {
    plan.minus_left = resolver.side(contrast.name, narrowed(contrast.minus->left, each));
    if (contrast.minus->against == Contrast::Against::selected) {
      plan.minus_right = resolver.side(contrast.name, narrowed(contrast.minus->right, each));
    }
  }
  plan_blocks(contrast, scores, resolver, plan);
  plan_columns(plan);
  plan.relabels_subjects = plan.right && !plan.minus_left && has_other_subjects(plan.left, *plan.right);
  plan.measures = resolver.measures(contrast);
  plans.push_back(std::move(plan));
}

std::vector<Plan> plan_all(const Scores& scores, const sweep::Comparison& comparison) {
  Resolver resolver(scores);
  std::vector<Plan> plans;
  for (const auto& contrast : comparison.contrasts) {
    const auto named = contrast.each.empty() ? std::nullopt : resolver.find(contrast.name, contrast.each);
    if (!named) {
      plan_one(contrast, std::nullopt, scores, resolver, plans);
      continue;
    }
    std::vector<std::string> done;
    for (const auto& label : *named->values) {
      if (label.empty() || std::ranges::find(done, label) != done.end()) {
        continue;
      }
      done.push_back(label);
      plan_one(contrast, Selection{contrast.each, {label}}, scores, resolver, plans);
    }
  }
  resolver.require_none();
  return plans;
}

/// Means of a side: [block, column, item], and of each of its subjects [subject][item].
class SideMeans {
 public:
  SideMeans(const Scores& scores, const Plan& plan, const Side& side, std::span<const double> values)
      : num_items_(scores.axes[item_axis]->labels.size()),
        sums_(plan.num_blocks * plan.num_columns * num_items_, 0),
        magnitudes_(sums_.size(), 0),
        counts_(sums_.size(), 0) {
    const auto num_replicates = scores.axes[replicate_axis]->labels.size();
    const auto num_subjects = side[0].size();
    std::size_t row = 0;
    for (std::size_t subject = 0; subject < num_subjects; ++subject) {
      if (!side[0][subject]) {
        row += plan.blocks.size() * plan.columns.size() * num_replicates;
        continue;
      }
      std::vector<double> sums(num_items_, 0);
      std::vector<double> counts(num_items_, 0);
      for (std::size_t sentence = 0; sentence < plan.blocks.size(); ++sentence) {
        for (std::size_t rephrasing = 0; rephrasing < plan.columns.size(); ++rephrasing) {
          const bool is_used = side[1][sentence] && side[2][rephrasing] && plan.blocks[sentence] != no_block &&
                               plan.columns[rephrasing] != no_block;
          const auto cell = plan.blocks[sentence] * plan.num_columns + plan.columns[rephrasing];
          for (std::size_t replicate = 0; replicate < num_replicates; ++replicate, ++row) {
            if (is_used && side[3][replicate]) {
              add(values.subspan(row * num_items_, num_items_), cell, sums, counts);
            }
          }
        }
      }
      subjects_.push_back(std::move(sums));
      for (std::size_t item = 0; item < num_items_; ++item) {
        auto& mean = subjects_.back()[item];
        mean = counts[item] > 0 ? mean / counts[item] : stats::nan;
      }
    }
  }

  double at(std::size_t cell, std::size_t item) const {
    const auto place = cell * num_items_ + item;
    return counts_[place] > 0 ? sums_[place] / counts_[place] : stats::nan;
  }
  /// By how much rounding may have moved that mean.
  double rounding_at(std::size_t cell, std::size_t item) const {
    return std::numeric_limits<double>::epsilon() / 2 * magnitudes_[cell * num_items_ + item];
  }
  /// Of one item: the subjects' means that exist.
  std::vector<double> subject_means(std::size_t item) const {
    std::vector<double> means;
    for (const auto& subject : subjects_) {
      if (!std::isnan(subject[item])) {
        means.push_back(subject[item]);
      }
    }
    return means;
  }

 private:
  void add(std::span<const double> items, std::size_t cell, std::vector<double>& sums, std::vector<double>& counts) {
    for (std::size_t item = 0; item < items.size(); ++item) {
      if (std::isfinite(items[item])) {
        sums_[cell * num_items_ + item] += items[item];
        magnitudes_[cell * num_items_ + item] += std::abs(items[item]);
        counts_[cell * num_items_ + item] += 1;
        sums[item] += items[item];
        counts[item] += 1;
      }
    }
  }

  std::size_t num_items_;
  std::vector<double> sums_;
  std::vector<double> magnitudes_;  ///< sums of the scores without their signs
  std::vector<double> counts_;
  std::vector<std::vector<double>> subjects_;
};

/// The means that a contrast compares.
struct ComparedMeans {
  SideMeans left;
  std::optional<SideMeans> right;
  std::optional<SideMeans> minus_left;
  std::optional<SideMeans> minus_right;

  ComparedMeans(const Scores& scores, const Plan& plan, std::span<const double> values)
      : left(scores, plan, plan.left, values) {
    const auto put = [&](const std::optional<Side>& side, std::optional<SideMeans>& means) {
      if (side) {
        means.emplace(scores, plan, *side, values);
      }
    };
    put(plan.right, right);
    put(plan.minus_left, minus_left);
    put(plan.minus_right, minus_right);
  }
  /// The left side; with a second difference the whole first one.
  double on_left(std::size_t cell, std::size_t item) const {
    return left.at(cell, item) - (minus_left ? of(right, cell, item) : 0);
  }
  /// The right side; the whole second difference where there is one.
  double on_right(std::size_t cell, std::size_t item) const {
    return minus_left ? of(minus_left, cell, item) - of(minus_right, cell, item) : of(right, cell, item);
  }
  /// 0 where rounding explains it: equal scores would otherwise all differ in one direction.
  double difference(std::size_t cell, std::size_t item) const {
    double rounding_of_means = left.rounding_at(cell, item);
    for (const auto* side : {&right, &minus_left, &minus_right}) {
      rounding_of_means += *side ? (*side)->rounding_at(cell, item) : 0;
    }
    const double difference = on_left(cell, item) - on_right(cell, item);
    return std::abs(difference) <= rounding_of_means ? 0 : difference;
  }

 private:
  static double of(const std::optional<SideMeans>& means, std::size_t cell, std::size_t item) {
    return means ? means->at(cell, item) : 0;
  }
};

/// Moves the scores of both sides to about -1 .. 1: what counts as equal in a test of relabelling is made for numbers
/// of that size, and a measure may have any. Scores are equal within 1e-15 of themselves, too.
void to_unit_size(std::vector<double>& left, std::vector<double>& right) {
  std::vector<double> pool = left;
  pool.insert(pool.end(), right.begin(), right.end());
  const double centre = stats::mean(pool).value;
  double largest = 0;
  for (const double score : pool) {
    largest = std::max({largest, std::abs(score - centre), 1e-3 * std::abs(score)});
  }
  const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
  for (auto* side : {&left, &right}) {
    std::ranges::for_each(*side, [&](double& score) { score = std::ldexp(score - centre, exponent); });
  }
}

/// Two-sided p of relabelling the subjects of both sides; NaN with fewer than two on a side.
double relabelling_p(std::vector<double> left, std::vector<double> right, const sweep::Comparison& comparison,
                     std::uint64_t seed) {
  if (left.size() < 2 || right.size() < 2) {
    return stats::nan;
  }
  to_unit_size(left, right);
  if (left.size() + right.size() <= most_exact_subjects) {
    const stats::ExactPermutation exact(left, right);
    const auto counts =
        stats::count_reaching(exact, [&](std::int64_t threshold) { return exact.count_share(threshold, 0, 1, 1); });
    return stats::exact_p(counts.two_sided, exact.num_partitions());
  }
  stats::MonteCarloSettings settings;
  settings.seed = seed;
  settings.draws = static_cast<std::uint64_t>(comparison.draws);
  return stats::monte_carlo_permutation(left, right, settings).two_sided;
}

/// A row and the sums of its blocks, which flip.
struct Tested {
  ContrastRow row;
  std::vector<double> blocks;
  std::string blocks_key;
  std::string family;
};

/// What of a row the ranks tell each other: all but its names.
constexpr std::array row_numbers = {&ContrastRow::left,      &ContrastRow::right, &ContrastRow::difference,
                                    &ContrastRow::low,       &ContrastRow::high,  &ContrastRow::effect,
                                    &ContrastRow::p,         &ContrastRow::p_low, &ContrastRow::p_high,
                                    &ContrastRow::p_subjects};
constexpr std::array row_counts = {&ContrastRow::num_templates, &ContrastRow::num_rephrasings, &ContrastRow::num_cells,
                                   &ContrastRow::num_possible};

void put(base::ByteWriter& out, const Tested& tested) {
  for (const auto number : row_numbers) {
    out.number(tested.row.*number);
  }
  for (const auto count : row_counts) {
    out.number(tested.row.*count);
  }
  out.number(static_cast<std::uint8_t>(tested.row.reason)).array<double>(tested.blocks);
}

Tested take_tested(base::ByteReader& in) {
  Tested tested;
  for (const auto number : row_numbers) {
    tested.row.*number = in.number<double>();
  }
  for (const auto count : row_counts) {
    tested.row.*count = in.number<std::int32_t>();
  }
  tested.row.reason = static_cast<stats::Reason>(in.number<std::uint8_t>());
  tested.blocks = in.array<double>();
  return tested;
}

class Comparer {
 public:
  Comparer(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
      : scores_(scores), comparison_(comparison), seed_(seed) {}

  /// Collective. Ranks share the contrasts; where these are few, the items of each.
  void add(std::span<const Plan* const> plans, std::size_t measure, std::span<const double> values) {
    const auto& items = scores_.axes[item_axis]->labels;
    const bool is_many = plans.size() >= contrasts_a_rank * static_cast<std::size_t>(scores_.ranks.size());
    const auto together = is_many ? items.size() : 1;
    const auto parts = items.size() / together;
    const Plan* last = nullptr;
    std::optional<ComparedMeans> means;
    const auto units = share_bytes(scores_.ranks, plans.size() * parts, [&](std::size_t unit) {
      const auto& plan = *plans[unit / parts];
      if (last != &plan) {
        means.emplace(scores_, plan, values);
        last = &plan;
      }
      base::ByteWriter out;
      for (auto item = unit % parts * together; item < (unit % parts + 1) * together; ++item) {
        put(out, test(plan, *means, item));
      }
      return out.take();
    });
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      base::ByteReader in(units[unit]);
      for (auto item = unit % parts * together; item < (unit % parts + 1) * together; ++item) {
        auto tested = take_tested(in);
        const auto& plan = *plans[unit / parts];
        tested.row.contrast = plan.name;
        tested.row.measure = scores_.axes[measure_axis]->labels[measure];
        tested.row.item = items[item];
        tested.blocks_key = plan.blocks_key;
        tested.family = family_of(tested.row);
        tested_.push_back(std::move(tested));
      }
    }
  }

  std::vector<ContrastRow> take() {
    adjust();
    std::vector<ContrastRow> rows;
    for (auto& tested : tested_) {
      rows.push_back(std::move(tested.row));
    }
    return rows;
  }

 private:
  /// The same for all contrasts and measures with as many templates (rephrasings).
  const stats::ClusterBootstrap& draws_of(std::size_t num_clusters, std::uint64_t stream) {
    const auto replicates = static_cast<std::size_t>(comparison_.replicates);
    return draws_.try_emplace({num_clusters, stream}, num_clusters, replicates, seed_, stream).first->second;
  }

  std::string family_of(const ContrastRow& row) const {
    switch (comparison_.family) {
      case sweep::Comparison::Family::contrast:
        return row.contrast + '\n' + row.measure;
      case sweep::Comparison::Family::measure:
        return row.measure;
      case sweep::Comparison::Family::all:
        break;
    }
    return "";
  }

  /// All but its names.
  Tested test(const Plan& plan, const ComparedMeans& means, std::size_t item) {
    Tested tested;
    auto& row = tested.row;
    std::vector<double> cells(plan.num_blocks * plan.num_columns, stats::nan);
    std::vector<double> block_means;
    std::vector<double> sums;  // of the blocks that have cells
    tested.blocks.assign(plan.num_blocks, 0);
    double left_sum = 0;
    double right_sum = 0;
    for (std::size_t block = 0; block < plan.num_blocks; ++block) {
      int present = 0;
      for (std::size_t column = 0; column < plan.num_columns; ++column) {
        const auto cell = block * plan.num_columns + column;
        const double on_left = means.on_left(cell, item);
        const double on_right = means.on_right(cell, item);
        if (!std::isnan(on_left) && !std::isnan(on_right)) {
          cells[cell] = means.difference(cell, item);
          left_sum += on_left;
          right_sum += on_right;
          tested.blocks[block] += cells[cell];
          ++present;
        }
      }
      row.num_cells += present;
      if (present > 0) {
        block_means.push_back(tested.blocks[block] / present);
        sums.push_back(tested.blocks[block]);
      }
    }
    row.num_possible = static_cast<std::int32_t>(cells.size());
    row.num_templates = static_cast<std::int32_t>(block_means.size());
    const auto squares = stats::crossed_squares(cells, plan.num_columns);
    row.num_rephrasings = static_cast<std::int32_t>(squares.num_columns);
    if (row.num_cells == 0) {
      return tested;
    }
    row.left = left_sum / row.num_cells;
    row.right = right_sum / row.num_cells;
    row.difference = std::accumulate(tested.blocks.begin(), tested.blocks.end(), 0.0) / row.num_cells;
    if (plan.relabels_subjects) {
      row.p_subjects =
          relabelling_p(means.left.subject_means(item), means.right->subject_means(item), comparison_, seed_);
    }
    row.reason = stats::Reason::too_few;
    if (block_means.size() < 2) {
      return tested;
    }
    const double mean = stats::mean(block_means).value;
    const double deviation = stats::standard_deviation(block_means).value;
    row.effect = deviation > rounding * std::abs(mean) ? mean / deviation : stats::nan;
    const auto drawn = stats::crossed_means(cells, draws_of(plan.num_blocks, templates_stream),
                                            draws_of(plan.num_columns, rephrasings_stream));
    const auto interval = stats::rescaled_interval(drawn, row.difference, squares.error(), comparison_.confidence);
    row.low = interval.low;
    row.high = interval.high;
    const auto test = stats::sign_flip_test(sums, flips());
    row.p = test.two_sided;
    row.p_low = test.interval.low;
    row.p_high = test.interval.high;
    row.reason = interval.reason;
    return tested;
  }

  stats::SignFlipSettings flips() const {
    return {
        .seed = seed_, .draws = static_cast<std::uint64_t>(comparison_.draws), .confidence = comparison_.confidence};
  }

  void adjust() {
    std::map<std::string, std::vector<Tested*>> families;
    for (auto& tested : tested_) {
      if (!std::isnan(tested.row.p)) {
        families[tested.family].push_back(&tested);
      }
    }
    for (const auto& [name, members] : families) {
      adjust_family(members);
    }
  }

  void adjust_family(const std::vector<Tested*>& members) const {
    std::vector<double> logarithms;
    for (const auto* tested : members) {
      logarithms.push_back(std::log10(tested->row.p));
    }
    const auto put = [&](stats::Adjustment adjustment, double ContrastRow::*place) {
      const auto adjusted = stats::adjust_log10_p(logarithms, adjustment);
      for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->row.*place = std::max(members[i]->row.p, std::pow(10.0, adjusted[i]));
      }
    };
    put(stats::Adjustment::holm, &ContrastRow::p_holm);
    put(stats::Adjustment::benjamini_hochberg, &ContrastRow::p_hochberg);
    put(stats::Adjustment::benjamini_yekutieli, &ContrastRow::p_yekutieli);
    const auto& key = members.front()->blocks_key;
    if (std::ranges::any_of(members, [&](const auto* tested) { return tested->blocks_key != key; })) {
      return;  // other templates: nothing to flip together
    }
    std::vector<double> sums;  // max-T takes draws x members x templates additions
    for (const auto* tested : members) {
      sums.insert(sums.end(), tested->blocks.begin(), tested->blocks.end());
    }
    const auto adjusted = shared_max_t(scores_.ranks, sums, members.front()->blocks.size(), flips());
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->row.p_max_t = std::max(members[i]->row.p, adjusted[i]);
    }
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  std::uint64_t seed_;
  std::map<std::pair<std::size_t, std::uint64_t>, stats::ClusterBootstrap> draws_;
  std::vector<Tested> tested_;
};

/// In the order of measures: `use(plans, measure, values)` with the contrasts that there are in the measure.
template <class Use>
void each_compared(const Scores& scores, const sweep::Comparison& comparison, const Use& use) {
  const auto plans = plan_all(scores, comparison);
  for (std::size_t measure = 0; measure < scores.axes[measure_axis]->labels.size(); ++measure) {
    std::vector<const Plan*> own;
    for (const auto& plan : plans) {
      if (std::ranges::find(plan.measures, measure) != plan.measures.end()) {
        own.push_back(&plan);
      }
    }
    if (!own.empty()) {
      use(own, measure, scores.read(measure));
    }
  }
}

}  // namespace

std::vector<ContrastRow> compare(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  Comparer comparer(scores, comparison, seed);
  each_compared(scores, comparison, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    comparer.add(plans, measure, values);
  });
  return comparer.take();
}

std::vector<ContrastSpread> spreads_of(const Scores& scores, const sweep::Comparison& comparison) {
  std::vector<ContrastSpread> spreads;
  const auto& items = scores.axes[item_axis]->labels;
  const auto add = [&](const Plan& plan, std::size_t measure, std::span<const double> values) {
    const ComparedMeans means(scores, plan, values);
    for (std::size_t item = 0; item < items.size(); ++item) {
      std::vector<double> present;
      std::vector<double> cells;
      for (std::size_t cell = 0; cell < plan.num_blocks * plan.num_columns; ++cell) {
        cells.push_back(means.difference(cell, item));
        if (!std::isnan(cells.back())) {
          present.push_back(cells.back());
        }
      }
      spreads.push_back({plan.name, scores.axes[measure_axis]->labels[measure], items[item], stats::mean(present).value,
                         stats::crossed_squares(cells, plan.num_columns)});
    }
  };
  each_compared(scores, comparison, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    std::ranges::for_each(plans, [&](const Plan* plan) { add(*plan, measure, values); });
  });
  return spreads;
}

}  // namespace stereosweep::findings
