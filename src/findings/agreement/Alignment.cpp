#include "findings/agreement/Alignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::findings {

namespace {

/// Score of (group, pair); NaN where undefined.
using ScoreOf = std::function<double(std::size_t group, std::size_t pair)>;

/// Of the rated groups and pairs.
RatedTable table_of(const RatingTable& ratings, std::size_t num_pairs, const ScoreOf& score_of) {
  RatedTable table{.num_items = ratings.rated_pairs.size(), .scores = {}, .ratings = {}};
  for (const auto group : ratings.rated_groups) {
    for (const auto pair : ratings.rated_pairs) {
      table.scores.push_back(score_of(group, pair));
      table.ratings.push_back(ratings.means[group * num_pairs + pair]);
    }
  }
  return table;
}

Alignment align(const PairScores& scores, const RatingTable& ratings, std::size_t measure, std::size_t prior,
                const stats::ShuffleSettings& shuffles) {
  const auto num_pairs = scores.axes.pairs.size();
  const ScoreOf overall = [&](std::size_t group, std::size_t pair) {
    return scores.overall[scores.overall_index(measure, prior, group, pair)].value();
  };
  const auto table = table_of(ratings, num_pairs, overall);
  Alignment result;
  result.by_group = agreement_by_subject(table);
  result.pooled = pooled_tau(table);
  if (result.pooled.defined()) {
    result.pooled_p_items = shuffled_p(table, stats::Shuffle::columns, shuffles);
    result.pooled_p_groups = shuffled_p(table, stats::Shuffle::rows, shuffles);
  }
  result.mean_tau = mean_over(result.by_group, tau_of);
  result.mean_precision = mean_over(result.by_group, precision_of);
  result.mean_chance = mean_over(result.by_group, chance_of);
  STEREOSWEEP_ASSERT(scores.axes.templates.empty() || scores.detailed_groups == ratings.rated_groups,
                     "rated groups are not kept per template");
  std::vector<std::size_t> places(scores.axes.groups.size());
  for (std::size_t place = 0; place < ratings.rated_groups.size(); ++place) {
    places[ratings.rated_groups[place]] = place;
  }
  std::vector<std::vector<double>> by_template;
  for (std::size_t sentence = 0; sentence < scores.axes.templates.size(); ++sentence) {
    const auto of_template = table_of(ratings, num_pairs, [&](std::size_t group, std::size_t pair) {
      return scores.by_template[scores.template_index(measure, prior, sentence, places[group], pair)].value();
    });
    result.pooled_by_template.push_back(pooled_tau(of_template));
    result.precision_by_template.push_back(mean_over(agreement_by_subject(of_template), precision_of));
    by_template.push_back(of_template.scores);
  }
  result.choice = choose_templates(by_template, table.ratings, 2);
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
