// How often rounds of a sweep that may stop decide wrongly, and what they spare: bench_decisions [TABLES [SEED]]
// Simulated complete tables of one contrast, a paired difference mu + template + rephrasing + cell each, are replayed
// through the program's own decisions (findings/decisions), every table a family of its own. One line a kind of table:
// in % the decisions against the truth at any round; verdicts that are those of the complete table; passes over the
// complete table's; intervals at the stop that hold the truth; tables whose intervals hold it in all rounds. Effects
// are in standard deviations of the templates' differences of the complete table; templates have a variance of 1. Exit
// status 1 where a figure is beyond its limit by more than three standard errors. Then families whose undecided rows a
// second job asks again with what the first kept of its level, and the time of one round of 10,000 rows on this rank.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "findings/decisions/Decisions.hpp"
#include "stats/Summary.hpp"

namespace {

using namespace stereosweep;
using findings::DecisionStatus;

constexpr double rounding = 1e-9;  // of a product's mean, which its last interval is

enum class Shape { normal, skewed };
enum class Design { kept, told };  ///< told: the program warns of it, and its figures are not stated

struct Kind {
  const char* name;
  std::size_t templates;
  std::size_t rephrasings;
  double effect;
  double of_rephrasings;  ///< standard deviations
  double of_cells;
  double margin = 0;  ///< in standard deviations; 0: only the sign is wanted
  double missing = 0;
  Shape shape = Shape::normal;
  double most_share = 1;  ///< of the passes
  Design design = Design::kept;
  double level = 0.05;
  sweep::DecideRequest::Target target = sweep::DecideRequest::Target::prompts;
  sweep::DecideRequest::Looks looks = sweep::DecideRequest::Looks::declared;

  double deviation() const { return std::sqrt(1 + of_cells * of_cells / static_cast<double>(rephrasings)); }
  double truth() const { return effect * deviation(); }
};

/// Subjects are tables.
struct Tables {
  std::array<results::AxisSchema, 6> axes;
  std::vector<double> values;

  Tables(const Kind& kind, std::size_t count, std::mt19937_64& random) {
    const std::array<std::size_t, 6> lengths = {1, count, kind.templates, kind.rephrasings, 1, 1};
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      axes[axis].name = results::score_axis_names[axis];
      for (std::size_t place = 0; place < lengths[axis]; ++place) {
        axes[axis].labels.push_back(std::to_string(place));
      }
    }
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> skewed;
    std::student_t_distribution<double> heavy(3);
    std::uniform_real_distribution<double> unit;
    const bool is_skewed = kind.shape == Shape::skewed;
    for (std::size_t table = 0; table < count; ++table) {
      std::vector<double> of_rephrasings(kind.rephrasings);
      std::ranges::generate(of_rephrasings, [&] { return kind.of_rephrasings * normal(random); });
      for (std::size_t t = 0; t < kind.templates; ++t) {
        const double of_template = kind.truth() + (is_skewed ? skewed(random) - 1 : normal(random));
        for (std::size_t r = 0; r < kind.rephrasings; ++r) {
          const double rest = is_skewed ? heavy(random) / std::sqrt(3.0) : normal(random);
          values.push_back(kind.missing > 0 && unit(random) < kind.missing
                               ? stats::nan
                               : of_template + of_rephrasings[r] + kind.of_cells * rest);
        }
      }
    }
  }

  findings::Scores scores() const {
    findings::Scores scores;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      scores.axes[axis] = &axes[axis];
    }
    scores.read = [this](std::size_t /*measure*/) { return values; };
    return scores;
  }
};

sweep::Comparison comparison_of(const Kind& kind, sweep::TestFamily family) {
  sweep::Comparison comparison;
  comparison.contrasts = {{.name = "table", .against = sweep::Contrast::Against::zero, .each = "subject"}};
  comparison.decide = {.level = kind.level};
  auto& decide = *comparison.decide;
  decide.family = family;
  decide.target = kind.target;
  decide.looks = kind.looks;
  if (kind.margin > 0) {
    decide.want.push_back({.equivalence = kind.margin * kind.deviation()});
  }
  return comparison;
}

