#include "findings/people/TauBootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "findings/Scores.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t replicates_together = 256;  // whose means are held; a power of two

/// Scores and ratings of some replicates, each [replicate, cell], or [cell] where nothing is drawn of a side.
struct DrawnTables {
  std::vector<double> scores;
  std::vector<double> ratings;
};

DrawnTables draw(const ScoreCells& scores, const AnswerTable& answers, const BootstrapSettings& settings,
                 const Replicates& which) {
  DrawnTables drawn;
  if (settings.draws_templates || settings.draws_rephrasings) {
    const auto [first, count, seed] = which;
    using Draws = stats::ClusterBootstrap;
    const auto template_draws = settings.draws_templates
                                    ? Draws(scores.num_templates, count, seed, templates_stream ^ first)
                                    : Draws(scores.num_templates, count);
    const auto rephrasing_draws = settings.draws_rephrasings
                                      ? Draws(scores.num_rephrasings, count, seed, rephrasings_stream ^ first)
                                      : Draws(scores.num_rephrasings, count);
    drawn.scores = stats::crossed_means(scores.values, template_draws, rephrasing_draws, scores.num_cells());
  } else {
    drawn.scores = scores.means();
  }
  drawn.ratings = settings.draws_annotators ? answers.drawn_means(which) : answers.means();
  return drawn;
}

/// One list of cells.
class ListTau {
 public:
  explicit ListTau(const CellList& cells) : cells_(cells), counter_(cells.size()), values_(cells.size()) {
    for (std::size_t place = 0; place < cells.size(); ++place) {
      is_table_ = is_table_ && cells[place] == place;
    }
  }
  void set_scores(std::span<const double> table) { counter_.set_left(gather(table)); }
  double with_ratings(std::span<const double> table) { return counter_.tau_b(gather(table)); }

 private:
  std::span<const double> gather(std::span<const double> table) {
    if (is_table_ && table.size() == cells_.size()) {
      return table;
    }
    for (std::size_t place = 0; place < cells_.size(); ++place) {
      values_[place] = table[cells_[place]];
    }
    return values_;
  }

  const CellList& cells_;
  stats::TauCounter counter_;
  std::vector<double> values_;
  bool is_table_ = true;  ///< the cells are all of a table, in its order
};

}  // namespace

std::vector<double> ScoreCells::means() const {
  std::vector<long double> sums(num_cells(), 0);  // as stats::mean
  std::vector<long double> counts(num_cells(), 0);
  for (std::size_t place = 0; place < values.size(); ++place) {
    if (!std::isnan(values[place])) {
      sums[place % num_cells()] += values[place];
      counts[place % num_cells()] += 1;
    }
  }
  std::vector<double> means;
  for (std::size_t cell = 0; cell < sums.size(); ++cell) {
    means.push_back(counts[cell] > 0 ? static_cast<double>(sums[cell] / counts[cell]) : stats::nan);
  }
  return means;
}

std::vector<std::vector<double>> ScoreCells::by_template() const {
  const auto length = num_rephrasings * num_cells();
  std::vector<std::vector<double>> tables;
  for (std::size_t first = 0; first < values.size(); first += length) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const ScoreCells one{1, num_rephrasings, {begin, begin + static_cast<std::ptrdiff_t>(length)}};
    tables.push_back(one.means());
  }
  return tables;
}

std::vector<std::vector<double>> bootstrap_tau(const ScoreCells& scores, const AnswerTable& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const parallel::Communicator& ranks) {
  const auto num_cells = scores.num_cells();
  const auto compute = [&](std::size_t unit) {
    const auto first = unit * replicates_together;
    const Replicates which{first, std::min(replicates_together, settings.replicates - first), settings.seed};
    const auto drawn = draw(scores, answers, settings, which);
    const auto of = [&](const std::vector<double>& tables, std::size_t replicate) {
      return std::span(tables).subspan(tables.size() == num_cells ? 0 : replicate * num_cells, num_cells);
    };
    std::vector<double> taus(lists.size() * which.count, stats::nan);  // [list, replicate]
    const auto num_threads = std::max(1U, settings.num_threads);
    stats::on_threads(num_threads, [&](unsigned thread) {
      for (std::size_t list = 0; list < lists.size(); ++list) {
        ListTau tau(lists[list]);
        tau.set_scores(of(drawn.scores, 0));
        for (std::size_t replicate = thread; replicate < which.count; replicate += num_threads) {
          if (drawn.scores.size() != num_cells) {
            tau.set_scores(of(drawn.scores, replicate));
          }
          taus[list * which.count + replicate] = tau.with_ratings(of(drawn.ratings, replicate));
        }
      }
    });
    return taus;
  };
  std::vector<std::vector<double>> taus(lists.size());
  const auto num_units = (settings.replicates + replicates_together - 1) / replicates_together;
  for (const auto& unit : share<double>(ranks, num_units, compute)) {
    const auto count = lists.empty() ? 0 : unit.size() / lists.size();
    for (std::size_t list = 0; list < lists.size(); ++list) {
      const auto own = std::span(unit).subspan(list * count, count);
      taus[list].insert(taus[list].end(), own.begin(), own.end());
    }
  }
  return taus;
}

}  // namespace stereosweep::findings
