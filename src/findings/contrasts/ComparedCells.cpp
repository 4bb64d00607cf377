#include "findings/contrasts/ComparedCells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/Lists.hpp"

namespace stereosweep::findings {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// One subject on one side.
struct SideSubject {
  std::size_t side = 0;
  std::size_t subject = 0;
  std::vector<double> scores;  ///< [cell]; NaN: none
  bool is_kept = true;
  double part = 0;  ///< of its effect in the difference
};

/// Scores as unit + cell + rest.
class AdditiveFit {
 public:
  /// `cells`: places of those that count. Units and cells must hang together.
  AdditiveFit(const std::vector<SideSubject>& units, const std::vector<std::size_t>& cells)
      : num_units_(units.size()), num_cells_(cells.size()), counts_(num_units_, 0), in_cells_(num_cells_, 0) {
    for (std::size_t unit = 0; unit < num_units_; ++unit) {
      for (std::size_t cell = 0; cell < num_cells_; ++cell) {
        scores_.push_back(units[unit].scores[cells[cell]]);
        if (!std::isnan(scores_.back())) {
          counts_[unit] += 1;
          in_cells_[cell] += 1;
        }
      }
    }
    double sum = 0;
    double count = 0;
    double largest = 0;
    each([&](std::size_t unit, std::size_t cell) {
      sum += score(unit, cell);
      count += 1;
      largest = std::max(largest, std::abs(score(unit, cell)));
    });
    const double centre = sum / count;  // what all scores have in common would only cost digits
    auto means = in_cell([&](std::size_t unit, std::size_t cell) { return score(unit, cell) - centre; });
    std::vector<double> right(num_units_, 0);
    each([&](std::size_t unit, std::size_t cell) {
      right[unit] += score(unit, cell) - centre - means[cell] / in_cells_[cell];
    });
    unit_effects = solve(std::move(right), largest);
    cell_effects = in_cell([&](std::size_t unit, std::size_t cell) { return score(unit, cell) - unit_effects[unit]; });
    for (std::size_t cell = 0; cell < num_cells_; ++cell) {
      cell_effects[cell] /= in_cells_[cell];
    }
  }

  /// What each cell adds to the sum over units of `parts` x effect plus `sum of parts` x mean cell effect, beyond the
  /// effects of its units.
  std::vector<double> influences(const std::vector<double>& parts) const {
    const double all_parts = std::accumulate(parts.begin(), parts.end(), 0.0);
    const auto n = static_cast<double>(num_cells_);
    auto right = parts;
    each([&](std::size_t unit, std::size_t cell) { right[unit] -= all_parts / n / in_cells_[cell]; });
    const double largest = std::abs(*std::ranges::max_element(parts, {}, [](double part) { return std::abs(part); }));
    const auto multipliers = solve(std::move(right), largest);
    auto of_cells = in_cell([&](std::size_t unit, std::size_t) { return -multipliers[unit]; });
    std::vector<double> influences;
    for (std::size_t cell = 0; cell < num_cells_; ++cell) {
      of_cells[cell] = (of_cells[cell] + all_parts / n) / in_cells_[cell];
      influences.push_back(all_parts * cell_effects[cell]);
    }
    each([&](std::size_t unit, std::size_t cell) {
      const double rest = score(unit, cell) - unit_effects[unit] - cell_effects[cell];
      const double weight = multipliers[unit] + of_cells[cell];
      const double lost = counts_[unit] > 1 ? std::sqrt(counts_[unit] / (counts_[unit] - 1) * (n - 1) / n) : 1;
      influences[cell] += n * weight * rest * lost;
    });
    return influences;
  }

  std::vector<double> unit_effects;
  std::vector<double> cell_effects;