struct Figures {
  double wrong = 0;
  double same = 0;
  double share = 0;
  double holds = 0;
  double always_holds = 0;
};

Figures figures_of(const Kind& kind, std::size_t count, std::mt19937_64& random) {
  const Tables tables(kind, count, random);
  const auto comparison = comparison_of(kind, sweep::TestFamily::contrast);
  Figures figures;
  const auto num_cells = kind.templates * kind.rephrasings;
  const auto decided = findings::decide(tables.scores(), comparison, 1).rows;
  for (std::size_t place = 0; place < decided.size(); ++place) {
    const auto& row = decided[place];
    double truth = kind.truth();
    if (kind.target == sweep::DecideRequest::Target::product) {
      truth = stats::mean(stats::finite(std::span(tables.values).subspan(place * num_cells, num_cells))).value;
    }
    const bool has_sign = row.status == DecisionStatus::positive || row.status == DecisionStatus::negative;
    const bool is_equivalent = row.status == DecisionStatus::equivalent;
    const double sign = row.status == DecisionStatus::positive ? 1 : -1;
    const bool is_wrong = (has_sign && sign * truth <= 0) ||
                          (is_equivalent && std::abs(truth) >= kind.margin * kind.deviation() * (1 - 1e-12));
    const auto verdict = [](DecisionStatus status) {
      return status <= DecisionStatus::equivalent ? status : DecisionStatus::exhausted;
    };
    const auto& stop = *row.at_stop();
    // a row without an interval has no more to hold: it is not counted as held
    const auto holds = [&](const findings::RoundNumbers& round) {
      return round.low <= truth + rounding && truth <= round.high + rounding;
    };
    figures.wrong += is_wrong ? 1 : 0;
    figures.same += verdict(row.status) == row.complete || (is_equivalent && row.is_equivalent_in_full) ? 1 : 0;
    figures.share += static_cast<double>(stop.passes) / row.table.rounds.back().passes;
    figures.holds += holds(stop) ? 1 : 0;
    figures.always_holds +=
        std::ranges::all_of(row.table.rounds,
                            [&](const auto& round) { return round.is_looked_at == 0 || holds(round); })
            ? 1
            : 0;
  }
  for (auto* figure : {&figures.wrong, &figures.same, &figures.share, &figures.holds, &figures.always_holds}) {
    *figure *= 100 / static_cast<double>(count);
  }
  return figures;
}

/// Whether all figures keep what is stated, but for chance.
bool keeps(const Kind& kind, const Figures& figures, double least_same, std::size_t count) {
  const auto slack = [&](double percent) {
    return 3 * std::sqrt(percent * (100 - percent) / static_cast<double>(count));
  };
  return kind.design == Design::told || (figures.wrong <= 100 * kind.level + slack(100 * kind.level) &&
                                         figures.same >= least_same - slack(least_same) &&
                                         figures.share <= 100 * kind.most_share + slack(100 * kind.most_share) &&
                                         figures.holds >= 95 - slack(95) && figures.always_holds >= 95 - slack(95));
}

