#include "probes/rating/RatingStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/PendingFile.hpp"
#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/StatisticsAttributes.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::rating {
namespace {

using results::CubeSchema;
using results::ElementType;

const std::vector<std::string> reason_names = {"ok", "no_values", "too_few", "constant", "not_finite"};

std::vector<std::string> numbered(std::size_t count, std::size_t first) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(std::to_string(first + i));
  }
  return labels;
}

/// The file while it is written: axes, then tables.
class Tables {
 public:
  Tables(const results::ResultFile& source, const RatingResult& result, hdf5::Group& root) : layout_(root) {
    for (const auto& axis : source.schema().outer_axes) {
      layout_.add_axis(axis);
    }
    layout_.add_axis({"source", "what a rating is made of", result.axes.sources, {}});
    layout_.add_axis({"form", "what was scored as the continuation", {"text", "letter"}, {}});
    layout_.add_axis({"dimension", "dimension of the traits", result.axes.dimensions, {}});
    layout_.add_axis({"position", "place in the list of options", numbered(result.axes.values.size(), 0), {}});
    layout_.add_axis({"num_clusters", "number of clusters", numbered(result.clusters.front().by_number.size(), 1), {}});
    if (!result.axes.answer_statuses.empty()) {
      layout_.add_axis({"answer_status", "what became of a sampled answer", result.axes.answer_statuses, {}});
    }
  }

  void scores(const results::ScoreTable& table) { results::write_score_table(layout_, table); }
  void numbers(const std::string& name, const std::vector<std::string>& axes, const std::vector<double>& values,
               const std::string& what, const std::string& description = "") {
    auto dataset = layout_.add_cube({name, ElementType::float64, {}, "1", what, description, {}}, axes);
    dataset.write(dataset.all(), std::span<const double>(values));
  }
  void counts(const std::string& name, const std::vector<std::string>& axes, const std::vector<std::int32_t>& values,
              const std::string& what, const std::string& description = "") {
    auto dataset = layout_.add_cube({name, ElementType::int32, {}, "1", what, description, {}}, axes);
    dataset.write(dataset.all(), std::span<const std::int32_t>(values));
  }
  void reasons(const std::string& name, const std::vector<std::string>& axes, const std::vector<std::uint8_t>& values,
               const std::string& what) {
    auto dataset = layout_.add_cube({name, ElementType::uint8, {}, "", what, "", reason_names}, axes);
    dataset.write(dataset.all(), std::span<const std::uint8_t>(values));
  }

 private:
  results::Layout layout_;
};

void write_attributes(hdf5::Group& root, const results::ResultFile& source, const RatingOptions& options) {
  results::write_statistics_attributes(root, source, "rating");
  root.write_attribute("human_ratings", options.human ? options.human_source : std::string("none"));
  const bool plus_plus = options.clusters.start == stats::ClusterSettings::Start::plus_plus;
  root.write_attribute("cluster_start", plus_plus ? "k-means++" : "random");
  root.write_attribute("cluster_restarts", static_cast<std::int64_t>(options.clusters.num_restarts));
  root.write_attribute("cluster_seed", std::to_string(options.clusters.seed));
}

void write_scores(Tables& tables, const RatingResult& result) {
  const std::vector<std::string> axes = {"source", "dimension", "group"};
  std::vector<double> mean;
  std::vector<double> questions;
  std::vector<double> runs;
  std::vector<double> variation;
  std::vector<std::int32_t> count;
  std::vector<std::uint8_t> reason;
  for (const auto& score : result.scores) {
    mean.push_back(score.mean.value);
    questions.push_back(score.spread_questions.value);
    runs.push_back(score.spread_runs.value);
    variation.push_back(score.variation.value);
    count.push_back(score.num_ratings);
    reason.push_back(static_cast<std::uint8_t>(score.mean.reason));
  }
  tables.numbers(
      "rating", {"group", "trait", "template", "rephrasing", "source"}, result.ratings, "rating of a cell",
      "not turned round for negative traits; option sources: expected value over both orders of the options; "
      "sampled: mean over orders and runs with a usable answer");
  tables.numbers("order_difference", {"group", "trait", "template", "rephrasing", "form"}, result.order_differences,
                 "rating with the options as listed minus rating with them reversed", "0 without position bias");
  tables.numbers("position_share", {"form", "position"}, result.position_shares,
                 "mean probability of the option that stands there", "1 / number of options without position bias");
  tables.numbers("dimension_score", axes, mean, "mean rating on the dimension",
                 "over traits and wordings with a rating; negative traits turned round");
  tables.reasons("dimension_score_status", axes, reason, "why a score does not exist");
  tables.counts("dimension_num_ratings", axes, count, "cells with a rating");
  tables.numbers("spread_over_questions", axes, questions, "standard deviation (n - 1) over templates and rephrasings",
                 "of the mean over traits; NaN: fewer than two of them have a rating");
  tables.numbers("spread_over_runs", axes, runs, "standard deviation (n - 1) over runs",
                 "of the mean over traits, templates, rephrasings and orders; NaN: not sampled, or fewer than two runs "
                 "with a rating");
  tables.numbers("variation_over_questions", axes, variation,
                 "spread_over_questions / mean over templates and rephrasings", "");
  if (!result.answer_counts.empty()) {
    tables.counts("answer_count", {"group", "answer_status"}, result.answer_counts, "sampled answers by status");
  }
}

