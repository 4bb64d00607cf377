#include "results/StatisticsFile.hpp"

#include "base/Sha256.hpp"
#include "base/Text.hpp"
#include "results/StatisticsAttributes.hpp"
#include "stats/Undefined.hpp"

namespace stereosweep::results {

namespace {

using probe::CubeSchema;
using probe::ElementType;

using stats::nan;
const std::vector<std::string> coverage_names = {"all", "some", "none"};
const std::vector<std::string> reason_names = {"ok", "no_values", "too_few", "constant", "not_finite", "not_rated"};
constexpr std::uint8_t not_rated = 5;

CubeSchema number_cube(std::string name, std::string units, std::string long_name, std::string description = "") {
  return {std::move(name),      ElementType::float64,   {}, std::move(units),
          std::move(long_name), std::move(description), {}};
}

CubeSchema flag_cube(std::string name, std::string long_name, std::vector<std::string> meanings) {
  return {std::move(name), ElementType::uint8, {}, "", std::move(long_name), "", std::move(meanings)};
}

CubeSchema count_cube(std::string name, std::string long_name) {
  return {std::move(name), ElementType::int32, {}, "1", std::move(long_name), "", {}};
}

/// [table, sentence, item] -> [sentence, table, item].
template <class T>
std::vector<T> sentences_first(const std::vector<T>& values, std::size_t num_tables, std::size_t num_sentences) {
  const auto items = values.size() / (num_tables * num_sentences);
  std::vector<T> result;
  result.reserve(values.size());
  for (std::size_t sentence = 0; sentence < num_sentences; ++sentence) {
    for (std::size_t table = 0; table < num_tables; ++table) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((table * num_sentences + sentence) * items);
      result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(items));
    }
  }
  return result;
}

template <class T>
void write_sentences(hdf5::DataSet& dataset, const ScoreSlab& slab, const std::vector<T>& values) {
  const auto shape = dataset.shape();
  std::uint64_t done = 0;
  for (auto& part : hdf5::rectangles_of_range({shape[1], shape[2]}, slab.first_sentence, slab.num_sentences)) {
    const auto length = part.count[0] * part.count[1] * shape[3] * shape[4] * shape[5];
    const hdf5::Rectangle where{{slab.group, part.start[0], part.start[1], 0, 0, 0},
                                {1, part.count[0], part.count[1], shape[3], shape[4], shape[5]}};
    dataset.write(where, std::span<const T>(values).subspan(done, length));
    done += length;
  }
}

void write_covered(hdf5::DataSet& score, hdf5::DataSet& coverage, const ScoreSlab& slab,
                   const std::vector<CoveredScore>& scores, std::size_t num_tables) {
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
  for (const auto& item : sentences_first(scores, num_tables, slab.num_sentences)) {
    values.push_back(item.value);
    flags.push_back(static_cast<std::uint8_t>(item.coverage));
  }
  write_sentences(score, slab, values);
  write_sentences(coverage, slab, flags);
}

