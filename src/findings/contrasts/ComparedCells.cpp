#include "findings/contrasts/ComparedCells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/Lists.hpp"
#include "stats/AdditiveFit.hpp"

namespace stereosweep::findings {
namespace {

/// One subject on one side.
struct SideSubject {
  std::size_t side = 0;
  std::size_t subject = 0;
  std::vector<double> scores;  ///< [cell]; NaN: none
  bool is_kept = true;
  double part = 0;  ///< of its effect in the difference
};

/// Units (subjects on sides) and cells that can be compared.
class Comparable {
 public:
  Comparable(const ContrastPlan& plan, std::vector<SideSubject> units) : plan_(plan), units_(std::move(units)) {
    do {
      find_cells();
    } while (drop_units());
    if (plan.cells == sweep::Contrast::Cells::adjusted && drop_other_components()) {
      find_cells();
    }
    if (std::ranges::any_of(num_on_sides(), [](double count) { return count == 0; })) {
      cells_.clear();
    }
    std::erase_if(units_, [&](const SideSubject& unit) { return !unit.is_kept || cells_.empty(); });
    const auto counts = num_on_sides();
    for (auto& unit : units_) {
      unit.part = plan.sides[unit.side].sign() / counts[unit.side];
    }
  }

  const std::vector<SideSubject>& units() const { return units_; }
  const std::vector<std::size_t>& cells() const { return cells_; }
  std::vector<double> num_on_sides() const {
    std::vector<double> counts(plan_.sides.size(), 0);
    for (const auto& unit : units_) {
      counts[unit.side] += unit.is_kept ? 1 : 0;
    }
    return counts;
  }

 private:
  void find_cells() {
    const auto wanted = num_on_sides();
    cells_.clear();
    for (std::size_t cell = 0; cell < plan_.num_cells(); ++cell) {
      std::vector<double> counts(plan_.sides.size(), 0);
      for (const auto& unit : units_) {
        counts[unit.side] += unit.is_kept && !std::isnan(unit.scores[cell]) ? 1 : 0;
      }
      const bool has_all = counts == wanted;
      const bool has_sides = !base::contains(counts, 0.0);
      if (has_sides && (has_all || plan_.cells == sweep::Contrast::Cells::adjusted)) {
        cells_.push_back(cell);
      }
    }
  }

  /// Cells and the blocks that they are in, at most two of each.
  template <class Has>
  std::pair<std::size_t, std::size_t> two_of(const Has& has) const {
    std::size_t cells = 0;
    std::size_t blocks = 0;
    std::size_t last = no_block;
    for (const auto cell : cells_) {
      if (has(cell)) {
        cells += 1;
        blocks += plan_.block_of(cell) != std::exchange(last, plan_.block_of(cell)) ? 1 : 0;
      }
    }
    return {std::min<std::size_t>(cells, 2), std::min<std::size_t>(blocks, 2)};
  }

  /// Whether a subject was left out, on all sides: one block says nothing of how the subject varies over others.
  bool drop_units() {
    const auto least = two_of([](std::size_t) { return true; });
    return drop_where([&](std::size_t unit) {
      return two_of([&](std::size_t cell) { return !std::isnan(units_[unit].scores[cell]); }) != least;
    });
  }
  bool drop_where(const auto& is_dropped) {
    const auto dropped =
        base::places_where(units_.size(), [&](std::size_t unit) { return units_[unit].is_kept && is_dropped(unit); });
    const auto subjects = base::mapped(dropped, [&](std::size_t unit) { return units_[unit].subject; });
    for (auto& unit : units_) {
      unit.is_kept = unit.is_kept && !base::contains(subjects, unit.subject);
    }
    return !subjects.empty();
  }

  /// Units that no chain of shared cells joins cannot be compared: those joined with the most cells stay.
  bool drop_other_components() {
    const auto scores_of = [this](std::size_t unit) {
      return base::mapped(
          cells_, [&](std::size_t cell) { return units_[unit].is_kept ? units_[unit].scores[cell] : stats::nan; });
    };
    const auto component = stats::joined_units(units_.size(), cells_.size(), scores_of);
    std::map<std::size_t, std::size_t> sizes;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      const auto has = [&](std::size_t cell) { return !std::isnan(units_[unit].scores[cell]); };
      sizes[component[unit]] += units_[unit].is_kept ? std::ranges::count_if(cells_, has) : 0;
    }
    if (sizes.empty()) {
      return false;
    }
    const auto largest = std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; })->first;
    return drop_where([&](std::size_t unit) { return component[unit] != largest; });
  }

  const ContrastPlan& plan_;
  std::vector<SideSubject> units_;
  std::vector<std::size_t> cells_;
};

