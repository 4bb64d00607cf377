#include "findings/intersections/Emergence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

#include "findings/sharing/Sharing.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {
namespace {

constexpr double least_spread = 1e-12;  // differences that vary by less are equal

/// The three differences of a row, which flip: to the first part, to the second, and the interaction.
constexpr std::size_t num_differences = 3;
constexpr std::size_t interaction_place = 2;

/// TemplateSums over the cells of each template.
struct TemplateSums {
  std::vector<double> counts;                                       ///< [template]
  std::array<std::vector<double>, num_differences> of_differences;  ///< [difference][template], 0 without cells
};

struct TestedRow {
  EmergenceRow row;
  TemplateSums sums;
};

/// Mean over its standard error; the cells of a template belong together (the sandwich variance with T / (T - 1)).
double z_of(std::span<const double> sums, std::span<const double> counts) {
  const double num_cells = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  double squares = 0;
  double magnitude = 0;
  double num_templates = 0;
  for (std::size_t place = 0; place < sums.size(); ++place) {
    if (counts[place] > 0) {
      const double rest = sums[place] - counts[place] * sum / num_cells;
      squares += rest * rest;
      magnitude += std::abs(sums[place]);
      num_templates += 1;
    }
  }
  const double error = std::sqrt(squares * num_templates / (num_templates - 1));
  return error > least_spread * magnitude ? sum / error : stats::nan;
}

class Emergence {
 public:
  Emergence(const CellScores& cells, const IntersectionParts& parts, const sweep::Comparison& comparison,
            std::uint64_t seed, const parallel::Communicator& ranks)
      : cells_(cells),
        parts_(parts),
        ranks_(ranks),
        flips_{
            .seed = seed, .draws = static_cast<std::uint64_t>(comparison.draws), .confidence = comparison.confidence} {}

  std::vector<EmergenceRow> rows() {
    share_rows();
    adjust_emergence();
    adjust_interactions();
    std::vector<EmergenceRow> rows;
    for (const auto& tested : tested_) {
      rows.push_back(tested.row);
    }
    return rows;
  }

 private:
  /// Units are intersections.
  void share_rows() {
    const auto num_intersections = parts_.intersections.size();
    for (const auto& unit : share_bytes(ranks_, num_intersections, [&](std::size_t place) {
           base::ByteWriter out;
           for (std::size_t item = 0; item < cells_.num_items; ++item) {
             TestedRow tested;
             if (parts_.intersections[place].has_parts()) {
               fill(tested, parts_.intersections[place], item);
             }
             out.raw(std::as_bytes(std::span(&tested.row, 1)));
             for (const auto& sums : tested.sums.of_differences) {
               out.array<double>(sums);
             }
           }
           return out.take();
         })) {
      base::ByteReader in(unit);
      for (std::size_t item = 0; item < cells_.num_items; ++item) {
        auto& tested = tested_.emplace_back();
        std::memcpy(static_cast<void*>(&tested.row), in.take(sizeof(EmergenceRow)).data(), sizeof(EmergenceRow));
        for (auto& sums : tested.sums.of_differences) {
          sums = in.array<double>();
        }
      }
    }
  }

  void add_cells(TestedRow& tested, const Intersection& intersection, std::size_t item) const {
    auto& [row, sums] = tested;
    sums.counts.assign(cells_.num_templates, 0);
    sums.of_differences.fill(std::vector<double>(cells_.num_templates, 0));
    std::array<double, 3> totals = {0, 0, 0};
    for (std::size_t cell = 0; cell < cells_.num_cells(); ++cell) {
      const double score = cells_.at(intersection.subject, cell, item);
      const double first = cells_.at(*intersection.first, cell, item);
      const double second = cells_.at(*intersection.second, cell, item);
      const double baseline = parts_.baseline ? cells_.at(*parts_.baseline, cell, item) : 0;
      if (!std::isfinite(score + first + second + baseline)) {
        continue;
      }
      const auto place = cell / cells_.num_rephrasings;
      sums.counts[place] += 1;
      sums.of_differences[0][place] += score - first;
      sums.of_differences[1][place] += score - second;
      sums.of_differences[interaction_place][place] += score - first - second + baseline;
      totals[0] += score;
      totals[1] += first;
      totals[2] += second;
      ++row.num_cells;
    }
    row.score = totals[0] / row.num_cells;  // NaN where there is no cell
    row.first = totals[1] / row.num_cells;
    row.second = totals[2] / row.num_cells;
  }