 private:
  double score(std::size_t unit, std::size_t cell) const { return scores_[unit * num_cells_ + cell]; }
  template <class Use>
  void each(const Use& use) const {
    for (std::size_t unit = 0; unit < num_units_; ++unit) {
      for (std::size_t cell = 0; cell < num_cells_; ++cell) {
        if (!std::isnan(score(unit, cell))) {
          use(unit, cell);
        }
      }
    }
  }
  template <class Read>
  std::vector<double> in_cell(const Read& read) const {
    std::vector<double> sums(num_cells_, 0);
    each([&](std::size_t unit, std::size_t cell) { sums[cell] += read(unit, cell); });
    return sums;
  }

  /// The normal equations with the cells eliminated, by conjugate gradients (Hestenes and Stiefel 1952, Journal of
  /// Research of the National Bureau of Standards 49). They leave a constant open, which no caller sees. `largest`: of
  /// the numbers that `rest` is a sum of, whose rounding is not fitted.
  std::vector<double> solve(std::vector<double> rest, double largest) const {
    constexpr double small = 1e-31;
    const double total = std::accumulate(rest.begin(), rest.end(), 0.0);  // 0 but for rounding, as the equations want
    const double all_counts = std::accumulate(counts_.begin(), counts_.end(), 0.0);
    for (std::size_t unit = 0; unit < num_units_; ++unit) {
      rest[unit] -= total * counts_[unit] / all_counts;
    }
    std::vector<double> solution(num_units_, 0);
    std::vector<double> direction(num_units_, 0);
    const auto product = [&](const std::vector<double>& left, const std::vector<double>& right) {
      double sum = 0;
      for (std::size_t unit = 0; unit < num_units_; ++unit) {
        sum += left[unit] * right[unit] / counts_[unit];
      }
      return sum;
    };
    double size = product(rest, rest);
    const double wanted = std::max(size * small, std::pow(4 * epsilon * largest, 2) * all_counts);
    double last = 0;
    for (std::size_t round = 0; size > wanted && round < 4 * num_units_ + 20; ++round) {
      for (std::size_t unit = 0; unit < num_units_; ++unit) {
        direction[unit] = rest[unit] / counts_[unit] + (last > 0 ? size / last : 0) * direction[unit];
      }
      const auto sums = in_cell([&](std::size_t unit, std::size_t) { return direction[unit]; });
      std::vector<double> image(num_units_, 0);
      each([&](std::size_t unit, std::size_t cell) { image[unit] += direction[unit] - sums[cell] / in_cells_[cell]; });
      double curvature = 0;
      for (std::size_t unit = 0; unit < num_units_; ++unit) {
        curvature += direction[unit] * image[unit];
      }
      if (!(curvature > 0)) {
        break;
      }
      for (std::size_t unit = 0; unit < num_units_; ++unit) {
        solution[unit] += size / curvature * direction[unit];
        rest[unit] -= size / curvature * image[unit];
      }
      last = size;
      size = product(rest, rest);
    }
    return solution;
  }

  std::size_t num_units_;
  std::size_t num_cells_;
  std::vector<double> scores_;    ///< [unit, cell]
  std::vector<double> counts_;    ///< [unit]
  std::vector<double> in_cells_;  ///< [cell]
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

  /// Whether a subject was left out, on all sides.
  bool drop_units() {
    const std::size_t least = std::min<std::size_t>(cells_.size(), 2);
    std::vector<std::size_t> dropped;
    for (const auto& unit : units_) {
      const auto has = [&](std::size_t cell) { return !std::isnan(unit.scores[cell]); };
      if (unit.is_kept && std::cmp_less(std::ranges::count_if(cells_, has), std::max<std::size_t>(least, 1))) {
        dropped.push_back(unit.subject);
      }
    }
    if (cells_.empty()) {
      return false;
    }
    return drop(dropped);
  }
  bool drop(const std::vector<std::size_t>& subjects) {
    for (auto& unit : units_) {
      unit.is_kept = unit.is_kept && !base::contains(subjects, unit.subject);
    }
    return !subjects.empty();
  }