/// Subjects' parts of the difference by the sides that they are on; nothing unless each side has those of one group.
class SubjectParts {
 public:
  void add(std::size_t subject, std::size_t side, double part) {
    auto& [sides, sum] = parts_[subject];
    sides.push_back(side);
    sum += part;
  }
  std::size_t num_subjects() const { return parts_.size(); }
  std::vector<std::vector<double>> groups() const {
    std::map<std::vector<std::size_t>, std::vector<double>> groups;
    for (const auto& [subject, part] : parts_) {
      groups[part.first].push_back(part.second);
    }
    std::vector<std::size_t> all_sides;
    std::vector<std::vector<double>> found;
    for (auto& [sides, group] : groups) {
      all_sides.insert(all_sides.end(), sides.begin(), sides.end());
      found.push_back(std::move(group));
    }
    std::ranges::sort(all_sides);
    const bool are_shared = std::ranges::adjacent_find(all_sides) != all_sides.end();
    const bool is_one = std::ranges::any_of(found, [](const auto& group) { return group.size() < 2; });
    return are_shared || is_one ? std::vector<std::vector<double>>() : found;
  }

 private:
  std::map<std::size_t, std::pair<std::vector<std::size_t>, double>> parts_;
};

std::size_t num_taken(const ContrastPlan& plan) {
  std::size_t count = 0;
  for (std::size_t subject = 0; subject < plan.sides.front().takes[0].size(); ++subject) {
    count += std::ranges::any_of(plan.sides, [&](const auto& side) { return side.takes[0][subject]; }) ? 1 : 0;
  }
  return count;
}

}  // namespace

ComparedMeans::ComparedMeans(const Scores& scores, const ContrastPlan& plan, std::span<const double> values,
                             std::span<const std::uint8_t> statuses, std::int32_t in_score)
    : plan_(plan), num_items_(scores.length(item_axis)), answers_(num_items_, 0) {
  sides_ = base::mapped(plan.sides, [&](const PlannedSide& side) { return sum(scores, side, values); });
  for (const auto& side : in_score > 0 ? plan.sides : std::vector<PlannedSide>()) {
    const auto cells = Cells(scores, values, statuses).of_replicates(side.takes[replicate_axis - subject_axis]);
    plan.each_cell(side, [&](std::size_t sentence, std::size_t /*cell*/) {
      for (std::size_t place = 0; place < side.takes[0].size() * num_items_; ++place) {
        const auto [subject, item] = std::pair(place / num_items_, place % num_items_);
        answers_[item] += side.takes[0][subject] ? cells.num_answers(subject, sentence, item, in_score) : 0;
      }
    });
  }
}

ComparedMeans::SideSums ComparedMeans::sum(const Scores& scores, const PlannedSide& side,
                                           std::span<const double> values) const {
  SideSums sums{.cells = Cells(scores, values).of_replicates(side.takes[replicate_axis - subject_axis]),
                .sums = std::vector<double>(plan_.num_cells() * num_items_, 0),
                .magnitudes = {},
                .counts = {},
                .num_sentences = std::vector<double>(plan_.num_cells(), 0),
                .subjects = {},
                .subject_sums = {},
                .subject_counts = {}};
  sums.magnitudes = sums.counts = sums.sums;
  plan_.each_cell(side, [&](std::size_t /*sentence*/, std::size_t cell) { sums.num_sentences[cell] += 1; });
  for (std::size_t subject = 0; subject < side.takes[0].size(); ++subject) {
    if (!side.takes[0][subject]) {
      continue;
    }
    const auto first = sums.subject_sums.size();
    sums.subjects.push_back(subject);
    sums.subject_sums.resize(first + num_items_, 0);
    sums.subject_counts.resize(first + num_items_, 0);
    plan_.each_cell(side, [&](std::size_t sentence, std::size_t cell) {
      for (std::size_t item = 0; item < num_items_; ++item) {
        const double score = sums.cells.at(subject, sentence, item);
        if (!std::isnan(score)) {
          const auto place = cell * num_items_ + item;
          sums.sums[place] += score;
          sums.magnitudes[place] += std::abs(score);
          sums.counts[place] += 1;
          sums.subject_sums[first + item] += score;
          sums.subject_counts[first + item] += 1;
        }
      }
    });
  }
  return sums;
}

