#include "findings/Alignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>
#include <set>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

namespace {

/// Score of (group, pair); NaN where undefined.
using ScoreOf = std::function<double(std::size_t group, std::size_t pair)>;

struct Cells {
  std::vector<double> scores;
  std::vector<double> means;
  void add(const RatingTable& ratings, std::size_t num_pairs, std::size_t group, const ScoreOf& score_of) {
    for (const auto pair : ratings.rated_pairs) {
      const auto score = score_of(group, pair);
      const auto mean = ratings.means[group * num_pairs + pair];
      if (!std::isnan(score) && !std::isnan(mean)) {
        scores.push_back(score);
        means.push_back(mean);
      }
    }
  }
};

std::vector<Agreement> agree_by_group(const RatingTable& ratings, std::size_t num_pairs, const ScoreOf& score_of) {
  std::vector<Agreement> agreements;
  for (const auto group : ratings.rated_groups) {
    Cells cells;
    cells.add(ratings, num_pairs, group, score_of);
    agreements.push_back(
        {stats::kendall_tau_b(cells.scores, cells.means), stats::precision_at(3, cells.scores, cells.means)});
  }
  return agreements;
}

stats::Correlation agree_pooled(const RatingTable& ratings, std::size_t num_pairs, const ScoreOf& score_of) {
  Cells cells;
  for (const auto group : ratings.rated_groups) {
    cells.add(ratings, num_pairs, group, score_of);
  }
  return stats::kendall_tau_b(cells.scores, cells.means);
}

/// P of the pooled tau-b where whole rows or columns of the rated groups' scores change places.
stats::Value shuffled_p(const RatingTable& ratings, std::size_t num_pairs, const ScoreOf& score_of,
                        stats::Shuffle shuffle, const stats::ShuffleSettings& settings) {
  std::vector<double> scores;
  std::vector<double> means;
  for (const auto group : ratings.rated_groups) {
    for (const auto pair : ratings.rated_pairs) {
      scores.push_back(score_of(group, pair));
      means.push_back(ratings.means[group * num_pairs + pair]);
    }
  }
  return stats::shuffled_tau_p(scores, means, ratings.rated_pairs.size(), shuffle, settings);
}

/// Of those that exist.
template <class Read>
stats::Value mean_over(const std::vector<Agreement>& agreements, Read read) {
  std::vector<double> defined;
  for (const auto& agreement : agreements) {
    if (const stats::Value value = read(agreement); value.defined()) {
      defined.push_back(value.value);
    }
  }
  return stats::mean(defined);
}

stats::Value tau_of(const Agreement& agreement) { return {agreement.tau.value, agreement.tau.reason}; }
stats::Value precision_of(const Agreement& agreement) { return agreement.precision.mean; }

std::optional<Alignment::Choice> choose(std::size_t num_templates, const std::function<ScoreOf(std::size_t)>& score_of,
                                        const RatingTable& ratings, std::size_t num_pairs) {
  if (num_templates > max_templates_to_choose) {
    return std::nullopt;
  }
  std::vector<Alignment::Choice> offers;
  const auto offer = [&](std::vector<std::size_t> templates, const ScoreOf& score) {
    const auto pooled = agree_pooled(ratings, num_pairs, score);
    if (pooled.defined()) {
      offers.push_back({std::move(templates), pooled});
    }
  };
  for (std::size_t first = 0; first < num_templates; ++first) {
    offer({first}, score_of(first));
  }
  for (std::size_t first = 0; first < num_templates; ++first) {
    for (auto second = first + 1; second < num_templates; ++second) {
      const auto a = score_of(first);
      const auto b = score_of(second);
      offer({first, second},
            [&](std::size_t group, std::size_t pair) { return (a(group, pair) + b(group, pair)) / 2; });
    }
  }
  const auto cells_of = [](const Alignment::Choice& choice) { return choice.pooled.n; };
  const auto most_cells = offers.empty() ? 0 : std::ranges::max(offers | std::views::transform(cells_of));
  std::optional<Alignment::Choice> best;
  for (auto& candidate : offers) {
    if (2 * candidate.pooled.n >= most_cells && (!best || candidate.pooled.value > best->pooled.value)) {
      best = std::move(candidate);
    }
  }
  return best;
}

Alignment align(const PairScores& scores, const RatingTable& ratings, std::size_t measure, std::size_t prior,
                const stats::ShuffleSettings& shuffles) {
  const auto num_pairs = scores.axes.pairs.size();
  const ScoreOf overall = [&](std::size_t group, std::size_t pair) {
    return scores.overall[scores.overall_index(measure, prior, group, pair)].value();
  };
  Alignment result;
  result.by_group = agree_by_group(ratings, num_pairs, overall);
  result.pooled = agree_pooled(ratings, num_pairs, overall);
  if (result.pooled.defined()) {
    result.pooled_p_items = shuffled_p(ratings, num_pairs, overall, stats::Shuffle::columns, shuffles);
    result.pooled_p_groups = shuffled_p(ratings, num_pairs, overall, stats::Shuffle::rows, shuffles);
  }
  result.mean_tau = mean_over(result.by_group, tau_of);
  result.mean_precision = mean_over(result.by_group, precision_of);
  result.mean_chance = mean_over(result.by_group, [](const auto& item) { return item.precision.chance; });
  STEREOSWEEP_ASSERT(scores.axes.templates.empty() || scores.detailed_groups == ratings.rated_groups,
                     "rated groups are not kept per template");
  std::vector<std::size_t> places(scores.axes.groups.size());
  for (std::size_t place = 0; place < ratings.rated_groups.size(); ++place) {
    places[ratings.rated_groups[place]] = place;
  }
  const auto of_template = [&](std::size_t sentence) -> ScoreOf {
    return [&scores, &places, measure, prior, sentence](std::size_t group, std::size_t pair) {
      return scores.by_template[scores.template_index(measure, prior, sentence, places[group], pair)].value();
    };
  };
  for (std::size_t sentence = 0; sentence < scores.axes.templates.size(); ++sentence) {
    const auto score_of = of_template(sentence);
    result.pooled_by_template.push_back(agree_pooled(ratings, num_pairs, score_of));
    result.precision_by_template.push_back(mean_over(agree_by_group(ratings, num_pairs, score_of), precision_of));
  }
  result.choice = choose(scores.axes.templates.size(), of_template, ratings, num_pairs);
  return result;
}

}  // namespace