void write_clusters(Tables& tables, const RatingResult& result) {
  std::vector<double> inertia;
  std::vector<std::int32_t> best;
  std::vector<std::uint8_t> reason;
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> elbow_difference;
  std::vector<std::int32_t> elbow_kneedle;
  std::vector<std::uint8_t> elbow_reason;
  for (const auto& clusters : result.clusters) {
    for (const auto& clustering : clusters.by_number) {
      inertia.push_back(clustering.inertia);
      best.push_back(static_cast<std::int32_t>(clustering.num_best));
      reason.push_back(static_cast<std::uint8_t>(clustering.reason));
      const auto first = labels.size();
      labels.resize(first + result.axes.num_groups(), -1);
      for (std::size_t point = 0; point < clustering.labels.size(); ++point) {
        labels[first + clusters.groups[point]] = static_cast<std::int32_t>(clustering.labels[point]);
      }
    }
    elbow_difference.push_back(static_cast<std::int32_t>(clusters.elbow.second_difference));
    elbow_kneedle.push_back(static_cast<std::int32_t>(clusters.elbow.kneedle));
    elbow_reason.push_back(static_cast<std::uint8_t>(clusters.elbow.reason));
  }
  const std::vector<std::string> axes = {"source", "num_clusters"};
  tables.numbers("cluster_inertia", axes, inertia, "least sum of squared distances to the clusters' centres",
                 "k-means on the scores of all dimensions, unscaled");
  tables.counts("cluster_restarts_at_best", axes, best, "restarts that reached cluster_inertia",
                "of cluster_restarts (root attribute), within 1e-9");
  tables.reasons("cluster_status", axes, reason, "why there are no such clusters");
  tables.counts("cluster", {"source", "num_clusters", "group"}, labels, "cluster of the group",
                "numbered by the first group in it; -1: none, a score is missing");
  tables.counts("elbow_second_difference", {"source"}, elbow_difference,
                "number of clusters with the largest second difference of cluster_inertia", "0: see elbow_status");
  tables.counts("elbow_kneedle", {"source"}, elbow_kneedle,
                "number of clusters farthest below the chord of cluster_inertia", "0: see elbow_status");
  tables.reasons("elbow_status", {"source"}, elbow_reason, "why there is no elbow");
}

void write_agreement(Tables& tables, const RatingResult& result) {
  std::vector<double> pearson;
  std::vector<double> pearson_p;
  std::vector<double> spearman;
  std::vector<double> spearman_p;
  std::vector<std::int32_t> count;
  std::vector<std::uint8_t> reason;
  for (std::size_t i = 0; i < result.pearson.size(); ++i) {
    pearson.push_back(result.pearson[i].value);
    pearson_p.push_back(result.pearson[i].p);
    spearman.push_back(result.spearman[i].value);
    spearman_p.push_back(result.spearman[i].p);
    count.push_back(static_cast<std::int32_t>(result.pearson[i].n));
    reason.push_back(static_cast<std::uint8_t>(result.pearson[i].reason));
  }
  const std::vector<std::string> axes = {"source", "dimension"};
  tables.numbers("human_mean", {"dimension", "group"}, result.human, "mean human rating");
  tables.numbers("pearson", axes, pearson, "Pearson's r of scores and human means over groups");
  tables.numbers("pearson_p", axes, pearson_p, "two-sided p of pearson");
  tables.numbers("spearman", axes, spearman, "Spearman's rho of scores and human means over groups");
  tables.numbers("spearman_p", axes, spearman_p, "two-sided p of spearman");
  tables.counts("agreement_n", axes, count, "groups that are rated by both");
  tables.reasons("agreement_status", axes, reason, "why there is no correlation");
}

std::string correlation_text(const stats::Correlation& correlation) {
  return correlation.defined() ? results::fixed(correlation.value) + " (p " + results::p_value(correlation.p) + ")"
                               : std::string(stats::name_of(correlation.reason));
}

}  // namespace

void write_rating_statistics(const results::ResultFile& file, const RatingOptions& options, const RatingResult& result,
                             const std::filesystem::path& target) {
  base::PendingFile pending(target);
  auto out = hdf5::File::create(pending.path());
  write_attributes(out.root(), file, options);
  {
    Tables tables(file, result, out.root());
    tables.scores(score_table(result));
    write_scores(tables, result);
    write_clusters(tables, result);
    if (!result.human.empty()) {
      write_agreement(tables, result);
    }
  }
  out.root().write_attribute("complete", std::int64_t{1});
  out.finish();
  results::commit_sealed(pending);
}