ComparedItem ComparedMeans::of(std::size_t item) const {
  const bool takes_all = plan_.cells == sweep::Contrast::Cells::all;
  return takes_all || is_even(item) ? plain(item) : adjusted(item);
}

/// All sides have the same cells, and each subject with a score has all of them, on all sides that take it.
bool ComparedMeans::is_even(std::size_t item) const {
  for (const auto& side : sides_) {
    double with_score = 0;
    for (std::size_t subject = 0; subject < side.subjects.size(); ++subject) {
      with_score += has_score(side, subject, item) ? 1 : 0;
      for (const auto& other : sides_) {
        const auto there = std::ranges::lower_bound(other.subjects, side.subjects[subject]);
        const bool is_taken = there != other.subjects.end() && *there == side.subjects[subject];
        const auto place = static_cast<std::size_t>(there - other.subjects.begin());
        if (is_taken && has_score(other, place, item) != has_score(side, subject, item)) {
          return false;
        }
      }
    }
    for (std::size_t cell = 0; cell < plan_.num_cells(); ++cell) {
      const double count = side.counts[cell * num_items_ + item];
      const bool is_there = sides_.front().counts[cell * num_items_ + item] > 0;
      if (count != (is_there ? with_score * side.num_sentences[cell] : 0)) {
        return false;
      }
    }
  }
  return true;
}

ComparedItem ComparedMeans::plain(std::size_t item) const {
  ComparedItem compared;
  compared.differences.assign(plan_.num_cells(), stats::nan);
  double left = 0;
  double right = 0;
  double sum = 0;
  for (std::size_t cell = 0; cell < plan_.num_cells(); ++cell) {
    const auto place = cell * num_items_ + item;
    if (std::ranges::any_of(sides_, [&](const SideSums& side) { return side.counts[place] == 0; })) {
      continue;
    }
    double on_left = 0;
    double on_right = 0;
    double rounding = 0;  // equal scores would otherwise all differ in one direction
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      const double mean = sides_[side].sums[place] / sides_[side].counts[place];
      on_left += plan_.sides[side].to_left * mean;
      on_right += plan_.sides[side].to_right * mean;
      rounding += std::numeric_limits<double>::epsilon() / 2 * sides_[side].magnitudes[place];
    }
    const double difference = on_left - on_right;
    compared.differences[cell] = std::abs(difference) <= rounding ? 0 : difference;
    left += on_left;
    right += on_right;
    sum += compared.differences[cell];
    ++compared.num_cells;
  }
  if (compared.num_cells == 0) {
    return compared;
  }
  compared.left = left / compared.num_cells;
  compared.right = right / compared.num_cells;
  compared.difference = sum / compared.num_cells;
  SubjectParts parts;
  double num_missing = 0;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const auto& sums = sides_[side];
    double with_score = 0;
    for (std::size_t subject = 0; subject < sums.subjects.size(); ++subject) {
      if (has_score(sums, subject, item)) {
        const auto place = subject * num_items_ + item;
        parts.add(sums.subjects[subject], side,
                  plan_.sides[side].sign() * sums.subject_sums[place] / sums.subject_counts[place]);
        with_score += 1;
      }
    }
    for (std::size_t cell = 0; cell < plan_.num_cells(); ++cell) {
      if (!std::isnan(compared.differences[cell])) {
        num_missing += with_score * sums.num_sentences[cell] - sums.counts[cell * num_items_ + item];
      }
    }
  }
  compared.num_missing = static_cast<std::int32_t>(num_missing);
  compared.num_subjects = static_cast<std::int32_t>(parts.num_subjects());
  compared.num_left_out = static_cast<std::int32_t>(num_taken(plan_)) - compared.num_subjects;
  compared.subjects = parts.groups();
  return compared;
}