std::vector<std::string> words_of(const std::array<std::string_view, stats::score_status_names.size()>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

StatisticsFile::StatisticsFile(const ResultFile& source, const StatisticsOptions& options, const TraitPairs& traits,
                               const ScoreReader& reader, const std::filesystem::path& target)
    : pending_(target), file_(hdf5::File::create(pending_.path())), reader_(reader) {
  write_attributes(source, options);
  layout_ = std::make_unique<Layout>(file_.root());
  add_axes(source, traits);
  const auto add = [&](const CubeSchema& cube, const std::string& last) {
    return layout_->add_cube(cube, {"group", "template", "rephrasing", "measure", "prior", last});
  };
  arrays_ = std::make_unique<Arrays>(Arrays{
      add(number_cube("word_score", "nat", "association of group and word", "by measure and prior"), "word"),
      add(flag_cube("word_score_status", "why a word score does not exist", words_of(stats::score_status_names)),
          "word"),
      add(number_cube("pole_score", "nat", "association of group and pole",
                      "word_aggregate (root attribute) of the pole's defined words"),
          "pole"),
      add(flag_cube("pole_coverage", "how many of the pole's words have a score", coverage_names), "pole"),
      add(number_cube("pair_score", "nat", "right pole minus left pole"), "pair"),
      add(flag_cube("pair_coverage", "how many of the two poles' words have a score", coverage_names), "pair"),
  });
}

void StatisticsFile::write_attributes(const ResultFile& source, const StatisticsOptions& options) {
  auto& root = file_.root();
  write_statistics_attributes(root, source, "association");
  const bool is_median = options.word_aggregate == domain::Statistics::Aggregate::median;
  root.write_attribute("word_aggregate", is_median ? "median" : "mean");
  root.write_attribute("templates_averaged",
                       options.templates.empty() ? std::string("all") : base::join(options.templates, "; "));
  root.write_attribute("human_ratings", options.ratings ? options.ratings_source : std::string("none"));
}

void StatisticsFile::add_axes(const ResultFile& source, const TraitPairs& traits) {
  probe::AxisSchema measures{"measure", "variant of the score", {}, {{"description", "definition", {}}}};
  for (const auto measure : reader_.measures()) {
    measures.labels.emplace_back(stats::name_of(measure));
    measures.coordinates.front().values.emplace_back(stats::description_of(measure));
  }
  const auto& schema = source.schema();
  layout_->add_axis(measures);
  layout_->add_axis(prior_axis(schema));
  layout_->add_axis(group_axis(schema));
  layout_->add_axis(schema.outer_axes.at(1));
  layout_->add_axis(schema.outer_axes.at(2));
  layout_->add_axis(schema.inner_axis("word"));
  layout_->add_axis(traits.pole_axis());
  layout_->add_axis(traits.pair_axis());
}

void StatisticsFile::add(const ScoreSlab& slab, const SlabScores& scores) {
  const auto tables = reader_.measures().size() * reader_.priors().size();
  write_sentences(arrays_->word_score, slab, sentences_first(slab.values, tables, slab.num_sentences));
  std::vector<std::uint8_t> statuses;
  for (const auto status : sentences_first(slab.statuses, tables, slab.num_sentences)) {
    statuses.push_back(static_cast<std::uint8_t>(status));
  }
  write_sentences(arrays_->word_status, slab, statuses);
  write_covered(arrays_->pole_score, arrays_->pole_coverage, slab, scores.poles, tables);
  write_covered(arrays_->pair_score, arrays_->pair_coverage, slab, scores.pairs, tables);
}

void StatisticsFile::write_table(const CubeSchema& cube, const std::vector<std::string>& axes,
                                 const std::vector<double>& values) {
  auto dataset = layout_->add_cube(cube, axes);
  dataset.write(dataset.all(), std::span<const double>(values));
}

void StatisticsFile::write_table(const CubeSchema& cube, const std::vector<std::string>& axes,
                                 const std::vector<std::int32_t>& values) {
  auto dataset = layout_->add_cube(cube, axes);
  dataset.write(dataset.all(), std::span<const std::int32_t>(values));
}

void StatisticsFile::write_table(const CubeSchema& cube, const std::vector<std::string>& axes,
                                 const std::vector<std::uint8_t>& values) {
  auto dataset = layout_->add_cube(cube, axes);
  dataset.write(dataset.all(), std::span<const std::uint8_t>(values));
}

void StatisticsFile::write_averages(const StatisticsResult& result) {
  std::vector<double> means;
  std::vector<std::int32_t> counts;
  for (const auto& mean : result.scores.overall) {
    means.push_back(mean.value());
    counts.push_back(mean.count);
  }
  const std::vector<std::string> axes = {"measure", "prior", "group", "pair"};
  write_table(number_cube("mean_pair_score", "nat", "mean of pair_score over sentences",
                          "templates: root attribute templates_averaged; all rephrasings; sentences with a score only"),
              axes, means);
  write_table(count_cube("mean_pair_num_sentences", "sentences with a score"), axes, counts);
}

void StatisticsFile::write_agreement_by_group(const StatisticsResult& result) {
  const auto num_groups = result.scores.axes.groups.size();
  const auto cells = result.alignments.size() * num_groups;
  std::vector<double> tau(cells, nan);
  std::vector<double> p(cells, nan);
  std::vector<std::int32_t> n(cells, 0);
  std::vector<std::uint8_t> status(cells, not_rated);
  std::vector<double> top(cells, nan);
  std::vector<double> bottom(cells, nan);
  std::vector<double> both(cells, nan);
  for (std::size_t table = 0; table < result.alignments.size(); ++table) {
    for (std::size_t index = 0; index < result.ratings->rated_groups.size(); ++index) {
      const auto cell = table * num_groups + result.ratings->rated_groups[index];
      const auto& agreement = result.alignments[table].by_group[index];
      tau[cell] = agreement.tau.value;
      p[cell] = agreement.tau.p;
      n[cell] = static_cast<std::int32_t>(agreement.tau.n);
      status[cell] = static_cast<std::uint8_t>(agreement.tau.reason);
      top[cell] = agreement.precision.top.value;
      bottom[cell] = agreement.precision.bottom.value;
      both[cell] = agreement.precision.mean.value;
    }
  }
  const std::vector<std::string> axes = {"measure", "prior", "group"};
  write_table(number_cube("tau", "1", "Kendall's tau-b with the human means, over trait pairs"), axes, tau);
  write_table(number_cube("tau_p", "1", "two-sided p of tau"), axes, p);
  write_table(count_cube("tau_n", "trait pairs that are rated and scored"), axes, n);
  write_table(flag_cube("tau_status", "why tau does not exist", reason_names), axes, status);
  write_table(number_cube("precision_top_3", "1", "share of the three highest scores rated above 50"), axes, top);
  write_table(number_cube("precision_bottom_3", "1", "share of the three lowest scores rated below 50"), axes, bottom);
  write_table(number_cube("precision_at_3", "1", "mean of precision_top_3 and precision_bottom_3"), axes, both);
}

void StatisticsFile::write_agreement_by_template(const StatisticsResult& result) {
  std::vector<double> tau;
  std::vector<double> p;
  std::vector<double> precision;
  for (const auto& alignment : result.alignments) {
    for (const auto& pooled : alignment.pooled_by_template) {
      tau.push_back(pooled.value);
      p.push_back(pooled.p);
    }
    for (const auto& value : alignment.precision_by_template) {
      precision.push_back(value.value);
    }
  }
  const std::vector<std::string> axes = {"measure", "prior", "template"};
  write_table(number_cube("template_tau", "1", "tau-b pooled over groups and trait pairs, by template"), axes, tau);
  write_table(number_cube("template_tau_p", "1", "two-sided p of template_tau"), axes, p);
  write_table(number_cube("template_precision_at_3", "1", "mean precision at 3 over groups, by template"), axes,
              precision);
}

void StatisticsFile::write_agreement(const StatisticsResult& result) {
  write_table(number_cube("human_mean", "1", "mean human rating", "0: left pole, 100: right pole"), {"group", "pair"},
              result.ratings->means);
  write_agreement_by_group(result);
  write_agreement_by_template(result);
  std::vector<double> pooled;
  std::vector<double> pooled_p;
  std::vector<std::int32_t> pooled_n;
  std::vector<double> mean_tau;
  std::vector<double> precision;
  for (const auto& alignment : result.alignments) {
    pooled.push_back(alignment.pooled.value);
    pooled_p.push_back(alignment.pooled.p);
    pooled_n.push_back(static_cast<std::int32_t>(alignment.pooled.n));
    mean_tau.push_back(alignment.mean_tau.value);
    precision.push_back(alignment.mean_precision.value);
  }
  const std::vector<std::string> axes = {"measure", "prior"};
  write_table(number_cube("tau_pooled", "1", "Kendall's tau-b over all groups and trait pairs"), axes, pooled);
  write_table(number_cube("tau_pooled_p", "1", "two-sided p of tau_pooled"), axes, pooled_p);
  write_table(count_cube("tau_pooled_n", "cells that are rated and scored"), axes, pooled_n);
  write_table(number_cube("tau_mean", "1", "mean of tau over groups; not the same as tau_pooled"), axes, mean_tau);
  write_table(number_cube("precision_at_3_mean", "1", "mean of precision_at_3 over groups"), axes, precision);
}

void StatisticsFile::finish(const StatisticsResult& result) {
  write_averages(result);
  if (result.ratings) {
    write_agreement(result);
  }
  arrays_.reset();
  layout_.reset();
  file_.root().write_attribute("complete", std::int64_t{1});
  file_.finish();
  pending_.commit();
}

}  // namespace stereosweep::results