std::string rating_status_text(const RatingResult& result) {
  const auto& axes = result.axes;
  results::TextTable table({"measure", "cells", "rated"});
  for (std::size_t source = 0; source < axes.sources.size(); ++source) {
    std::size_t rated = 0;
    for (std::size_t context = 0; context < axes.num_contexts(); ++context) {
      rated += std::isfinite(result.ratings[context * axes.sources.size() + source]) ? 1 : 0;
    }
    table.add({axes.sources[source], base::with_thousands(axes.num_contexts()), base::with_thousands(rated)});
  }
  std::string text = table.text();
  if (!axes.answer_statuses.empty()) {
    text += "\nsampled answers:";
    for (std::size_t status = 0; status < axes.answer_statuses.size(); ++status) {
      std::int64_t count = 0;
      for (std::size_t group = 0; group < axes.num_groups(); ++group) {
        count += result.answer_counts[group * axes.answer_statuses.size() + status];
      }
      text += count > 0 ? "  " + axes.answer_statuses[status] + " " + base::with_thousands(std::uint64_t(count)) : "";
    }
    text += '\n';
  }
  text += "\nmean probability by place in the list of options (" +
          results::fixed(1.0 / static_cast<double>(axes.values.size())) + " without position bias):\n";
  for (std::size_t form = 0; form < 2; ++form) {
    text += "  " + axes.sources[form] + ":";
    for (std::size_t place = 0; place < axes.values.size(); ++place) {
      text += " " + results::fixed(result.position_shares[form * axes.values.size() + place]);
    }
    text += '\n';
  }
  return text;
}

std::string rating_scores_text(const RatingResult& result, std::size_t top) {
  const auto& axes = result.axes;
  std::vector<std::string> head = {"group"};
  for (const auto& dimension : axes.dimensions) {
    for (const auto& measure : axes.sources) {
      head.push_back(dimension + " " + measure);
    }
  }
  results::TextTable table(std::move(head));
  const auto shown = std::min(top, axes.num_groups());
  for (std::size_t group = 0; group < shown; ++group) {
    std::vector<std::string> row = {axes.group.labels[group]};
    for (std::size_t dimension = 0; dimension < axes.dimensions.size(); ++dimension) {
      for (std::size_t source = 0; source < axes.sources.size(); ++source) {
        row.push_back(results::fixed(result.score(source, dimension, group).mean.value));
      }
    }
    table.add(std::move(row));
  }
  return "Scores: mean rating on the dimension, negative traits turned round\n\n" + table.text() +
         results::rest_text(shown, axes.num_groups(), "groups");
}

std::string rating_clusters_text(const RatingResult& result, std::size_t top) {
  std::string text;
  for (std::size_t source = 0; source < result.clusters.size(); ++source) {
    const auto& clusters = result.clusters[source];
    std::string inertias = "Clusters by " + result.axes.sources[source] + ", inertia by number:";
    for (const auto& clustering : clusters.by_number) {
      inertias += " " + (clustering.defined() ? results::fixed(clustering.inertia)
                                              : std::string(stats::name_of(clustering.reason)));
    }
    text += results::wrapped(inertias, 2) + '\n';
    if (clusters.elbow.reason != stats::Reason::ok) {
      text += "  no elbow: " + std::string(stats::name_of(clusters.elbow.reason)) + '\n';
      continue;
    }
    const auto& chosen = clusters.by_number[clusters.elbow.second_difference - 1];
    text += results::wrapped("  elbow: " + std::to_string(clusters.elbow.second_difference) +
                                 " (largest second difference), " + std::to_string(clusters.elbow.kneedle) +
                                 " (Kneedle); best inertia of " + base::counted(chosen.num_clusters, "cluster") +
                                 " in " + std::to_string(chosen.num_best) + " of " +
                                 base::counted(chosen.num_restarts, "restart") + "\n",
                             2);
    for (std::size_t cluster = 0; cluster < chosen.num_clusters; ++cluster) {
      std::vector<std::string> members;
      for (std::size_t point = 0; point < chosen.labels.size(); ++point) {
        if (chosen.labels[point] == cluster) {
          members.push_back(result.axes.group.labels[clusters.groups[point]]);
        }
      }
      std::string centre;
      for (std::size_t dimension = 0; dimension < result.axes.dimensions.size(); ++dimension) {
        centre += (dimension == 0 ? "" : ", ") + result.axes.dimensions[dimension] + " " +
                  results::fixed(chosen.centres[cluster * result.axes.dimensions.size() + dimension]);
      }
      text += results::wrapped("  " + centre + ": " + results::first_names(std::move(members), top) + '\n', 2);
    }
  }
  return text;
}

std::string rating_agreement_text(const RatingResult& result) {
  if (result.human.empty()) {
    return "";
  }
  results::TextTable table({"measure - dimension", "groups", "Pearson", "Spearman"});
  for (std::size_t source = 0; source < result.axes.sources.size(); ++source) {
    for (std::size_t dimension = 0; dimension < result.axes.dimensions.size(); ++dimension) {
      const std::size_t cell = source * result.axes.dimensions.size() + dimension;
      table.add({result.axes.sources[source] + " - " + result.axes.dimensions[dimension],
                 std::to_string(result.pearson[cell].n), correlation_text(result.pearson[cell]),
                 correlation_text(result.spearman[cell])});
    }
  }
  return table.text();
}

}  // namespace stereosweep::probes::rating