  void fill(TestedRow& tested, const Intersection& intersection, std::size_t item) const {
    add_cells(tested, intersection, item);
    auto& row = tested.row;
    const auto& sums = tested.sums;
    row.num_templates = static_cast<std::int32_t>(std::ranges::count_if(sums.counts, [](double n) { return n > 0; }));
    if (row.num_cells == 0) {
      return;
    }
    std::array<double, num_differences> means = {};
    for (std::size_t i = 0; i < num_differences; ++i) {
      const auto& of_templates = sums.of_differences[i];
      means[i] = std::accumulate(of_templates.begin(), of_templates.end(), 0.0) / row.num_cells;
    }
    row.emerge_max = std::min(means[0], means[1]);
    row.emerge_min = std::max(means[0], means[1]);
    row.interaction = means[interaction_place];
    row.reason = stats::Reason::too_few;
    if (row.num_templates < 2) {
      return;
    }
    const auto z = [&](std::size_t place) { return z_of(sums.of_differences[place], sums.counts); };
    const std::array<double, 2> of_parts = {z(0), z(1)};
    const bool is_tie = std::abs(means[0] - means[1]) <=
                        least_spread * (std::abs(row.score) + std::abs(row.first) + std::abs(row.second));
    row.z_max = is_tie ? std::fmin(of_parts[0], of_parts[1]) : of_parts[means[0] < means[1] ? 0 : 1];
    row.z_min = is_tie ? std::fmax(of_parts[0], of_parts[1]) : of_parts[means[0] < means[1] ? 1 : 0];
    row.interaction_z = z(interaction_place);
    row.p = row.side() == 0 ? 1 : std::max(flip(sums, 0), flip(sums, 1));
    row.interaction_p = flip(sums, interaction_place);
    const bool varies = !std::isnan(of_parts[0] + of_parts[1] + row.interaction_z);
    row.reason = varies ? stats::Reason::ok : stats::Reason::constant;
  }

  double flip(const TemplateSums& sums, std::size_t difference) const {
    std::vector<double> present;
    for (std::size_t place = 0; place < sums.counts.size(); ++place) {
      if (sums.counts[place] > 0) {
        present.push_back(sums.of_differences[difference][place]);
      }
    }
    return stats::sign_flip_test(present, flips_).two_sided;
  }

  /// Rows with tests.
  std::vector<TestedRow*> members() {
    std::vector<TestedRow*> members;
    for (auto& tested : tested_) {
      if (!std::isnan(tested.row.p)) {
        members.push_back(&tested);
      }
    }
    return members;
  }

  /// Whoever calls a score beyond both parts' where it is not errs about one of the parts, so that control of both
  /// parts' tests is control of the rows.
  void adjust_emergence() {
    const auto tested = members();
    std::vector<double> blocks;
    for (const auto* one : tested) {
      blocks.insert(blocks.end(), one->sums.of_differences[0].begin(), one->sums.of_differences[0].end());
      blocks.insert(blocks.end(), one->sums.of_differences[1].begin(), one->sums.of_differences[1].end());
    }
    const auto adjusted = shared_max_t(ranks_, blocks, cells_.num_templates, flips_);
    for (std::size_t i = 0; i < tested.size(); ++i) {
      auto& row = tested[i]->row;
      row.p_max_t = row.side() == 0 ? 1 : std::max({row.p, adjusted[2 * i], adjusted[2 * i + 1]});
    }
  }

  void adjust_interactions() {
    const auto tested = members();
    std::vector<double> blocks;
    std::vector<double> p;
    for (const auto* one : tested) {
      const auto& sums = one->sums.of_differences[interaction_place];
      blocks.insert(blocks.end(), sums.begin(), sums.end());
      p.push_back(one->row.interaction_p);
    }
    const auto holm = stats::adjusted_p(p, stats::Adjustment::holm);
    const auto adjusted = shared_max_t(ranks_, blocks, cells_.num_templates, flips_);
    for (std::size_t i = 0; i < tested.size(); ++i) {
      auto& row = tested[i]->row;
      row.interaction_p_holm = holm[i];
      // differences of zero are no test of the family, and nothing is less of an interaction
      row.interaction_p_max_t = std::isnan(adjusted[i]) ? 1 : std::max(row.interaction_p, adjusted[i]);
    }
  }

  const CellScores& cells_;
  const IntersectionParts& parts_;
  const parallel::Communicator& ranks_;
  stats::SignFlipSettings flips_;
  std::vector<TestedRow> tested_;
};

}  // namespace

std::vector<EmergenceRow> emergence_of(const CellScores& cells, const IntersectionParts& parts,
                                       const sweep::Comparison& comparison, std::uint64_t seed,
                                       const parallel::Communicator& ranks) {
  return Emergence(cells, parts, comparison, seed, ranks).rows();
}

}  // namespace stereosweep::findings