std::vector<Kind> kinds() {
  using Target = sweep::DecideRequest::Target;
  const auto any = [](Kind kind) {
    kind.looks = sweep::DecideRequest::Looks::any;
    return kind;
  };
  return {
      {"35 x 20, no effect", 35, 20, 0, 0.1, 0.5},
      {"35 x 20, .5 sd", 35, 20, 0.5, 0.1, 0.5, 0, 0, Shape::normal, 0.35},
      {"35 x 20, 1 sd", 35, 20, 1, 0.1, 0.5, 0, 0, Shape::normal, 0.08},
      {"35 x 20, 2 sd", 35, 20, 2, 0.1, 0.5, 0, 0, Shape::normal, 0.03},
      {"35 x 20, no effect, large b", 35, 20, 0, 0.5, 1},
      {"35 x 20, .6 sd, large b", 35, 20, 0.6, 0.5, 1, 0, 0, Shape::normal, 0.35},
      {"35 x 20, 1 sd, large b", 35, 20, 1, 0.5, 1, 0, 0, Shape::normal, 0.1},
      {"35 x 20, 2 sd, large b", 35, 20, 2, 0.5, 1, 0, 0, Shape::normal, 0.03},
      {"35 x 20, no effect, margin", 35, 20, 0, 0.1, 0.5, 0.5, 0, Shape::normal, 0.4},
      {"35 x 20, no effect, margin, large b", 35, 20, 0, 0.5, 1, 0.5, 0, Shape::normal, 0.65},
      {"35 x 20, at the margin", 35, 20, 0.5, 0.1, 0.5, 0.5},
      {"35 x 20, at the margin, large b", 35, 20, 0.5, 0.5, 1, 0.5},
      {"35 x 20, 1 sd, margin, large b", 35, 20, 1, 0.5, 1, 0.5, 0, Shape::normal, 0.1},
      {"35 x 20, no effect, 5 % missing", 35, 20, 0, 0.5, 1, 0, 0.05},
      {"35 x 20, 1 sd, 5 % missing", 35, 20, 1, 0.5, 1, 0, 0.05, Shape::normal, 0.1},
      {"35 x 20, no effect, skewed", 35, 20, 0, 0.5, 1, 0, 0, Shape::skewed},
      {"20 x 10, no effect", 20, 10, 0, 0.1, 0.5},
      {"20 x 10, no effect, large b", 20, 10, 0, 0.5, 1},
      {"20 x 10, 1 sd, large b", 20, 10, 1, 0.5, 1},
      {"12 x 5, no effect", 12, 5, 0, 0.1, 0.5},
      {"12 x 5, no effect, large b", 12, 5, 0, 0.5, 1},
      {"12 x 5, 1.2 sd", 12, 5, 1.2, 0.1, 0.5},
      {"12 x 20, no effect, large b", 12, 20, 0, 0.5, 1},
      {"8 x 20, no effect", 8, 20, 0, 0.1, 0.5},
      {"8 x 20, no effect, large b", 8, 20, 0, 0.5, 1},
      {"8 x 20, 1.2 sd", 8, 20, 1.2, 0.1, 0.5, 0, 0, Shape::normal, 1, Design::told},
      {"35 x 5, no effect, large b", 35, 5, 0, 0.5, 1},
      {"40 x 1, no effect, no b", 40, 1, 0, 0, 1},
      {"40 x 1, .5 sd, no b", 40, 1, 0.5, 0, 1},
      {"40 x 1, no effect, large b", 40, 1, 0, 0.5, 1, 0, 0, Shape::normal, 1, Design::told},
      {"35 x 20, no effect, level .001", 35, 20, 0, 0.1, 0.5, 0.5, 0, Shape::normal, 1, Design::kept, 0.001},
      {"35 x 20, 1 sd, level .001", 35, 20, 1, 0.1, 0.5, 0.5, 0, Shape::normal, 1, Design::kept, 0.001},
      {"35 x 20, no effect, the product's", 35, 20, 0, 0.1, 0.5, 0, 0, Shape::normal, 1, Design::kept, 0.05,
       Target::product},
      {"35 x 20, .5 sd, the product's", 35, 20, 0.5, 0.5, 1, 0, 0, Shape::normal, 1, Design::kept, 0.05,
       Target::product},
      any({"any look, no effect", 35, 20, 0, 0.1, 0.5, 0, 0, Shape::normal, 0.25}),
      any({"any look, .5 sd", 35, 20, 0.5, 0.1, 0.5, 0, 0, Shape::normal, 0.6}),
      any({"any look, 1 sd", 35, 20, 1, 0.1, 0.5, 0, 0, Shape::normal, 0.08}),
      any({"any look, 2 sd", 35, 20, 2, 0.1, 0.5, 0, 0, Shape::normal, 0.03}),
      any({"any look, no effect, large b", 35, 20, 0, 0.5, 1, 0, 0, Shape::normal, 0.3}),
      any({"any look, .5 sd, large b", 35, 20, 0.5, 0.5, 1, 0, 0, Shape::normal, 0.65}),
      any({"any look, 1 sd, large b", 35, 20, 1, 0.5, 1, 0, 0, Shape::normal, 0.15}),
      any({"any look, 2 sd, large b", 35, 20, 2, 0.5, 1, 0, 0, Shape::normal, 0.03}),
      any({"any look, 12 x 5, no effect, large b", 12, 5, 0, 0.5, 1}),
      any({"any look, no effect, the product's", 35, 20, 0, 0.1, 0.5, 0, 0, Shape::normal, 1, Design::kept, 0.05,
           Target::product}),
  };
}