ComparedItem ComparedMeans::adjusted(std::size_t item) const {
  std::vector<SideSubject> units;
  std::vector<std::size_t> partly;  // subjects without a score on a side that takes them
  double largest = 0;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const auto& sums = sides_[side];
    for (std::size_t subject = 0; subject < sums.subjects.size(); ++subject) {
      if (!has_score(sums, subject, item)) {
        partly.push_back(sums.subjects[subject]);
        continue;
      }
      SideSubject unit{
          .side = side, .subject = sums.subjects[subject], .scores = std::vector<double>(plan_.num_cells(), 0)};
      std::vector<double> counts(plan_.num_cells(), 0);
      plan_.each_cell(plan_.sides[side], [&](std::size_t sentence, std::size_t cell) {
        if (const double score = sums.cells.at(unit.subject, sentence, item); !std::isnan(score)) {
          unit.scores[cell] += score;
          counts[cell] += 1;
          largest = std::max(largest, std::abs(score));
        }
      });
      for (std::size_t cell = 0; cell < counts.size(); ++cell) {
        unit.scores[cell] = counts[cell] > 0 ? unit.scores[cell] / counts[cell] : stats::nan;
      }
      units.push_back(std::move(unit));
    }
  }
  std::erase_if(units, [&](const SideSubject& unit) { return base::contains(partly, unit.subject); });
  const Comparable comparable(plan_, std::move(units));
  ComparedItem compared;
  compared.differences.assign(plan_.num_cells(), stats::nan);
  compared.num_left_out = static_cast<std::int32_t>(num_taken(plan_));
  if (comparable.cells().empty()) {
    return compared;
  }
  const auto scores_of = [&](std::size_t place) {
    const auto& scores = comparable.units()[place].scores;
    return base::mapped(comparable.cells(), [&](std::size_t cell) { return scores[cell]; });
  };
  const stats::AdditiveFit fit(comparable.units().size(), comparable.cells().size(), scores_of);
  const double of_cells = stats::mean(fit.cell_effects).value;
  std::vector<double> parts;
  std::vector<double> side_means(sides_.size(), of_cells);
  const auto on_sides = comparable.num_on_sides();
  double all_parts = 0;
  double of_units = 0;
  SubjectParts of_subjects;
  for (std::size_t place = 0; place < comparable.units().size(); ++place) {
    const auto& unit = comparable.units()[place];
    const double effect = fit.unit_effects[place];
    parts.push_back(unit.part);
    all_parts += unit.part;
    of_units += unit.part * effect;
    side_means[unit.side] += effect / on_sides[unit.side];
    of_subjects.add(unit.subject, unit.side, plan_.sides[unit.side].sign() * effect);
    const auto is_missing = [&](std::size_t cell) { return std::isnan(unit.scores[cell]); };
    compared.num_missing += static_cast<std::int32_t>(std::ranges::count_if(comparable.cells(), is_missing));
  }
  compared.left = compared.right = 0;
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    compared.left += plan_.sides[side].to_left * side_means[side];
    compared.right += plan_.sides[side].to_right * side_means[side];
  }
  const auto clean = [&](double difference) { return std::abs(difference) <= 1e-13 * largest ? 0 : difference; };
  compared.difference = clean(of_units + all_parts * of_cells);
  const auto influences =
      fit.influences(parts, base::mapped(comparable.cells(), [&](std::size_t cell) { return plan_.block_of(cell); }));
  for (std::size_t place = 0; place < influences.of_cells.size(); ++place) {
    compared.differences[comparable.cells()[place]] = clean(of_units + influences.of_cells[place]);
  }
  if (compared.num_missing > 0) {  // else a template weighs by its cells, as in means and intersections
    compared.row_degrees = influences.row_degrees;
  }
  compared.num_cells = static_cast<std::int32_t>(influences.of_cells.size());
  compared.num_subjects = static_cast<std::int32_t>(of_subjects.num_subjects());
  compared.num_left_out -= compared.num_subjects;
  compared.subjects = of_subjects.groups();
  return compared;
}

}  // namespace stereosweep::findings