RatingTable match_ratings(const std::vector<Rating>& ratings, const ScoreAxes& axes) {
  const auto index_of = [](const std::vector<std::string>& labels, const std::string& label) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    return found == labels.end() ? std::optional<std::size_t>() : static_cast<std::size_t>(found - labels.begin());
  };
  RatingTable table;
  table.means.assign(axes.groups.size() * axes.pairs.size(), std::numeric_limits<double>::quiet_NaN());
  std::set<std::size_t> groups;
  std::set<std::size_t> pairs;
  std::set<std::string> no_group;
  std::set<std::string> no_pair;
  for (const auto& rating : ratings) {
    const auto group = index_of(axes.groups, rating.group);
    const auto pair = index_of(axes.pairs, rating.pair);
    if (!group) {
      no_group.insert(rating.group);
    }
    if (!pair) {
      no_pair.insert(rating.pair);
    }
    if (!group || !pair) {
      continue;
    }
    auto& mean = table.means[*group * axes.pairs.size() + *pair];
    if (!std::isnan(mean)) {
      throw base::InputError(base::describe("human ratings cannot be used",
                                            "'" + rating.group + "' is rated twice on '" + rating.pair + "'"));
    }
    mean = rating.mean;
    groups.insert(*group);
    pairs.insert(*pair);
  }
  if (groups.empty()) {
    throw base::InputError(base::describe("human ratings cannot be used",
                                          "none of their groups and trait pairs is in the result",
                                          no_group.empty() ? "" : base::did_you_mean(*no_group.begin(), axes.groups)));
  }
  table.rated_groups.assign(groups.begin(), groups.end());
  table.rated_pairs.assign(pairs.begin(), pairs.end());
  table.unmatched_groups.assign(no_group.begin(), no_group.end());
  table.unmatched_pairs.assign(no_pair.begin(), no_pair.end());
  return table;
}

std::vector<Alignment> align_all(const PairScores& scores, const RatingTable& ratings,
                                 const stats::ShuffleSettings& shuffles) {
  std::vector<Alignment> alignments;
  for (std::size_t measure = 0; measure < scores.axes.measures.size(); ++measure) {
    for (std::size_t prior = 0; prior < scores.axes.priors.size(); ++prior) {
      alignments.push_back(align(scores, ratings, measure, prior, shuffles));
    }
  }
  return alignments;
}

}  // namespace stereosweep::findings