/// As many tables as items of each subject.
Tables families_of(const Kind& kind, std::size_t num_families, std::size_t num_items, std::mt19937_64& random) {
  Tables tables(kind, num_families * num_items, random);
  const auto rows = tables.values;
  const auto num_cells = kind.templates * kind.rephrasings;
  for (std::size_t place = 0; place < rows.size(); ++place) {  // [subject, item, cell] -> [subject, cell, item]
    const auto [row, cell] = std::pair(place / num_cells, place % num_cells);
    tables.values[(row / num_items * num_cells + cell) * num_items + row % num_items] = rows[place];
  }
  const auto labels = tables.axes[findings::subject_axis].labels;
  tables.axes[findings::subject_axis].labels.resize(num_families);
  tables.axes[findings::item_axis].labels.assign(labels.begin(), labels.begin() + static_cast<long>(num_items));
  return tables;
}

/// Families of ten rows, five of them without effect. Of each: whether a sign is wrong in either job, and rows with an
/// effect that are decided.
bool show_second_job(const Kind& kind, double reserve, std::size_t num_families, std::mt19937_64& random) {
  constexpr std::size_t num_rows = 10;
  constexpr std::size_t num_null = 5;
  auto comparison = comparison_of(kind, sweep::TestFamily::contrast);
  auto& decide = *comparison.decide;
  decide.reserve = reserve;
  std::vector<bool> is_wrong(num_families, false);
  std::array<double, 2> decided = {0, 0};
  std::array<double, 2> passes = {0, 0};
  const std::size_t num_jobs = reserve > 0 ? 2 : 1;
  for (std::size_t job = 0; job < num_jobs; ++job) {
    auto tables = families_of(kind, num_families, num_rows, random);
    for (std::size_t place = 0; place < tables.values.size(); ++place) {
      tables.values[place] -= place % num_rows < num_null ? kind.truth() : 0;
    }
    const auto decisions = findings::decide(tables.scores(), comparison, 1);
    for (const auto& row : decisions.rows) {
      const auto item = std::stoul(row.item);
      const auto family = std::stoul(row.contrast.substr(row.contrast.find_last_not_of("0123456789") + 1));
      const bool has_sign = findings::is_verdict(row.status);
      const bool is_right = item >= num_null && row.status == DecisionStatus::positive;
      is_wrong[family] = is_wrong[family] || (has_sign && !is_right);
      decided[job] += is_right ? 1 : 0;
      passes[job] += row.at_stop()->passes;
    }
    decide.after = {.run = "first", .rows = findings::rows_left_by(decisions)};
  }
  const auto all_rows = static_cast<double>(num_families * num_rows);
  const double wrong = static_cast<double>(std::ranges::count(is_wrong, true)) / static_cast<double>(num_families);
  const double limit = kind.level + 3 * std::sqrt(kind.level * (1 - kind.level) / static_cast<double>(num_families));
  const auto effects = all_rows * (num_rows - num_null) / num_rows;
  const auto of_passes = all_rows * static_cast<double>(kind.templates * kind.rephrasings);
  std::printf("%-38s %6.2f %8.1f %8.1f %8.1f %8.1f %8.1f%s\n", kind.name, reserve, 100 * wrong,
              100 * decided[0] / effects, 100 * (decided[0] + decided[1]) / effects, 100 * passes[0] / of_passes,
              100 * (passes[0] + passes[1]) / of_passes, wrong <= limit ? "" : " BEYOND");
  return wrong <= limit;
}