  /// Units that no chain of shared cells joins cannot be compared: those joined with the most cells stay.
  bool drop_other_components() {
    std::vector<std::size_t> component(units_.size(), 0);
    std::iota(component.begin(), component.end(), std::size_t{0});
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto cell : cells_) {
        std::size_t least = units_.size();
        for (std::size_t unit = 0; unit < units_.size(); ++unit) {
          if (units_[unit].is_kept && !std::isnan(units_[unit].scores[cell])) {
            least = std::min(least, component[unit]);
          }
        }
        for (std::size_t unit = 0; unit < units_.size(); ++unit) {
          if (units_[unit].is_kept && !std::isnan(units_[unit].scores[cell]) && component[unit] != least) {
            component[unit] = least;
            changed = true;
          }
        }
      }
    }
    std::map<std::size_t, std::size_t> sizes;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      const auto has = [&](std::size_t cell) { return !std::isnan(units_[unit].scores[cell]); };
      sizes[component[unit]] += units_[unit].is_kept ? std::ranges::count_if(cells_, has) : 0;
    }
    if (sizes.empty()) {
      return false;
    }
    const auto largest = std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; })->first;
    std::vector<std::size_t> dropped;
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      if (units_[unit].is_kept && component[unit] != largest) {
        dropped.push_back(units_[unit].subject);
      }
    }
    return drop(dropped);
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
    for (std::size_t place = 0; place < side.takes[0].size() * cells.num_sentences(); ++place) {
      const auto [subject, sentence] = std::pair(place / cells.num_sentences(), place % cells.num_sentences());
      for (std::size_t item = 0; item < num_items_; ++item) {
        const bool is_taken = side.takes[0][subject] && plan.cell_of(side, sentence) != no_block;
        answers_[item] += is_taken ? cells.num_answers(subject, sentence, item, in_score) : 0;
      }
    }
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
  std::vector<std::size_t> cells;
  for (std::size_t sentence = 0; sentence < sums.cells.num_sentences(); ++sentence) {
    cells.push_back(plan_.cell_of(side, sentence));
    if (cells.back() != no_block) {
      sums.num_sentences[cells.back()] += 1;
    }
  }
  for (std::size_t subject = 0; subject < side.takes[0].size(); ++subject) {
    if (!side.takes[0][subject]) {
      continue;
    }
    const auto first = sums.subject_sums.size();
    sums.subjects.push_back(subject);
    sums.subject_sums.resize(first + num_items_, 0);
    sums.subject_counts.resize(first + num_items_, 0);
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      for (std::size_t item = 0; cells[sentence] != no_block && item < num_items_; ++item) {
        const double score = sums.cells.at(subject, sentence, item);
        if (!std::isnan(score)) {
          const auto place = cells[sentence] * num_items_ + item;
          sums.sums[place] += score;
          sums.magnitudes[place] += std::abs(score);
          sums.counts[place] += 1;
          sums.subject_sums[first + item] += score;
          sums.subject_counts[first + item] += 1;
        }
      }
    }
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
      rounding += epsilon / 2 * sides_[side].magnitudes[place];
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
      for (std::size_t sentence = 0; sentence < sums.cells.num_sentences(); ++sentence) {
        const auto cell = plan_.cell_of(plan_.sides[side], sentence);
        const double score = cell == no_block ? stats::nan : sums.cells.at(unit.subject, sentence, item);
        if (!std::isnan(score)) {
          unit.scores[cell] += score;
          counts[cell] += 1;
          largest = std::max(largest, std::abs(score));
        }
      }
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
  const AdditiveFit fit(comparable.units(), comparable.cells());
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
  const auto influences = fit.influences(parts);
  for (std::size_t place = 0; place < influences.size(); ++place) {
    compared.differences[comparable.cells()[place]] = clean(of_units + influences[place]);
  }
  compared.num_cells = static_cast<std::int32_t>(influences.size());
  compared.num_subjects = static_cast<std::int32_t>(of_subjects.num_subjects());
  compared.num_left_out -= compared.num_subjects;
  compared.subjects = of_subjects.groups();
  return compared;
}

}  // namespace stereosweep::findings