/// Of so many rows on one rank, a family together: a hundred contrasts of a hundred items.
void time_rows(std::mt19937_64& random) {
  constexpr std::size_t side = 100;
  const Kind kind{"", 35, 20, 0.5, 0.1, 0.5, 0.5};
  const auto tables = families_of(kind, side, side, random);
  const auto start = std::clock();
  const auto decisions = findings::decide(tables.scores(), comparison_of(kind, sweep::TestFamily::all), 1);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto rounds = decisions.rows.front().table.rounds.size();
  std::printf(
      "%zu rows of 35 x 20 in one family, sign and equivalence: %.2f s of one processor for all %zu rounds, "
      "%.2f s a round\n",
      decisions.rows.size(), seconds, rounds, seconds / static_cast<double>(rounds));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'220'710);
  constexpr double least_same = 95;
  bool is_kept = true;
  std::printf("%zu tables a line; in %%; limits: wrong 5, same 95, holds 95\n%-38s %6s %6s %6s %6s %6s  %s\n", count,
              "templates x rephrasings", "wrong", "same", "passes", "holds", "always", "most passes");
  for (const auto& kind : kinds()) {
    const auto figures = figures_of(kind, count, random);
    // where a verdict needs more luck than half of the tables have, agreement is not stated
    const bool states_same = kind.level >= 0.05 && !(kind.margin > 0 && kind.of_rephrasings > 0.3) &&
                             kind.looks == sweep::DecideRequest::Looks::declared;
    const bool is_good = keeps(kind, figures, states_same ? least_same : 0, count);
    std::printf("%-38s %6.1f %6.1f %6.1f %6.1f %6.1f  %3.0f %s\n", kind.name, figures.wrong, figures.same,
                figures.share, figures.holds, figures.always_holds, 100 * kind.most_share,
                kind.design == Design::told ? "(told)"
                : is_good                   ? ""
                                            : "BEYOND");
    std::fflush(stdout);
    is_kept = is_kept && is_good;
  }
  std::printf(
      "\nfamilies of ten rows, five without effect; a second job asks what the first left; in %%: families with a "
      "wrong "
      "sign; rows with an effect that are decided by the first, by both; passes of the first, of both, over those of "
      "the "
      "first's complete tables\n%-38s %6s %8s %8s %8s %8s %8s\n",
      "templates x rephrasings of each job", "kept", "wrong", "first", "both", "passes", "both");
  for (const auto& kind :
       {Kind{"20 x 10, .6 sd", 20, 10, 0.6, 0.1, 0.5}, Kind{"20 x 10, .6 sd, large b", 20, 10, 0.6, 0.5, 1},
        Kind{"40 x 10, .6 sd", 40, 10, 0.6, 0.1, 0.5}, Kind{"12 x 5, 1 sd", 12, 5, 1, 0.1, 0.5}}) {
    for (const double reserve : {0.0, 0.2, 0.5}) {
      is_kept = show_second_job(kind, reserve, std::max<std::size_t>(count / 4, 25), random) && is_kept;
    }
  }
  if (count >= 1000) {
    time_rows(random);
  }
  return is_kept ? 0 : 1;
}
